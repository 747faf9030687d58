"""The film of the softmax: two frames in its middle are where the numbers say."""

import re

import pytest

from lessons.example.example import Example, first_query, run_example
from lessons.one_head.softmax.lesson import softmax_row
from tests.figures import PICTURE, layer

FIGURE = ".st-key-softmax_sharing"
BOXES = f"""layer => [...document.querySelectorAll(`.st-key-softmax_sharing {layer("${layer}")} path`)]
    .map(path => path.getBoundingClientRect()).map(box => [box.x, box.y, box.width, box.height])"""
FILMS = "document.getAnimations().filter(film => (film.animationName || '').startsWith('lab-'))"
STOP = f"moment => {FILMS}.forEach(film => {{ film.pause(); film.currentTime = moment; }})"
LENGTHS = f"() => {FILMS}.map(film => film.effect.getComputedTiming().endTime)"


def answered(visit, **context):
    tab = visit(**context).open("softmax?temperature=0.3&cover=true").think_first("softmax")
    tab.page.wait_for_selector(f"{FIGURE} {layer('frames')} path")
    assert tab.page.locator(f"{FIGURE} {layer('whole')} path").count() == 0, "covered"
    tab.settled().page.locator(".st-key-softmax_card_A button").click()
    tab.page.wait_for_selector(f"{FIGURE} {layer('whole')} path")
    return tab.settled()


def row_at(temperature):
    trace = run_example(Example())
    return softmax_row(trace.heads.select(0), first_query(trace), temperature)


def halfway(one, other):
    return [(a + b) / 2 for a, b in zip(one, other, strict=True)]


def test_halfway_each_mark_is_halfway_to_where_it_goes_and_another_temperature_moves_the_same_picture(visit):
    tab = answered(visit)
    boxes = lambda layer: tab.page.evaluate(BOXES, layer)  # noqa: E731
    assert 0 < max(tab.page.evaluate(LENGTHS)) <= 2200
    tab.page.evaluate(STOP, 450)
    growing = boxes("sizes")
    tab.page.evaluate(STOP, 1450)
    moving = boxes("whole")
    tab.page.evaluate(STOP, 5000)
    numbers, sizes, parts = boxes("numbers"), boxes("sizes"), boxes("whole")
    row = row_at(0.3)
    powers, weights = row.powers.tolist(), row.weights.tolist()
    for box, power, part, weight in zip(sizes, powers, parts, weights, strict=True):
        assert box[3] / max(size[3] for size in sizes) == pytest.approx(power, abs=0.02)
        assert part[2] / sum(each[2] for each in parts) == pytest.approx(weight, abs=0.01)
    for frame, begin, end in ((growing, numbers, sizes), (moving, sizes, parts)):
        for box, one, other in zip(frame, begin, end, strict=True):
            assert box == pytest.approx(halfway(one, other), abs=1.5), "pixels"
    assert growing != sizes and moving != parts
    the_same = tab.marked(f"{FIGURE} {PICTURE}")
    tab.page.locator(".st-key-temperature input").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**temperature=0.4**")
    tab.settled().page.wait_for_timeout(500)
    assert the_same()


def test_who_wants_less_motion_sees_the_end_at_once(visit):
    tab = answered(visit, reduced_motion="reduce")
    assert tab.page.evaluate(f"() => {FILMS}.length") == 0
    widths = [box[2] for box in tab.page.evaluate(BOXES, "whole")]
    row = row_at(0.3)
    assert [width / sum(widths) for width in widths] == pytest.approx(row.weights.tolist(), abs=0.01)


def test_a_click_on_a_part_derives_its_weight_and_the_figure_is_as_wide_as_a_phone(visit):
    tab = visit().open("softmax?cover=false")
    tab.page.wait_for_selector(f"{FIGURE} {layer('whole')} path")
    tab.settled().page.locator(f"{FIGURE} {layer('whole')} path").nth(3).click()
    tab.page.wait_for_selector(".st-key-derivation [data-testid=stCode] code")
    tab.settled()
    last = tab.page.locator(".st-key-derivation [data-testid=stCode] code").last.inner_text()
    weight = row_at(1.0).weights[3]
    assert float(re.split(" [=≈] ", last)[-1]) == pytest.approx(float(weight), abs=1e-3)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.page.wait_for_function(
        f"""() => {{ const box = document.querySelector('{FIGURE} {PICTURE}').getBoundingClientRect();
        return box.left >= 0 && box.right <= 390 && document.documentElement.scrollWidth <= 390; }}"""
    )


LAID_OUT = f"""() => [...document.querySelectorAll('{PICTURE}')].map((picture) => [
    picture.getAttribute('width'), picture.querySelector('g').getAttribute('transform'),
    [...picture.querySelectorAll(':is({layer("labels")}, {layer("ways")}) text')].map((name) =>
        [name.textContent, name.getAttribute('transform'), name.getAttribute('opacity')].join()).join(),
].join())"""


@pytest.mark.slow
def test_a_figure_is_laid_out_by_its_room_and_not_by_the_longest_word(visit):
    looks = []
    for word in ("Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenfabrik", "boat"):
        tab = visit(viewport={"width": 1300, "height": 900}, reduced_motion="reduce")
        tab.open(f"softmax?example=sentence&text={word} is long").page.wait_for_selector(f"{layer('whole')} path")
        wide = tab.settled().page.evaluate(LAID_OUT)
        tab.page.set_viewport_size({"width": 390, "height": 900})
        tab.page.wait_for_function(f"wide => ({LAID_OUT})()[0] !== wide", arg=wide[0])
        looks.append((wide, tab.page.evaluate(LAID_OUT)))
        assert tab.page.locator(f'.st-key-softmax_sharing [aria-label*="{word}"]').count(), "the tooltip has it whole"
    assert looks[0] == looks[1]
