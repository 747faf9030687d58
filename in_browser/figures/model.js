/** A sentence as a real model reads it: ribbons from a word, as wide as the attention of one head; guesses for what comes
    next; a map of all heads, what they do, and a card for the one that is shown. Between sentence and map a band is left
    free, and so is room for a list and a button: controls of the page stand there. */
import { filled, html, modified, numbersIn, svg } from "./elements.js";
import { clamp, guessesOf, layoutOf, legendOf, mapOf } from "./heads.js";
import { box, set, shorten, write } from "./shapes.js";

const [APART, GLUED] = [0.33, 0.06]; // ems between words, and between the parts of one
const FAINT = 0.005;

const fixed = (...numbers) => numbers.map((one) => one.toFixed(2)).join();

export class Model {
  constructor() {
    this.picture = svg("svg", { class: "model" });
    this.card = html("div", { class: "card", "aria-live": "polite" });
    this.root = html("section", { class: "reading" }, this.picture, this.card);
    this.over = null; // what is pointed at: ["head", 5]
    const pointed = ({ target }) => {
      const room = target.closest("[data-what]");
      return room && [room.dataset.what, Number(room.dataset.at)];
    };
    for (const kind of ["pointerover", "focusin"])
      this.picture.addEventListener(kind, (event) => this.point(pointed(event)));
    for (const kind of ["pointerleave", "focusout"])
      this.picture.addEventListener(kind, () => this.point(null));
    this.picture.addEventListener("click", (event) => this.pick(pointed(event)));
    this.picture.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.measure()).observe(this.root);
  }

  update(data) {
    this.data = data;
    this.root.setAttribute("aria-label", data.name);
    this.picture.setAttribute("role", "group");
    this.picture.setAttribute("aria-label", data.alt);
    this.ofQuery = numbersIn(data.of_query);
    this.words = null;
    const counts = { word: data.words.length, head: data.heads.length, job: data.jobs.length };
    if (this.over && this.over[1] >= counts[this.over[0]]) this.over = null;
    this.measure();
  }

  /** The words as wide as the browser writes them: where the middle of each is in a line, and half its width, in ems. */
  wideOf() {
    const probe = svg("text", { class: "serif", "font-size": 100 });
    this.picture.append(probe);
    let end = 0;
    const words = this.data.words.map(({ text, apart }, at) => {
      probe.textContent = text;
      const wide = probe.getComputedTextLength() / 100;
      end += at ? (apart ? APART : GLUED) : 0;
      const word = { at: end + wide / 2, half: wide / 2 };
      end += wide;
      return word;
    });
    probe.remove();
    return Object.assign(words, { total: Math.max(end, 1) });
  }

  measure() {
    const width = this.root.clientWidth;
    if (!width || !this.data) return;
    this.words ??= this.wideOf();
    this.room = layoutOf(width, this.data, this.words);
    const { height, card, narrow, fl } = this.room;
    set(this.picture, { width, height });
    const large = this.data.large ? 19 : clamp(13, (width - card.x) / 22, 15);
    const look = { "inset-inline-start": `${card.x}px`, "inset-block-start": `${card.y}px` };
    for (const [name, value] of Object.entries(look)) this.card.style.setProperty(name, value);
    this.card.style.fontSize = `${narrow ? 16 : large}px`;
    this.picture.style.setProperty("--letters", `${fl}px`);
    this.build();
  }

  /** Everything that pointing does not change; rooms for it are filled by `show`. */
  build() {
    const { width } = this.room;
    const words = this.data.words.map(({ name }, at) => roomOf("word", at, name));
    this.sentence = words.map((room) => room.lastChild);
    for (const one of this.sentence) one.append(svg("text"), svg("text"));
    const focused = this.root.getRootNode().activeElement?.closest?.("[data-what]");
    this.ways = svg("g", { class: "ways" });
    this.ways.append(...words.map(() => svg("path", {}, svg("title"))));
    this.foot = svg("rect", { class: "foot", rx: 1 });
    this.picture.replaceChildren(
      svg("rect", { width, height: 1, fill: "none" }),
      this.ways,
      this.foot,
      ...words,
      ...guessesOf(this.room, this.data, this.room.f * this.words.total),
      ...mapOf(this.room, this.data, roomOf),
      ...legendOf(this.room, this.data, roomOf),
    );
    for (const one of this.picture.querySelectorAll("[data-most]"))
      shorten(one, Number(one.dataset.most));
    for (const first of [
      ["word", this.data.query],
      ["head", this.data.chosen],
      ["job", 0],
    ])
      this.enter(first);
    if (focused) this.enter([focused.dataset.what, Number(focused.dataset.at)])?.focus();
    this.show();
  }

  /** What is chosen, or pointed at: the head that is shown, the word that asks, the job whose heads stand out. */
  get seen() {
    const [what, at] = this.over ?? [];
    const { chosen, query } = this.data;
    return {
      head: what === "head" ? at : chosen,
      asks: what === "word" ? at : query,
      job: what === "job" ? at : null,
    };
  }

  /** What one head looks at from one word: of the chosen one all rows are known, of the others that of the query. */
  rowOf(head, asks) {
    const { chosen, query, of_head: rows } = this.data;
    if (head === chosen && (asks !== query || !this.ofQuery.length)) return rows[asks];
    const long = query + 1;
    return [...this.ofQuery.subarray(head * long, (head + 1) * long)];
  }

  show() {
    const { head, asks, job } = this.seen;
    this.ask(this.rowOf(head, asks), asks, head);
    for (const one of this.picture.querySelectorAll(".head"))
      one.classList.toggle("dim", job !== null && Number(one.dataset.job) !== job);
    const ring = this.picture.querySelector(".ring");
    if (ring) {
      const { map, cell } = this.room;
      const { n_heads: count } = this.data;
      const [x, y] = [map.x + Math.floor(head / count) * cell, map.y + (head % count) * cell];
      set(ring, box(x - 2, y - 2, cell + 4, cell + 4));
    }
    this.tell(head);
  }

  /** Ribbons from the word that asks; what it cannot see is grey. */
  ask(row, asks, head) {
    const { narrow, f, fl, base, full, row: line } = this.room;
    const { words, off, chosen } = this.data;
    const most = Math.max(...row);
    const along = (at) => (narrow ? (at + 0.5) * line : this.words[at].at * f);
    const before = [];
    row.reduceRight((sum, share, at) => (before[at] = sum + (at === asks ? 0 : share)), 0);
    words.forEach(({ text: word }, at) => {
      const share = row[at];
      const way = this.ways.children[at];
      const seen = at <= asks;
      const drawn = seen && at !== asks;
      const from = {
        asks,
        asker: along(asks),
        along: along(at),
        wide: Math.max(share * full, 0.6),
      };
      way.setAttribute("d", drawn ? this.way({ ...from, at, before: before[at] }) : "");
      way.style.opacity = (share < FAINT ? 0.35 : 1) * (off && head === chosen ? 0.25 : 1);
      way.firstChild.textContent = drawn ? this.percent(share) : "";
      const leads = seen && Math.round(100 * share) === Math.round(100 * most);
      const kind = at === asks ? "q" : leads ? "k" : seen ? "ink" : "later";
      const x = narrow ? 182 : along(at);
      const y = narrow ? along(at) : base + 0.68 * f + 8;
      const anchor = { "text-anchor": narrow ? "end" : "middle" };
      const size = Math.max(
        13,
        leads ? 1.3 * fl : narrow ? Math.min(15, 0.7 * line) : Math.min(fl, f / 3),
      );
      const [sx, sy] = narrow ? [56, y] : [x, base + 1.28 * f + fl];
      const [written, part] = this.sentence[at].children;
      write(written, word, x, y, f, { class: `serif ${kind}`, ...anchor });
      write(part, seen ? this.percent(share) : "", sx, sy, size, {
        class: leads ? "share leads" : seen ? "share" : "",
        ...anchor,
      });
      if (narrow) shorten(written, 122);
      const half = narrow ? 0 : this.words[at].half * f;
      const [left, top, wide, high] = narrow
        ? [0, at * line, 190, line]
        : [x - half, base + 10, 2 * half, 1.28 * f + 2 * fl - 10];
      set(this.sentence[at].parentElement.firstChild, box(left, top, wide, high));
    });
    const foot = narrow
      ? [196, along(asks) - full / 2, 5, full]
      : [along(asks) - full / 2, base + 3, full, 6];
    set(this.foot, box(...foot));
  }

  /** A ribbon: all leave the word that asks side by side, and none crosses another. */
  way({ at, asks, asker, along, wide, before }) {
    const { narrow, base, full, row, width } = this.room;
    if (narrow) {
      const foot = asker - full / 2 + (1 - before) * full;
      const step = Math.min(0.78 * row, (Math.min(width, 420) - 206) / Math.max(asks, 1));
      const far = Math.max((asks - at) * step, 8);
      const [begin, end] = [along - wide / 2, along + wide / 2];
      const outer = `A${fixed(far, (foot + wide - begin) / 2)} 0 0 1 ${fixed(196, foot + wide)}`;
      const rx = Math.max(far - wide, 0.5);
      const inner = `A${fixed(rx, Math.max((foot - end) / 2, 0.5))} 0 0 0 ${fixed(196, end)}`;
      return `M${fixed(196, begin)}${outer}L${fixed(196, foot)}${inner}Z`;
    }
    const rise = clamp(0.02, (base - 8 - full - 12 * asks) / Math.max(asker, 1), 0.26);
    const [left, right] = [along - wide / 2, asker - full / 2 + before * full];
    const high = rise * (asker - along) + before * full + 12 * (asks - at);
    const outer = `A${fixed((right - left) / 2, high)} 0 0 1 ${fixed(right, base)}`;
    const rx = Math.max((right - left) / 2 - wide, 0.5);
    const inner = `A${fixed(rx, Math.max(high - wide, 0.5))} 0 0 0 ${fixed(left + wide, base)}`;
    return `M${fixed(left, base)}${outer}L${fixed(right - wide, base)}${inner}Z`;
  }

  percent(share) {
    if (share > 0 && share <= FAINT) return `< ${this.rounded(0.01)}`;
    return share >= 1 - FAINT && share < 1 - 1e-6 ? `> ${this.rounded(0.99)}` : this.rounded(share);
  }

  rounded(share) {
    return this.data.percent.replace("{}", Math.round(100 * share));
  }

  /** What is said of the head that is shown: of the chosen one, where there is room, all that was measured. */
  tell(head) {
    const { heads, jobs, n_heads: count, head: title, chosen, large, about } = this.data;
    const [job, share] = heads[head] ?? [];
    const done = jobs[job];
    const name = `${Math.floor(head / count)}.${head % count}`;
    const said = done && filled(done.says, { share: this.rounded(share) });
    this.card.replaceChildren(
      ...(done
        ? [
            html("h3", {}, filled(title, { head: name, job: done.title })),
            html("p", {}, head === chosen && !large && about ? about : said),
          ]
        : []),
    );
  }

  point(over) {
    this.over = over;
    this.show();
  }

  /** A head or a word that is clicked is chosen. */
  pick(what) {
    if (what && what[0] !== "job") this.trigger("chosen", what);
  }

  /** The words, the heads and the jobs are one stop of the Tab key each. */
  enter([what, at]) {
    const rooms = [...this.picture.querySelectorAll(`[data-what="${what}"]`)];
    if (!rooms[at]) return null;
    for (const one of rooms) one.setAttribute("tabindex", one === rooms[at] ? 0 : -1);
    return rooms[at];
  }

  press(event) {
    const room = event.target.closest("[data-what]");
    if (!room || modified(event)) return;
    const [what, at] = [room.dataset.what, Number(room.dataset.at)];
    const next = what === "head" ? this.data.n_heads : 1;
    const steps = { ArrowLeft: -next, ArrowRight: next, ArrowUp: -1, ArrowDown: 1 };
    if (event.key in steps) this.enter([what, at + steps[event.key]])?.focus();
    else if (event.key === "Enter" || event.key === " ") this.pick([what, at]);
    else return;
    event.preventDefault();
    event.stopPropagation(); // to the page, an arrow may mean the next step
  }
}

/** Something to point at, in a group of its own. */
function roomOf(what, at, label, ...inside) {
  const look = { "data-what": what, "data-at": at, tabindex: -1, "aria-label": label };
  const role = what === "job" ? "img" : "button";
  return svg(
    "g",
    { ...look, role, class: what },
    svg("rect", { fill: "transparent" }),
    ...inside,
    svg("g"),
  );
}
