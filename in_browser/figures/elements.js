/** What figures are built of. Texts of visitors become text, never markup. */

/** An element with its attributes, its style and what stands in it. */
export function html(name, { style = {}, ...attributes } = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value != null) made.setAttribute(key, value);
  for (const [key, value] of Object.entries(style)) made.style.setProperty(key, value);
  made.append(...inside.filter((part) => part != null));
  return made;
}

/** The same of a drawing. */
export function svg(name, attributes = {}, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

/** A text with values in the place of their names. What visitors wrote is one of them, and no pattern. */
export const filled = (template, values) =>
  template.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

/** Numbers of 32 bits, which travel as a text. */
export const numbersIn = (text) =>
  new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

/** Whether a key was pressed together with another that gives it a meaning of its own. */
export const modified = ({ altKey, ctrlKey, metaKey, shiftKey }) =>
  altKey || ctrlKey || metaKey || shiftKey;

/** Whether a visitor likes things to move. */
export const moves = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;
