// The stream of frames: connects, unpacks, and reconnects after an interruption.

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

const SILENCE = 4000; // milliseconds without a word, of which the server sends one every second

export class Frames {
  // handlers: { hello, frame, lost, silent, back, stopped }
  constructor(handlers) {
    this.handlers = handlers;
    this.axes = "";
    this.source = null;
  }

  open() {
    this.close();
    const source = new EventSource("frames" + this.axes);
    const on = (kind, handle) => source.addEventListener(kind, (e) => (this.#hear(), handle(e.data)));
    on("hello", (data) => this.handlers.hello(JSON.parse(data)));
    on("frame", (data) => this.handlers.frame(unpacked(JSON.parse(data))));
    on("alive", () => {});
    on("stopped", () => (this.#deaf(), this.handlers.stopped()));
    source.onerror = () => {
      this.#deaf();
      this.handlers.lost();
      // A refused request ends an EventSource for good: open another one.
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        setTimeout(() => this.source === source && this.open(), 3000);
      }
    };
    this.source = source;
  }

  close() {
    this.#deaf();
    this.source?.close();
    this.source = null;
  }

  // A server that hangs keeps the connection open, so that only its silence shows it.
  #hear() {
    if (this.isSilent) this.handlers.back();
    this.#deaf();
    this.timer = setTimeout(() => {
      this.isSilent = true;
      this.handlers.silent();
    }, SILENCE);
  }

  #deaf() {
    clearTimeout(this.timer);
    this.isSilent = false;
  }

  setAxes(x, y) {
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
