/** Every figure of a page that is drawn here: its kind says who draws it. */
import { Matrices } from "./matrices.js";

const KINDS = { matrices: Matrices };
const drawn = new WeakMap();

/** Streamlit calls this when a figure comes onto the page, and whenever its data change. */
export default function ({ data, parentElement }) {
  let figure = drawn.get(parentElement);
  if (!figure?.fits(data)) {
    figure?.root.remove();
    figure = new KINDS[data.kind](data);
    figure.root.style.visibility = "hidden"; // until its style is here, which says otherwise
    parentElement.append(figure.root);
    drawn.set(parentElement, figure);
  }
  figure.update(data);
}
