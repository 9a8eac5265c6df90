// The table of clusters and the log of events.

import { colourOf } from "./colours.js";
import { brief, count, element, moment } from "./format.js";

const MAX_LINES = 200;
const BURST = 12; // events listed at once,
const PER_SECOND = 0.8; // and later on
const MAX_PAST = 60; // events listed from before the page was opened
const QUIET = 10; // intervals after which a cluster that was not seen is drawn paler

export class ClusterTable {
  constructor(body, choose) {
    this.body = body;
    this.choose = choose;
    this.rows = new Map();
  }

  show(nSeen, table, interval, selected) {
    const total = table.reduce((sum, row) => sum + row[1], 0) || 1;
    const largest = table.length ? table[0][1] : 1;
    const listed = new Set(table.map((row) => row[0]));
    for (const [id, row] of this.rows) if (!listed.has(id)) row.remove(), this.rows.delete(id);
    let next = this.body.firstChild;
    for (const [id, size, nodes, since, last] of table) {
      const row = this.rows.get(id) ?? this.#add(id);
      const cells = row.children;
      setText(cells[1], brief(size));
      cells[2].firstChild.title = `${((100 * size) / total).toFixed(1)} %`;
      cells[2].firstChild.firstChild.style.width = `${(100 * size) / largest}%`;
      setText(cells[3], count(nodes));
      setText(cells[4], brief(nSeen - since));
      const ago = nSeen - last;
      setText(cells[5], ago === 0 ? "now" : `${brief(ago)} ago`);
      row.classList.toggle("quiet", ago > QUIET * interval);
      row.setAttribute("aria-selected", id === selected);
      if (row !== next) this.body.insertBefore(row, next);
      else next = next.nextSibling;
    }
  }

  #add(id) {
    const share = element("span", { class: "share" }, element("i", { colour: colourOf(id) }));
    const row = element("tr", { tabindex: 0, "data-id": id },
      element("td", {}, element("span", { class: "chip", colour: colourOf(id) }), String(id)),
      element("td"), element("td", {}, share), element("td"), element("td"), element("td"));
    row.onclick = () => this.choose(id);
    row.onkeydown = (e) => (e.key === "Enter" ? this.choose(id) : null);
    this.rows.set(id, row);
    return row;
  }
}

// Avoids a new layout where the text stays the same.
function setText(cell, text) {
  if (cell.textContent !== text) cell.textContent = text;
}

export class EventLog {
  constructor(list, summary, choose) {
    this.list = list;
    this.summary = summary;
    this.choose = choose;
    this.clear();
  }

  clear() {
    this.list.replaceChildren(element("li", { class: "none" }, "Nothing has happened yet."));
    this.summary.textContent = "";
    this.hasAny = false;
    this.credit = BURST;
    this.last = performance.now();
  }

  // Lists the most important events; returns those that it listed.
  add(events, now) {
    if (!this.hasAny) this.list.replaceChildren();
    if (!this.hasAny) this.credit = MAX_PAST;
    const listed = this.#mostImportant(events, now);
    const lines = listed.toReversed().map((event) => this.#line(event, this.hasAny));
    this.hasAny = true;
    this.credit = Math.min(this.credit, BURST);
    this.list.prepend(...lines);
    while (this.list.childElementCount > MAX_LINES) this.list.lastChild.remove();
    return listed;
  }

  // Limits the log to about a line per second after a first burst, so that people can read it. Mergers and
  // splits have precedence.
  #mostImportant(events, now) {
    this.credit = Math.min(this.credit + ((now - this.last) / 1000) * PER_SECOND, Math.max(this.credit, BURST));
    this.last = now;
    const isChange = ([, kind]) => kind === "merged" || kind === "split";
    const importance = (event) => Math.min(...event[4]) * (isChange(event) ? 1e6 : 1);
    const chosen = new Set();
    for (const event of events.toSorted((a, b) => importance(b) - importance(a))) {
      if (this.credit < (isChange(event) ? 1 - BURST : 1)) break;
      chosen.add(event);
      this.credit--;
    }
    return events.filter((event) => chosen.has(event));
  }

  showCounts(counts) {
    const kinds = ["born", "merged", "split", "gone", "quiet", "back", "revised"].filter((kind) => kind in counts);
    this.summary.textContent = kinds.map((kind) => `${brief(counts[kind])} ${kind}`).join(" · ");
    this.summary.title = "All events since the page was started. The list shows the most important ones.";
  }

  // The server words the event; integers among the words are ids.
  #line([sample, kind, , , , words, time], isNews) {
    const sentence = element("span", {}, ...words.map((word) => (typeof word === "number" ? this.#id(word) : word)));
    return element("li", { class: isNews ? "new" : "", "data-kind": kind },
      element("span", { class: "sample", title: `sample ${count(sample)}` }, time ? moment(time) : count(sample)), sentence);
  }

  #id(id) {
    const button = element("button", { class: "id" }, element("span", { class: "chip", colour: colourOf(id) }), String(id));
    button.onclick = () => this.choose(id);
    return button;
  }
}
