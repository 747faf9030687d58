"""The parts of a cost, and the film of the softmax block by block, whose moments are what the numbers say."""

import pytest

from lessons.example.example import Example, first_query, run_example
from lessons.today.cost.lesson import Choices, screen
from tests.figures import CHECK_BOX, LETTERS, PICTURE, SLIDER, layer

FIGURE = ".st-key-cost_passing"
HEIGHTS = f"""kind => [...document.querySelectorAll(`.st-key-cost_passing {layer("passing_${kind}")} path`)]
    .map(path => path.getBoundingClientRect().height)"""
WIDTHS = HEIGHTS.replace("height", "width")
PLAYED = """() => Promise.all(document.getAnimations().filter(film => film.timeline === document.timeline)
    .map(film => film.finished.catch(() => {})))"""


def opened(visit, **context):
    tab = visit(**context).open("cost?cost_view=blocks&block=2&cover=false")
    tab.page.wait_for_selector(f"{FIGURE} {layer('passing_whole')} path")
    return tab.settled()


def moved_to(tab, moment):
    """Let the slider stand at a moment, and wait until the picture has arrived there."""
    slider = tab.page.locator(f"{FIGURE} {SLIDER}")
    slider.evaluate("(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')) }", str(moment))
    count = len(passing().moments[moment].sizes)
    tab.page.wait_for_function(
        f"count => document.querySelectorAll('{FIGURE} {layer('passing_sizes')} path').length === count", arg=count
    )
    tab.page.evaluate(PLAYED)


def passing():
    trace = run_example(Example())
    return screen(trace, 0, Choices("blocks", block=2, query=first_query(trace))).figures[0]


def check(tab, known):
    sizes, parts = tab.page.evaluate(HEIGHTS, "sizes"), tab.page.evaluate(WIDTHS, "whole")
    assert [size / max(sizes) for size in sizes] == pytest.approx(list(known.sizes), abs=0.03)
    shares = [size / known.total for size in known.sizes]
    assert [part / sum(parts) for part in parts] == pytest.approx(shares, abs=0.01)
    output = tab.page.evaluate(HEIGHTS, "output")
    heights = [abs(value) / max(map(abs, known.output)) for value in known.output]
    assert [height / max(output) for height in output] == pytest.approx(heights, abs=0.05)


@pytest.mark.part(2)
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_stands_at_its_end_each_moment_is_what_is_computed_and_a_phone_has_room_for_it(visit, motion):
    tab, moments = opened(visit, reduced_motion=motion), passing().moments
    check(tab, moments[-1])
    for moment in (1, 0):
        moved_to(tab, moment)
        check(tab, moments[moment])
    tab.page.locator(f"{FIGURE} {CHECK_BOX}").click()
    count = len(moments[-1].sizes)
    tab.page.wait_for_function(
        f"count => document.querySelectorAll('{FIGURE} {layer('passing_sizes')} path').length === count", arg=count
    )
    tab.page.evaluate(PLAYED)
    check(tab, moments[-1])
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.page.wait_for_function(
        f"""() => {{ const box = document.querySelector('{FIGURE} {PICTURE}').getBoundingClientRect();
        return box.left >= 0 && box.right <= 390 && document.documentElement.scrollWidth <= 390; }}"""
    )


def test_long_titles_of_panels_stand_clear_of_each_other_on_a_phone(visit):
    tab = visit(viewport={"width": 390, "height": 844}).open("cost?lang=de").settled()
    first, second = (
        tab.page.locator(f".st-key-cost_parts {LETTERS}", has_text=title).bounding_box()
        for title in ("Multiplikationen", "bewegte Zahlen")
    )
    assert first["x"] + first["width"] < second["x"] and second["x"] + second["width"] <= 390
