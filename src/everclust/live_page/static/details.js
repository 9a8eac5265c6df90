// Details of the selected cluster and of the node under the pointer.

import { colourOf } from "./colours.js";
import { count, counted, element, facts, measure } from "./format.js";

async function request(what, id) {
  const answer = await fetch(`${what}?id=${id}`).catch(() => null);
  return answer?.ok ? answer.json() : null;
}

export class Details {
  constructor(panel, close) {
    this.panel = panel;
    this.close = close;
    this.id = null;
    this.loading = false;
  }

  // The panel stands on the side of the canvas where the cluster is not.
  avoid(side) {
    this.panel.classList.toggle("left", side === "right");
  }

  async show(id) {
    this.id = id;
    this.panel.hidden = id === null;
    if (id === null || this.loading) return;
    this.loading = true;
    const found = await request("cluster", id);
    this.loading = false;
    if (this.id !== id) return this.show(this.id);
    this.panel.replaceChildren(this.#head(id), ...(found ? this.#body(found) : [element("p", {}, "This cluster is gone.")]));
  }

  #head(id) {
    const button = element("button", { title: "Close (Esc)", "aria-label": "Close" }, "×");
    button.onclick = this.close;
    return element("header", {}, element("h2", {}, element("span", { class: "chip", colour: colourOf(id) }), `Cluster ${id}`), button);
  }

  #body(found) {
    const most = Math.max(1, ...found.features.map(([, , differs]) => Math.abs(differs)));
    const subset = found.features.length < found.n_features ? `: the ${found.features.length} largest of ${found.n_features}` : "";
    return [
      facts([
        ["size", `${count(found.size)} (${(100 * found.share).toFixed(1)} %)`],
        ["nodes", count(found.nodes)],
        ["spread", measure(found.spread)],
        ["there since sample", count(found.since)],
        ["last seen at", count(found.last)],
      ]),
      element("h3", {}, `Means against the whole stream, in standard deviations${subset}`),
      ...found.features.map((feature) => this.#feature(feature, most, found.id)),
    ];
  }

  #feature([name, mean, differs], most, id) {
    const bar = element("i", { colour: colourOf(id) });
    const half = (50 * Math.abs(differs)) / most;
    bar.style.left = `${differs < 0 ? 50 - half : 50}%`;
    bar.style.width = `${half}%`;
    const sign = `${differs < 0 ? "−" : "+"}${Math.abs(differs).toFixed(2)}`;
    return element("div", { class: "feature", title: `${name}: mean ${measure(mean)}` },
      element("span", {}, name), element("span", { class: "bar" }, bar), element("span", {}, sign));
  }
}

export class Hint {
  constructor(box, stage) {
    this.box = box;
    this.stage = stage;
    this.birth = -1;
  }

  hide() {
    this.birth = -1;
    this.box.hidden = true;
  }

  async show(birth, right, down) {
    this.#moveTo(right, down);
    if (birth === this.birth) return;
    this.birth = birth;
    const found = await request("node", birth);
    if (this.birth !== birth) return;
    if (found === null) return this.hide();
    const where = found.cluster < 0 ? "Node in no cluster" : `Node of cluster ${found.cluster}`;
    this.box.replaceChildren(
      element("b", {}, element("span", { class: "chip", colour: colourOf(found.cluster) }), where),
      facts([
        ["used", counted(found.usage, "time")], ["last won at", count(found.last)], ["edges", count(found.edges)],
        ...(found.active ? [] : [["inactive", "–"]]),
        ...found.features.map(([name, x]) => [name, measure(x)]),
      ]));
    this.box.hidden = false;
    this.#moveTo(right, down);
  }

  #moveTo(right, down) {
    const stage = this.stage.getBoundingClientRect(), own = this.box.getBoundingClientRect();
    this.box.style.left = `${right + own.width + 24 > stage.width ? right - own.width - 14 : right + 14}px`;
    this.box.style.top = `${Math.max(4, Math.min(down + 12, stage.height - own.height - 6))}px`;
  }
}
