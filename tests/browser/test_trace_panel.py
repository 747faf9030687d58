"""Clicking a number in a real browser: the panel shows its arithmetic, and the picture stays what it was."""

from overview_cells import matrices_of
from playwright.sync_api import expect

from attention_ui.figures.matrices.tables import said_of
from attention_ui.page.derivation import LAST_STEPS
from lessons.example.example import Example
from lessons.screen import equation
from tests.figures import CELL, PICTURE, cell_at, picked


def explainer(example=None):
    """What pointing at a cell says."""
    matrices = matrices_of(example)
    return lambda key, i, j: said_of(matrices[key], i, j)


EXPLAIN = explainer()
LINES = "() => [...document.querySelectorAll('.st-key-derivation [data-testid=stCode] code')].map(c => c.textContent)"


def figure(tab):
    tab.page.wait_for_selector(f".st-key-pipeline {CELL}")
    return tab.settled()


def cell(tab, *place):
    return tab.page.locator(cell_at(".st-key-pipeline", *place))


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
    assert picked(tab.page, ".st-key-pipeline") == [("scores", 4, 1)], "it keeps its ring"
    cell(tab, "output", 2, 1).click()
    shows(tab, "output", 2, 1)
    pointing_asks_nobody(tab)
    cell(tab, "output", 2, 1).press("ArrowLeft")
    tab.page.keyboard.press("Enter")
    shows(tab, "output", 2, 0)
    assert picked(tab.page, ".st-key-pipeline") == [("output", 2, 0)]
    assert stays()


def test_the_arithmetic_follows_a_slider(visit):
    tab = figure(visit().open())
    cell(tab, "scaled", 2, 2).click()
    shows(tab, "scaled", 2, 2)
    tab.page.locator(".st-key-d_k input").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**d_k=3**")
    shows(tab, "scaled", 2, 2, example=Example(d_k=3))


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


A_PLAN = """() => {
    const [place, button] = ['div', 'button'].map(name => document.createElement(name))
    place.className = 'st-key-plan_next'
    button.addEventListener('click', () => window.stepped = (window.stepped ?? 0) + 1)
    place.append(button)
    document.body.append(place)
}"""


def test_an_arrow_in_a_figure_goes_to_the_next_number_and_takes_no_step_of_the_page_or_of_a_plan(visit):
    tab = figure(visit().open("?step=scores"))
    here = tab.page.url
    tab.page.evaluate(A_PLAN)
    cell(tab, "scores", 2, 1).focus()
    for key, place in (("ArrowRight", (2, 2)), ("ArrowDown", (3, 2)), ("Home", (3, 0)), ("ArrowLeft", (3, 0))):
        tab.page.keyboard.press(key)
        expected = ("scores", *place) if key != "ArrowLeft" else ("q", 3, 1)
        expect(cell(tab, *expected)).to_be_focused()
    tab.page.wait_for_timeout(300)
    assert tab.page.url == here and tab.page.evaluate("window.stepped ?? 0") == 0
    cell(tab, "q", 3, 1).blur()
    tab.page.keyboard.press("ArrowRight")
    assert tab.page.evaluate("window.stepped") == 1
