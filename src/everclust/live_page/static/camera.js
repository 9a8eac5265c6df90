// Maps the plane to the canvas and follows the nodes smoothly.

const EDGE = { left: 46, right: 18, top: 18, bottom: 34 };

export class Camera {
  constructor() {
    this.box = null; // the part of the plane that is shown now
    this.goal = null;
    this.equal = false;
  }

  aim(box, equal) {
    this.goal = box.slice();
    if (this.box === null || this.equal !== equal || isFar(this.box, box)) this.box = box.slice();
    this.equal = equal;
  }

  // Moves a share of the way to the goal; true while it is still moving.
  move(share) {
    if (this.goal === null) return false;
    let moves = false;
    for (let k = 0; k < 4; k++) {
      const way = this.goal[k] - this.box[k];
      const width = this.box[2 + (k % 2)] - this.box[k % 2];
      if (Math.abs(way) < 1e-4 * width) this.box[k] = this.goal[k];
      else {
        this.box[k] += way * share;
        moves = true;
      }
    }
    return moves;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  // Scale and offset: right = x * sx + ox, down = y * sy + oy
  lens() {
    const [x0, y0, x1, y1] = this.box;
    const width = this.width - EDGE.left - EDGE.right, height = this.height - EDGE.top - EDGE.bottom;
    let sx = width / (x1 - x0), sy = height / (y1 - y0);
    if (this.equal) sx = sy = Math.min(sx, sy);
    return {
      sx, sy: -sy,
      ox: EDGE.left + width / 2 - (sx * (x0 + x1)) / 2,
      oy: EDGE.top + height / 2 + (sy * (y0 + y1)) / 2,
      left: EDGE.left, right: this.width - EDGE.right, top: EDGE.top, bottom: this.height - EDGE.bottom,
    };
  }
}

// True if the new box is elsewhere or has quite another size: jump there instead of moving.
function isFar(seen, box) {
  const isApart = (k) => box[k] > seen[k + 2] || box[k + 2] < seen[k];
  const isResized = (k) => {
    const ratio = (box[k + 2] - box[k]) / (seen[k + 2] - seen[k]);
    return ratio > 20 || ratio < 0.05;
  };
  return isApart(0) || isApart(1) || isResized(0) || isResized(1);
}

// About that many round numbers between two bounds.
export function ticks(low, high, about) {
  const rough = (high - low) / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}
