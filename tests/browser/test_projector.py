"""On a projector: room for the figure, and words that the back row can read."""

import pytest

LEAST = 18  # pixels
SMALLER = """least => [...document.querySelectorAll('.stMain :is(p, h1, h2, h3, label, kbd, summary, code, button)')]
    .filter(one => !one.closest('.stVegaLiteChart, .katex') && one.offsetParent
        && [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
        && parseFloat(getComputedStyle(one).fontSize) < least)
    .map(one => one.textContent)"""


@pytest.mark.parametrize("page", ["softmax", "mask", "generate"])
def test_words_are_large_and_the_sidebar_leaves_its_room_to_the_figure(visit, page):
    tab = visit(viewport={"width": 1280, "height": 720}).open(f"{page}?large=true")
    tab.page.wait_for_selector("h1")
    tab.settled()
    assert tab.page.evaluate(SMALLER, LEAST) == []
    assert tab.page.locator(".stMain h1").first.bounding_box()["x"] < 100, "the sidebar is folded"
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1280
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    tab.page.locator(".st-key-large label").click()
    tab.page.wait_for_url(lambda address: "large=true" not in address)
    tab.settled()
    assert tab.page.evaluate(SMALLER, LEAST) != []
