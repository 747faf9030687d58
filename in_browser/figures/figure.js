/** Every figure of a page that is drawn here: its kind says who draws it. */
import { Arcs } from "./arcs.js";
import { Film } from "./film.js";
import { Flow } from "./flow.js";
import { Maps } from "./maps.js";
import { Matrices } from "./matrices.js";
import { Model } from "./model.js";
import { Ribbons } from "./ribbons.js";

const KINDS = {
  arcs: Arcs,
  film: Film,
  flow: Flow,
  maps: Maps,
  matrices: Matrices,
  model: Model,
  ribbons: Ribbons,
};
const drawn = new WeakMap();

/** Streamlit calls this when a figure comes onto the page, and whenever its data change. */
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const before = drawn.get(parentElement);
  const figure = before?.kind === data.kind ? before : new KINDS[data.kind]();
  if (figure !== before) {
    figure.kind = data.kind;
    figure.root.style.visibility = "hidden"; // until its style is here, which says otherwise
    before?.root.remove();
    parentElement.append(figure.root);
    drawn.set(parentElement, figure);
  }
  figure.send = setStateValue; // the last ones: those before may speak for a widget that is gone
  figure.trigger = setTriggerValue;
  const { written, ...beside } = data;
  if (figure.came !== written) figure.read = JSON.parse((figure.came = written));
  figure.update({ ...figure.read, ...beside });
}
