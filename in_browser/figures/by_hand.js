/** Numbers that a hand changes: it drags them, steps through them with Shift and an arrow, or types another. What follows
    from them is asked of the server, one value after the other, never faster than it answers. */
import { html } from "./elements.js";

const CELL = ".by-hand td[data-at]";
const EACH = 1000 / 12; // milliseconds between two values at least
const LOST = 2000; // after so many milliseconds no answer is waited for any more
const BEGINS = 4; // pixels from which on a hand drags
const KEY_STEP = 10; // of the last decimal
const MOST = 1000;
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1 };

export class ByHand {
  constructor(figure) {
    this.figure = figure;
    this.wanted = []; // what the server is not asked yet
    this.asked = Date.now(); // an answer to a figure that stood here before is none to this one
    this.since = 0;
    const { root } = figure;
    root.addEventListener("pointerdown", (event) => this.take(event));
    root.addEventListener("pointermove", (event) => this.drag(event));
    root.addEventListener("pointerup", (event) => this.drags(event) && this.letGo());
    root.addEventListener("pointercancel", (event) => this.drags(event) && this.giveBack());
    root.addEventListener("click", (event) => this.dragged && event.stopPropagation(), true);
    root.addEventListener("keydown", (event) => this.press(event), true);
    root.addEventListener("dblclick", ({ target }) => {
      const cell = target.closest(CELL);
      if (cell && !this.field) this.type(cell, "");
    });
    for (const kind of ["keyup", "focusout"])
      root.addEventListener(kind, () => this.hand?.byKey && this.letGo());
  }

  /** The number of a cell is in a hand from now on. */
  hold(cell) {
    const [m, i, j] = this.figure.at(cell);
    const { key, hand } = this.figure.data.matrices[m];
    const asked = [this.waits ? this.last : null, ...this.wanted];
    const told = asked.findLast((one) => one?.cell.join() === `${key},${i},${j}`);
    const from = typeof told?.value === "number" ? told.value : (told?.from ?? hand.numbers[i][j]);
    this.hand = { cell, at: [key, i, j], from, value: from, decimals: hand.decimals };
    this.figure.root.classList.add("in-hand");
    return this.hand;
  }

  take(event) {
    const cell = event.target.closest(CELL);
    this.dragged = false;
    if (!cell || this.field || event.button || event.ctrlKey || !event.isPrimary) return;
    if (this.hand) this.letGo();
    Object.assign(this.hold(cell), { left: event.clientX, pointer: event.pointerId });
  }

  /** Whether it is this pointer that holds the number. */
  drags({ pointerId }) {
    return this.hand?.pointer === pointerId;
  }

  drag(event) {
    const { hand } = this;
    const { clientX, pointerId } = event;
    if (!this.drags(event)) return;
    if (!(event.buttons & 1)) {
      this.giveBack(); // it was let go where nobody noticed
      return;
    }
    if (!this.dragged && Math.abs(clientX - hand.left) < BEGINS) return;
    if (!this.dragged) hand.cell.setPointerCapture(pointerId);
    this.dragged = true;
    this.set(hand.from + Math.round(clientX - hand.left) / 10 ** hand.decimals);
  }

  press(event) {
    const cell = event.target.closest(CELL);
    if (event.key === "Escape" && this.hand && !this.field) this.giveBack();
    else if (!cell || this.field || event.altKey || event.ctrlKey || event.metaKey) return;
    else if (event.shiftKey && event.key in STEPS) {
      const hand = this.hand ?? this.hold(cell);
      hand.byKey = true; // a held key is one change, until it is let go
      this.set(hand.value + (STEPS[event.key] * KEY_STEP) / 10 ** hand.decimals);
    } else if (/^[-−+.,0-9]$/.test(event.key)) this.type(cell, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** A field in the place of the number, for another one. */
  type(cell, begun) {
    const label = this.figure.said(...this.figure.at(cell));
    const field = html("input", { inputmode: "decimal", autocomplete: "off", "aria-label": label });
    const leave = (typed) => {
      if (this.field !== field) return;
      this.field = null;
      if (field.matches(":focus")) cell.focus();
      field.remove();
      if (typed) this.hand.value = numberOf(typed);
      this.letGo();
    };
    this.hold(cell);
    this.field = field;
    field.value = begun;
    field.addEventListener("blur", () => leave(field.value.trim()));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") leave(field.value.trim());
      else if (event.key === "Escape") leave("");
      event.stopPropagation();
    });
    cell.append(field);
    field.focus();
  }

