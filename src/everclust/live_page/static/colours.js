// A cluster's colour depends only on its id, so it never changes.

const SHADES = 0.5; // how much repeated colours differ
const GOLDEN = 0.6180339887498949; // multiples of it, modulo 1, fill an interval evenly
const known = new Map();
let palette = ["#0072b2"];
let styles = null;

export function setPalette(colours) {
  palette = colours;
  known.clear();
}

export function colourOf(id) {
  if (id < 0) return themeColour("--none");
  if (!known.has(id)) known.set(id, shaded(palette[id % palette.length], Math.floor(id / palette.length)));
  return known.get(id);
}

// After the last colour of the palette they repeat, lighter or darker.
function shaded(colour, round) {
  if (round === 0) return colour;
  const amount = (((round * GOLDEN) % 1) - 0.5) * SHADES;
  const towards = amount > 0 ? 255 : 0;
  const parts = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return `rgb(${parts.map((part) => Math.round(part + (towards - part) * Math.abs(amount))).join(" ")})`;
}

function readColour(name) {
  styles ??= getComputedStyle(document.documentElement);
  return styles.getPropertyValue(name).trim();
}

export function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  colours.clear();
}

const colours = new Map();

// A colour of the stylesheet; cached, because reading a style costs more than drawing a line.
export function themeColour(name) {
  if (!colours.has(name)) colours.set(name, readColour(name));
  return colours.get(name);
}
