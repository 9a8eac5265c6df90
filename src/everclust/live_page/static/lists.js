// The table of clusters and the log of events.

import { colourOf } from "./colours.js";
import { brief, count, element } from "./words.js";

const MOST_LINES = 200;
const AT_ONCE = 12; // events that are listed as they come,
const A_SECOND = 0.8; // and from then on;
const OF_THE_PAST = 60; // of those before this page was opened
const QUIET = 10; // a cluster that was not seen for so many intervals is drawn paler

export class ClusterTable {
  constructor(body, choose) {
    this.body = body;
    this.choose = choose;
    this.rows = new Map();
  }

  show(nSeen, table, interval, selected) {
    const total = table.reduce((sum, row) => sum + row[1], 0) || 1;
    const largest = table.length ? table[0][1] : 1;
    const kept = new Set(table.map((row) => row[0]));
    for (const [id, row] of this.rows) if (!kept.has(id)) row.remove(), this.rows.delete(id);
    let place = this.body.firstChild;
    for (const [id, size, nodes, since, last] of table) {
      const row = this.rows.get(id) ?? this.#add(id);
      const cells = row.children;
      write(cells[1], brief(size));
      cells[2].firstChild.title = `${((100 * size) / total).toFixed(1)} %`;
      cells[2].firstChild.firstChild.style.width = `${(100 * size) / largest}%`;
      write(cells[3], count(nodes));
      write(cells[4], brief(nSeen - since));
      const ago = nSeen - last;
      write(cells[5], ago === 0 ? "now" : `${brief(ago)} ago`);
      row.classList.toggle("quiet", ago > QUIET * interval);
      row.setAttribute("aria-selected", id === selected);
      if (row !== place) this.body.insertBefore(row, place);
      else place = place.nextSibling;
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

// Text that stays the same need not be laid out again.
function write(cell, text) {
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
    this.room = AT_ONCE;
    this.last = performance.now();
  }

  // List what there is room for, the weightiest first; says what was listed.
  add(events, now) {
    if (!this.hasAny) this.list.replaceChildren();
    if (!this.hasAny) this.room = OF_THE_PAST;
    const told = this.#weightiest(events, now);
    const lines = told.toReversed().map((event) => this.#line(event, this.hasAny));
    this.hasAny = true;
    this.room = Math.min(this.room, AT_ONCE);
    this.list.prepend(...lines);
    while (this.list.childElementCount > MOST_LINES) this.list.lastChild.remove();
    return told;
  }

  // A log that nobody can follow says nothing: about a line a second, after some at once. Mergers and
  // splits have precedence.
  #weightiest(events, now) {
    this.room = Math.min(this.room + ((now - this.last) / 1000) * A_SECOND, Math.max(this.room, AT_ONCE));
    this.last = now;
    const isChange = ([, kind]) => kind === "merged" || kind === "split";
    const weight = (event) => Math.min(...event[4]) * (isChange(event) ? 1e6 : 1);
    const chosen = new Set();
    for (const event of events.toSorted((a, b) => weight(b) - weight(a))) {
      if (this.room < (isChange(event) ? 1 - AT_ONCE : 1)) break;
      chosen.add(event);
      this.room--;
    }
    return events.filter((event) => chosen.has(event));
  }

  sum(counts) {
    const kinds = ["born", "merged", "split", "gone"].filter((kind) => kind in counts);
    this.summary.textContent = kinds.map((kind) => `${brief(counts[kind])} ${kind}`).join(" · ");
    this.summary.title = "Since this page is served. When more happens than can be read, the weightiest are listed.";
  }

  // The server words the event; integers among the words are ids.
  #line([sample, kind, , , , words], isNews) {
    const sentence = element("span", {}, ...words.map((word) => (typeof word === "number" ? this.#id(word) : word)));
    return element("li", { class: isNews ? "new" : "", "data-kind": kind },
      element("span", { class: "sample" }, count(sample)), sentence);
  }

  #id(id) {
    const button = element("button", { class: "id" }, element("span", { class: "chip", colour: colourOf(id) }), String(id));
    button.onclick = () => this.choose(id);
    return button;
  }
}
