"""What only a browser shows of numbers changed by hand: typing into the table, marks, links, and figures that fit."""

import re

import pytest
from playwright.sync_api import TimeoutError, expect

from lessons.example.example import Example, run_example
from lessons.example.presets import PRESETS
from tests.figures import CELL, PICTURE, cell_at

TWELVE = "example=sentence&text=a+b+c+d+e+f+g+h+i+j+k+l"
LARGEST = f"{TWELVE}&d_model=12&d_k=8&d_v=8"
FIGURE = ".st-key-projections_figure"


def opened(tab, figure):
    tab.page.wait_for_selector(f"{figure} {CELL}")
    return tab.settled()


def type_number(tab, row, text):
    """Into the first column of the first table, never right below the last one typed, which is chosen already.

    A table that is just being drawn anew may miss a click; then it is clicked again, as one would. Twice with the
    mouse, never Enter: after a missed click the keyboard still holds the fold above the tables, which Enter closes.
    """
    typed = tab.page.locator("#portal input").first
    table = tab.page.get_by_test_id("data-grid-canvas").first
    for _ in range(5):
        table.scroll_into_view_if_needed()
        box = table.bounding_box()
        tab.page.mouse.dblclick(box["x"] + 120, box["y"] + 35 * (row + 1) + 17)
        try:
            typed.wait_for(timeout=2_000)
            break
        except TimeoutError:
            tab.page.keyboard.press("Escape")
    typed.fill(text)
    typed.press("Enter")


def cell_says(tab, *cell):
    tab.page.locator(cell_at(FIGURE, *cell)).hover()
    return tab.page.locator(f"{FIGURE} output").inner_text()


def marks(tab):
    return tab.page.locator(f"{FIGURE} .marked")


def test_a_typed_number_marks_what_follows_travels_in_the_link_and_can_be_reset(visit):
    tab = opened(visit().open("projections"), FIGURE)
    was = float(run_example(Example()).W_q[1, 0])
    expect(marks(tab)).to_have_count(0)
    tab.page.get_by_text("Change numbers by hand").click()
    tab.page.get_by_test_id("data-grid-canvas").first.wait_for()
    tab.settled()
    type_number(tab, 1, "2.5")
    tab.page.wait_for_url(re.compile(r"edits=q2%2C1%3D2\.5$"))
    expect(marks(tab)).to_have_count(7)  # the number and the six first features of q
    said = f"W_q, row 2, column 1: an entry of W_q: 2.5. Changed: it was {was:.2f}."
    assert cell_says(tab, "W_q", 1, 0) == said
    tab.page.get_by_text("1 number changed by hand", exact=True).wait_for()
    type_number(tab, 0, "5000")
    tab.page.get_by_text("5000 is too large").wait_for()
    assert tab.page.url.endswith("edits=q2%2C1%3D2.5")
    for width in (390, 1024, 1440):
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
    tab.settled()

    again = opened(visit().open(tab.page.url.removeprefix(f"{tab.url}/")), FIGURE)
    assert cell_says(again, "W_q", 1, 0) == said
    expect(marks(again)).to_have_count(7)
    again.page.keyboard.press("Shift+ArrowRight")
    again.page.wait_for_url("**/scores?*edits=*")
    again.page.get_by_text("1 number changed by hand", exact=True).wait_for()

    tab.page.get_by_role("button", name="Reset", exact=True).click()
    tab.page.wait_for_url(lambda url: "edits" not in url)
    expect(marks(tab)).to_have_count(0)
    tab.settled()
    type_number(tab, 2, "0.25")
    tab.page.wait_for_url(re.compile(r"edits=q3%2C1%3D0\.25$"))


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
