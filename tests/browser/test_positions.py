"""What only a browser shows of the lesson on order: a token lights up in both orders, and the address follows."""

from attention_core.measured.permutation import random_permutation
from lessons.example.example import Example, run_example
from lessons.model.positions.lesson import Choices, screen
from tests.figures import CELL, EVERY, cell_at, lit

FIGURE = ".st-key-positions_figure"


def test_pointing_lights_the_same_token_in_both_orders_without_asking_the_server(visit):
    tab = visit().open("positions")
    tab.page.wait_for_selector(f".st-key-positions_figure {CELL}")
    tab.settled()
    before = len(tab.sent)
    order = random_permutation(6, 0)
    own, then, first, gap = screen(run_example(Example()), 0, Choices(order)).figures[0].matrices
    tab.page.locator(cell_at(FIGURE, first.key, 2, 1)).hover()
    assert lit(tab.page, FIGURE) == sorted([*((m.key, 2, 1) for m in (then, first, gap)), (own.key, order[2], 1)])
    assert len(tab.sent) == before


def test_another_shuffle_is_in_the_address_and_comes_back_with_it(visit):
    tab = visit().open("positions?positions=rotary&order_mask=causal")
    tab.page.get_by_role("button", name="Another shuffle").click()
    tab.page.wait_for_url("**shuffle=1**")
    tab.settled()
    caption = tab.page.get_by_text("The order matters: ").inner_text()
    again = visit().open(tab.page.url.removeprefix(f"{tab.url}/"))
    again.page.get_by_text("The order matters: ").wait_for()
    assert again.settled().page.get_by_text("The order matters: ").inner_text() == caption


def test_the_names_of_long_words_stay_clear_of_the_numbers_before_them(visit):
    text = "+".join(["extraordinary", "incomprehensible", "internationalization", "straightforwardness"] * 3)
    tab = visit().open(f"positions?example=sentence&text={text}")
    tab.page.wait_for_selector(f"{FIGURE} {CELL}")
    boxes = f"""selector => {EVERY}(selector, document.querySelector('{FIGURE}'))
        .map(text => text.getBoundingClientRect()).map(box => [box.left, box.right, box.top, box.bottom])"""
    names, numbers = (tab.settled().page.evaluate(boxes, kind) for kind in ("th[scope=row]:not(.nameless)", ".number"))
    assert len(names) >= 24
    assert len(numbers) == 4 * 12 * 2, "no difference is too long for its cell: they are in one unit"
    met = [
        (name, number)
        for name in names
        for number in numbers
        if min(name[1], number[1]) > max(name[0], number[0]) and min(name[3], number[3]) > max(name[2], number[2])
    ]
    assert not met