  /** What the hand makes of the number is seen at once, what follows from it once the server has computed it. */
  set(value) {
    const { hand } = this;
    const unit = 10 ** hand.decimals;
    hand.value = Math.max(-MOST, Math.min(MOST, Math.round(value * unit) / unit));
    this.preview();
    this.want({ cell: hand.at, value: hand.value, from: hand.from, done: false });
  }

  /** The number under the hand, muted: the server's own takes its place. */
  preview() {
    const { hand } = this;
    if (!hand || hand.value === hand.from) return;
    const { cell, value, decimals } = hand;
    const spoken = new Intl.NumberFormat(document.documentElement.lang, {
      minimumFractionDigits: decimals,
      useGrouping: false,
    });
    const written = spoken.format(value).replace("-", "−");
    cell.written = null; // so that the figure writes into it whatever the server says
    cell.firstChild.textContent = written;
    cell.classList.add("held");
    this.figure.says.value = written;
  }

  /** From here on it is a change like any other; or none, where the number is what it was. */
  letGo() {
    const { at, value, from, cell } = this.hand;
    this.hand = null;
    this.passOver();
    this.figure.root.classList.remove("in-hand");
    if (value !== from) this.want({ cell: at, value, from, done: true });
    else if (this.asks(at)) this.want({ cell: at, value: null, from, done: true });
    else if (cell.written === null) this.figure.refresh();
  }

  giveBack() {
    if (!this.hand) return;
    this.hand.value = this.hand.from;
    this.letGo();
  }

  /** Whether the server was asked about a cell since it was last let go. */
  asks(at) {
    return this.last?.done === false && this.last.cell.join() === at.join();
  }

  /** The newest value is asked for, those before it are passed over; but not one that was let go. */
  want(what) {
    this.passOver();
    this.wanted.push(what);
    this.ask();
  }

  passOver() {
    if (this.wanted.at(-1)?.done === false) this.wanted.pop();
  }

  /** What was let go is asked for again until it is answered; what is still held may be lost. */
  ask() {
    clearTimeout(this.timer);
    const again = this.waits && this.last.done && this.figure.root.isConnected;
    if (!this.wanted.length && !again) return;
    const left = this.since + (this.waits ? LOST : EACH) - performance.now();
    if (left > 0) {
      this.timer = setTimeout(() => this.ask(), left);
      return;
    }
    if (!again) {
      this.last = this.wanted.shift();
      this.asked += 1;
    }
    this.waits = true;
    this.since = performance.now();
    this.figure.trigger("by_hand", { ...this.last, asked: this.asked });
    if (this.last.done) this.timer = setTimeout(() => this.ask(), LOST);
  }

  /** What the server answers stands in the figure; what the hand has made of it meanwhile stays. */
  heard(asked) {
    if (this.hand && !this.hand.cell.isConnected) [this.hand, this.field] = [null, null];
    this.figure.root.classList.toggle("in-hand", Boolean(this.hand));
    if (asked !== this.asked) return;
    this.waits = false;
    this.ask();
  }
}

/** A number as it was typed, in whatever way one writes it here; or the text that is none. */
function numberOf(typed) {
  const written = typed.replace("−", "-").replace(",", ".");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?$/i.test(written) &&
    Number.isFinite(Number(written))
    ? Number(written)
    : typed;
}
