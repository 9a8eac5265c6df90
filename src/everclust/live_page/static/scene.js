// What is drawn: nodes that glide from frame to frame, edges, fading samples, ripples of events.

const GLIDE = { least: 80, most: 500 }; // milliseconds from one frame to the next
const SAMPLE_LIFE = 1400;
const RIPPLE_LIFE = 2600;

export class Scene {
  constructor() {
    this.clear();
  }

  clear() {
    this.n = 0;
    this.from = this.to = this.at = new Float64Array(0);
    this.birth = new Uint32Array(0);
    this.label = new Int32Array(0);
    this.active = this.use = new Uint8Array(0);
    this.edges = new Uint16Array(0);
    this.groups = [];
    this.clouds = [];
    this.ripples = [];
    this.started = 0;
    this.pause = 100;
    this.glides = false;
  }

  update(frame, now, events) {
    for (const name of ["label", "active", "use", "edges"]) if (name in frame) this[name] = frame[name];
    if ("at" in frame || "birth" in frame || "box" in frame) this.#move(frame, now);
    if ("samples" in frame || "sample_label" in frame) this.#scatter(frame, now);
    for (const [, kind, before, after, , , , where] of events) {
      const id = kind === "gone" ? before[0] : after[0];
      this.ripples.push({ x: where[0], y: where[1], kind, id, born: now });
    }
    this.ripples = this.ripples.slice(-12);
    this.groups = grouped(this.label, this.n);
  }

  // Every node starts from the current position of the node with the same birth number.
  #move(frame, now) {
    this.box = frame.box ?? this.box;
    this.steps = frame.at ?? this.steps;
    this.glide(now);
    this.pause += (Math.min(now - this.started, GLIDE.most) - this.pause) / 4; // between two frames
    const birth = frame.birth ?? this.birth;
    const to = positions(this.steps, this.box);
    const from = to.slice();
    for (let i = 0, j = 0; j < birth.length; j++) {
      while (i < this.n && this.birth[i] < birth[j]) i++; // both are in the order of birth
      if (i < this.n && this.birth[i] === birth[j]) {
        from[2 * j] = this.at[2 * i];
        from[2 * j + 1] = this.at[2 * i + 1];
      }
    }
    Object.assign(this, { from, to, at: from.slice(), birth, n: birth.length, started: now, glides: true });
  }

  #scatter(frame, now) {
    this.lastSamples = frame.samples ?? this.lastSamples;
    this.lastLabels = frame.sample_label ?? this.lastLabels;
    this.clouds.push({ at: positions(this.lastSamples, this.box), label: this.lastLabels, born: now });
    this.clouds = this.clouds.slice(-16);
  }

  // Updates the positions; true while something is moving or fading.
  glide(now) {
    if (this.glides) {
      const t = Math.min((now - this.started) / Math.max(1.1 * this.pause, GLIDE.least), 1);
      for (let k = 0; k < this.at.length; k++) this.at[k] = this.from[k] + (this.to[k] - this.from[k]) * t;
      this.glides = t < 1;
    }
    if (this.clouds.length > 1) {
      const last = this.clouds.at(-1);
      this.clouds = this.clouds.filter((cloud) => cloud === last || now - cloud.born < SAMPLE_LIFE);
    }
    this.ripples = this.ripples.filter((ripple) => now - ripple.born < RIPPLE_LIFE);
    return this.glides || this.clouds.length > 1 || this.ripples.length > 0;
  }

  freshness(cloud, now) {
    return Math.max(1 - (now - cloud.born) / SAMPLE_LIFE, cloud === this.clouds.at(-1) ? 0.55 : 0);
  }

  rippleAge(ripple, now) {
    return (now - ripple.born) / RIPPLE_LIFE;
  }

  // The node nearest to a point, with its distance in pixels.
  nearest(right, down, lens) {
    let best = -1, least = Infinity;
    for (let k = 0; k < this.n; k++) {
      const dx = this.at[2 * k] * lens.sx + lens.ox - right, dy = this.at[2 * k + 1] * lens.sy + lens.oy - down;
      const square = dx * dx + dy * dy;
      if (square < least) [best, least] = [k, square];
    }
    return { node: best, distance: Math.sqrt(least) };
  }
}

function positions(steps, box) {
  const at = new Float64Array(steps.length);
  const sx = (box[2] - box[0]) / 65535, sy = (box[3] - box[1]) / 65535;
  for (let k = 0; k < steps.length; k += 2) {
    at[k] = box[0] + steps[k] * sx;
    at[k + 1] = box[1] + steps[k + 1] * sy;
  }
  return at;
}

// Nodes by cluster; those in no cluster come first, so that they lie underneath.
function grouped(label, n) {
  const groups = new Map();
  for (let k = 0; k < Math.min(n, label.length); k++) {
    if (!groups.has(label[k])) groups.set(label[k], []);
    groups.get(label[k]).push(k);
  }
  return [...groups].map(([id, nodes]) => ({ id, nodes })).sort((a, b) => a.id - b.id);
}
