"""Answers as cards, each with its reason, as a browser draws them."""

import pytest

LONGEST = "each head gets all tokens and a part of the features of all"  # as long as a reason may be
BOXES = """() => [...document.querySelectorAll('[class*="st-key-cards_"] button')].map(card => {
    const outer = card.getBoundingClientRect();
    const inner = [...card.querySelectorAll('p')].map(line => {
        const text = document.createRange();
        text.selectNodeContents(line);
        return text.getBoundingClientRect();
    });
    return [outer.left, outer.top, outer.right, outer.bottom,
            Math.min(...inner.map(box => box.left)), Math.min(...inner.map(box => box.top)),
            Math.max(...inner.map(box => box.right)), Math.max(...inner.map(box => box.bottom))];
})"""
SAY = """reason => document.querySelectorAll('[class*="st-key-cards_"] button p:nth-child(2)')
    .forEach(line => line.textContent = reason)"""

TAKE_LAST = """() => document.querySelector('[class*="st-key-cards_"]').lastElementChild.remove()"""


@pytest.mark.part(2)
@pytest.mark.parametrize("reason", [LONGEST, "x" * 60])
def test_the_longest_reason_fits_its_card_on_a_phone(visit, reason):
    tab = visit(viewport={"width": 390, "height": 844}).open("tokens?cover=true")
    tab.page.wait_for_selector('[class*="st-key-cards_"] button p:nth-child(2)')
    tab.settled().page.evaluate(SAY, reason)
    cards = tab.page.evaluate(BOXES)
    assert len(cards) >= 2 and tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    for left, top, right, bottom, *inner in cards:
        assert left >= 0 and right <= 390
        assert left < inner[0] and top < inner[1] and inner[2] < right and inner[3] < bottom


@pytest.mark.part(2)
@pytest.mark.parametrize("width", [390, 1000, 1440])
def test_a_card_has_its_place_before_the_next_one_comes(visit, width):
    tab = visit(viewport={"width": width, "height": 900}).open("tokens")
    tab.page.wait_for_selector('[class*="st-key-cards_"] button p:nth-child(2)')
    cards = tab.settled().page.evaluate(BOXES)
    for there in range(len(cards) - 1, 0, -1):
        tab.page.evaluate(TAKE_LAST)
        sides = [card[:3] for card in tab.page.evaluate(BOXES)]
        assert sides == [card[:3] for card in cards[:there]]


@pytest.mark.part(2)
@pytest.mark.parametrize("width", [390, 1440])
def test_what_is_said_of_an_answer_stands_clear_of_what_follows(visit, width):
    tab = visit(viewport={"width": width, "height": 900}).open("projections?cover=true")
    tab.page.locator(".st-key-projections_card_A button").click()
    tab.page.locator(".st-key-projections_card_A button[kind=primary]").wait_for()
    room = tab.settled().page.locator(".st-key-reply_room").bounding_box()
    following = tab.page.locator(".stMain").get_by_role("button", name="Back").bounding_box()
    assert following["y"] >= room["y"] + room["height"] + 4


def test_a_formula_that_fits_has_nothing_to_scroll(visit):
    tab = visit().open("dot_product")
    tab.page.wait_for_selector(".katex-display")
    assert tab.settled().page.evaluate(
        "[...document.querySelectorAll('.katex-display')].every(one => one.scrollWidth <= one.clientWidth)"
    )
