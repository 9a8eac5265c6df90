// Connects the parts of the page: frames update the view, buttons send commands.

import { Details, Hint } from "./details.js";
import { setPalette, setTheme, isDark } from "./colours.js";
import { Frames } from "./frames.js";
import { ClusterTable, EventLog } from "./lists.js";
import { Scene } from "./scene.js";
import { Topology } from "./topology.js";
import { Traces } from "./traces.js";
import { count, element } from "./format.js";

const REACH = 14; // pixels within which the pointer finds a node
const by = (id) => document.getElementById(id);
const STATUS_TEXT = {
  connecting: "connecting", learning: "learning", paused: "paused", ended: "the stream has ended",
  waiting: "about to begin", lost: "no connection, trying again", silent: "the server does not answer", stopped: "the server has stopped",
};

const scene = new Scene();
const topology = new Topology(by("topology"), scene);
const traces = new Traces();
const table = new ClusterTable(by("table"), toggle);
const log = new EventLog(by("log"), by("counts"), choose);
const details = new Details(by("details"), () => choose(null));
const hint = new Hint(by("hint"), by("stage"));
const known = { instance: null, n: 0, interval: 1, table: [0, []], status: "connecting", told: "connecting", controlsStream: false, features: "" };

const frames = new Frames({
  hello(hello) {
    if (known.instance !== hello.instance) scene.clear();
    Object.assign(known, { instance: hello.instance, controlsStream: hello.controls_stream });
    setPalette(hello.palette);
    by("title").textContent = by("title").title = hello.title;
    document.title = `${hello.title} · everclust`;
    by("learning").hidden = hello.view_only;
    known.viewOnly = hello.view_only;
    by("speed-choice").hidden = !hello.controls_stream;
    by("pause").title = hello.controls_stream ? "Pause or go on (space)" : "Pause the view or go on; the model learns all the while (space)";
    by("step").title = hello.controls_stream ? "One sample further (.), or a hundred with Shift" : "Look once more (.)";
    fresh = true;
  },
  frame: update,
  lost: () => known.status === "stopped" || status("lost"),
  silent: () => status("silent"),
  back: () => status(known.told),
  stopped: () => status("stopped"),
});
let fresh = true; // the next frame is the first of a connection

function update(frame) {
  const now = performance.now();
  if (fresh || frame.reset) {
    traces.clear();
    log.clear();
    if (!fresh) scene.clear();
  }
  if ("status" in frame) status((known.told = frame.status));
  if ("speed" in frame) showSpeed(frame.speed);
  if ("features" in frame) showFeatures(frame.features);
  if ("axes" in frame) topology.axes = frame.axes;
  if ("n" in frame) known.n = frame.n;
  if (frame.counts) log.showCounts(frame.counts);
  const listed = frame.events ? log.add(frame.events, now) : [];
  scene.update(frame, now, fresh ? [] : listed);
  fresh = false;
  if ("box" in frame || "equal" in frame) {
    known.equal = frame.equal ?? known.equal;
    topology.camera.aim(frame.box ?? scene.box, known.equal);
  }
  topology.stale = true;
  if (frame.trace) traces.add(frame.trace, now);
  if (frame.trace) known.interval = frame.trace.at(-1)[1];
  if (frame.table) {
    known.table = frame.table;
    table.show(...known.table, known.interval, details.id);
    topology.name(known.table[1]);
  }
  by("empty").hidden = scene.n > 0;
}

function status(name) {
  known.status = name;
  by("status").dataset.status = name;
  by("status").lastElementChild.textContent = STATUS_TEXT[name];
  const isUp = name === "learning" || name === "paused" || name === "waiting";
  by("pause").disabled = by("step").disabled = !isUp || known.viewOnly;
  by("pause").textContent = name === "paused" ? "Go on" : "Pause";
}

function showSpeed(speed) {
  const select = by("speed"), value = speed === null ? "" : String(speed);
  if (![...select.options].some((option) => option.value === value)) {
    select.prepend(element("option", { value }, `${count(speed)} a second`));
  }
  select.value = value;
}

