/** What stands beside and below a sentence that a real model reads: guesses for what comes next, a map of all heads, and
    what they do. Between sentence and map a band is left free, and so is room for a list and a button: controls of the
    page stand there. */
import { filled, svg } from "./elements.js";
import { box, mark, set, text } from "./shapes.js";

const NARROW = 860; // pixels: below it the sentence runs down
const [HEIGHT, BAND, MAP] = [690, 58, 252]; // all of a wide picture, its free band, what stands below that
const [LARGE_HEIGHT, LARGE_MAP] = [536, 226]; // on a projector
const DOWN = { row: 30, words: 312, card: 642, map: 866, legend: 1084, height: 1114, job: 30 };
const [MARKED, HEADED] = [0.58, 0.1]; // of a cell: a mark that means something, and the least
const PARTS = { unmeasured: HEADED, mixture: 0.13 };

export const clamp = (low, one, high) => Math.max(low, Math.min(one, high));

/** The sizes of everything, from the width of the picture and from what is chosen. */
export function layoutOf(width, { large, n_layers: most, jobs }, words) {
  const narrow = width < NARROW;
  const [height, below] = large ? [LARGE_HEIGHT, LARGE_MAP] : [HEIGHT, MAP];
  const count = Math.max(words.length, 1);
  const row = Math.min(DOWN.row, DOWN.words / count);
  const side = clamp(210, 0.22 * width, 290);
  const f = narrow ? 0.74 * row : Math.min(54, (width - side - 56) / words.total);
  const fl = narrow ? 15 : large ? 19 : clamp(13, width / 80, 17);
  const s = height - below - BAND;
  const base = s - 1.25 * f - 2 * fl - 6;
  const top = narrow ? DOWN.map : s + BAND + 22;
  const guess = narrow ? 26 : clamp(24, (base - 60) / 6, 32);
  const cell = narrow
    ? Math.min(width / most, 20)
    : Math.min((0.5 * width - 56) / most, large ? 15 : 20);
  const bar = narrow ? 0 : 2.9 * guess;
  return {
    ...{ narrow, row, f, fl, base, top, cell, guess, bar, side },
    width,
    height: narrow ? DOWN.height + DOWN.job * (jobs.length || 8) : height,
    full: narrow ? 1.3 * row : 1.18 * f,
    map: narrow ? { x: 0, y: top + 66 } : { x: 52, y: top + 26 },
    legend: narrow
      ? { x: 0, y: DOWN.legend, row: DOWN.job, end: Math.min(width, 420) }
      : {
          x: 0.5 * width + clamp(10, width / 56, 24),
          y: top,
          row: (below - 62) / (jobs.length || 8),
          end: 0.75 * width + 8 - clamp(20, width / 40, 34),
        },
    card: narrow ? { x: 0, y: DOWN.card } : { x: 0.75 * width + 8, y: top },
    next: {
      x: narrow ? 196 : width - side,
      y: narrow ? count * row + 52 : base + 0.68 * f - 3 * guess,
      bars: narrow ? 96 : Math.max(side - bar - 100, 40),
    },
  };
}

