/** How large matrices may be: what they need from side to side and from top to bottom, in ems, and what there is. */

export const GAP = 1; // between matrices
const [LEAST, LEAST_WHERE_THEY_MEET] = [0.75, 0.68]; // of letters, in rems
const TABLET = 40; // rems: from here on products stand where their factors meet, if need be without numbers
const LETTER = 0.52; // the usual width of one
const DIGIT = 0.5;
const AT_EASE = 1; // rems: numbers are written shortly rather than smaller than this
const MOST_NAME = 6; // the longest name that is not cut
const TITLE = 1.9;
const AXIS = 1.25; // a line that says what rows or columns are
const [LEAST_FIELD, MOST_FIELD] = [10, 2.4]; // of a map: pixels, rems
const LEAST_NAME = 13; // pixels
const MAPS_HEAD = 8; // rems above the maps of a figure
const FIELD_GAP = 2; // between the fields of a map, in pixels

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** How wide a text is, by the usual width of letters. */
const wideOf = (text) =>
  LETTER * [...text].reduce((wide, letter) => wide + (letter.codePointAt(0) > 0x2e7f ? 2 : 1), 0);

const alike = (axis, other) =>
  axis.named && other.named && axis.labels.join("\0") === other.labels.join("\0");

/** The room for the names of rows, and for what rows and columns are, as far as these are seen. */
function namesOf({ rows, columns }, again) {
  const named = rows.named && !again.rows;
  const labels = named ? rows.labels.map(wideOf) : [];
  const axes = [named && rows.name, !again.columns && columns.name].filter(Boolean);
  const most = Math.max(0, ...labels, ...axes.map((name) => 0.85 * wideOf(name)));
  return most ? 0.4 + (rows.whole ? most : Math.min(MOST_NAME, most)) : 0.3;
}

/** The height of what stands above the cells of a matrix. */
function aboveOf({ rows, columns }) {
  const lines = AXIS * ((rows.name ? 1 : 0) + (columns.name ? 1 : 0));
  if (!columns.named) return TITLE + lines;
  const upright = columns.labels.some((label) => label.length > 2);
  const names = upright ? Math.min(MOST_NAME, Math.max(...columns.labels.map(wideOf))) : AXIS;
  return TITLE + Math.max(lines, names + 0.4);
}

/** What matrices need: columns and the names of rows, place by place; the widest alone; and how high each band is.
    What stands beside a matrix to the left already is neither counted nor seen once more. */
export function needsOf({ bands, matrices }) {
  const places = Math.max(...bands.map((band) => band.length));
  const [columns, names, again] = [Array(places).fill(0), Array(places).fill(0.3), []];
  for (const band of bands)
    band.forEach((m, at) => {
      if (m === null) return;
      const before = band.slice(0, at).filter((one) => one !== null);
      const seen = (axis) => before.some((one) => alike(matrices[one][axis], matrices[m][axis]));
      again[m] = { rows: seen("rows"), columns: seen("columns") };
      columns[at] = Math.max(columns[at], matrices[m].columns.labels.length);
      names[at] = Math.max(names[at], namesOf(matrices[m], again[m]));
    });
  const own = matrices.map((matrix) => namesOf(matrix, {}));
  const widest = matrices.map(({ columns: { labels } }, m) => [labels.length, own[m]]);
  const heights = bands.map((band) => {
    const here = band.filter((m) => m !== null).map((m) => matrices[m]);
    const rows = Math.max(...here.map((matrix) => matrix.rows.labels.length));
    return { rows, above: Math.max(...here.map(aboveOf)) + 1 };
  });
  return {
    columns,
    names,
    again,
    own,
    alone: widest.reduce((most, one) => (one[0] > most[0] ? one : most)),
    rows: sum(heights.map(({ rows }) => rows)),
    above: sum(heights.map(({ above }) => above)),
  };
}

/** Cells for so many letters with the gaps before them. */
const cellsOf = (letters, columns) => (DIGIT * letters + 0.24) * columns;

/** How matrices of such `needs` stand in a `width` of pixels, with numbers of so many `letters`, long and short: how large
    an em is; whether numbers are written shortly, or not at all; and whether matrices stand below each other. */
export function fitted(needs, room) {
  const { width, rem, least, letters, numbered, meet } = room;
  const beside = sum(needs.names) + GAP * needs.columns.length + 0.3;
  const [long, short] = letters.map((count) => ({
    beside: width / (cellsOf(count, sum(needs.columns)) + beside),
    alone: width / (cellsOf(count, needs.alone[0]) + needs.alone[1] + 0.5),
  }));
  const smallest = least || rem * (meet ? LEAST_WHERE_THEY_MEET : LEAST);
  const fits = Math.max(long.beside, short.beside) >= smallest;
  if (!numbered || (!fits && meet && width >= TABLET * rem)) return fittedMaps(needs, room);
  const shortly = fits ? long.beside < Math.max(smallest, AT_EASE * rem) : long.alone < LEAST * rem;
  const size = (shortly ? short : long)[fits ? "beside" : "alone"];
  return { size, shortly, stacked: !fits, numbered: true };
}

/** Without numbers fields may be small, and as many maps stand side by side as leave them large enough. Where names have
    little room beside them, every second is seen, or none. */
function fittedMaps({ columns, names, rows }, { width, height, rem, leastLetters }) {
  const field = (many) => {
    const [wide, named] = [columns, names].map((one) => sum(one.slice(0, many)));
    return (width - (named + many * GAP + 0.3) * 0.8125 * rem) / wide - FIELD_GAP;
  };
  const counts = columns.map((_, at) => columns.length - at);
  const beside = counts.find((many) => field(many) >= LEAST_FIELD) ?? 1;
  const highest = Math.min(MOST_FIELD * rem, (height - MAPS_HEAD * rem) / rows - FIELD_GAP);
  const side = Math.max(LEAST_FIELD, Math.min(field(beside), highest));
  const every = [1, 2].find((one) => one * side >= (leastLetters || LEAST_NAME)) ?? 0;
  return { field: side, stacked: beside < columns.length, numbered: false, every };
}
