// The histories of interval, vigilance, nodes and clusters.

import { themeColour } from "./colours.js";
import { brief, count } from "./format.js";

const COLUMNS = { interval: 1, vigilance: 2, nodes: 3, clusters: 4 };
const MAX_POINTS = 1200;

export class Traces {
  constructor() {
    this.points = [];
    this.rates = [];
    this.stale = true;
    this.nodes = {};
    for (const id of [...Object.keys(COLUMNS), "samples", "rate"]) this.nodes[id] = document.getElementById(`now-${id}`);
  }

  clear() {
    this.points = [];
    this.rates = [];
    this.stale = true;
  }

  add(points, now) {
    this.points.push(...points);
    if (this.points.length > MAX_POINTS) {
      const half = MAX_POINTS / 2;
      this.points = [...this.points.slice(0, half).filter((_, k) => k % 2 === 0), ...this.points.slice(half)];
    }
    this.rates.push([now, this.points.at(-1)[0]]);
    this.stale = true;
  }

  // Samples per second over the last two seconds.
  rate(now) {
    this.rates = this.rates.filter(([t], k) => now - t < 2000 || k === this.rates.length - 1);
    const [t, n] = this.rates[0] ?? [now, 0];
    return this.rates.length > 1 ? ((this.rates.at(-1)[1] - n) / Math.max(now - t, 200)) * 1000 : 0;
  }

  draw(now) {
    const rate = this.rate(now);
    this.nodes.rate.textContent = this.points.length ? `${rate >= 10 ? brief(rate) : rate.toFixed(rate ? 1 : 0)} a second` : "";
    if (!this.stale || !this.points.length) return;
    this.stale = false;
    const last = this.points.at(-1);
    this.nodes.samples.textContent = count(last[0]);
    for (const [name, column] of Object.entries(COLUMNS)) {
      this.nodes[name].textContent = name === "vigilance" ? last[column].toFixed(4) : count(last[column]);
      this.#line(document.getElementById(`trace-${name}`), column);
    }
  }

  #line(canvas, column) {
    const { width, height } = canvas.getBoundingClientRect();
    const pixelRatio = Math.min(devicePixelRatio || 1, 2);
    if (canvas.width !== Math.round(width * pixelRatio)) canvas.width = Math.round(width * pixelRatio);
    if (canvas.height !== Math.round(height * pixelRatio)) canvas.height = Math.round(height * pixelRatio);
    const pen = canvas.getContext("2d");
    pen.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const bins = binned(this.points, column, Math.max(2, Math.floor((width - 40) / 2.5)));
    const low = Math.min(...bins.map((bin) => bin.low)), high = Math.max(...bins.map((bin) => bin.high));
    const x = (bin) => 3 + bin.place * (width - 42);
    const y = (v) => (high > low ? height - 5 - ((v - low) / (high - low)) * (height - 10) : height / 2);
    pen.fillStyle = pen.strokeStyle = themeColour("--accent");
    pen.beginPath();
    for (const bin of bins) pen.lineTo(x(bin), y(bin.high));
    for (const bin of bins.toReversed()) pen.lineTo(x(bin), y(bin.low));
    pen.globalAlpha = 0.2;
    pen.fill();
    pen.globalAlpha = 1;
    pen.beginPath();
    for (const bin of bins) pen.lineTo(x(bin), y(bin.mean));
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    pen.stroke();
    pen.beginPath();
    pen.arc(x(bins.at(-1)), y(bins.at(-1).mean), 2.6, 0, 7);
    pen.fill();
    if (high === low) return;
    pen.fillStyle = themeColour("--faint");
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "right";
    const text = (v) => (column === COLUMNS.vigilance ? v.toFixed(2) : brief(v));
    pen.fillText(text(high), width, 9);
    pen.fillText(text(low), width, height - 2);
  }
}

// Lowest, highest and mean value in bins of equal length along the stream.
function binned(points, column, n) {
  const first = points[0][0], whole = points.at(-1)[0] - first || 1;
  const bins = new Map();
  for (const point of points) {
    const place = (point[0] - first) / whole, k = Math.floor(place * n), v = point[column];
    const bin = bins.get(k) ?? { place, low: v, high: v, sum: 0, count: 0 };
    bin.low = Math.min(bin.low, v);
    bin.high = Math.max(bin.high, v);
    bin.sum += v;
    bin.mean = bin.sum / ++bin.count;
    bins.set(k, bin);
  }
  return [...bins.values()];
}
