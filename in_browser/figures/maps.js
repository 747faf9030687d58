/** Many heads on one sentence: a small map of each, queries from top to bottom, keys from left to right. The area of a
    square is the weight. */
import { filled, svg } from "./elements.js";
import { Pointed } from "./pointed.js";
import { box, set, shorten, text } from "./shapes.js";

const [LARGEST, LARGEST_CELL, GAP] = [190, 24, 12]; // pixels
const [NAMES, SCORES] = [13, 13];
const LEAST_SIDE = 72; // of a map: where it would be smaller, fewer stand side by side

export class Maps extends Pointed {
  constructor() {
    super({ class: "map-rows", role: "img" });
    this.picture.addEventListener("pointerover", ({ target }) => this.point(target));
    this.picture.addEventListener("pointerleave", () => this.point(null));
  }

  draw(width) {
    const { maps, names, in_a_row: most, least } = this.data;
    const many = Math.max(1, Math.min(most, Math.floor(width / (LEAST_SIDE + GAP))));
    const across = width / many;
    const side = Math.min(LARGEST, LARGEST_CELL * names.length, across - GAP);
    const [name, score] = [Math.max(NAMES, least), Math.max(SCORES, least)];
    const scored = maps.some((one) => one.score);
    const above = name + (scored ? score : 0) + 16;
    const rows = Math.ceil(maps.length / many);
    set(this.picture, { width, height: rows * (side + above + GAP) });
    this.picture.style.setProperty("--letters", `${name}px`);
    const drawn = maps.map((one, at) => {
      const [x, y] = [(at % many) * across, Math.floor(at / many) * (side + above + GAP) + above];
      const frame = svg("rect", { class: one.chosen ? "frame chosen" : "frame" });
      set(frame, box(x, y, side, side));
      const title = text(one.name, x, y - (scored ? score + 17 : 13), name, { class: "strong" });
      const said = text(one.score, x, y - 11, score, { class: "muted" });
      const cell = side / names.length;
      const cells = one.weights.map(([query, key, weight], which) => {
        const long = cell * Math.sqrt(weight);
        const gap = (cell - long) / 2;
        const square = svg("rect", {
          class: "weight",
          "data-map": at,
          "data-at": which,
        });
        set(square, box(x + key * cell + gap, y + query * cell + gap, long, long));
        return square;
      });
      return svg("g", {}, frame, title, said, ...cells);
    });
    this.picture.replaceChildren(...drawn);
    for (const one of this.picture.querySelectorAll("text")) shorten(one, across - GAP);
    this.point(null);
  }

  /** What is said of a square. */
  point(square) {
    if (!square?.dataset.at) {
      this.says.value = this.data.hint;
      return;
    }
    const { maps, names, told } = this.data;
    const { name, weights } = maps[square.dataset.map];
    const [query, key, , weight] = weights[square.dataset.at];
    this.says.value = filled(told, { head: name, query: names[query], key: names[key], weight });
  }
}
