/** A picture in which one points, and the line below it that says at what; drawn anew in another width. */
import { html, svg } from "./elements.js";

export class Pointed {
  /** Where it `scrolls`, it may be wider than there is room. */
  constructor(look, scrolls = false) {
    this.picture = svg("svg", look);
    this.says = html("output");
    const place = scrolls ? html("div", {}, this.picture) : this.picture;
    this.root = html("section", { class: "spans" }, place, this.says);
    new ResizeObserver(() => this.measure()).observe(this.root);
  }

  update(data) {
    this.data = data;
    this.root.setAttribute("aria-label", data.name);
    this.picture.setAttribute("aria-label", data.alt);
    this.measure();
  }

  measure() {
    if (this.root.clientWidth && this.data) this.draw(this.root.clientWidth);
  }
}
