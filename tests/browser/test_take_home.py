"""Worksheets in a real browser: saved as one file, printed on their paper; and a plan whose link opens its screen."""

import re

import pytest

from attention_ui.practice.take_home_view import file_of_sheets
from lessons.teachers.take_home.sheet import SheetChoices
from words import LANGUAGES, speaking

LONGEST = "Unvergessliche Zusammenhänge überraschen Fachleute !"  # words that are too long for their cells
POINTS = {"a4": (595, 842), "letter": (612, 792)}  # of a page
PAGES = 2  # of a sheet, and of a key: one leaf each, printed on both sides


@pytest.fixture
def print_file(visit):
    """Prints a file: the width and height of every page."""
    page = visit().page.context.new_page()

    def printed(file):
        page.set_content(file.decode())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pdf = page.pdf(prefer_css_page_size=True)
        boxes = re.findall(rb"/MediaBox\s*\[(.*?)\]", pdf)
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == len(boxes)
        return [tuple(round(float(end)) for end in box.split()[2:]) for box in boxes]

    yield printed
    page.close()


@pytest.mark.parametrize("paper", POINTS)
def test_of_30_sheets_and_keys_each_begins_on_a_leaf_of_its_own(print_file, paper):
    assert print_file(file_of_sheets(SheetChoices(seed=6), 30, paper)) == [POINTS[paper]] * 30 * 2 * PAGES


@pytest.mark.part(2)
@pytest.mark.parametrize("code", LANGUAGES)
def test_a_sheet_and_its_key_have_two_pages_each_in_every_language_whatever_the_words(print_file, code):
    with speaking(code):
        for paper in POINTS:
            file = file_of_sheets(SheetChoices(text=LONGEST, seed=6), 2, paper)
            assert print_file(file) == [POINTS[paper]] * 2 * 2 * PAGES


def test_a_class_is_saved_as_one_file_and_a_plan_opens_its_screens(visit, print_file, tmp_path):
    tab = visit(viewport={"width": 390, "height": 844}).open("take_home?paper_sheets=3&paper_seed=8")
    sheet = tab.page.frame_locator(".st-key-paper_preview iframe")
    sheet.get_by_role("heading", name="Attention on paper").wait_for()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    tab.page.get_by_role("button", name="Save 3 sheets and all keys").click()
    with tab.page.context.expect_event("download") as saved:
        tab.page.get_by_role("link", name="Download worksheet_").click()
    assert re.fullmatch(r"worksheet_\w+\.html", saved.value.suggested_filename)
    saved.value.save_as(tmp_path / "worksheets.html")
    file = (tmp_path / "worksheets.html").read_bytes()
    assert file == file_of_sheets(SheetChoices(seed=8), 3, "a4") and len(print_file(file)) == 3 * 2 * PAGES
    tab.page.get_by_text("Plan, 45 minutes").click()
    with tab.page.context.expect_page() as opened:
        tab.page.locator(".st-key-plan_stop_10 a", has_text="Open the screen").click()
    assert re.search(r"/softmax\?.*example=", opened.value.url)
    opened.value.get_by_role("heading", level=1).wait_for()
