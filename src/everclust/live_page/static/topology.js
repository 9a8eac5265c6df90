// Draws the scene on a canvas.

import { Camera, ticks } from "./camera.js";
import { colourOf, isDark, themeColour } from "./colours.js";
import { measure } from "./format.js";

const MAX_NAMES = 24; // ids drawn beside clusters: the largest,
const MIN_SHARE = 0.004; // if they hold this share of the samples
const TAU = 2 * Math.PI;

export class Topology {
  constructor(canvas, scene) {
    this.canvas = canvas;
    this.scene = scene;
    this.pen = canvas.getContext("2d", { alpha: false });
    this.camera = new Camera();
    this.axes = ["", ""];
    this.selected = null;
    this.named = new Set();
    this.pointed = -1; // birth of the node under the pointer
    this.stale = true;
    this.nDrawn = 0;
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const pixelRatio = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(width * pixelRatio);
    this.canvas.height = Math.round(height * pixelRatio);
    this.pixelRatio = pixelRatio;
    this.camera.resize(width, height);
    this.stale = true;
  }

  // Chooses the clusters whose ids are drawn.
  name(table) {
    const total = table.reduce((sum, row) => sum + row[1], 0);
    const large = table.slice(0, MAX_NAMES).filter((row) => row[1] >= MIN_SHARE * total);
    this.named = new Set(large.map((row) => row[0]));
  }

  // The side of the canvas on which a cluster lies.
  side(id) {
    const nodes = this.scene.groups.find((group) => group.id === id)?.nodes ?? [];
    const x = nodes.reduce((sum, k) => sum + this.spot[2 * k], 0) / (nodes.length || 1);
    return x > this.camera.width / 2 ? "right" : "left";
  }

  // Draws if anything has changed.
  draw(now) {
    const moves = this.scene.glide(now), turns = this.camera.move(0.12);
    if (!(moves || turns || this.stale) || this.camera.box === null) return;
    this.stale = moves || turns;
    this.nDrawn++;
    const pen = this.pen, lens = (this.lens = this.camera.lens());
    pen.setTransform(this.pixelRatio, 0, 0, this.pixelRatio, 0, 0);
    pen.fillStyle = themeColour("--raised");
    pen.fillRect(0, 0, this.camera.width, this.camera.height);
    this.#grid(lens);
    this.#samples(lens, now);
    this.#project(lens);
    this.#edges();
    this.#nodes();
    this.#ripples(lens, now);
    this.#names();
    this.#ring();
  }

