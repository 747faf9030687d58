"""What stands in the first view of every page, measured: `python -m tests.first_views http://localhost:8501`.

A line for each page and size of screen: where topic, point, figure and question stand, how much of its column the
figure takes, its smallest letters, and those of the numbers in its cells, but for powers of ten, all in pixels. Tests
hold what is to be kept.
"""

import sys

from playwright.sync_api import sync_playwright

from attention_ui.contents import CONTENTS
from tests.chromium import SETTLED, find_chromium
from tests.figures import EVERY, FIGURE_BOX, LETTERS, PICTURE

SCREENS = {"wide": (1440, 900), "projector": (1280, 720), "phone": (390, 844)}
# Whose first question stands beside its figure, with or without the real model.
QUESTION_BESIDE = (
    "tokens",
    "dot_product",
    "projections",
    "scores",
    "mask",
    "softmax",
    "output",
    "heads",
    "positions",
    "pytorch",
    "backward",
    "variants",
    "cost",
)
PAINTED = f"""() => [...document.querySelectorAll('.stMain {FIGURE_BOX}')]
    .every(box => !box.getBoundingClientRect().width || {EVERY}('{PICTURE}', box).length)"""
MEASURED = (
    """() => {
    const seen = one => one.getBoundingClientRect().width > 1 && getComputedStyle(one).visibility !== 'hidden'
    const all = selector => [...document.querySelectorAll(selector)].filter(seen)
    const around = found => found.length ? {
        top: Math.min(...found.map(one => one.getBoundingClientRect().top)),
        bottom: Math.max(...found.map(one => one.getBoundingClientRect().bottom)),
        width: Math.max(...found.map(one => one.getBoundingClientRect().right))
            - Math.min(...found.map(one => one.getBoundingClientRect().left)),
    } : null
    const stages = all('.st-key-stage, .st-key-run, .st-key-model_look'), main = all('.stMain .stMainBlockContainer')[0]
    const stage = stages[0] ?? main
    const figures = all(
        '.stMain :is(FIGURE_BOX, iframe, [data-testid=stMetric], .st-key-written)'
    ).filter(one => stage.contains(one))
    const texts = figures.flatMap(one => EVERY('LETTERS', one))
        .filter(one => one.textContent.trim() && seen(one))
    const smallest = found => found.length
        ? Math.min(...found.map(one => parseFloat(getComputedStyle(one).fontSize))) : null
    return {
        topic: around(all('.stMain h1')), point: around(all('.st-key-topic p')),
        figure: around(figures), column: stage.getBoundingClientRect().width,
        letters: smallest(texts),
        numbers: smallest(texts.filter(one => one.closest('[class*=number]') && !one.textContent.includes('e'))),
        question: around(all('[class*=_quiz] h2')), cards: around(all('[class*="_card_"] button')),
        sideways: document.scrollingElement.scrollWidth - innerWidth,
    }
}""".replace("FIGURE_BOX", FIGURE_BOX)
    .replace("LETTERS", LETTERS)
    .replace("EVERY", EVERY)
)


def measure(page) -> dict:
    """What stands on the page that is open, once everything is painted."""
    page.wait_for_selector("h1")
    page.wait_for_function(SETTLED)
    page.wait_for_function(PAINTED)
    return page.evaluate(MEASURED)


def line_of(name: str, screen: str, found: dict) -> str:
    """One line of the table; a dash for what the page has not."""

    def ends(part: str) -> str:
        box = found[part]
        return "–" if box is None else f"{box['top']:.0f}–{box['bottom']:.0f}"

    share = "–" if found["figure"] is None else f"{100 * found['figure']['width'] / found['column']:.0f} %"
    letters = ("–" if found[what] is None else f"{found[what]:.1f}" for what in ("letters", "numbers"))
    columns = [*map(ends, ("topic", "point", "figure")), share, *letters, *map(ends, ("question", "cards"))]
    return f"| {name} | {screen} | {' | '.join(columns)} | {found['sideways']:.0f} |"


def main(url: str) -> None:
    """Print the table."""
    print(
        "| page | screen | topic | point | figure | of its column | letters | numbers | question | cards | sideways |"
    )
    print("|---|---|---|---|---|--:|--:|--:|---|---|--:|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        for screen, (width, height) in SCREENS.items():
            page = browser.new_context(viewport={"width": width, "height": height}).new_page()
            for entry in CONTENTS:
                address = "" if entry.address == "home" else entry.address
                page.goto(f"{url}/{address}{'?large=true' if screen == 'projector' else ''}")
                print(line_of(entry.address, screen, measure(page)), flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
