/** A sentence, and from one of its words a ribbon to each that it looks at, as wide as its weight. On a phone the sentence
    stands upright, and the ribbons beside it. */
import { filled, html, modified, svg } from "./elements.js";
import { Player } from "./player.js";
import { box, set, shorten } from "./shapes.js";

const WHOLE = 44; // pixels: as wide is a weight of 1, and half as wide is half of it
const POST = 44; // of what stays with the query itself
const [LARGEST, UPRIGHT] = [54, 25]; // letters of the words, in pixels
const PHONE = 560;
const [LOWEST, RISE, LARGE_RISE] = [46, 0.25, 0.17]; // of ribbons: pixels, and shares of the sentence for the longest
const MOST_EMS = 62; // of a sentence: then long words are cut
const [APART, LEAST] = [0.5, 1.7]; // ems: between words, and for a percentage
const [LINE, SIDE] = [46, 196]; // of an upright sentence: from word to word, and where ribbons leave them
const KEYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

export class Ribbons {
  constructor() {
    this.picture = svg("svg", { class: "sentence" });
    this.says = html("output");
    this.tells = html("p");
    this.player = new Player((moment) => this.show(moment));
    this.root = html(
      "section",
      { class: "ribbons" },
      this.picture,
      this.says,
      this.tells,
      this.player.root,
    );
    const placeOf = ({ target }) => target.closest(".word")?.dataset.at;
    for (const kind of ["pointerover", "focusin"])
      this.picture.addEventListener(kind, (event) => this.ask(placeOf(event)));
    this.picture.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.ask(undefined);
    });
    this.picture.addEventListener("focusout", () => this.ask(undefined));
    this.picture.addEventListener("click", (event) => this.pick(placeOf(event)));
    this.picture.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.measure()).observe(this.root);
  }

  update(data) {
    const known = JSON.stringify(this.data?.words) === JSON.stringify(data.words);
    [this.data, this.asks] = [data, data.query];
    if (!known || this.moment >= data.film.count) this.moment = undefined;
    this.root.setAttribute("aria-label", data.name);
    this.picture.setAttribute("role", "group");
    this.picture.setAttribute("aria-label", data.alt);
    if (!known) this.build(data.words);
    this.enter(data.query);
    this.player.update(data.film);
  }

  /** A word with its share, its ribbon and the hair that shows that it may be looked at; once for a sentence. */
  build(words) {
    this.words = words.map(({ text, name }, at) => {
      const [word, share, room] = [svg("text"), svg("text", { class: "share" }), svg("rect")];
      word.textContent = text;
      const look = {
        class: "word",
        "data-at": at,
        tabindex: -1,
        role: "button",
        "aria-label": name,
      };
      return svg("g", look, room, word, share);
    });
    const ways = (kind) => words.map(() => svg("path", { class: kind }));
    [this.hairs, this.ribbons] = [ways("hair"), ways("ribbon")];
    for (const ribbon of this.ribbons) ribbon.append(svg("title"));
    this.foot = svg("rect", { class: "foot" });
    this.picture.replaceChildren(...this.hairs, ...this.ribbons, this.foot, ...this.words);
    this.wide = null;
    this.measure();
  }

  /** The ems of every word of this sentence, as wide as the browser writes it. */
  wideOf() {
    this.picture.style.setProperty("--letters", "100px");
    const wide = this.words.map((one) => one.children[1].getComputedTextLength() / 100 + APART);
    return wide.map((ems) => Math.max(LEAST, ems));
  }

  /** Where every word stands, and how large it is. */
  measure() {
    const width = this.root.clientWidth;
    if (!width || !this.words) return;
    this.wide ??= this.wideOf();
    const count = this.words.length;
    const upright = width < PHONE;
    const all = (slots) => slots.reduce((sum, one) => sum + one, 0);
    const slots =
      all(this.wide) <= MOST_EMS
        ? this.wide
        : this.wide.map((one) => Math.min(one, MOST_EMS / count));
    const letters = upright ? UPRIGHT : Math.min(LARGEST, width / all(slots));
    const reach = Math.min(width, 3 * LARGEST * count);
    const most = upright
      ? (width - SIDE - 30) / 0.75
      : LOWEST + (this.data.large ? LARGE_RISE : RISE) * reach;
    const ground = Math.ceil(0.75 * most) + 26;
    let left = (width - letters * all(slots)) / 2;
    const places = slots.map((ems, at) => {
      const [from, wide] = upright ? [at * LINE, LINE] : [left, ems * letters];
      left += wide;
      return { from, wide, middle: from + wide / 2 };
    });
    const span = upright ? LINE * count : Math.max(reach, letters * all(slots));
    this.room = { upright, letters, most, ground, places, span };
    const height = upright ? LINE * count + 12 : ground + 102;
    set(this.picture, { width, height });
    this.picture.style.setProperty("--letters", `${letters}px`);
    this.root.classList.toggle("upright", upright);
    this.words.forEach((_, at) => this.place(at, slots[at] * letters));
    if (this.moment !== undefined) this.show(this.moment);
  }

  place(at, wide) {
    const { upright, ground, places } = this.room;
    const [room, word, share] = this.words[at].children;
    const { from, wide: long, middle } = places[at];
    set(room, upright ? box(0, from, SIDE, long) : box(from, ground, long, 102));
    set(word, upright ? { x: 72, y: middle } : { x: middle, y: ground + 40 });
    set(share, upright ? { x: 62, y: middle } : { x: middle, y: ground + 84 });
    word.textContent = this.data.words[at].text;
    shorten(word, upright ? SIDE - 84 : wide - 0.15 * this.room.letters);
  }

  /** The rows of a moment; what is said of it. */
  show(moment) {
    this.moment = moment;
    this.tells.textContent = this.data.moments[moment].says;
    this.draw();
    return this.tells.textContent;
  }

  ask(at) {
    this.asks = at === undefined ? this.data.query : Number(at);
    this.draw();
  }

  /** The ribbons of the query that asks, at the moment. */
  draw() {
    if (!this.room || this.moment === undefined) return;
    const query = this.asks;
    const { upright, ground, places } = this.room;
    const row = this.data.moments[this.moment].rows[query];
    this.says.value = row.says;
    const from = places[query].middle;
    const leaves = lanesOf(row.shares, query).map((lane) => from + WHOLE * lane);
    row.shares.forEach((share, key) => {
      const seen = row.shares[key] !== null;
      const way = seen ? this.way(leaves[key], key, key === query) : "";
      const [hair, ribbon] = [this.hairs[key], this.ribbons[key]];
      hair.setAttribute("d", key === query ? "" : way);
      ribbon.setAttribute("d", way);
      ribbon.style.strokeWidth = `${(WHOLE * share).toFixed(2)}px`;
      const told = seen ? this.told(query, key, share) : "";
      ribbon.firstChild.textContent = told;
      ribbon.setAttribute("aria-label", told);
      const word = this.words[key];
      word.dataset.role = row.roles[key];
      word.classList.toggle("masked", !seen);
      word.lastChild.textContent = row.texts[key];
    });
    const [across, along] = [4, WHOLE];
    const place = upright
      ? [SIDE - 4, from - along / 2, across, along]
      : [from - along / 2, ground, along, across];
    set(this.foot, box(...place));
  }

  told(query, key, share) {
    const { words, told, decimal } = this.data;
    const number = share.toFixed(3).replace(".", decimal);
    return filled(told, { query: words[query].name, key: words[key].name, share: number });
  }

  /** A path from the query to a key; what stays with the query is a post. */
  way(leave, key, same) {
    const { upright, most, ground, places, span } = this.room;
    const arrive = same ? leave : places[key].middle;
    const high = same ? POST / 2 : LOWEST + ((most - LOWEST) * Math.abs(arrive - leave)) / span;
    const point = (along, up) =>
      (upright ? [SIDE + up, along] : [along, ground - up]).map((one) => one.toFixed(2)).join();
    const end = same ? POST : 0;
    return `M${point(leave, 0)}C${point(leave, high)} ${point(arrive, high)} ${point(arrive, end)}`;
  }

  /** The whole sentence is one stop of the Tab key: the word that asks. */
  enter(at) {
    this.words.forEach((word, place) => word.setAttribute("tabindex", place === at ? 0 : -1));
    return this.words[at];
  }

  press(event) {
    const at = Number(event.target.closest(".word")?.dataset.at);
    if (Number.isNaN(at) || modified(event)) return;
    const beside = this.words[at + KEYS[event.key]];
    if (event.key in KEYS) beside && this.enter(at + KEYS[event.key]).focus();
    else if (event.key === "Enter" || event.key === " ") this.pick(at);
    else return;
    event.preventDefault();
    event.stopPropagation(); // to the page, an arrow may mean the next step
  }

  /** From now on it is this word that asks. */
  pick(at) {
    if (at !== undefined) this.trigger("asked", Number(at));
  }
}

/** Where the middle of each ribbon leaves the query, from −½ to ½ of the whole. Side by side, so that none crosses another:
    to the left the nearest key first, then the query itself, and to the right the nearest last. */
function lanesOf(shares, query) {
  const keys = [...shares.keys()];
  const order = [...keys.slice(0, query).reverse(), query, ...keys.slice(query + 1).reverse()];
  const lanes = [];
  let before = -0.5;
  for (const key of order) {
    lanes[key] = before + shares[key] / 2;
    before += shares[key];
  }
  return lanes;
}
