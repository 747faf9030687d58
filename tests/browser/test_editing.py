"""What only a browser shows of numbers changed by hand: dragged, stepped, typed; marks, links, and figures that fit."""

import re

import pytest
from playwright.sync_api import expect

from lessons.example.example import Example, run_example
from lessons.example.presets import PRESETS
from tests.figures import CELL, PICTURE, cell_at, picked

TWELVE = "example=sentence&text=a+b+c+d+e+f+g+h+i+j+k+l"
LARGEST = f"{TWELVE}&d_model=12&d_k=8&d_v=8"
FIGURE = ".st-key-projections_figure"


def opened(tab, figure):
    tab.page.wait_for_selector(f"{figure} {CELL}")
    return tab.settled()


def cell_says(tab, *cell):
    tab.page.locator(cell_at(FIGURE, *cell)).hover()
    return tab.page.locator(f"{FIGURE} output").inner_text()


def marks(tab):
    return tab.page.locator(f"{FIGURE} .marked")


def middle_of(tab, *cell):
    """In the page's own pixels, with the cell in view."""
    place = tab.page.locator(cell_at(FIGURE, *cell))
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def number_at(tab, *cell):
    return tab.page.locator(cell_at(FIGURE, *cell))


def test_a_number_that_is_dragged_changes_all_that_follows_and_is_a_choice_once_it_is_let_go(visit):
    tab = opened(visit().open("projections"), FIGURE)
    trace = run_example(Example())
    was = float(trace.W_q[1, 0])
    expect(marks(tab)).to_have_count(0)
    x, y = middle_of(tab, "W_q", 1, 0)
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 30, y, steps=4)
    held = f"{was + 0.3:.2f}".replace("-", "−")
    expect(number_at(tab, "W_q", 1, 0)).to_have_text(held)
    expect(marks(tab)).to_have_count(7)  # the number and the six first features of q, while it is held
    assert "edits" not in tab.page.url, "nothing is kept yet"
    W_q = trace.W_q.clone()
    W_q[1, 0] = float(held.replace("−", "-"))
    expect(number_at(tab, "q", 2, 0)).to_have_text(f"{float((trace.x @ W_q)[2, 0]):.2f}".replace("-", "−"))
    tab.page.mouse.up()
    tab.page.wait_for_url(re.compile(r"edits=q2%2C1%3D[\d.-]+$"))
    said = tab.page.url.rpartition("%3D")[2]
    assert float(said) == pytest.approx(was + 0.3, abs=0.01)
    tab.settled()
    assert cell_says(tab, "W_q", 1, 0) == (
        f"W_q, row 2, column 1: an entry of W_q: {said}. Changed: it was {was:.2f}.".replace("-", "−")
    )
    tab.page.get_by_text("1 number changed by hand", exact=True).wait_for()
    assert picked(tab.page, FIGURE) == [], "a drag is no click"

    again = opened(visit().open(tab.page.url.removeprefix(f"{tab.url}/")), FIGURE)
    expect(marks(again)).to_have_count(7)
    again.page.keyboard.press("Shift+ArrowRight")
    again.page.wait_for_url("**/scores?*edits=*")
    again.page.get_by_text("1 number changed by hand", exact=True).wait_for()

    tab.page.get_by_role("button", name="Undo", exact=True).click()
    tab.page.wait_for_url(lambda url: "edits" not in url)
    expect(marks(tab)).to_have_count(0)


def test_keys_step_a_number_and_a_typed_one_takes_its_place(visit):
    tab = opened(visit().open("projections"), FIGURE)
    was = float(run_example(Example()).x[0, 0])
    number_at(tab, "x", 0, 0).focus()
    for _ in range(2):
        tab.page.keyboard.down("Shift")
        tab.page.keyboard.press("ArrowUp")
        tab.page.keyboard.up("Shift")
        tab.settled()
    tab.page.wait_for_url(re.compile("edits=x1%2C1"))
    assert "/projections" in tab.page.url, "the page does not go on with it"
    expect(number_at(tab, "x", 0, 0)).to_have_text(f"{was + 0.2:.2f}".replace("-", "−"))
    tab.page.keyboard.type("-2.5")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url(re.compile(r"edits=x1%2C1%3D-2\.5$"))
    expect(number_at(tab, "x", 0, 0)).to_have_text("−2.50")
    expect(number_at(tab, "x", 0, 0)).to_be_focused()
    tab.settled()
    tab.page.keyboard.type("5000")
    tab.page.keyboard.press("Enter")
    tab.page.get_by_text("5000 is too large").wait_for()
    expect(number_at(tab, "x", 0, 0)).to_have_text("−2.50")
    assert tab.page.url.endswith("edits=x1%2C1%3D-2.5")
    tab.page.keyboard.type("7")
    tab.page.keyboard.press("Escape")
    expect(number_at(tab, "x", 0, 0)).to_have_text("−2.50")
    number_at(tab, "x", 1, 0).dblclick()
    tab.page.keyboard.type("1,5")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url(re.compile(r"x2%2C1%3D1\.5$"))
    for _ in range(4):
        tab.settled().page.get_by_role("button", name="Undo", exact=True).click()
    tab.page.wait_for_url(lambda url: "edits" not in url)


