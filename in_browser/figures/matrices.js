/** Matrices as tables: what a cell holds, what lights up with it, and how one goes from cell to cell by keys. */
import { ByHand } from "./by_hand.js";
import { html, modified, moves } from "./elements.js";
import { fitted, needsOf } from "./layout.js";

const CELL = "td[data-at]";
const NEIGHBOURS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};
// Of how a figure becomes what it is: milliseconds. First one sees what is hidden, then what that leaves.
const BEFORE = { delay: 600, duration: 900, easing: "ease-in-out", fill: "backwards" };

/** What must stay for a table to stay: everything but numbers and titles. */
const shapeOf = ({ key, rows, columns }) => JSON.stringify([key, rows, columns]);

export class Matrices {
  constructor() {
    this.says = html("output");
    this.about = html("p", { class: "about" });
    this.all = html("div");
    this.root = html("section", { class: "figure" }, this.all, this.about, this.says);
    for (const kind of ["pointerover", "focusin"])
      this.root.addEventListener(kind, ({ target }) => this.light(target.closest(CELL)));
    for (const kind of ["pointerleave", "focusout"])
      this.root.addEventListener(kind, () => this.light(null));
    this.root.addEventListener("click", ({ target }) => this.pick(target.closest(CELL)));
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.byHand = new ByHand(this);
    new ResizeObserver(() => this.measure()).observe(this.root);
  }

  /** Tables for these data. Who was in a cell is in the same one again, where there is one. */
  build(data, shapes) {
    const focused = this.root.getRootNode().activeElement?.closest?.(`.figure ${CELL}`);
    const at = focused && this.at(focused);
    this.needs = needsOf(data);
    this.pointed = null;
    this.tables = data.matrices.map((matrix, m) =>
      shapes[m] === this.shapes?.[m] ? this.tables[m] : this.table(matrix, m),
    );
    this.shapes = shapes;
    this.all.replaceChildren(...this.tables.map(({ parentElement }) => parentElement));
    this.all.className = data.bands.length > 1 ? "bands" : "band";
    data.bands.forEach((band, row) =>
      band.forEach((m, column) => m !== null && this.place(m, row, column)),
    );
    const cell = this.enter((at && this.cell(...at)) || this.cell(0, 0, 0));
    if (focused) cell.focus();
  }

  /** Where a matrix stands. The names of rows have the same room in all matrices below each other: so columns are in line. */
  place(m, row, column) {
    const table = this.tables[m];
    const { names, own, again } = this.needs;
    table.parentElement.style.gridArea = `${row + 1} / ${column + 1}`;
    table.style.setProperty("--names", names[column]);
    table.style.setProperty("--own-names", own[m]);
    for (const axis of ["rows", "columns"]) table.classList.toggle(`again-${axis}`, again[m][axis]);
  }

  /** A table, in a box in which it scrolls where it is too wide. */
  table({ key, rows, columns }, m) {
    const cell = (i, j) => html("td", { tabindex: -1, "data-at": [m, i, j] }, html("span"));
    const line = (label, i) =>
      html("tr", {}, named(rows, label, "row"), ...columns.labels.map((_, j) => cell(i, j)));
    const head = columns.labels.map((label) => named(columns, label, "col"));
    const table = html(
      "table",
      { role: "grid", "data-key": key },
      html("caption", {}, html("span"), html("small")),
      html(
        "thead",
        {},
        html("tr", {}, corner({ columns: columns.name, rows: rows.name }), ...head),
      ),
      html("tbody", {}, ...rows.labels.map(line)),
    );
    html("div", { class: "matrix" }, table);
    return table;
  }

