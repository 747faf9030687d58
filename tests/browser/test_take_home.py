"""Worksheets in a real browser: saved as one file, printed on their paper; and a plan whose link opens its screen."""

import re
import zipfile

from attention_ui.export.typeset import can_typeset
from attention_ui.practice.take_home_view import file_of_sheet
from lessons.take_home.sheet import SheetChoices, choices_of_code

TASKS = SheetChoices(tasks=2, seed=8)
THREADS = [
    SheetChoices(in_one_thread=True),
    SheetChoices(in_one_thread=True, text="Unvergessliche Zusammenhänge überraschen Fachleute !", seed=6),
]
POINTS = {"a4": (595, 842), "letter": (612, 792)}  # of a page


def printed(tab, choices, paper):
    """Width and height of every page that a browser prints of a sheet."""
    page = tab.page.context.new_page()
    page.set_content(file_of_sheet(choices, paper, False).decode())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pdf = page.pdf(prefer_css_page_size=True)
    page.close()
    boxes = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    return [(round(float(width)), round(float(height))) for width, height in boxes]


def test_a_class_is_saved_as_one_file_its_sheets_are_printed_and_a_plan_opens_its_screens(visit, tmp_path):
    tab = visit(viewport={"width": 390, "height": 844}).open("take_home?paper_sheets=3&paper_tasks=2&paper_seed=8")
    sheet = tab.page.frame_locator(".st-key-paper_preview iframe")
    sheet.get_by_role("heading", name="Attention on paper").wait_for()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    tab.page.locator(".st-key-paper_write button").click()
    save = tab.page.get_by_role("button", name="Save the PDF" if can_typeset() else "Save all 3 sheets and keys")
    save.wait_for()
    with tab.page.expect_download() as saved:
        save.click()
    saved.value.save_as(tmp_path / saved.value.suggested_filename)
    if can_typeset():
        assert (tmp_path / "worksheets.pdf").read_bytes().startswith(b"%PDF")
    else:
        with zipfile.ZipFile(tmp_path / "worksheets.zip") as packed:
            codes = [line.split(",")[1] for line in packed.read("codes.csv").decode().split()[1:]]
        assert [choices_of_code(code).seed for code in codes] == [8, 9, 10]
    for paper, points in POINTS.items():
        assert set(printed(tab, TASKS, paper)) == {points}
        for thread in THREADS:
            assert printed(tab, thread, paper) == [points, points]
    tab.page.get_by_text("Plan, 45 minutes").click()
    with tab.page.context.expect_page() as opened:
        tab.page.locator(".st-key-plan_stop_10 a", has_text="Open the screen").click()
    assert re.search(r"/softmax\?.*example=", opened.value.url)
    opened.value.get_by_role("heading", level=1).wait_for()
