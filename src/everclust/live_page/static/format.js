// Numbers as text, and small pieces of HTML.

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-GB", { notation: "compact", maximumSignificantDigits: 3 });

export const count = (n) => whole.format(n);
export const counted = (n, noun) => `${count(n)} ${n === 1 ? noun : `${noun}s`}`;
export const brief = (n) => (Math.abs(n) < 10_000 ? whole.format(n) : short.format(n));

export function measure(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(1).replace("e+", "e");
  return String(Number(x.toPrecision(4)));
}

// A time of the stream, to the second.
export const moment = (time) => time.replace("T", " ").replace(/(\.\d+)?Z$/, "");

// Builds an element; children are inserted as text, never as markup.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "colour") made.style.background = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function facts(pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}