  /** The numbers of these data in the place of those before. */
  update(data) {
    const before = this.data;
    this.data = data;
    const shapes = data.matrices.map(shapeOf);
    const [now, then] = [JSON.stringify([data.bands, shapes]), this.shape];
    this.shape = now;
    if (now !== then) this.build(data, shapes);
    this.root.setAttribute("aria-label", data.name);
    this.about.textContent = data.about;
    this.hint = (data.by_hand && data.hint_by_hand) || data.hint;
    this.says.classList.toggle("above", !data.hinted);
    data.matrices.forEach(({ title, note, role, scale, hand }, m) => {
      const table = this.tables[m];
      table.classList.toggle("by-hand", Boolean(data.by_hand && hand));
      table.classList.toggle("areas", scale === "areas");
      table.classList.toggle("bars", scale === "bars");
      table.style.setProperty("--role", `var(--lab-${role}, currentColor)`);
      [table.caption.firstChild.textContent, table.caption.lastChild.textContent] = [title, note];
    });
    const { rows, above } = this.needs;
    const told = { rows, above, long: data.letters[0], short: data.letters[1] };
    for (const [name, value] of Object.entries(told))
      this.all.style.setProperty(`--${name}`, value);
    this.fit();
    this.refresh();
    this.byHand.heard(data.heard);
    if (before?.covered && !data.covered && moves()) this.play();
  }

  /** The room that there is. It is looked up when it changes, not with every number: that would lay out the page. */
  measure() {
    const pixels = (text) => Number.parseFloat(text);
    const [own, page] = [this.all, document.documentElement].map((one) => getComputedStyle(one));
    this.room = {
      width: this.root.clientWidth,
      height: innerHeight - pixels(own.scrollMarginTop), // which is what stands around it
      rem: pixels(page.fontSize),
      least: pixels(own.getPropertyValue("--lab-small-number")),
      leastLetters: pixels(own.getPropertyValue("--lab-small-letters")),
    };
    if (!this.data) return;
    this.fit();
    this.refresh();
  }

  /** As large as the width allows, and every number as long as that leaves room for. */
  fit() {
    if (!this.room?.width) return;
    const { letters, numbered, bands } = this.data;
    const fit = fitted(this.needs, { ...this.room, letters, numbered, meet: bands.length > 1 });
    this.all.classList.toggle("stacked", fit.stacked);
    this.all.classList.toggle("maps", !fit.numbered);
    this.all.classList.toggle("shortly", fit.shortly === true);
    this.all.style.setProperty("--size", `${(fit.size ?? 0).toFixed(2)}px`);
    this.all.style.setProperty("--field-size", `${(fit.field ?? 0).toFixed(2)}px`);
    for (const name of this.all.querySelectorAll("th[data-named]")) {
      const at = name.scope === "row" ? name.parentElement.rowIndex : name.cellIndex;
      const seen = fit.numbered || (fit.every && (at - 1) % fit.every === 0);
      name.classList.toggle("nameless", !seen);
    }
    this.shortly = fit.shortly;
  }

  /** Every number that is another by now, and the rings. */
  refresh() {
    this.data.matrices.forEach(({ text, short, share, marked }, m) =>
      text.forEach((line, i) =>
        line.forEach((said, j) => {
          const shown = (this.shortly && short?.[i][j]) || said;
          this.write(this.cell(m, i, j), shown, share[i][j], marked?.[i][j]);
        }),
      ),
    );
    this.light(this.pointed);
    this.mark();
    this.byHand.preview();
  }

  /** A number; or a pattern that is read aloud, where a mask hides it; or an empty frame. */
  write(cell, text, share, marked) {
    const now = `${text} ${share} ${marked}`;
    if (cell.written === now) return;
    cell.written = now;
    const kind = text == null ? "masked" : text === "" ? "empty" : "";
    const beyond = Math.abs(share) > 1 && "beyond";
    cell.className = [kind, beyond, marked && "marked"].filter(Boolean).join(" ");
    cell.style.setProperty("--share", Math.max(-1, Math.min(1, share ?? 0)));
    cell.firstChild.className = text == null ? "unseen" : "number";
    cell.firstChild.textContent = text ?? this.data.masked;
  }

  cell(m, i, j) {
    return this.tables[m]?.tBodies[0].rows[i]?.cells[j + 1];
  }

  at(cell) {
    return cell.dataset.at.split(",").map(Number);
  }

  said(m, i, j) {
    return this.data.matrices[m].say[i][j];
  }

