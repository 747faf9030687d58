"""What figures play once a question is answered: in the middle of each film every mark is where the numbers say."""

import math

import pytest

from attention_core.one_head.attention import attend
from lessons.example.example import Example, run_example
from tests.figures import layer

FILMS = "document.getAnimations().filter(film => (film.animationName || '') === 'lab-reshare')"
PAUSED = f"() => {FILMS}.map(film => film.pause()).length"
STOP = f"moment => {FILMS}.forEach(film => {{ film.pause(); film.currentTime = moment; }})"
LENGTHS = """() => document.getAnimations().filter(film => film.timeline === document.timeline)  // no shadow of a table
    .map(film => film.effect.getComputedTiming().endTime)"""
SQUARES = f"""() => {FILMS}.map(film => film.effect.target.getBoundingClientRect())
    .map(box => [box.x + box.width / 2, box.y + box.height / 2, box.width])"""
BEGINS, GROWS = 600, 900  # milliseconds


def weights_of(page):
    """The weights before and after, of the cells whose squares are seen, in the order in which they are drawn."""
    head = run_example(Example()).heads.select(0)
    scale = 1 / math.sqrt(head.q.shape[-1])
    if page == "mask":
        before, after = attend(head.q, head.k, head.v, scale=scale).weights, head.weights
    else:
        before, after = (attend(head.q, head.k, head.v, head.visible, scale=by).weights for by in (1.0, scale))
    pairs = zip(before.flatten().tolist(), after.flatten().tolist(), strict=True)
    return [pair for pair in pairs if min(pair) > 1e-6]


def answered(visit, page, **context):
    tab = visit(**context).open(f"{page}?cover={'true' if page == 'mask' else 'false'}")
    tab.page.wait_for_selector(f".st-key-{page}_card_A button")
    assert tab.settled().page.evaluate(f"() => {FILMS}.length") == 0, "who has not been asked sees no film"
    tab.page.locator(f".st-key-{page}_card_A button").click()
    tab.page.wait_for_selector(f".st-key-{page}_figure {layer('quantities')} path")
    return tab


def standing(box):
    """Where a square stands: its middle from the left, and its floor."""
    return box[0], box[1] + box[2] / 2


@pytest.mark.part(2)
@pytest.mark.parametrize("page", ["scores", "mask"])
def test_each_square_stays_where_it_is_and_takes_on_its_new_area(visit, page):
    tab = answered(visit, page)
    tab.page.wait_for_function(PAUSED)
    tab.settled()
    wanted = weights_of(page)
    frames = {}
    for part in (0.0, 0.25, 0.5, 1.0):
        tab.page.evaluate(STOP, BEGINS + part * GROWS - (part == 1))
        frames[part] = tab.page.evaluate(SQUARES)
    assert len(frames[1.0]) == len(wanted) > 10
    assert max(tab.page.evaluate(LENGTHS)) <= 2200
    side = max(box[2] / math.sqrt(after) for box, (_, after) in zip(frames[1.0], wanted, strict=True))
    ease = {0.0: 0.0, 0.25: eased(0.25), 0.5: 0.5, 1.0: 1.0}
    for part, boxes in frames.items():
        for box, still, (before, after) in zip(boxes, frames[1.0], wanted, strict=True):
            assert standing(box) == pytest.approx(standing(still), abs=0.6), "it grows from the floor of its cell"
            sides = (1 - ease[part]) * math.sqrt(before) + ease[part] * math.sqrt(after)
            assert box[2] == pytest.approx(side * sides, abs=0.6), "its area is the weight"
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
    assert tab.page.evaluate(f"() => {FILMS}.length") == 0


SLIDING = """() => document.getAnimations().filter(film => film.animationName === 'lab-move')"""
HOLD = f"moment => ({SLIDING})().forEach(film => {{ film.pause(); film.currentTime = moment; }})"
ROWS = f"""() => ({SLIDING})().map(film => film.effect.target).filter(mark => mark.closest('{layer("rows")}'))
    .map(mark => [mark.textContent, mark.getBoundingClientRect().y])"""
SQUARED = f"""() => ({SLIDING})().map(film => film.effect.target).filter(mark => mark.closest('{layer("numbers")}'))
    .map(mark => mark.getBoundingClientRect().y)"""


def test_the_rows_of_a_shuffle_slide_from_where_they_stood(visit):
    tab = visit().open("positions?cover=false&order=6+5+4+3+2+1")
    tab.page.wait_for_selector(".st-key-positions_card_A button")
    tab.settled().page.locator(".st-key-positions_card_A button").click()
    tab.page.wait_for_function(f"() => ({SLIDING})().map(film => film.pause()).length")
    tab.settled()
    frames = {}
    for part in (0.0, 0.5, 1.0):
        tab.page.evaluate(HOLD, 600 + 1200 * part - (part == 1))
        frames[part] = tab.page.evaluate(ROWS), tab.page.evaluate(SQUARED)
    names, rows = zip(*frames[1.0][0], strict=True)
    cell = rows[1] - rows[0]
    order = [list(run_example(Example()).tokens).index(name) for name in names]
    assert sorted(order) == list(range(6)) != order
    for part, (seen, numbers) in frames.items():
        away = [(1 - part) * cell * (old - new) for new, old in enumerate(order)]
        assert [y for _, y in seen] == pytest.approx([y + by for y, by in zip(rows, away, strict=True)], abs=0.6)
        width = len(numbers) // 6
        wanted = [y + away[at // width] for at, y in enumerate(frames[1.0][1])]
        assert numbers == pytest.approx(wanted, abs=0.6)
