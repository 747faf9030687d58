"""What only a browser shows of the overview: pointing, keys, sizes, themes."""

import pytest
from overview_cells import matrices_of
from playwright.sync_api import expect

from attention_ui.figures.matrices.tables import said_of
from lessons.example.example import Example
from tests.figures import CELL, EVERY, PICTURE, cell_at, lit, picked


def explainer(example=None):
    """What pointing at a cell says."""
    matrices = matrices_of(example)
    return lambda key, i, j: said_of(matrices[key], i, j)


EXPLAIN = explainer()


def figure(tab):
    tab.page.wait_for_selector(f".st-key-pipeline {CELL}")
    return tab.settled()


def point_at(tab, *cell):
    tab.page.locator(cell_at(".st-key-pipeline", *cell)).hover()


def test_pointing_lights_what_made_a_number_without_asking_the_server(visit):
    tab = figure(visit().open())
    before = len(tab.sent)
    point_at(tab, "scores", 4, 1)
    row, column = [("q", 4, c) for c in (0, 1)], [("k_transposed", c, 1) for c in (0, 1)]
    key = [("k", 1, c) for c in (0, 1)]
    same = [(stage, 4, 1) for stage in ("scores", "scaled", "masked", "weights")]
    assert lit(tab.page, ".st-key-pipeline") == sorted([*row, *column, *key, *same])
    assert tab.page.locator(".st-key-pipeline output").inner_text() == EXPLAIN("scores", 4, 1)
    tab.page.mouse.move(5, 5)
    assert not lit(tab.page, ".st-key-pipeline")
    point_at(tab, "weights", 2, 0)
    ringed = lit(tab.page, ".st-key-pipeline")
    assert {("v", 0, 0), ("v", 1, 1), ("v", 2, 0), ("weights", 2, 1), ("output", 2, 0)} <= {*ringed}
    assert ("v", 3, 0) not in ringed
    assert len(tab.sent) == before


def test_arrow_keys_step_through_the_stages_and_leave_sliders_alone_and_with_shift_turn_the_pages(visit):
    tab = figure(visit().open("?hide=code"))
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**step=x**")
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**step=qkv**")
    tab.page.keyboard.press("ArrowLeft")
    tab.page.wait_for_url("**step=x**")
    tab.settled()
    tab.page.locator(".st-key-d_k input").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url("**d_k=3**")
    assert "step=x" in tab.page.url
    tab.page.locator(".st-key-d_k input").blur()
    for here, after in (("tokens", "Dot product"), ("dot_product", "Q, K, V")):
        tab.page.keyboard.press("Shift+ArrowRight")
        tab.page.wait_for_url(f"**/{here}?*")
        # The keys belong to the buttons at the end of the page: they work when those are there.
        tab.page.get_by_role("button", name=f"{after} →").wait_for()
        tab.settled()
    assert "d_k=3" in tab.page.url and "hide=code" in tab.page.url
    assert tab.page.locator(".st-key-d_k input").input_value() == "3"
    assert tab.page.get_by_text("The code that ran").count() == 0


def test_other_numbers_come_into_the_tables_that_are_there_and_other_sizes_keep_ones_place(visit):
    tab = figure(visit(viewport={"width": 1366, "height": 768}).open("?example=journey&picture=steps&d_k=4"))
    in_place = tab.marked(f".st-key-pipeline {PICTURE}")
    number = tab.page.locator(cell_at(".st-key-pipeline", "weights", 4, 2))
    before = number.inner_text()
    tab.page.locator(".st-key-scaling label").click()
    expect(number).not_to_have_text(before)
    assert in_place()
    number.focus()
    tab.page.locator(cell_at(".st-key-pipeline", "weights", 4, 2)).press("Enter")
    tab.page.wait_for_selector(".st-key-clicked_0")
    assert picked(tab.page, ".st-key-pipeline") == [("weights", 4, 2)]
    tab.page.locator(".st-key-d_k input").press("ArrowRight")
    tab.page.wait_for_url("**d_k=5**")
    tab.page.locator(cell_at(".st-key-pipeline", "q", 0, 4)).wait_for()
    assert picked(tab.page, ".st-key-pipeline") == [("weights", 4, 2)]


@pytest.mark.slow
def test_a_cold_deep_link_opens_the_very_screen(visit, start_server):
    tab = figure(visit(url=start_server()).open("overview?d_k=5&causal=false&step=scores&seed=3"))
    explain = explainer(Example(d_k=5, causal=False, seed=3))
    point_at(tab, "scores", 5, 5)
    assert tab.page.locator(".st-key-pipeline output").inner_text() == explain("scores", 5, 5)
    assert tab.page.get_by_role("dialog").count() == 0


def test_a_repaired_link_says_so_and_stays_repaired(visit):
    tab = figure(visit().open("?d_k=999999&seed=abc&text=%ED%A0%BD"))
    tab.page.get_by_text("d_k goes from 1 to 8; 8 is used.").wait_for()
    tab.page.wait_for_url("**d_k=8**")
    assert "abc" not in tab.page.url


# For each number in a coloured cell: the contrast between its colour and the colours of the cell behind it.
CONTRASTS = f"""() => {{
    const rgb = colour => {{ const c = document.createElement('canvas').getContext('2d'); c.fillStyle = colour;
        c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3); }};
    const light = colour => rgb(colour).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const numbers = {EVERY}('.number', document.querySelector('.st-key-pipeline'));
    const pairs = numbers.map(one => [one, one.parentElement].map(part => getComputedStyle(part)))
        .map(([number, cell]) => [light(number.color), light(cell.backgroundColor)]);
    return pairs.map(([ink, cell]) => (Math.max(ink, cell) + 0.05) / (Math.min(ink, cell) + 0.05));
}}"""


def test_the_page_never_scrolls_sideways_and_numbers_can_be_read(visit):
    tab = figure(visit().open())
    svg = tab.page.locator(f".st-key-pipeline {PICTURE}").bounding_box()
    assert svg["y"] + svg["height"] <= 900, "the picture is above the fold"
    assert svg["x"] + svg["width"] <= 1440
    for scheme, width in (("light", 1440), ("dark", 390)):
        tab.page.emulate_media(color_scheme=scheme)
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.page.wait_for_function(
            """([width, scheme]) => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme
            && document.documentElement.scrollWidth <= width
            && document.querySelector('.st-key-pipeline').getBoundingClientRect().width <= width""",
            arg=[width, scheme],
        )
        figure(tab).page.wait_for_function(
            f"() => (found => found.length && found.every(contrast => contrast >= 4.5))(({CONTRASTS})())"
        )
    box = tab.page.locator(f".st-key-pipeline {PICTURE}").bounding_box()
    assert box["width"] <= 390 < box["height"], "on a phone the matrices stand below each other"
