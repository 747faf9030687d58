"""What only a browser shows of the lesson on order: a token lights up in both orders, and the address follows."""

from attention_ui.figures.matrices import said
from lessons.example import Example, run_example
from lessons.permutation import random_permutation
from lessons.positions import Choices, screen

RINGED = """() => [...document.querySelectorAll('.st-key-positions_figure svg [aria-label]')]
    .filter(cell => cell.getAttribute('stroke') && cell.getAttribute('stroke') !== 'transparent')
    .map(cell => cell.getAttribute('aria-label')).sort()"""


def test_pointing_lights_the_same_token_in_both_orders_without_asking_the_server(visit):
    tab = visit().open("positions")
    tab.page.wait_for_selector(".st-key-positions_figure svg .mark-rect [aria-label]")
    tab.settled()
    before = len(tab.sent)
    order = random_permutation(6, 0)
    own, then, first, gap = screen(run_example(Example()), 0, Choices(order)).figures[0].matrices
    same = {said(m.step(2, 1)) for m in (then, first, gap)} | {said(own.step(order[2], 1))}
    cell = tab.page.locator(".st-key-positions_figure svg").get_by_label(said(first.step(2, 1)), exact=True).first
    cell.hover()
    tab.page.wait_for_function(f"() => ({RINGED})().length === 4")
    ringed = tab.page.evaluate(RINGED)
    assert set(ringed) == same
    assert len(tab.sent) == before


def test_another_shuffle_is_in_the_address_and_comes_back_with_it(visit):
    tab = visit().open("positions?positions=rotary&order_mask=causal")
    tab.page.get_by_role("button", name="Another shuffle").click()
    tab.page.wait_for_url("**shuffle=1**")
    tab.settled()
    caption = tab.page.get_by_text("The order shows: ").inner_text()
    again = visit().open(tab.page.url.removeprefix(f"{tab.url}/"))
    again.page.get_by_text("The order shows: ").wait_for()
    assert again.settled().page.get_by_text("The order shows: ").inner_text() == caption
