/** Matrices as tables: what a cell holds, what lights up with it, and how one goes from cell to cell by keys. */
import { html } from "./elements.js";

const LETTERS = 4; // that every cell has room for
const NEIGHBOURS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/** What must stay for a table to stay: everything but its numbers. */
const shapeOf = ({ bands, matrices }) =>
  JSON.stringify([
    bands,
    matrices.map(({ key, title, note, rows, columns }) => [key, title, note, rows, columns]),
  ]);

export class Matrices {
  constructor(data) {
    this.shape = shapeOf(data);
    this.says = html("output", {}, data.hint);
    this.tables = data.matrices.map((matrix, m) => this.table(matrix, m));
    data.bands.forEach((band, row) => band.forEach((m, column) => this.place(m, row, column)));
    this.root = html(
      "section",
      { class: "figure", "aria-label": data.name },
      html(
        "div",
        { class: data.bands.length > 1 ? "bands" : "band", style: sizes(data) },
        ...this.tables,
      ),
      this.says,
    );
    for (const kind of ["pointerover", "focusin"])
      this.root.addEventListener(kind, ({ target }) => this.light(target.closest("td[tabindex]")));
    for (const kind of ["pointerleave", "focusout"])
      this.root.addEventListener(kind, () => this.light(null));
    this.root.addEventListener("keydown", (event) => this.press(event));
  }

  fits(data) {
    return data.kind === "matrices" && shapeOf(data) === this.shape;
  }

  place(m, row, column) {
    if (m != null) this.tables[m].style.gridArea = `${row + 1} / ${column + 1}`;
  }

  table({ title, note, role, scale, rows, columns }, m) {
    const cell = (i, j) => html("td", { tabindex: -1, "data-at": [m, i, j] }, html("span"));
    const line = (label, i) =>
      html("tr", {}, named(rows, label, "row"), ...columns.labels.map((_, j) => cell(i, j)));
    const head = columns.labels.map((label) => named(columns, label, "col"));
    const table = html(
      "table",
      { role: "grid", class: scale, style: { "--role": `var(--lab-${role}, currentColor)` } },
      html("caption", {}, title, note && html("small", {}, note)),
      html("thead", {}, html("tr", {}, corner(columns.name, rows.name), ...head)),
      html("tbody", {}, ...rows.labels.map(line)),
    );
    table.querySelector("tbody td").tabIndex = 0;
    return table;
  }

  /** The numbers of these data in the place of those before. */
  update(data) {
    this.data = data;
    data.matrices.forEach(({ text, share, marked }, m) =>
      text.forEach((line, i) =>
        line.forEach((said, j) =>
          this.write(this.cell(m, i, j), said, share[i][j], marked?.[i][j]),
        ),
      ),
    );
    this.light(null);
  }

  /** A number; or a pattern that is read aloud, where a mask hides it; or an empty frame. */
  write(cell, text, share, marked) {
    const kind = text == null ? "masked" : text === "" ? "empty" : "";
    cell.className = [kind, marked && "marked"].filter(Boolean).join(" ");
    cell.style.setProperty("--share", share ?? 0);
    cell.firstChild.className = text == null ? "unseen" : "number";
    cell.firstChild.textContent = text ?? this.data.masked;
  }

  cell(m, i, j) {
    return this.tables[m]?.tBodies[0].rows[i]?.cells[j + 1];
  }

  /** A ring for a cell and all that it was made of; and what is to be said of it. */
  light(cell) {
    for (const one of this.root.querySelectorAll(".lit")) one.classList.remove("lit");
    const [m, i, j] = cell ? cell.dataset.at.split(",").map(Number) : [];
    const said = cell && this.data.matrices[m].say[i][j];
    this.says.value = said || this.data.hint;
    if (!said) return;
    const sources = this.data.matrices[m].lights[i][j].flatMap((source) => this.cells(...source));
    for (const one of [cell, ...sources]) {
      const { rowIndex } = one.parentElement;
      const table = one.closest("table");
      one.classList.add("lit");
      table.rows[rowIndex].cells[0].classList.add("lit");
      if (one === cell) table.rows[0].cells[one.cellIndex].classList.add("lit");
    }
  }

  /** A cell, or all of a row or a column where the other is −1. */
  cells(m, row, column) {
    const lines = [...this.tables[m].tBodies[0].rows];
    const found = row < 0 ? lines : [lines[row]];
    const here = (line) => [...line.cells].slice(1).filter((_, at) => column < 0 || at === column);
    return found.flatMap(here);
  }

  press(event) {
    const cell = event.target.closest("td[tabindex]");
    const by = NEIGHBOURS[event.key];
    if (!cell || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const [m, i, j] = cell.dataset.at.split(",").map(Number);
    if (by) this.enter(this.cell(m, i + by[0], j + by[1]), cell);
    else if (event.key === "Home") this.enter(this.cell(m, i, 0), cell);
    else if (event.key === "End") this.enter(cell.parentElement.lastElementChild, cell);
    else return;
    event.preventDefault();
    event.stopPropagation(); // to the page, an arrow may mean the next step
  }

  enter(cell, before) {
    if (!cell?.matches("td[tabindex]")) return;
    before.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
  }
}

/** What the columns and the rows of a table are. */
function corner(...names) {
  return html("td", {}, ...names.filter(Boolean).map((name) => html("small", {}, name)));
}

/** The name of a row or a column: all are read aloud, some are seen. */
function named({ named, labels }, label, scope) {
  const short = labels.every((one) => one.length < 3) ? "short" : null;
  return html("th", { scope, class: named ? short : "unseen" }, html("span", {}, label));
}

/** What says how large cells may be: the letters of the longest number, and the cells side by side and of one matrix. */
function sizes({ bands, matrices }) {
  const lines = bands.map((band) =>
    band.filter((m) => m != null).map((m) => matrices[m].columns.labels.length),
  );
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const letters = matrices.flatMap(({ text }) => text.flat().map((said) => said?.length ?? 0));
  return {
    "--letters": Math.max(LETTERS, ...letters),
    "--beside": Math.max(...lines.map(sum)),
    "--tables": Math.max(...lines.map((line) => line.length)),
    "--alone": Math.max(...lines.flat()),
  };
}
