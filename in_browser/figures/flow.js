/** Two votes side by side: who voted twice is as high as everybody else, and a band from left to right is as wide as
    those who went there. */
import { svg } from "./elements.js";
import { Pointed } from "./pointed.js";
import { box, set, text } from "./shapes.js";

const [HEIGHT, WIDEST] = [300, 640]; // pixels
const [STACK, BETWEEN] = [0.07, 0.04]; // the width of a stack and the space between its cards, in parts of the whole
const SIDE = 0.23; // of the width, for what stands beside a stack
const [LETTERS, TITLE] = [18, 34]; // pixels: votes are shown to a room

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

export class Flow extends Pointed {
  constructor() {
    super({ class: "flow", role: "img" });
    this.picture.addEventListener("pointerover", ({ target }) => {
      this.says.value = target.dataset.said ?? "";
    });
    this.picture.addEventListener("pointerleave", () => (this.says.value = ""));
  }

  draw(room) {
    const width = Math.min(WIDEST, room);
    const { moved } = this.data;
    const shown = moved.length;
    const unit = (HEIGHT - TITLE) / (1 + (shown - 1) * BETWEEN);
    const voters = sum(moved.flat());
    const rooms = [moved.map(sum), moved.map((_, at) => sum(moved.map((row) => row[at])))];
    const high = (count) => (unit * count) / voters;
    const tops = rooms.map((room) =>
      room.map((_, place) =>
        sum(room.slice(0, place).map((count) => high(count) + (count ? BETWEEN * unit : 0))),
      ),
    );
    this.room = { width, rooms, tops, high, edges: [SIDE * width, (1 - SIDE) * width] };
    set(this.picture, { width, height: HEIGHT });
    this.picture.style.setProperty("--letters", `${LETTERS}px`);
    this.picture.replaceChildren(...this.bands(), ...[0, 1].flatMap((side) => this.stack(side)));
  }

  /** A vote: its title, and each card with how many chose it. */
  stack(side) {
    const { width, rooms, tops, high, edges } = this.room;
    const { titles, letters, right, chosen } = this.data;
    const x = side ? edges[1] : edges[0] - STACK * width;
    const [beside, anchor] = side ? [x + STACK * width + 8, "start"] : [x - 8, "end"];
    const size = Math.max(LETTERS, this.data.least);
    const title = text(titles[side], x + (STACK * width) / 2, size / 2, size, {
      class: "strong",
      "text-anchor": "middle",
    });
    const cards = rooms[side].flatMap((count, place) => {
      if (!count) return [];
      const card = svg("rect", {
        class: place === right ? "right" : "card-of",
        rx: 2,
        "data-said": chosen[side][place],
      });
      const top = TITLE + tops[side][place];
      set(card, box(x, top, STACK * width, high(count)));
      const sign = place === right ? " ✓" : "";
      const said = `${letters[place]} · ${count}${sign}`;
      return [card, text(said, beside, top + high(count) / 2, size, { "text-anchor": anchor })];
    });
    return [title, ...cards];
  }

  /** Those who went from one card to another. */
  bands() {
    const { tops, high, edges } = this.room;
    const { moved, went, right } = this.data;
    const [left, there] = tops.map((one) => [...one]);
    const middle = (edges[0] + edges[1]) / 2;
    return moved.flatMap((row, i) =>
      row.flatMap((count, j) => {
        if (!count) return [];
        const [from, to, wide] = [TITLE + left[i], TITLE + there[j], high(count)];
        [left[i], there[j]] = [left[i] + wide, there[j] + wide];
        const d =
          `M${edges[0]},${from}C${middle},${from} ${middle},${to} ${edges[1]},${to}v${wide}` +
          `C${middle},${to + wide} ${middle},${from + wide} ${edges[0]},${from + wide}Z`;
        return [
          svg("path", { class: j === right ? "band right" : "band", d, "data-said": went[i][j] }),
        ];
      }),
    );
  }
}
