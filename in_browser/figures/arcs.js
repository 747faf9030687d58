/** Arcs above a sentence: from each word to those that it looks at, as thick as the weight; a dot where it looks at
    itself. Pointing at a word shows its arcs and their numbers alone. */
import { modified, svg } from "./elements.js";
import { Pointed } from "./pointed.js";
import { box, set, shorten, text } from "./shapes.js";

const [WIDEST, NARROWEST] = [104, 19]; // pixels of a word's share of the line
const [LETTERS, FEWER, NUMBERS, LINE] = [16, 13, 13, 18];
const RISE = 0.45 / 2; // of an arc, in its widths
const LONGEST_NAME = 110; // pixels of a word that has no room beside the others
const [NUMBERED, LETTER] = [38, 0.58]; // a number has room beside another; the width of a letter, in its height
const ASIDE = 64; // pixels beside the last of such words
const DESCENT = Math.sin((50 * Math.PI) / 180); // of a word that runs down

export class Arcs extends Pointed {
  constructor() {
    super({ class: "arcs", role: "group" }, true);
    const wordOf = ({ target }) => target.closest(".word");
    for (const kind of ["pointerover", "focusin"])
      this.picture.addEventListener(kind, (event) => this.point(wordOf(event)));
    for (const kind of ["pointerleave", "focusout"])
      this.picture.addEventListener(kind, () => this.point(null));
    this.picture.addEventListener("keydown", (event) => this.press(event));
  }

  draw(width) {
    const { words, arcs, least } = this.data;
    const slotOf = (room) => Math.max(NARROWEST, Math.min(WIDEST, room / words.length));
    const size = Math.max(slotOf(width) > LETTERS * 4 ? LETTERS : FEWER, least);
    const most = Math.max(...words.map(({ text: one }) => [...one].length));
    const slanted = most * LETTER * size > slotOf(width);
    const slot = slotOf(slanted ? width - ASIDE : width);
    const longest = Math.max(1, ...arcs.map(([query, key]) => query - key));
    const base = RISE * slot * longest + LINE;
    this.room = { slot, base, size, slanted };
    const under = slanted ? LONGEST_NAME * DESCENT : 2 * LINE;
    const sizes = {
      width: slot * words.length + (slanted ? ASIDE : 0),
      height: base + 24 + size + under,
    };
    set(this.picture, sizes);
    this.picture.style.setProperty("--letters", `${size}px`);
    this.build();
  }

  build() {
    const { words, arcs, chosen } = this.data;
    const drawn = arcs.flatMap((arc) => this.arc(...arc));
    this.words = words.map(({ name }, at) => this.word(at, name));
    this.picture.replaceChildren(...drawn, ...this.words);
    if (this.room.slanted) for (const one of this.words) shorten(one.lastChild, LONGEST_NAME);
    this.enter(chosen);
    this.point(null);
  }

  /** An arc or a dot, and the number below the word that it leads to. */
  arc(query, key, weight, said) {
    const { slot, base } = this.room;
    const at = (place) => (place + 0.5) * slot;
    const look = { "data-of": query, class: query === key ? "dot" : "arc" };
    const half = ((query - key) * slot) / 2;
    const path = `M${at(key)},${base}c${0.1 * half},${-0.6 * half} ${1.9 * half},${-0.6 * half} ${2 * half},0`;
    const mark =
      query === key
        ? svg("circle", { ...look, cx: at(key), cy: base - 5, r: Math.sqrt(20 + 160 * weight) / 2 })
        : svg("path", { ...look, d: path, "stroke-width": 0.6 + 5 * weight });
    const number = { "data-of": query, class: "weight", "text-anchor": "middle" };
    const size = Math.max(NUMBERS, this.data.least);
    return slot < NUMBERED ? [mark] : [mark, text(said, at(key), base + 9, size, number)];
  }

  word(at, name) {
    const { slot, base, size, slanted } = this.room;
    const [x, y] = [(at + 0.5) * slot, base + size + 16];
    const room = svg("rect", { fill: "transparent" });
    set(room, box(at * slot, base - LINE, slot, 3 * LINE + size));
    const anchor = slanted ? "start" : "middle";
    const written = text(this.data.words[at].text, x, y, size, { "text-anchor": anchor });
    if (slanted) written.setAttribute("transform", `rotate(50,${x},${y})`);
    const look = { class: "word", "data-at": at, tabindex: -1, role: "img", "aria-label": name };
    return svg("g", look, room, written);
  }

  /** The arcs of one word alone; without one those of the chosen stand out. */
  point(word) {
    const over = word && Number(word.dataset.at);
    const shown = over ?? this.data.chosen;
    this.picture.classList.toggle("pointed", over !== null);
    for (const one of this.picture.querySelectorAll("[data-of]"))
      one.classList.toggle("own", Number(one.dataset.of) === shown);
    for (const one of this.words) one.classList.toggle("own", Number(one.dataset.at) === shown);
    this.says.value = over === null ? this.data.hint : this.data.words[over].says;
  }

  /** The whole sentence is one stop of the Tab key. */
  enter(at) {
    for (const one of this.words) one.setAttribute("tabindex", one.dataset.at === `${at}` ? 0 : -1);
    return this.words[at];
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = Number(event.target.closest(".word")?.dataset.at) + step;
    if (Number.isNaN(at) || modified(event)) return;
    if (this.words[at]) this.enter(at).focus();
    event.preventDefault();
    event.stopPropagation(); // to the page, an arrow may mean the next step
  }
}
