// The stream of frames: connecting, unpacking, and going on after a break.

const KINDS = {
  at: Uint16Array, birth: Uint32Array, label: Int32Array, active: Uint8Array, use: Uint8Array,
  edges: Uint16Array, samples: Uint16Array, sample_label: Int32Array,
};

function unpack(text, Kind) {
  if (Uint8Array.fromBase64) return new Kind(Uint8Array.fromBase64(text).buffer);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
  return new Kind(bytes.buffer);
}

export class Frames {
  // told: { hello, frame, lost, stopped }
  constructor(told) {
    this.told = told;
    this.axes = "";
    this.source = null;
  }

  open() {
    this.close();
    const source = new EventSource("frames" + this.axes);
    source.addEventListener("hello", (e) => this.told.hello(JSON.parse(e.data)));
    source.addEventListener("frame", (e) => this.told.frame(unpacked(JSON.parse(e.data))));
    source.addEventListener("stopped", () => this.told.stopped());
    source.onerror = () => {
      this.told.lost();
      // A refusal ends an EventSource for good: begin another one.
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        setTimeout(() => this.source === source && this.open(), 3000);
      }
    };
    this.source = source;
  }

  close() {
    this.source?.close();
    this.source = null;
  }

  look(x, y) {
    this.axes = x === "" || y === "" ? "" : `?x=${x}&y=${y}`;
    this.open();
  }
}

function unpacked(frame) {
  for (const [name, Kind] of Object.entries(KINDS)) {
    if (name in frame) frame[name] = unpack(frame[name], Kind);
  }
  return frame;
}
