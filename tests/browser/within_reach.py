"""What a page offers and nobody can use: a control under something else, and a menu of a figure over something."""

WIDTHS = (1920, 1440, 1280, 1024, 390)
LAID_OUT = """async (width) => {
  const frame = () => new Promise(requestAnimationFrame);
  const place = () => document.querySelector("[data-testid=stSidebar]")?.getBoundingClientRect();
  const folded = () => width <= 768 || document.querySelector("[data-testid=stSidebar]").dataset.collapsed === "true";
  const glides = () => place() && (folded() ? place().right > 0 : place().left < 0);  // out of the way, or back
  while (document.querySelector(".stApp").clientWidth !== width || glides()) await frame();
  await frame();
  await frame();
}"""
OUT_OF_REACH = """() => {
  const CONTROLS = "button, a[href], summary, input, textarea, select, [role=tab], [role=radio], [role=combobox]";
  const seen = (e) => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const named = (e) => e.textContent.trim() || e.ariaLabel || e.getAttribute("class") || "";
  const says = (e) => `${e.tagName} “${named(e).slice(0, 50)}”`;
  const sidebar = document.querySelector("[data-testid=stSidebar]"), main = document.querySelector(".stMain");
  const shut = (e) => sidebar?.dataset.collapsed === "true" && sidebar.contains(e);
  // What one presses of a control: of a slider its thumb, of a box to tick its label.
  const body = (e) => e.matches(".stSlider input") ? e.parentElement.parentElement
    : e.matches("[type=checkbox], [type=radio], [type=file]") && e.closest("label") || e;
  const size = (box) => Math.min(box.width, box.height);
  const found = [], bodies = new Set();
  for (const e of document.querySelectorAll(CONTROLS))
    if (!e.disabled && !shut(e) && !e.closest(".stElementToolbar") && seen(body(e))) bodies.add(body(e));

  const hit = (e) => {
    const box = e.getBoundingClientRect();
    return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  };
  const reached = (e) => {
    const top = hit(e);
    return e.contains(top) || [...(e.labels ?? [])].some((label) => label.contains(top));
  };
  for (const e of bodies) {
    if (size(e.getBoundingClientRect()) < 2 || reached(e)) continue;
    e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
    if (!reached(e)) found.push(`${says(e)} lies under ${hit(e) ? says(hit(e)) : "the edge"}`);
  }

  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;  // a line of letters is higher than they are
  const boxes = [...bodies].filter((e) => main.contains(e)).map((e) => [e, [e.getBoundingClientRect()]]);
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (texts.nextNode()) {
    const text = texts.currentNode, e = text.parentElement;
    if (!text.data.trim() || e.closest(".stElementToolbar, style") || !seen(e)) continue;
    range.selectNodeContents(text);
    boxes.push([e, [...range.getClientRects()]]);
  }
  for (const menu of main.querySelectorAll(".stElementToolbar")) {
    const own = menu.getBoundingClientRect();
    for (const [e, parts] of boxes)
      if (parts.some((box) => size(box) && meet(own, box))) found.push(`the menu of a figure covers ${says(e)}`);
  }
  main.scrollTop = 0;
  return found;
}"""


def out_of_reach(page, widths=WIDTHS):
    """What lies under something else, or under the menu of a figure, at each of these widths."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(LAID_OUT, width)
        found = page.evaluate(OUT_OF_REACH)
        if found:  # a figure may still grow to its width
            page.wait_for_timeout(1000)
            found = page.evaluate(OUT_OF_REACH)
        yield from (f"{width}: {fault}" for fault in found)
