"""What only a browser shows of the lesson on heads: a feature lights up before and after the split."""

import pytest

from attention_ui.figures.matrices.matrices import Layout, matrices_table
from lessons.example.example import Example, run_example
from lessons.heads.example import heads_example
from lessons.heads.lesson import Choices, screen

RINGED = """() => [...document.querySelectorAll('.st-key-way_figure svg [aria-label]')]
    .filter(cell => cell.getAttribute('stroke') && cell.getAttribute('stroke') !== 'transparent')
    .map(cell => cell.getAttribute('aria-label')).sort()"""
LINK = "heads?mh_step={}&mh_d_model=6&mh_heads=3"


def says(step):
    """What each cell of the figure says, by its name."""
    running = run_example(Example())
    choices = Choices(heads_example(running, "sentence", d_model=6, n_heads=3), step)
    figure = screen(running, 0, choices).figures[0]
    table = matrices_table(figure, Layout(figure), numbered=True).to_pylist()
    return {row["cell_tag"].strip("|"): row["say"] for row in table if row["cell_tag"]}


def figure(tab):
    tab.page.wait_for_selector(".st-key-way_figure svg .mark-rect [aria-label]")
    return tab.settled()


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [("split", "q 4,3", "q.1 4,1"), ("concatenate", "heads.2 1,0", "concatenated 1,4")],
)
def test_pointing_at_a_feature_shows_its_head_before_and_after_without_asking_the_server(visit, step, before, after):
    tab, say = figure(visit().open(LINK.format(step))), says(step)
    sent = len(tab.sent)
    for pointed in (before, after):
        tab.page.locator(".st-key-way_figure svg").get_by_label(say[pointed], exact=True).last.hover()
        tab.page.wait_for_function(
            f"wanted => JSON.stringify(({RINGED})()) === JSON.stringify(wanted)", arg=sorted((say[before], say[after]))
        )
    assert f"head {2 if step == 'split' else 3}" in say[before]
    tab.page.mouse.move(5, 5)
    tab.page.wait_for_function(f"() => ({RINGED})().length === 0")
    assert len(tab.sent) == sent


def test_a_link_brings_back_what_was_chosen_also_where_the_heads_follow_the_features(visit):
    tab = visit().open("heads?mh_d_model=12")
    tab.page.wait_for_selector(".st-key-heads_figure svg.marks")
    tab.settled()
    tab.page.locator(".st-key-mh_heads input").focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.wait_for_url("**mh_heads=1**")
    tab.settled()
    again = visit().open(tab.page.url.removeprefix(f"{tab.url}/"))
    again.page.wait_for_selector(".st-key-head_figure svg.marks")
    again.settled()
    assert "mh_heads=1" in again.page.url
    again.page.get_by_text("There is one head, so there is nothing to compare.").wait_for()


@pytest.mark.part(5)
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("query", ["", "?mh=wide", "?mh_step=split&mh_d_model=16", "?mh_step=slices&mh=wide"])
def test_the_page_never_scrolls_sideways(visit, width, query):
    tab = visit(viewport={"width": width, "height": 900}).open(f"heads{query}")
    tab.page.wait_for_selector("svg.marks")
    tab.settled()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_click_on_a_small_map_shows_that_head_large(visit):
    tab = visit().open("heads?mh_heads=4")
    tab.page.wait_for_selector(".st-key-heads_figure svg .mark-rect [aria-label]")
    tab.settled()
    tab.page.locator(".st-key-heads_figure svg").get_by_label(
        "head 3: weight that “journey” puts on “Your”"
    ).last.click()
    tab.page.locator(".st-key-head_figure svg").get_by_text("head 3: weights").wait_for()
    tab.page.wait_for_url("**mh_head=3**")


def test_w_o_lights_the_row_and_the_column_that_make_a_number_of_the_output(visit):
    tab, say = figure(visit().open(LINK.format("output"))), says("output")
    tab.page.locator(".st-key-way_figure svg").get_by_label(say["output 2,1"], exact=True).last.hover()
    made_of = [
        say["output 2,1"],
        *(say[f"concatenated 2,{f}"] for f in range(6)),
        *(say[f"w_o {f},1"] for f in range(6)),
    ]
    tab.page.wait_for_function(
        f"wanted => JSON.stringify(({RINGED})()) === JSON.stringify(wanted)", arg=sorted(made_of)
    )
