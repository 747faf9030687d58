"""What a visitor with a real browser waits for: key press to repainted figure, launch to painted page."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright
from report import lack
from servers import NO_CHART, NO_FIGURE, OURS, Server

from tests.chromium import find_chromium
from tests.figures import FIGURE_BOX, FIND, PICTURE

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZE = {"width": 1366, "height": 768}
FIGURE = f".st-key-pipeline {PICTURE}"
# Of the bare address, ever since.
FIRST_FIGURE = f":is(.st-key-model_view, .st-key-ribbons, .st-key-pipeline) {PICTURE}"
TWIN = ".st-key-pipeline [data-testid=stText]"
VALUE = ".st-key-value [data-testid=stText]"
SLIDER = ".st-key-d_k input[type=range]"
SEED = ".st-key-seed [data-testid=stNumberInputStepUp]"
# Each lesson at a sentence of one's own, whose every number follows from the seed; what a real model says does not.
LESSONS = ("tokens", "dot_product", "projections", "scores", "mask", "softmax", "output")
SENTENCE = "example=sentence&cuts=example"
# The box of the first figure that a page shows, whatever its name is today.
FIRST_BOX = f"[class*=_figure]:has({FIGURE_BOX})"
CLASS_OF_FIRST_BOX = f"""() => [...document.querySelector("{FIRST_BOX}").classList]
    .find((name) => /^st-key-.*_figure$/.test(name))"""
PATIENCE_MS = 30_000
SETTLE_MS = 350
WARM_UP = 2  # presses that are not counted

# From the key press to the first frame after the one in which the text of the figure changed.
WAIT_FOR_CHANGE = """
([selector, patience]) => {
  const text = () => FIND(selector)?.textContent ?? "";
  const before = text();
  window.repainted = new Promise((resolve, reject) => {
    document.addEventListener("keydown", () => {
      const pressed = performance.now();
      const look = () => {
        const now = performance.now();
        if (now - pressed > patience) reject(new Error("the figure did not change"));
        else if (text() !== before && text() !== "") {
          const changed = text();
          requestAnimationFrame(() => resolve([performance.now() - pressed, changed]));
        } else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, {once: true, capture: true});
  });
}
""".replace("FIND", FIND)
TEXT_OF = f"selector => {FIND}(selector)?.textContent ?? ''"
PAINTED = """
selector => {
  const figure = FIND(selector), box = figure?.getBoundingClientRect();
  return box?.width > 0 && box.height > 0 && /[0-9]/.test(figure.textContent);
}
""".replace("FIND", FIND)
NEXT_FRAME = "() => new Promise(requestAnimationFrame)"


@dataclass
class KeyPresses:
    """Milliseconds from key press to repainted, for each kind of page."""

    times: dict[str, list[float]] = field(default_factory=dict)
    changed_again: int = 0  # presses after which the text changed once more: the first change was not the end

    def percentile(self, kind: str, percent: float) -> float:
        """A percentile for one kind of page."""
        return float(np.percentile(self.times[kind], percent))


@dataclass
class Pressed:
    """A page, what on it changes, and the control whose key is pressed."""

    page: Page
    shown: str
    control: str = SLIDER


@dataclass
class Launch:
    """Seconds until a server answers, and until its page is painted, its memory then, and what it has computed."""

    ready: float
    painted: float
    memory: float
    own_memory: float
    processor: float


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    path = find_chromium() or lack("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def measure_key_presses(presses: int) -> KeyPresses:
    """The same key on the same slider: our overview, the same page without its figure, and nearly empty pages."""
    fast = ("--runner.postScriptGC", "false")
    with (
        Server(OURS) as ours,
        Server(OURS, script=NO_FIGURE) as without,
        Server(NO_CHART, *fast) as bare,
        Server(NO_CHART) as default,
        chromium() as browser,
    ):
        pages = {
            "ours": Pressed(open_page(browser, f"{ours.url}/?example=journey&picture=steps", FIGURE), FIGURE),
            "the same page without its figure": Pressed(
                open_page(browser, f"{without.url}/?example=journey&picture=steps", TWIN), TWIN
            ),
            "a slider and nothing else": Pressed(open_page(browser, bare.url, VALUE), VALUE),
            "a slider and nothing else, default settings": Pressed(open_page(browser, default.url, VALUE), VALUE),
        }
        # From 2 to 7 and back.
        return measure_pages(pages, ["ArrowRight" if n % 10 < 5 else "ArrowLeft" for n in range(WARM_UP + presses)])


def measure_lessons(presses: int) -> dict[str, KeyPresses]:
    """Every lesson, with its figure and without: the next seed, and so a change of every number."""
    found = {}
    with Server(OURS) as ours, Server(OURS, script=NO_FIGURE) as without, chromium() as browser:
        for lesson in LESSONS:
            page = open_page(browser, f"{ours.url}/{lesson}?{SENTENCE}", f"{FIRST_BOX} {PICTURE}")
            box = f".{page.evaluate(CLASS_OF_FIRST_BOX)}"
            figure, twin = f"{box} {PICTURE}", f"{box} [data-testid=stText]"
            pages = {
                "ours": Pressed(page, figure, SEED),
                "without": Pressed(open_page(browser, f"{without.url}/{lesson}?{SENTENCE}", twin), twin, SEED),
            }
            found[lesson] = measure_pages(pages, ["Enter"] * (WARM_UP + presses))
            for pressed in pages.values():
                pressed.page.context.close()
    return found


def measure_pages(pages: dict[str, "Pressed"], keys: list[str]) -> KeyPresses:
    """The same keys on each page in turn; the first few are not counted."""
    found = KeyPresses({kind: [] for kind in pages})
    for number, key in enumerate(keys):
        for kind, pressed in pages.items():
            milliseconds, changed_again = press_once(pressed.page, pressed.shown, key, pressed.control)
            if number >= WARM_UP:
                found.times[kind].append(milliseconds)
                found.changed_again += changed_again
    return found


def open_page(browser: Browser, url: str, selector: str) -> Page:
    """A page of its own, painted, with nothing cached."""
    page = browser.new_context(viewport=SIZE).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    page.wait_for_selector(selector)
    page.wait_for_timeout(SETTLE_MS)
    return page


def press_once(page: Page, selector: str, key: str, control: str = SLIDER) -> tuple[float, bool]:
    """Milliseconds from pressing the key to the repainted text, and whether it changed again afterwards."""
    page.bring_to_front()
    page.focus(control)
    page.wait_for_timeout(SETTLE_MS)
    page.evaluate(WAIT_FOR_CHANGE, [selector, PATIENCE_MS])
    page.keyboard.press(key)
    milliseconds, text = page.evaluate("() => window.repainted")
    page.wait_for_timeout(SETTLE_MS)
    return milliseconds, page.evaluate(TEXT_OF, selector) != text


def measure_launches(times: int) -> list[Launch]:
    """Start the server and open the page, again and again; the first time warms the disk and is left out."""
    with chromium() as browser:
        return [launch_once(browser) for _ in range(times + 1)][1:]


def launch_once(browser: Browser, folder: Path = OURS, figure: str = FIRST_FIGURE) -> Launch:
    """From the command to the painted figure of the first screen."""
    with Server(folder) as server:
        ready = time.perf_counter() - server.started
        context = browser.new_context(viewport=SIZE)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(server.url, wait_until="commit")
        page.wait_for_function(PAINTED, arg=figure)
        page.evaluate(NEXT_FRAME)
        painted, processor = time.perf_counter() - server.started, server.cpu_seconds()
        page.wait_for_timeout(SETTLE_MS)
        memory = server.resident()
        launch = Launch(ready, painted, memory.whole, memory.own, processor)
        context.close()
    return launch


def typical(launches: list[Launch]) -> Launch:
    """The middle one of each."""
    return Launch(*(statistics.median(values) for values in zip(*map(astuple, launches), strict=True)))
