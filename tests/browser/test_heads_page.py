"""What only a browser shows of the lesson on heads: a feature lights up before and after the split."""

import pytest

from attention_ui.controls.heads import STEP
from attention_ui.figures.matrices.tables import said_of
from lessons.example.example import Example, run_example
from lessons.model.heads.example import HeadsChosen
from lessons.model.heads.lesson import Choices, screen
from lessons.screen import format_value
from tests.figures import CELL, PICTURE, cell_at, lit

LINK = "heads?mh_step={}&mh_d_model=6&mh_heads=3"


def says(step):
    """What each cell of the figure says, by its name."""
    running = run_example(Example())
    choices = Choices(HeadsChosen(d_model=6, n_heads=3), step)
    return {
        f"{matrix.key} {i},{j}": said_of(matrix, i, j)
        for matrix in screen(running, 0, choices).figures[0].matrices
        for i in range(matrix.values.shape[0])
        for j in range(matrix.values.shape[1])
    }


def figure(tab):
    tab.page.wait_for_selector(f".st-key-way_figure {CELL}")
    return tab.settled()


def test_the_link_follows_what_was_chosen_also_where_the_heads_follow_the_features(visit):
    tab = visit().open("heads?mh_d_model=12")
    tab.page.wait_for_selector(f".st-key-heads_figure {PICTURE}")
    tab.settled()
    tab.page.locator(".st-key-mh_heads input").focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.wait_for_url("**mh_heads=1**")
    tab.settled()
    tab.page.get_by_text("There is one head, so there is nothing to compare.").wait_for()


def test_a_click_on_a_small_map_shows_that_head_large(visit):
    tab = visit().open("heads?mh_heads=4")
    tab.page.wait_for_selector(f".st-key-heads_figure {CELL}")
    tab.settled()
    tab.page.locator(cell_at(".st-key-heads_figure", "map.2", 1, 0)).click()
    tab.page.locator(f".st-key-head_figure {PICTURE}").get_by_text("head 3: weights").wait_for()
    tab.page.wait_for_url("**mh_head=3**")


def place(cell):
    matrix, at = cell.split()
    return matrix, *map(int, at.split(","))


def points_at(tab, cell, *wanted):
    """Point at a cell: these and no others have a ring."""
    tab.page.locator(cell_at(".st-key-way_figure", *place(cell))).hover()
    assert lit(tab.page, ".st-key-way_figure") == sorted(map(place, wanted))


def goes_to(tab, step):
    """Choose another step of the way, and wait for its figure."""
    tab.page.get_by_role("radio", name=format_value(STEP.options[step]), exact=True).click()
    tab.page.locator(cell_at(".st-key-way_figure", *place(next(iter(says(step)))))).wait_for()
    figure(tab)


def test_pointing_at_a_feature_shows_its_head_before_and_after_without_asking_the_server(visit):
    tab = figure(visit().open(LINK.format("split")))
    for step, before, after in (("split", "q 4,3", "q.1 4,1"), ("concatenate", "heads.2 1,0", "concatenated 1,4")):
        if step != "split":
            goes_to(tab, step)
        say, sent = says(step), len(tab.sent)
        for pointed in (before, after):
            points_at(tab, pointed, before, after)
            assert tab.page.locator(".st-key-way_figure output").inner_text() == say[pointed]
        assert f"head {2 if step == 'split' else 3}" in say[before]
        tab.page.mouse.move(5, 5)
        assert not lit(tab.page, ".st-key-way_figure")
        assert len(tab.sent) == sent
    goes_to(tab, "output")
    made_of = [*(f"concatenated 2,{f}" for f in range(6)), *(f"w_o {f},1" for f in range(6))]
    points_at(tab, "output 2,1", "output 2,1", *made_of)


@pytest.mark.part(4)
@pytest.mark.parametrize("query", ["?mh_step=slices&mh=wide", "?mh=wide", "?mh_step=split&mh_d_model=16", ""])
def test_the_page_never_scrolls_sideways(visit, query):
    tab = visit().open(f"heads{query}")
    tab.page.wait_for_selector(PICTURE)
    for width in (1440, 390):
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.settled().page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
