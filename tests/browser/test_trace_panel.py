"""Clicking a number in a real browser: the panel shows its arithmetic, and the picture stays what it was."""

from overview_cells import matrices_of
from playwright.sync_api import expect

from attention_ui.figures.matrices.matrices import tooltip
from attention_ui.page.derivation import LAST_STEPS
from lessons.example.example import Example
from lessons.screen import equation
from tests.figures import CELL, PICTURE, ringed


def explainer(example=None):
    """What pointing at a cell says."""
    matrices = matrices_of(example)
    return lambda key, i, j: tooltip(matrices[key], i, j)


EXPLAIN = explainer()
LINES = "() => [...document.querySelectorAll('.st-key-derivation [data-testid=stCode] code')].map(c => c.textContent)"
RINGED = ringed(".st-key-pipeline")


def figure(tab):
    tab.page.wait_for_selector(f".st-key-pipeline {CELL}")
    return tab.settled()


def cell(tab, *place, explain=EXPLAIN):
    return tab.page.locator(f".st-key-pipeline {PICTURE}").get_by_label(explain(*place), exact=True).last


TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def shows(tab, *place, example=None):
    """Wait until the panel shows how this cell comes about, the end of the way."""
    key, *cell = place
    wanted = [equation(step) for step in matrices_of(example)[key].derive(*cell)[-LAST_STEPS:]]
    tab.page.wait_for_function(f"wanted => JSON.stringify(({LINES})()) === wanted", arg=as_json(wanted))
    tab.settled()


def as_json(lines):
    return "[" + ",".join(f'"{line}"' for line in lines) + "]"


def mark(tab):
    """Put a mark on the picture itself, to know it again."""
    return tab.marked(f".st-key-pipeline {PICTURE}")


def pointing_asks_nobody(tab):
    before = len(tab.sent)
    for place in (("q", 1, 0), ("scores", 5, 2), ("v", 0, 1)):
        cell(tab, *place).hover()
    tab.page.get_by_text(EXPLAIN("v", 0, 1)).first.wait_for()
    tab.page.wait_for_timeout(500)
    assert len(tab.sent) == before


def test_a_click_on_a_number_shows_its_arithmetic_and_the_picture_stays(visit):
    tab = figure(visit().open())
    stays = mark(tab)
    pointing_asks_nobody(tab)
    cell(tab, "scores", 4, 1).click()
    shows(tab, "scores", 4, 1)
    assert tab.page.get_by_text("score of “journey” for “one”: query · key", exact=True).is_visible()
    tab.page.mouse.move(5, 5)
    tab.page.wait_for_function(
        f"label => JSON.stringify(({RINGED})()) === JSON.stringify([label])", arg=EXPLAIN("scores", 4, 1)
    )
    cell(tab, "output", 2, 1).click()
    shows(tab, "output", 2, 1)
    pointing_asks_nobody(tab)
    cell(tab, "output", 2, 1).dblclick()
    tab.page.mouse.move(5, 5)
    tab.page.wait_for_function(f"() => ({RINGED})().length === 0")
    tab.settled()
    shows(tab, "output", 2, 1)
    assert stays()


def test_the_arithmetic_follows_a_slider_and_the_picture_changes_in_place(visit):
    tab = figure(visit().open())
    stays = mark(tab)
    cell(tab, "scaled", 2, 2).click()
    shows(tab, "scaled", 2, 2)
    tab.page.locator(".st-key-d_k input").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**d_k=3**")
    shows(tab, "scaled", 2, 2, example=Example(d_k=3))
    assert stays()


def test_without_a_mouse_the_selectors_reach_a_number(visit):
    tab = figure(visit().open())
    tab.page.locator(".st-key-trace_open summary").focus()
    tab.page.keyboard.press("Enter")
    shows(tab, "weights", 5, 0)
    row = tab.page.locator(".st-key-trace_row input")
    row.scroll_into_view_if_needed()
    tab.page.evaluate(TWO_FRAMES)  # a list closes where its page is still being scrolled
    row.focus()
    tab.page.keyboard.press("ArrowDown")
    options = tab.page.get_by_role("option")
    expect(options).not_to_have_count(0)
    tab.page.keyboard.type("with")
    expect(options).to_have_count(1)  # the list follows what is typed a moment later
    tab.page.keyboard.press("Enter")
    shows(tab, "weights", 3, 0)
