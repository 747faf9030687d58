/** Shapes of marks and texts of drawings, and what places them. */
import { svg } from "./elements.js";

// Of a mark as large as a square of 2 by 2; which role its colour plays, CSS says by its kind.
const SQUARE = "M-1,-1H1V1H-1Z";
const CROSS = "M-1,-.4H-.4V-1H.4V-.4H1V.4H.4V1H-.4V.4H-1Z";
const [UP, DOWN] = ["M0,-.866L-1,.866H1Z", "M0,.866L-1,-.866H1Z"];
const DIAMOND = "M0,-1L1,0L0,1L-1,0Z";
const CIRCLE = "M0,-1A1,1 0 0 1 0,1A1,1 0 0 1 0,-1Z";
const SHAPES = {
  name_again: CROSS,
  same: UP,
  previous: SQUARE,
  punctuation: DOWN,
  induction: DIAMOND,
};

/** The mark of a kind around a point, as large as a square of this area. */
export function mark(kind, x, y, area) {
  const half = Math.sqrt(area) / 2;
  const place = `translate(${x.toFixed(2)},${y.toFixed(2)}) scale(${half.toFixed(3)})`;
  return svg("path", { d: SHAPES[kind] ?? CIRCLE, class: `mark ${kind}`, transform: place });
}

export const box = (x, y, width, height) => ({ x, y, width, height });

/** Numbers as attributes. */
export function set(element, values) {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value.toFixed(2));
}

/** A text at a place, of so many pixels. */
export function write(element, said, x, y, size, look = {}) {
  for (const [name, value] of Object.entries(look)) element.setAttribute(name, value);
  set(element, { x, y, "font-size": size });
  element.textContent = said;
  return element;
}

/** A new one. */
export const text = (...what) => write(svg("text"), ...what);

/** A text that is cut where it would be wider than it may be. */
export function shorten(element, most) {
  const letters = [...element.textContent];
  while (letters.length > 1 && element.getComputedTextLength() > most) {
    letters.pop();
    element.textContent = `${letters.join("")}…`;
  }
}
