// A cluster's colour depends on its id alone, and so never changes.

const SHADES = 0.5; // how different colours are that come again
const GOLDEN = 0.6180339887498949; // multiples of it, modulo 1, fill an interval evenly
const known = new Map();
let palette = ["#0072b2"];
let styles = null;

export function setPalette(colours) {
  palette = colours;
  known.clear();
}

export function colourOf(id) {
  if (id < 0) return quickInk("--none");
  if (!known.has(id)) known.set(id, shaded(palette[id % palette.length], Math.floor(id / palette.length)));
  return known.get(id);
}

// When all colours are used up they come again, lighter or darker.
function shaded(colour, round) {
  if (round === 0) return colour;
  const amount = (((round * GOLDEN) % 1) - 0.5) * SHADES;
  const towards = amount > 0 ? 255 : 0;
  const parts = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return `rgb(${parts.map((part) => Math.round(part + (towards - part) * Math.abs(amount))).join(" ")})`;
}

export function ink(name) {
  styles ??= getComputedStyle(document.documentElement);
  return styles.getPropertyValue(name).trim();
}

export function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  inks.clear();
}

const inks = new Map();

// Looking up a style costs more than drawing a line.
export function quickInk(name) {
  if (!inks.has(name)) inks.set(name, ink(name));
  return inks.get(name);
}