  #grid(lens) {
    const { pen } = this, font = "11px system-ui, sans-serif";
    pen.font = font;
    pen.lineWidth = 1;
    pen.strokeStyle = themeColour("--grid");
    pen.fillStyle = themeColour("--faint");
    pen.beginPath();
    pen.textAlign = "center";
    const reach = (a, b, s, o) => [(a - o) / s, (b - o) / s].sort((p, q) => p - q);
    for (const x of ticks(...reach(lens.left, lens.right, lens.sx, lens.ox), (lens.right - lens.left) / 110)) {
      const right = Math.round(x * lens.sx + lens.ox) + 0.5;
      pen.moveTo(right, 0);
      pen.lineTo(right, lens.bottom + 6);
      pen.fillText(measure(x), right, lens.bottom + 18);
    }
    pen.textAlign = "right";
    for (const y of ticks(...reach(lens.bottom, lens.top, lens.sy, lens.oy), (lens.bottom - lens.top) / 80)) {
      const down = Math.round(y * lens.sy + lens.oy) + 0.5;
      pen.moveTo(lens.left - 6, down);
      pen.lineTo(this.camera.width, down);
      pen.fillText(measure(y), lens.left - 9, down + 4);
    }
    pen.stroke();
    pen.fillStyle = themeColour("--soft");
    pen.fillText(this.axes[0], lens.right, lens.bottom + 31);
    pen.textAlign = "left";
    pen.fillText(this.axes[1], 10, 14);
  }

  #samples(lens, now) {
    const { pen } = this;
    for (const cloud of this.scene.clouds) {
      const fresh = this.scene.freshness(cloud, now);
      for (let k = 0; k < cloud.label.length; k++) {
        const shown = this.selected === null || this.selected === cloud.label[k];
        pen.globalAlpha = fresh * (shown ? 0.5 : 0.12);
        pen.fillStyle = colourOf(cloud.label[k]);
        pen.fillRect(cloud.at[2 * k] * lens.sx + lens.ox - 1.1, cloud.at[2 * k + 1] * lens.sy + lens.oy - 1.1, 2.2, 2.2);
      }
    }
    pen.globalAlpha = 1;
  }

  // Positions of the nodes on the canvas, for edges and nodes.
  #project(lens) {
    const { at, n } = this.scene;
    if (!this.spot || this.spot.length < 2 * n) this.spot = new Float32Array(4 * n);
    for (let k = 0; k < n; k++) {
      this.spot[2 * k] = at[2 * k] * lens.sx + lens.ox;
      this.spot[2 * k + 1] = at[2 * k + 1] * lens.sy + lens.oy;
    }
  }

  #edges() {
    const { pen, spot } = this, { edges, label, n } = this.scene;
    const paths = new Map();
    for (let e = 0; e < edges.length; e += 2) {
      const a = edges[e], b = edges[e + 1];
      if (a >= n || b >= n) continue;
      let path = paths.get(label[a]);
      if (!path) paths.set(label[a], (path = new Path2D()));
      path.moveTo(spot[2 * a], spot[2 * a + 1]);
      path.lineTo(spot[2 * b], spot[2 * b + 1]);
    }
    pen.lineWidth = n > 800 ? 1 : 1.6;
    for (const [id, path] of paths) {
      pen.globalAlpha = this.selected === null || this.selected === id ? (isDark() ? 0.5 : 0.42) : 0.08;
      pen.strokeStyle = colourOf(id);
      pen.stroke(path);
    }
    pen.globalAlpha = 1;
  }

  radius(k) {
    const crowd = Math.min(1, Math.max(0.5, Math.sqrt(350 / Math.max(this.scene.n, 1))));
    return (1.7 + 0.085 * this.scene.use[k]) * crowd + 0.6;
  }

  #nodes() {
    const { pen, spot, scene } = this;
    for (const { id, nodes } of scene.groups) {
      const dim = this.selected !== null && this.selected !== id;
      pen.globalAlpha = dim ? (isDark() ? 0.3 : 0.18) : id < 0 ? 0.5 : 1;
      pen.fillStyle = colourOf(id);
      pen.beginPath();
      for (const k of nodes) {
        const r = id < 0 ? Math.min(this.radius(k), 2) : this.radius(k);
        pen.moveTo(spot[2 * k] + r, spot[2 * k + 1]);
        pen.arc(spot[2 * k], spot[2 * k + 1], r, 0, TAU);
      }
      pen.fill();
      if (id >= 0 && !dim && scene.n < 600) {
        pen.strokeStyle = themeColour("--raised");
        pen.lineWidth = 1;
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  #ripples(lens, now) {
    const { pen } = this;
    for (const ripple of this.scene.ripples) {
      const age = this.scene.rippleAge(ripple, now);
      const inwards = ["gone", "merged", "quiet"].includes(ripple.kind);
      const reach = 7 + 26 * (inwards ? 1 - age : age);
      pen.globalAlpha = (1 - age) ** 1.5;
      pen.strokeStyle = colourOf(ripple.id);
      pen.lineWidth = 2.2;
      pen.beginPath();
      pen.arc(ripple.x * lens.sx + lens.ox, ripple.y * lens.sy + lens.oy, reach, 0, TAU);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // The ids of the largest clusters, above their highest node.
  #names() {
    const { pen, spot } = this;
    const named = this.scene.groups.filter((group) => this.named.has(group.id) || group.id === this.selected);
    const taken = [];
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineJoin = "round";
    for (const { id, nodes } of named) {
      let x = 0, top = Infinity;
      for (const k of nodes) {
        x += spot[2 * k] / nodes.length;
        top = Math.min(top, spot[2 * k + 1]);
      }
      const y = Math.max(top - 11, 12);
      if (taken.some(([a, b]) => Math.abs(a - x) < 22 && Math.abs(b - y) < 13)) continue;
      taken.push([x, y]);
      pen.globalAlpha = this.selected === null || this.selected === id ? 1 : 0.3;
      pen.strokeStyle = themeColour("--raised");
      pen.lineWidth = 4;
      pen.strokeText(id, x, y);
      pen.fillStyle = themeColour("--ink");
      pen.fillText(id, x, y);
    }
    pen.globalAlpha = 1;
  }

  #ring() {
    const k = this.pointed < 0 ? -1 : this.scene.birth.indexOf(this.pointed);
    if (k < 0) return;
    this.pen.strokeStyle = themeColour("--ink");
    this.pen.lineWidth = 1.5;
    this.pen.beginPath();
    this.pen.arc(this.spot[2 * k], this.spot[2 * k + 1], this.radius(k) + 3, 0, TAU);
    this.pen.stroke();
  }
}
