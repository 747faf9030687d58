/** What moves a picture through its moments: a slider, a switch that plays, a pace, and marks to jump to. */
import { html } from "./elements.js";

const NOWHERE = -1; // the choice of a jump before there was one

export class Player {
  /** `show` draws a moment; `track` stands above the slider. */
  constructor(show, track = null) {
    this.draw = show;
    this.track = track;
    this.root = html("div", { class: "controls" });
  }

  /** Nothing plays before somebody asks for it. Where nothing else is said, the pace is ours. */
  build({ words, paces, pace }) {
    const label = (name, control) => html("label", {}, name, control);
    this.slider = html("input", { type: "range", min: 0, step: 1, "aria-label": words.moment });
    this.play = html("input", { type: "checkbox" });
    this.pace = html("select", {}, ...paces.map((one) => html("option", { value: one }, one)));
    this.pace.value = pace;
    this.jump = html("select");
    this.jumps = label(words.jump, this.jump);
    this.slider.addEventListener("input", () => this.show(this.slider.valueAsNumber));
    this.play.addEventListener("change", () => this.play.checked && this.run());
    this.jump.addEventListener("change", () => this.jumpTo(Number(this.jump.value)));
    this.root.append(
      html("label", { class: "play" }, this.play, words.play),
      ...(words.pace ? [label(words.pace, this.pace)] : []),
      html("div", { class: "track" }, this.track, this.slider),
      this.jumps,
    );
  }

  /** So many moments. The last is shown, or where they are as many as before, the one at which one stands. */
  update(film) {
    if (!this.slider) this.build(film);
    const stays = film.count - 1 === this.last;
    this.last = film.count - 1;
    this.slider.max = this.last;
    this.root.classList.toggle("waiting", this.last === 0);
    const names = [["–", NOWHERE], ...film.jumps];
    this.jump.replaceChildren(...names.map(([name, at]) => html("option", { value: at }, name)));
    this.jumps.hidden = film.jumps.length === 0;
    this.show(stays ? this.moment : this.last);
  }

  show(moment) {
    this.moment = moment;
    this.slider.value = moment;
    this.slider.setAttribute("aria-valuetext", this.draw(moment));
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
}
