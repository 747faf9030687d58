"""What only a browser shows of the first screen: ribbons as wide as weights follow the pointer and the training."""

import pytest

from lessons.example.example import learnt_example, run_example
from lessons.start.overview.sentence_view import Choices, screen
from tests.figures import CHECK_BOX, EVERY, PICTURE, RIBBON, SLIDER, WORD

FIGURE = ".st-key-ribbons"
WHOLE_RIBBON = 44  # pixels
WIDTHS = f"""() => Object.fromEntries({EVERY}("{RIBBON}").filter(path => path.getAttribute("d"))
    .map(path => [path.getAttribute("aria-label").split(":")[0], Number.parseFloat(path.style.strokeWidth)]))"""
GLIDES = f"() => getComputedStyle({EVERY}('{RIBBON}')[0]).transitionDuration"


def opened(visit, path="?example=pronouns&picture=sentence", **context):
    tab = visit(**context).open(path)
    tab.page.wait_for_selector(f"{FIGURE} {RIBBON}", state="attached")
    return tab.settled()


def expected(query, moment=-1, **choices):
    """The width of each ribbon, by the names that pointing at it tells."""
    trace = run_example(learnt_example("pronouns", **choices))
    row = screen(trace, 0, Choices(query)).figures[0].moments[moment].rows[query]
    words = trace.tokens
    pairs = zip(words, row.shares, row.visible, strict=True)
    return {f"“{words[query]}” → “{word}”": WHOLE_RIBBON * share for word, share, sees in pairs if sees}


def point_at_word(tab, word):
    the_word(tab, word).hover()


def the_word(tab, word):
    return tab.page.locator(f"{FIGURE} {WORD}").and_(tab.page.get_by_label(f"“{word}”", exact=True))


def widths_become(tab, wanted):
    first = next(iter(wanted))
    tab.page.wait_for_function(f"first => first in ({WIDTHS})()", arg=first)
    assert tab.page.evaluate(WIDTHS) == pytest.approx(wanted, abs=0.01)


def test_ribbons_are_as_wide_as_weights_wherever_one_points_and_whenever_in_training_without_asking(visit):
    tab = opened(visit)
    before = len(tab.sent)
    widths_become(tab, expected(6))
    assert sum(tab.page.evaluate(WIDTHS).values()) == pytest.approx(WHOLE_RIBBON, abs=0.01)
    tab.page.get_by_role("heading", name="To read “he”, this head looks at “boy”").wait_for()
    for word, query in (("near", 3), ("boy", 0), ("when", 5)):
        point_at_word(tab, word)
        widths_become(tab, expected(query))
    tab.page.mouse.move(5, 5)
    widths_become(tab, expected(6))
    slider = tab.page.locator(f"{FIGURE} {SLIDER}")
    for moment in (0, 1, 15):
        slider.fill(str(moment))
        said = f"Training steps so far: {20 * moment} of 300."
        tab.page.locator(FIGURE).get_by_text(said).wait_for()
        widths_become(tab, expected(6, moment))
    slider.fill("1")
    point_at_word(tab, "girl")
    widths_become(tab, expected(4, 1))
    assert len(tab.sent) == before
    assert tab.page.evaluate(GLIDES).startswith("0.25s")
    tab.page.emulate_media(reduced_motion="reduce")
    assert tab.page.evaluate(GLIDES) == "0s"


def test_the_picture_changes_in_place_when_a_word_is_clicked_or_another_stands_last(visit):
    tab = opened(visit)
    still_there = tab.marked(f"{FIGURE} {PICTURE}")
    for word, query in (("girl", 4), ("found", 1)):
        the_word(tab, word).click()
        tab.page.wait_for_url(f"**asks={query + 1}*")
        tab.page.get_by_role("heading", name=f"To read “{word}”, this head looks").wait_for()
        tab.settled().page.mouse.move(5, 5)
        widths_become(tab, expected(query))
    tab.page.locator(".st-key-last_word").get_by_role("radio", name="it", exact=True).click()
    tab.page.wait_for_url("**says_pronouns=*")
    widths_become(tab.settled(), expected(1, text="boy found lamp near girl when it"))
    assert still_there()


@pytest.mark.part(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_page_and_the_whole_sentence_is_seen(visit, scheme):
    tab = opened(visit, color_scheme=scheme)
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.wait_for_function(ROOM, arg=width)
        fits(tab, width, height)


ROOM = f"""width => {{
    const room = document.querySelector('{FIGURE}'), picture = {EVERY}('{PICTURE}')[0]
    const here = [innerWidth, room.clientWidth, picture?.getBoundingClientRect().width].join()
    if (window.room?.here !== here) window.room = {{here, since: performance.now()}}
    return picture && innerWidth === width && performance.now() - window.room.since > 300
}}"""


def fits(tab, width, height):
    """The figure is on the page, and all its words and ribbons are in the figure."""
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    figure = tab.page.locator(f"{FIGURE} {PICTURE}").bounding_box()
    boxes = tab.page.evaluate(
        f"""() => {EVERY}('{WORD} text:first-of-type, {RIBBON}').filter(mark => mark.getAttribute("d") !== "")
        .map(mark => mark.getBoundingClientRect()).map(box => [box.left, box.right, box.top, box.bottom])"""
    )
    assert len(boxes) == 14
    for left, right, top, bottom in boxes:
        assert figure["x"] - 1 <= left <= right <= figure["x"] + figure["width"] + 1
        assert figure["y"] - 1 <= top <= bottom <= figure["y"] + figure["height"] + 1
    if width == 1440:
        assert figure["y"] + figure["height"] <= height, "the picture is above the fold"


@pytest.mark.slow
def test_it_plays_from_the_beginning_to_the_end_and_stops(visit):
    tab = opened(visit)
    box = tab.page.get_by_role("checkbox", name="Watch it learn")
    box.check()
    tab.page.wait_for_function(f"() => Number({EVERY}('{SLIDER}')[0].value) < 15")
    tab.page.wait_for_function(f"() => Number({EVERY}('{SLIDER}')[0].value) === 15")
    tab.page.wait_for_function(f"() => !{EVERY}('{CHECK_BOX}')[0].checked")
    widths_become(tab, expected(6))


@pytest.mark.slow
def test_twelve_long_words_stay_within_their_room(visit):
    text = "+".join(["extraordinary", "W" * 30] * 6)
    tab = opened(visit, f"?example=sentence&picture=sentence&causal=false&text={text}")
    boxes = tab.page.evaluate(
        f"""() => {EVERY}('{WORD} text:first-of-type')
        .map(mark => mark.getBoundingClientRect()).map(box => [box.left, box.right])"""
    )
    for (_, right), (left, _) in zip(sorted(boxes), sorted(boxes)[1:], strict=False):
        assert right <= left + 1


@pytest.mark.part(2)
@pytest.mark.parametrize("width", [1440, 390])
def test_all_that_is_said_of_twelve_long_words_is_seen(visit, width):
    text = "+".join(["extraordinary", "incomprehensible", "internationalization", "straightforwardness"] * 3)
    tab = opened(visit, f"?example=sentence&picture=sentence&text={text}", viewport={"width": width, "height": 900})
    page = tab.page.locator(FIGURE).bounding_box()
    said = tab.page.locator(f"{FIGURE} output").bounding_box()
    assert page["y"] <= said["y"] < said["y"] + said["height"] <= page["y"] + page["height"]
    assert "“" in tab.page.locator(f"{FIGURE} output").inner_text()
