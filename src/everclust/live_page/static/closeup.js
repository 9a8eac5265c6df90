// What a cluster is made of, and what is known of the node under the pointer.

import { colourOf } from "./colours.js";
import { count, element, facts, measure, quantity } from "./words.js";

async function ask(what, id) {
  const answer = await fetch(`${what}?id=${id}`).catch(() => null);
  return answer?.ok ? answer.json() : null;
}

export class Closeup {
  constructor(panel, close) {
    this.panel = panel;
    this.close = close;
    this.id = null;
    this.asking = false;
  }

  // On the other side than the cluster itself.
  stand(side) {
    this.panel.classList.toggle("left", side === "right");
  }

  async show(id) {
    this.id = id;
    this.panel.hidden = id === null;
    if (id === null || this.asking) return;
    this.asking = true;
    const found = await ask("cluster", id);
    this.asking = false;
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
    const few = found.features.length < found.n_features ? `, the ${found.features.length} most telling of ${found.n_features}` : "";
    return [
      facts([
        ["size", `${count(found.size)} (${(100 * found.share).toFixed(1)} %)`],
        ["nodes", count(found.nodes)],
        ["spread", measure(found.spread)],
        ["there since sample", count(found.since)],
        ["last seen at", count(found.last)],
      ]),
      element("h3", {}, `Means against the whole stream, in standard deviations${few}`),
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
    this.#place(right, down);
    if (birth === this.birth) return;
    this.birth = birth;
    const found = await ask("node", birth);
    if (this.birth !== birth) return;
    if (found === null) return this.hide();
    const where = found.cluster < 0 ? "Node in no cluster" : `Node of cluster ${found.cluster}`;
    this.box.replaceChildren(
      element("b", {}, element("span", { class: "chip", colour: colourOf(found.cluster) }), where),
      facts([
        ["used", quantity(found.usage, "time")], ["last won at", count(found.last)], ["edges", count(found.edges)],
        ...(found.active ? [] : [["inactive", "–"]]),
        ...found.features.map(([name, x]) => [name, measure(x)]),
      ]));
    this.box.hidden = false;
    this.#place(right, down);
  }

  #place(right, down) {
    const room = this.stage.getBoundingClientRect(), own = this.box.getBoundingClientRect();
    this.box.style.left = `${right + own.width + 24 > room.width ? right - own.width - 14 : right + 14}px`;
    this.box.style.top = `${Math.max(4, Math.min(down + 12, room.height - own.height - 6))}px`;
  }
}
