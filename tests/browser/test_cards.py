"""Answers as cards, each with its reason, as a browser draws them."""

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

# Without some of the cards: they wait outside of the page, and come back.
SHOW = """count => {
    const room = document.querySelector('[class*="st-key-cards_"]')
    window.cards ??= [...room.children]
    room.replaceChildren(...window.cards.slice(0, count))
}"""


def test_cards_have_their_places_before_the_next_one_comes_and_the_longest_reason_fits_on_a_phone(visit):
    tab = visit(viewport={"width": 1440, "height": 900}).open("tokens?cover=true")
    tab.page.wait_for_selector('[class*="st-key-cards_"] button p:nth-child(2)')
    for width in (1440, 1000, 390):
        tab.page.set_viewport_size({"width": width, "height": 900})
        cards = tab.settled().page.evaluate(BOXES)
        assert len(cards) >= 2
        for there in range(len(cards) - 1, 0, -1):
            tab.page.evaluate(SHOW, there)
            assert [card[:3] for card in tab.page.evaluate(BOXES)] == [card[:3] for card in cards[:there]]
        tab.page.evaluate(SHOW, len(cards))
    for reason in (LONGEST, "x" * 60):
        tab.page.evaluate(SAY, reason)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
        for left, top, right, bottom, *inner in tab.page.evaluate(BOXES):
            assert left >= 0 and right <= 390
            assert left < inner[0] and top < inner[1] and inner[2] < right and inner[3] < bottom


def test_what_is_said_of_an_answer_stands_clear_of_what_follows_and_a_formula_that_fits_scrolls_nothing(visit):
    tab = visit(viewport={"width": 390, "height": 900}).open("dot_product?cover=true")
    tab.page.locator(".st-key-dot_product_card_A button").click()
    tab.page.locator(".st-key-dot_product_card_A button[kind=primary]").wait_for()
    for width in (390, 1440):
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.settled().page.wait_for_function(
            """() => document.querySelector('.st-key-reply_room').getBoundingClientRect().bottom + 4
            <= document.querySelector('.st-key-dot_product_another button').getBoundingClientRect().top"""
        )
    tab.page.wait_for_function(
        "() => [...document.querySelectorAll('.katex-display')].every(one => one.scrollWidth <= one.clientWidth)"
    )
    assert tab.page.locator(".katex-display").count()