/** What may come next, beside the sentence; while the head is off, what it was and what it is. */
export function guessesOf(room, data, total) {
  const { narrow, next, guess, bar, f, fl, base } = room;
  const { guesses, scale, next_title: title, next_small: small } = data;
  const lines = narrow ? [small] : title;
  const at = narrow ? next.y - 30 : next.y - 0.5 * guess - 2.1 * fl;
  const begin = next.x + bar;
  const dash = narrow
    ? [106, next.y - 38, 76]
    : [
        total + 0.3 * f,
        base + 1.1 * f,
        Math.max(0, Math.min(next.x - 12 - total - 0.3 * f, 0.9 * f)),
      ];
  const ends = (share) => Math.max(share * scale * next.bars, 2);
  const shown = narrow ? guesses.slice(0, 4) : guesses;
  return [
    ...(guesses.length ? [svg("rect", { class: "blank", ...box(...dash, 3) })] : []),
    ...lines.map((line, number) =>
      text(line, next.x, at + (0.5 + 1.2 * number) * fl, fl, { class: "muted" }),
    ),
    ...shown.flatMap(({ word, share, was, said, off }, number) => {
      const y = next.y + number * guess;
      const size = narrow ? 19 : 0.74 * guess;
      const [x, anchor] = narrow ? [182, "end"] : [next.x, "start"];
      const written = text(word, x, y, size, { class: "serif", "text-anchor": anchor });
      written.dataset.most = narrow ? 122 : 2.8 * guess;
      const frame = off
        ? [svg("rect", { class: "was", ...box(begin, y - 8, ends(was), 16), rx: 2 })]
        : [];
      const bars = svg("rect", { class: "chance", ...box(begin, y - 8, ends(share), 16), rx: 2 });
      const end = begin + Math.max(ends(share), off ? ends(was) : 0) + 8;
      return [
        written,
        ...frame,
        bars,
        text(said, end, y, fl, { class: off ? "odds" : "odds muted" }),
      ];
    }),
  ];
}

/** A mark for each head, whose shape and colour are its job. */
export function mapOf(room, data, roomOf) {
  const { map, cell, narrow, fl, top } = room;
  const {
    heads,
    jobs,
    n_heads: count,
    n_layers: most,
    heading,
    first_head,
    first_layer,
    head,
  } = data;
  if (!heads.length) return [];
  const small = Math.max(13, 0.85 * fl);
  const note = (said, x, y, anchor) =>
    text(said, x, y, small, { class: "muted", "text-anchor": anchor });
  const marks = heads.map(([job, share], at) => {
    const [layer, place] = [Math.floor(at / count), at % count];
    const [x, y] = [map.x + (layer + 0.5) * cell, map.y + (place + 0.5) * cell];
    const kind = jobs[job]?.key ?? "unmeasured";
    const first = HEADED + 0.8 * Math.max(share - 0.5, 0);
    const part = kind === "first" ? first : (PARTS[kind] ?? MARKED);
    const name = filled(head, { head: `${layer}.${place}`, job: jobs[job]?.title ?? "" });
    const one = roomOf("head", at, name, mark(kind, x, y, part * cell * cell));
    set(one.firstChild, box(x - cell / 2, y - cell / 2, cell, cell));
    one.dataset.job = job;
    return one;
  });
  const wide = narrow
    ? []
    : [
        note(first_head, map.x - 6, map.y + 0.5 * cell, "end"),
        note(`${count - 1}`, map.x - 6, map.y + (count - 0.5) * cell, "end"),
      ];
  return [
    text(heading, 0, top, fl, { class: "strong" }),
    ...marks,
    svg("rect", { class: "ring", rx: 5 }),
    ...wide,
    note(first_layer, map.x, map.y + count * cell + 12, "start"),
    note(`${most - 1}`, map.x + cell * most, map.y + count * cell + 12, "end"),
  ];
}

/** What each job is called, and how many heads do it. */
export function legendOf(room, data, roomOf) {
  const { legend, fl, narrow } = room;
  const { jobs, legend: title } = data;
  if (!jobs.length) return [];
  const size = Math.max(13, 0.94 * fl);
  const rows = jobs.map(({ key, name, count }, at) => {
    const y = legend.y + (narrow ? 14 : 16) + (at + 0.5) * legend.row;
    const area = key === "mixture" ? 43 : 190;
    const one = roomOf("job", at, `${name}: ${count}`, mark(key, legend.x + 12, y, area));
    set(one.firstChild, box(legend.x, y - legend.row / 2, legend.end - legend.x, legend.row));
    const number = text(`${count}`, legend.end, y, size, {
      class: "muted",
      "text-anchor": "end",
    });
    one.append(text(name, legend.x + 32, y, size), number);
    return one;
  });
  return [text(title, legend.x, legend.y, fl, { class: "strong" }), ...rows];
}