function showFeatures(features) {
  const key = JSON.stringify(features);
  if (key === known.features) return;
  known.features = key;
  for (const id of ["axis-x", "axis-y"]) {
    const select = by(id);
    const first = features.length > 2 ? [element("option", { value: "" }, "principal")] : [];
    const before = select.value;
    select.replaceChildren(...first, ...features.map((name, k) => element("option", { value: k }, name)));
    select.value = features.length > 2 ? before : id === "axis-x" ? "0" : "1";
    select.disabled = features.length < 2;
  }
}

// Either both axes are features or both are principal.
function chooseAxis(changed, other) {
  if (changed.value === "") other.value = "";
  else if (other.value === "") other.value = changed.value === "0" ? "1" : "0";
  frames.setAxes(by("axis-x").value, by("axis-y").value);
}

function toggle(id) {
  choose(details.id === id ? null : id);
}

function choose(id) {
  if (id !== details.id) details.avoid(topology.side(id));
  details.show(id);
  topology.selected = id;
  topology.stale = true;
  table.show(...known.table, known.interval, id);
}

async function send(command) {
  const answer = await fetch(command, { method: "POST" }).catch(() => null);
  if (answer?.ok) {
    const state = await answer.json();
    status((known.told = state.status));
    showSpeed(state.speed);
  }
}

function point(event) {
  if (!topology.lens || !scene.n) return null;
  const canvas = by("topology").getBoundingClientRect();
  const right = event.clientX - canvas.left, down = event.clientY - canvas.top;
  const { node, distance } = scene.nearest(right, down, topology.lens);
  return distance < REACH ? { node, right, down } : null;
}

by("topology").onpointermove = (event) => {
  const found = point(event);
  const birth = found ? scene.birth[found.node] : -1;
  if (birth !== topology.pointed) topology.stale = true;
  topology.pointed = birth;
  found ? hint.show(birth, found.right, found.down) : hint.hide();
};
by("topology").onpointerleave = () => {
  topology.pointed = -1;
  topology.stale = true;
  hint.hide();
};
by("topology").onclick = (event) => {
  const found = point(event);
  const id = found ? scene.label[found.node] : -1;
  choose(id < 0 || id === details.id ? null : id);
};
by("pause").onclick = () => send(known.status === "paused" ? "go" : "pause");
by("step").onclick = (event) => send(`step?rows=${event.shiftKey ? 100 : 1}`);
by("speed").onchange = () => send(`speed?rows=${by("speed").value}`);
by("axis-x").onchange = () => chooseAxis(by("axis-x"), by("axis-y"));
by("axis-y").onchange = () => chooseAxis(by("axis-y"), by("axis-x"));
by("theme").onclick = () => showTheme(isDark() ? "light" : "dark", true);
document.onkeydown = (event) => {
  if (event.key === "Escape") return choose(null);
  if (event.target.closest("select, button, tr") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " ") by("pause").click();
  else if ((event.key === "." || event.key === ">") && !known.viewOnly) send(`step?rows=${event.shiftKey ? 100 : 1}`);
  else return;
  event.preventDefault();
};

// Storage throws where the browser blocks it, as in a notebook's frame.
function storedTheme(theme) {
  try {
    if (theme) localStorage.setItem("everclust-theme", theme);
    return localStorage.getItem("everclust-theme");
  } catch {
    return null;
  }
}

function showTheme(theme, keep = false) {
  setTheme(theme);
  topology.stale = traces.stale = true;
  if (keep) storedTheme(theme);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
showTheme(storedTheme() ?? (dark.matches ? "dark" : "light"));
dark.onchange = () => storedTheme() ?? showTheme(dark.matches ? "dark" : "light");

// A hidden page closes its connection.
document.onvisibilitychange = () => (document.hidden ? frames.close() : frames.open());
new ResizeObserver(() => {
  topology.resize();
  traces.stale = true;
}).observe(by("stage"));
setInterval(() => traces.draw(performance.now()), 250);
setInterval(() => details.id !== null && known.status === "learning" && details.show(details.id), 2000);

function loop(now) {
  topology.draw(now);
  requestAnimationFrame(loop);
}
topology.resize();
frames.open();
requestAnimationFrame(loop);
window.everclust = { topology, scene, known }; // for tests and the console
