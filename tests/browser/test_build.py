"""A head is built with the mouse and with the keyboard; on a projector goal, table and picture are seen at once."""

from tests.figures import PICTURE

GOAL = ".st-key-build_headline h2"
SCORES = ".st-key-build_scores [data-testid=stMetricValue]"
FIGURE, TABLE = f".st-key-build_figure {PICTURE}", f".st-key-table_figure {PICTURE}"


def number(matrix, row):
    return f".st-key-set_first_{matrix}_{row}_0"


def test_three_numbers_by_mouse_and_keyboard_build_a_head_in_front_of_a_class(visit):
    tab = visit(viewport={"width": 1280, "height": 720}).open("build?large=true")
    page = tab.page
    for part in (GOAL, f"{SCORES} >> nth=2", TABLE, FIGURE):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 60 and box["y"] + box["height"] <= 720, part
    before = page.locator(FIGURE).text_content()
    page.locator(f"{number('W_q', 0)} [data-testid=stNumberInputStepUp]").click()
    for matrix, row in (("W_q", 1), ("W_k", 0)):  # while the server still draws the number before
        page.locator(f"{number(matrix, row)} input").fill("3")
        page.keyboard.press("Enter")
    page.locator(f"{number('W_q', 0)} input").press("ArrowUp")
    page.locator(SCORES).get_by_text("over 99%").nth(1).wait_for()
    page.get_by_text("Solved, 1 of 10: First token").wait_for()
    tab.settled()
    assert page.locator(FIGURE).text_content() != before and "6.00" in page.locator(TABLE).text_content()
