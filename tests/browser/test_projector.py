"""On a projector: room for the figure, and words that the back row can read."""

import pytest

from attention_ui.page.contents import CONTENTS

LEAST = 18  # pixels
SMALLER = """least => [...document.querySelectorAll('.stMain :is(p, h1, h2, h3, label, kbd, summary, code, button)')]
    .filter(one => !one.closest('.stVegaLiteChart, .katex') && one.offsetParent
        && [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
        && parseFloat(getComputedStyle(one).fontSize) < least)
    .map(one => one.textContent)"""


LETTERS_IN_FIGURES = """() => [...document.querySelectorAll('.stVegaLiteChart svg text')]
    .filter(one => one.textContent.trim() && one.getBoundingClientRect().width)
    .map(one => parseFloat(getComputedStyle(one).fontSize))"""
QUESTION_FIRST = [
    "tokens",
    "dot_product",
    "projections",
    "scores",
    "mask",
    "softmax",
    "output",
    "heads",
    "positions",
    "backward",
    "read",
    "variants",
    "cost",
]


def seen_whole(tab, selector):
    """True where all of this stands on the screen as it is opened."""
    boxes = [place.bounding_box() for place in tab.page.locator(selector).all()]
    return boxes and all(box["y"] >= 0 and box["y"] + box["height"] <= 720 for box in boxes)


@pytest.mark.part(4)
@pytest.mark.parametrize("page", QUESTION_FIRST)
def test_letters_in_figures_are_large_and_question_and_answer_are_seen_without_scrolling(visit, page):
    tab = visit(viewport={"width": 1280, "height": 720}).open(f"{page}?large=true")
    tab.page.wait_for_selector(".stVegaLiteChart svg.marks")
    tab.settled()
    cards = "[class*=st-key-cards_] button"
    assert seen_whole(tab, f"h1, {cards}") and min(tab.page.evaluate(LETTERS_IN_FIGURES)) >= LEAST
    figure = tab.page.locator(".stVegaLiteChart svg.marks").first
    assert figure.bounding_box()["y"] < 460, "the screen has room for it, too: controls stand below it"
    tab.page.locator(cards).first.click()
    tab.page.wait_for_selector("[class*=st-key-cards_] button[kind=primary]")
    tab.settled()
    reply = "[class*=_quiz] [data-testid=stText] >> nth=-1"
    assert seen_whole(tab, f"h1, {cards}") and seen_whole(tab, reply)
    assert tab.page.locator(reply).inner_text().startswith(("Yes. ", "Not quite. "))
    assert min(tab.page.evaluate(LETTERS_IN_FIGURES)) >= LEAST and tab.page.evaluate(SMALLER, LEAST) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.part(4)
@pytest.mark.parametrize("page", [entry.address for entry in CONTENTS if entry.address not in QUESTION_FIRST])
def test_nothing_is_too_small_for_the_back_row(visit, page):
    tab = visit(viewport={"width": 1280, "height": 720}).open(f"{page}?large=true".removeprefix("home"))
    tab.page.wait_for_selector("h1")
    tab.settled()
    if page not in ("exercises", "take_home", "class_vote"):
        tab.page.wait_for_selector(".stVegaLiteChart svg.marks")
        assert min(tab.page.evaluate(LETTERS_IN_FIGURES)) >= LEAST
    assert tab.page.evaluate(SMALLER, LEAST) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_sidebar_leaves_its_room_to_the_figure(visit):
    tab = visit(viewport={"width": 1280, "height": 720}).open("softmax?large=true")
    tab.page.wait_for_selector("h1")
    tab.settled()
    assert tab.page.locator(".stMain h1").first.bounding_box()["x"] < 100, "the sidebar is folded"
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    tab.page.locator(".st-key-large label").click()
    tab.page.wait_for_url(lambda address: "large=true" not in address)
    tab.settled()
    assert tab.page.evaluate(SMALLER, LEAST) != []
