"""What figures play once a question is answered: in the middle of each film every mark is where the numbers say."""

import math

import pytest

from attention_core.one_head.attention import attend
from lessons.example.example import Example, run_example
from tests.figures import CELL, EVERY, TABLES

# What moves in a figure: the floors of its cells, or its rows.
MOVING = f"""{EVERY}('{TABLES}').flatMap(figure => figure.getRootNode().getAnimations())
    .filter(film => !(film instanceof CSSTransition) && film.effect.getTiming().duration > 500)"""
PAUSED = f"() => {MOVING}.map(film => film.pause()).length"
STOP = f"moment => {MOVING}.forEach(film => {{ film.pause(); film.currentTime = moment; }})"
LENGTHS = f"() => {MOVING}.map(film => film.effect.getComputedTiming().endTime)"
SHARES = f"""() => {MOVING}.map(film => new DOMMatrix(getComputedStyle(film.effect.target, '::after').transform).a)"""
ROWS = f"""() => {MOVING}.map(film => film.effect.target)
    .map(row => [row.cells[0].textContent, row.getBoundingClientRect().y])"""
BEGINS, GROWS = 600, 900  # milliseconds


def weights_of(page):
    """The weights before and after, cell by cell."""
    head = run_example(Example()).heads.select(0)
    scale = 1 / math.sqrt(head.q.shape[-1])
    if page == "mask":
        before, after = attend(head.q, head.k, head.v, scale=scale).weights, head.weights
    else:
        before, after = (attend(head.q, head.k, head.v, head.visible, scale=by).weights for by in (1.0, scale))
    return list(zip(before.flatten().tolist(), after.flatten().tolist(), strict=True))


def answered(visit, page, **context):
    tab = visit(**context).open(f"{page}?cover=true").think_first(page)
    tab.page.wait_for_selector(f".st-key-{page}_figure {CELL}")
    assert tab.page.evaluate(f"() => {MOVING}.length") == 0, "who has not been asked sees no film"
    tab.page.locator(f".st-key-{page}_card_A button").click()
    return tab


@pytest.mark.part(2)
@pytest.mark.parametrize("page", ["scores", "mask"])
def test_each_weight_grows_on_the_floor_of_its_cell_from_what_it_was(visit, page):
    tab = answered(visit, page)
    tab.page.wait_for_function(PAUSED)
    tab.settled()
    wanted = weights_of(page)
    frames = {}
    for part in (0.0, 0.25, 0.5, 1.0):
        tab.page.evaluate(STOP, BEGINS + part * GROWS - (part == 1))
        frames[part] = tab.page.evaluate(SHARES)
    assert len(frames[1.0]) == len(wanted) > 10
    assert max(tab.page.evaluate(LENGTHS)) <= 2200
    for part, shares in frames.items():
        done = eased(part) if part else 0.0
        between = [(1 - done) * before + done * after for before, after in wanted]
        assert shares == pytest.approx(between, abs=0.005), "its length is the weight"
    assert frames[0.25] != frames[0.5] != frames[1.0]


def eased(part):
    """How far `ease-in-out` is at this part of the time: the cubic curve through (0.42, 0) and (0.58, 1)."""
    low, high = 0.0, 1.0
    for _ in range(50):
        t = (low + high) / 2
        x = 3 * (1 - t) ** 2 * t * 0.42 + 3 * (1 - t) * t**2 * 0.58 + t**3
        low, high = (t, high) if x < part else (low, t)
    return 3 * (1 - t) * t**2 + t**3


def test_who_wants_less_motion_sees_the_end_at_once(visit):
    tab = answered(visit, "mask", reduced_motion="reduce").settled()
    assert tab.page.evaluate(f"() => {MOVING}.length") == 0


def test_the_rows_of_a_shuffle_slide_from_where_they_stood(visit):
    tab = visit().open("positions?cover=true&order=6+5+4+3+2+1").think_first("positions")
    tab.page.locator(".st-key-positions_card_A button").click()
    tab.page.wait_for_function(PAUSED)
    tab.settled()
    frames = {}
    for part in (0.0, 0.5, 1.0):
        tab.page.evaluate(STOP, 600 + 1200 * part - (part == 1))
        frames[part] = tab.page.evaluate(ROWS)
    names, rows = zip(*frames[1.0], strict=True)
    cell = rows[1] - rows[0]
    order = [list(run_example(Example()).tokens).index(name) for name in names]
    assert sorted(order) == list(range(6)) != order
    for part, seen in frames.items():
        away = [(1 - part) * cell * (old - new) for new, old in enumerate(order)]
        assert [y for _, y in seen] == pytest.approx([y + by for y, by in zip(rows, away, strict=True)], abs=0.6)