def test_a_number_that_is_stepped_back_is_no_change_and_is_explained_again(visit):
    tab = opened(visit().open("projections"), FIGURE)
    number_at(tab, "x", 0, 0).focus()
    tab.page.keyboard.down("Shift")
    tab.page.keyboard.press("ArrowUp", delay=0)
    tab.page.keyboard.up("Shift")
    tab.page.keyboard.down("Shift")
    tab.page.keyboard.press("ArrowUp", delay=0)
    tab.page.keyboard.press("ArrowDown", delay=0)
    tab.page.keyboard.press("ArrowDown", delay=0)
    tab.page.keyboard.up("Shift")
    was = float(run_example(Example()).x[0, 0])
    expect(number_at(tab, "x", 0, 0)).to_have_text(f"{was:.2f}".replace("-", "−"))
    tab.settled()
    number_at(tab, "q", 0, 0).hover()
    expect(tab.page.locator(f"{FIGURE} output")).to_contain_text("query of")


def test_escape_gives_a_number_back(visit):
    tab = opened(visit().open("projections"), FIGURE)
    before = number_at(tab, "x", 1, 1).inner_text()
    x, y = middle_of(tab, "x", 1, 1)
    tab.page.mouse.move(x, y)
    number_at(tab, "x", 1, 1).focus()
    tab.page.mouse.down()
    tab.page.mouse.move(x - 50, y, steps=3)
    expect(number_at(tab, "x", 1, 1)).not_to_have_text(before)
    tab.page.keyboard.press("Escape")
    expect(number_at(tab, "x", 1, 1)).to_have_text(before)
    tab.page.mouse.up()
    expect(marks(tab)).to_have_count(0)
    tab.settled()
    assert "edits" not in tab.page.url


def test_a_finger_drags_sideways_and_scrolls_the_page_up_and_down(visit):
    tab = opened(visit(viewport={"width": 390, "height": 844}, has_touch=True).open("projections"), FIGURE)
    x, y = middle_of(tab, "x", 1, 1)
    before = number_at(tab, "x", 1, 1).inner_text()
    finger = tab.page.context.new_cdp_session(tab.page)

    def touch(kind, *at):
        points = [{"x": at[0], "y": at[1]}] if at else []
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", x, y)
    for way in range(5, 41, 5):
        touch("touchMove", x + way, y)
    touch("touchEnd")
    tab.page.wait_for_url(re.compile("edits=x2%2C2"))
    expect(number_at(tab, "x", 1, 1)).not_to_have_text(before)
    tab.settled()
    assert tab.page.evaluate("getComputedStyle(document.querySelector('.stMain')).touchAction") == "auto"
    assert number_at(tab, "x", 1, 1).evaluate("one => getComputedStyle(one).touchAction") == "pan-y"
    finger.detach()


def test_a_fold_has_the_numbers_where_the_figure_shows_none(visit):
    tab = opened(visit().open("scores"), ".st-key-scores_figure")
    tab.page.get_by_text("Change numbers by hand").click()
    place = tab.page.locator(cell_at(".st-key-changeable", "W_k", 0, 1))
    place.wait_for()
    tab.settled()
    place.click()
    tab.page.keyboard.type("2")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url(re.compile("edits=k1%2C2%3D2$"))
    expect(place).to_have_text("2.00")


@pytest.mark.part(5)
@pytest.mark.parametrize("query", [*(f"example={key}" for key in PRESETS), TWELVE, LARGEST, "d_k=8&d_v=8"])
@pytest.mark.parametrize(("page", "figure"), [("", ".st-key-pipeline"), ("projections", FIGURE)])
def test_every_figure_fits_the_screen_of_a_laptop(visit, page, figure, query):
    tab = opened(visit().open(f"{page}?{query}"), figure)
    box = tab.page.locator(f"{figure} {PICTURE}").bounding_box()
    place = tab.page.locator(figure).bounding_box()
    assert box["y"] + box["height"] <= 900
    assert box["x"] + box["width"] <= place["x"] + place["width"] + 1
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1440