  /** A ring for a cell and all that it was made of; and what is to be said of it. */
  light(cell) {
    this.pointed = cell;
    for (const one of this.root.querySelectorAll(".lit")) one.classList.remove("lit");
    const [m, i, j] = cell ? this.at(cell) : [];
    const said = cell && this.said(m, i, j);
    if (!this.byHand.hand) this.says.value = said || (this.data.hinted ? this.hint : "");
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

  /** The cell whose number is explained beside the figure keeps its ring. */
  pick(cell) {
    const { picks, matrices } = this.data;
    if (!picks || !cell) return;
    const [m, i, j] = this.at(cell);
    if (!matrices[m].say[i][j]) return;
    this.picked = [matrices[m].key, i, j];
    this.mark();
    this.send("picked", this.picked);
  }

  mark() {
    const [key, i, j] = (this.data.picks && this.picked) || [];
    const m = this.data.matrices.findIndex((matrix) => matrix.key === key);
    for (const one of this.root.querySelectorAll(".picked")) one.classList.remove("picked");
    this.cell(m, i, j)?.classList.add("picked");
  }

  press(event) {
    const cell = event.target.closest(CELL);
    const by = NEIGHBOURS[event.key];
    if (!cell || modified(event)) return;
    const [m, i, j] = this.at(cell);
    if (by) this.enter(this.beside(m, i + by[0], j + by[1], by))?.focus();
    else if (event.key === "Home") this.enter(this.cell(m, i, 0)).focus();
    else if (event.key === "End") this.enter(cell.parentElement.lastElementChild).focus();
    else if (event.key === "Enter" || event.key === " ") this.pick(cell);
    else return;
    event.preventDefault();
    event.stopPropagation(); // to the page, an arrow may mean the next step
  }

  /** The cell at this place; beyond an edge the next matrix, or the one before, in the same row where it has one. */
  beside(m, i, j, [down, right]) {
    const there = j < 0 ? null : this.cell(m, i, j);
    if (there) return there;
    const rows = this.tables[m + down + right]?.tBodies[0].rows;
    if (!rows) return null;
    const line = rows[right ? Math.min(i, rows.length - 1) : down > 0 ? 0 : rows.length - 1];
    const last = line.cells.length - 1;
    return line.cells[right ? (right > 0 ? 1 : last) : Math.min(j + 1, last)];
  }

  /** The whole figure is one stop of the Tab key: the cell at which one was last. */
  enter(cell) {
    if (!cell) return null;
    for (const one of this.root.querySelectorAll('[tabindex="0"]')) one.tabIndex = -1;
    cell.tabIndex = 0;
    return cell;
  }

  /** Once a question is answered: weights grow from what they were, rows of a shuffled matrix slide to their place. */
  play() {
    this.data.matrices.forEach(({ began, from, text }, m) => {
      text.forEach((line, i) =>
        line.forEach((_, j) => {
          const [grows, appears] = [this.cell(m, i, j), this.cell(m, i, j).firstChild];
          if (!began) return;
          grows.animate([{ transform: `scaleX(${began[i][j]})` }, {}], {
            ...BEFORE,
            pseudoElement: "::after",
          });
          appears.animate([{ opacity: 0 }, {}], { ...BEFORE, delay: 1500, duration: 300 });
        }),
      );
      from?.forEach((row, i) => {
        const lines = this.tables[m].tBodies[0].rows;
        const up = lines[row].offsetTop - lines[i].offsetTop;
        lines[i].animate([{ translate: `0 ${up}px` }, {}], { ...BEFORE, duration: 1200 });
      });
    });
  }
}

/** What the columns and the rows of a table are. */
function corner(names) {
  const named = Object.entries(names).filter(([, name]) => name);
  return html("td", {}, ...named.map(([axis, name]) => html("small", { class: axis }, name)));
}

/** The name of a row or a column: all are read aloud, some are seen. */
function named({ named, whole, labels }, label, scope) {
  const look = whole ? "whole" : labels.every((one) => one.length < 3) ? "short" : null;
  const attributes = { scope, class: named ? look : "nameless", "data-named": named || null };
  return html("th", attributes, html("span", {}, label));
}
