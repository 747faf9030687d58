// The keys with which a teacher steps through a plan, also those of a presenter's remote, and the timer of a pause.
// They press the buttons of the page, and act only where those are: what a field or a slider does with a key stays its.
(() => {
  const KEYS = {
    ArrowRight: "plan_next",
    PageDown: "plan_next",
    ArrowLeft: "plan_back",
    PageUp: "plan_back",
  };
  const TYPES =
    'input:not([type="checkbox"]), textarea, select, [contenteditable="true"], [role="slider"], [role="radio"], [role="combobox"], [role="grid"] td';
  const button = (key) => document.querySelector(`.st-key-${key} button`);
  const toTop = () => document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  let blank = null;

  function toggleBlank() {
    if (blank) {
      blank.remove();
      blank = null;
    } else {
      blank = document.createElement("div");
      blank.id = "blank-screen";
      blank.style.cssText = "position:fixed;inset:0;background:#000;z-index:2147483647";
      blank.addEventListener("click", toggleBlank);
      document.body.append(blank);
    }
  }

  addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (!button("plan_next") || event.composedPath()[0].closest?.(TYPES)) return;
      if (event.key.toLowerCase() === "b" || event.key === ".") toggleBlank();
      else if (blank && event.key === "Escape") toggleBlank();
      else if (KEYS[event.key]) {
        if (!event.repeat) button(KEYS[event.key])?.click();
      } else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );

  // What a step has brought stands at the top of its page; so does a new question, for whoever has scrolled down.
  addEventListener(
    "click",
    (event) => {
      if (event.target.closest?.(".st-key-plan_next, .st-key-plan_back, .st-key-plan_stops"))
        toTop();
    },
    true,
  );

  let question = "";
  setInterval(() => {
    const asked = document.querySelector(".st-key-class_question h1")?.textContent ?? "";
    if (asked && asked !== question) toTop();
    question = asked;
  }, 250);

  let written = "",
    ends = 0;
  setInterval(() => {
    const place = document.querySelector('.st-key-class_timer [data-testid="stText"]');
    const found = place && /^(\d+):(\d\d)$/.exec(place.textContent);
    if (!found) return void (written = "");
    if (place.textContent !== written)
      ends = performance.now() + 1000 * (60 * found[1] + +found[2]);
    const left = Math.max(0, Math.round((ends - performance.now()) / 1000));
    place.textContent = written = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }, 250);
})();
