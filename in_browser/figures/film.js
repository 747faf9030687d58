/** Matrices at many moments: a curve of them, what moves them, what is said of each, and the numbers of one. */
import { filled, html, numbersIn, svg } from "./elements.js";
import { Matrices } from "./matrices.js";
import { Player } from "./player.js";

const HEIGHT = 30; // of the curve, in a box that is 100 wide

export class Film {
  constructor() {
    this.maps = new Matrices();
    this.maps.said = (m, i, j) => this.saidOf(m, i, j);
    this.maps.pick = (cell) => cell && this.press(cell.closest("table").dataset.key);
    [this.said, this.rest, this.now] = ["said", "rest", "now"].map((name) =>
      html("p", { class: name }),
    );
    this.curve = svg("svg", { viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: "none" });
    this.player = new Player((moment) => this.show(moment), this.curve);
    this.root = html(
      "section",
      { class: "film" },
      this.said,
      this.rest,
      this.player.root,
      this.now,
      this.maps.root,
    );
    this.root.addEventListener("click", ({ target }) => {
      if (target.closest("caption")) this.press(target.closest("table").dataset.key);
    });
  }

  update(data) {
    this.data = data;
    this.root.setAttribute("aria-label", data.name);
    this.cells = data.tables.matrices.flatMap(({ text }, m) =>
      text.flatMap((line, i) => line.flatMap((said, j) => (said === null ? [] : [[m, i, j]]))),
    );
    this.numbers = numbersIn(data.numbers);
    this.draw(data.curve, data.film.count - 1);
    this.maps.root.classList.toggle("pressed", data.picks);
    this.maps.update({ ...data.tables, hinted: true });
    this.player.update(data.film);
  }

  /** The curve on which one moves. */
  draw(curve, last) {
    const place = (height, at) =>
      `${((100 * at) / Math.max(1, last)).toFixed(2)},${((1 - height) * (HEIGHT - 4) + 2).toFixed(2)}`;
    const points = curve?.heights.map(place).join(" ") ?? "";
    const line = svg("polyline", { points, "vector-effect": "non-scaling-stroke" });
    this.curve.replaceChildren(...(points ? [line] : []));
  }

  /** The numbers of one moment in the place of those before; what is said of it. */
  show(moment) {
    this.moment = moment;
    const now = this.numbers.subarray(moment * this.cells.length, (moment + 1) * this.cells.length);
    const matrices = this.data.tables.matrices.map((matrix) => ({
      ...matrix,
      text: matrix.text.map((line) => [...line]),
      share: matrix.share.map((line) => [...line]),
    }));
    this.cells.forEach(([m, i, j], at) => {
      matrices[m].text[i][j] = this.written(now[at], 2);
      matrices[m].share[i][j] = now[at];
    });
    this.maps.data = { ...this.maps.data, matrices };
    this.maps.refresh();
    [this.said.textContent, this.rest.textContent] = this.data.said[moment];
    this.now.textContent = this.data.curve?.said[moment] ?? "";
    return this.data.said[moment][0];
  }

  written(number, digits) {
    return number.toFixed(digits).replace(".", this.data.decimal);
  }

  saidOf(m, i, j) {
    const { say, text } = this.data.tables.matrices[m];
    const at = this.cells.findIndex(([a, b, c]) => a === m && b === i && c === j);
    if (text[i][j] === null) return say[i][j];
    const number = this.numbers[this.moment * this.cells.length + at];
    return filled(this.data.told, { number: this.written(number, 3), said: say[i][j] });
  }

  /** The head whose map or title is pressed, each time anew. */
  press(key) {
    if (this.data.picks) this.trigger("pressed", key);
  }
}
