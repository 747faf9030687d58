/** Matrices at many moments: a curve of them, what moves them, what is said of each, and the numbers of one. */
import { html, svg } from "./elements.js";
import { Matrices } from "./matrices.js";

const NOWHERE = -1; // the choice of a jump before there was one
const HEIGHT = 30; // of the curve, in a box that is 100 wide

export class Film {
  constructor() {
    this.maps = new Matrices();
    this.maps.said = (m, i, j) => this.saidOf(m, i, j);
    this.maps.pick = (cell) => cell && this.press(cell.closest("table").dataset.key);
    [this.said, this.rest, this.now] = ["said", "rest", "now"].map((name) =>
      html("p", { class: name }),
    );
    this.controls = html("div", { class: "controls" });
    this.root = html(
      "section",
      { class: "film" },
      this.said,
      this.rest,
      this.controls,
      this.now,
      this.maps.root,
    );
    this.root.addEventListener("click", ({ target }) => {
      if (target.closest("caption")) this.press(target.closest("table").dataset.key);
    });
  }

  /** What moves the moment. Nothing plays before somebody asks for it. */
  controlsOf({ words, paces, pace }) {
    this.slider = html("input", { type: "range", min: 0, step: 1, "aria-label": words.moment });
    this.play = html("input", { type: "checkbox" });
    const options = paces.map((one) => html("option", { value: one }, one));
    this.pace = html("select", {}, ...options);
    this.pace.value = pace;
    this.jump = html("select");
    this.curve = svg("svg", { viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: "none" });
    this.slider.addEventListener("input", () => this.show(this.slider.valueAsNumber));
    this.play.addEventListener("change", () => this.play.checked && this.run());
    this.jump.addEventListener("change", () => this.jumpTo(Number(this.jump.value)));
    const label = (name, control) => html("label", {}, name, control);
    this.jumps = label(words.jump, this.jump);
    return [
      html("label", {}, this.play, words.play),
      label(words.pace, this.pace),
      html("div", { class: "track" }, this.curve, this.slider),
      this.jumps,
    ];
  }

  update(data) {
    this.data = data;
    this.root.setAttribute("aria-label", data.name);
    if (!this.slider) this.controls.append(...this.controlsOf(data));
    this.cells = data.tables.matrices.flatMap(({ text }, m) =>
      text.flatMap((line, i) => line.flatMap((said, j) => (said === null ? [] : [[m, i, j]]))),
    );
    const bytes = Uint8Array.from(atob(data.numbers), (letter) => letter.charCodeAt(0));
    this.numbers = new Float32Array(bytes.buffer);
    this.last = data.said.length - 1;
    this.slider.max = this.last;
    this.controls.classList.toggle("waiting", this.last === 0);
    const names = [["–", NOWHERE], ...data.jumps];
    this.jump.replaceChildren(...names.map(([name, at]) => html("option", { value: at }, name)));
    this.jumps.hidden = data.jumps.length === 0;
    this.draw(data.curve);
    this.maps.root.classList.toggle("pressed", data.picks);
    this.maps.update({ ...data.tables, hinted: true });
    this.show(this.last);
  }

  /** The curve on which one moves. */
  draw(curve) {
    const place = (height, at) =>
      `${((100 * at) / Math.max(1, this.last)).toFixed(2)},${((1 - height) * (HEIGHT - 4) + 2).toFixed(2)}`;
    const points = curve?.heights.map(place).join(" ") ?? "";
    const line = svg("polyline", { points, "vector-effect": "non-scaling-stroke" });
    this.curve.replaceChildren(...(points ? [line] : []));
  }

  /** The numbers of one moment in the place of those before. */
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
    this.slider.value = moment;
    this.slider.setAttribute("aria-valuetext", this.data.said[moment][0]);
  }

  written(number, digits) {
    return number.toFixed(digits).replace(".", this.data.decimal);
  }

  saidOf(m, i, j) {
    const { say, text } = this.data.tables.matrices[m];
    const at = this.cells.findIndex(([a, b, c]) => a === m && b === i && c === j);
    if (text[i][j] === null) return say[i][j];
    const number = this.numbers[this.moment * this.cells.length + at];
    return this.data.told.replace("{number}", this.written(number, 3)).replace("{said}", say[i][j]);
  }

  /** From this moment on to the last; from there, all of it once more. */
  run() {
    if (this.moment === this.last) this.show(0);
    let shown = performance.now();
    const step = (now) => {
      if (!this.play.checked || !this.root.isConnected) return;
      if (now - shown >= 1000 / Number(this.pace.value)) {
        shown = now;
        this.show(Math.min(this.last, this.moment + 1));
      }
      this.play.checked = this.moment < this.last;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  jumpTo(moment) {
    if (moment === NOWHERE) return;
    this.play.checked = false;
    this.show(moment);
  }

  /** The head whose map or title is pressed, each time anew. */
  press(key) {
    if (this.data.picks) this.trigger("pressed", key);
  }
}
