"""A figure as an SVG file: the numbers, names and colours of the screen."""

import re
import xml.etree.ElementTree as ET

import pytest

from attention_ui.figures.cover import covered_table
from attention_ui.figures.matrices.grid import DrawnMatrix, Grid
from attention_ui.figures.matrices.matrices import Layout, matrices_table
from attention_ui.figures.matrices.picture import can_be_drawn, shape_of_number, svg_of
from attention_ui.figures.roles import BELOW_NUMBER, FIELD, FULL, TINT, in_role_colours, role_colours, role_styles
from lessons.example.example import Example, run_example
from lessons.one_head.output import lesson as output
from lessons.shared.formulas import stage_formula
from lessons.start.overview import matrices_view as overview

SVG = "{http://www.w3.org/2000/svg}"


def picture(table):
    return ET.fromstring(svg_of(table, 29).decode())


def test_every_number_of_the_screen_stands_in_the_picture_where_it_stood():
    (figure,) = overview.screen(run_example(Example(causal=True)), 0, overview.Choices()).figures
    table = matrices_table(figure, Layout(figure), numbered=True)
    assert can_be_drawn(table)
    cells = [row for row in table.to_pylist() if row["kind"] in ("score", "weight", "masked")]
    groups = list(picture(table).iter(f"{SVG}g"))
    assert [group.find(f"{SVG}title").text for group in groups] == [cell["say"] for cell in cells]
    for group, cell in zip(groups, cells, strict=True):
        rect, text = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        assert (float(rect.get("x")), float(rect.get("y"))) == (29 * cell["gx"], 29 * cell["gy"])
        assert (text is None) == (cell["kind"] == "masked")
        if text is not None:
            assert text.text == cell["text"]
            shape = group.find(f"{SVG}path")
            assert shape.get("fill") == role_colours("light")[cell["tone"]]
            assert shape.get("d") == shape_of_number(cell["kind"], cell["v"], FULL * 29, BELOW_NUMBER, cell["most"])


def test_a_bar_that_goes_on_ends_in_a_point():
    assert shape_of_number("change", 0.5, 40) == shape_of_number("score", 1.5, 40)
    for value in (1.5, -2.0):
        full, longer = (shape_of_number("change", one, 40) for one in (value / abs(value), value))
        assert "L" in longer and "L" not in full and f"L{20 if value > 0 else -20:.2f}," in longer


def one_query(trace, query):
    """The table of a figure whose words are a learner's."""
    (figure,) = output.screen(trace, 0, output.Choices("one", query)).figures
    return matrices_table(figure, Layout(figure), numbered=True)


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", 'a"b&c', "]]>", "<!--"])
def test_a_learners_text_stays_text(hostile):
    trace = run_example(Example(source="sentence", text=f"{hostile} two"))
    root = picture(one_query(trace, 0))
    assert {element.tag for element in root.iter()} == {
        SVG + tag for tag in ("svg", "g", "rect", "text", "title", "path")
    }
    assert trace.tokens[0] in {text.text for text in root.iter(f"{SVG}text")}


def test_titles_of_wide_letters_end_within_the_picture():
    grid = Grid(lambda *_: "", lambda *_: "")
    grid.matrix(DrawnMatrix("A", "A", [[1.0]]), 0, 1)
    grid.text("重み × バリュー", 0, 0, "title")
    root = picture(grid.table())
    (title,) = (text for text in root.iter(f"{SVG}text") if text.text.startswith("重"))
    left, _, width, _ = map(float, root.get("viewBox").split())
    wide = float(title.get("font-size")) * (6 + 3 * 0.3)  # six letters as wide as they are high
    assert 0 + wide <= left + width


def test_what_xml_cannot_hold_is_left_out_of_a_picture():
    grid = Grid(lambda *_: "", lambda *_: "")
    grid.matrix(DrawnMatrix("A", "A", [[1.0]]), 0, 1)
    grid.text("one\ufffe\x01two", 0, 0, "title")
    assert "onetwo" in {text.text for text in picture(grid.table()).iter(f"{SVG}text")}


def extent(kind, value, whole=40.0, **reach):
    """The width and the height of what a number draws, and where it begins and ends across its cell."""
    drawn = shape_of_number(kind, value, whole, **reach)
    if not drawn:
        return 0.0, 0.0
    across = float((re.search(r"L(-?[\d.]+)", drawn) or re.search(r"h(-?[\d.]+)", drawn))[1])  # to its point, if any
    first, second = (float(found) for found in re.findall(r"[,Vv](-?[\d.]+)", drawn)[:2])
    return across, second if "v" in drawn else second - first


@pytest.mark.parametrize("weight", [0.0, 0.03, 0.12, 0.24, 0.5, 1.0])
def test_the_area_of_a_weight_is_the_weight(weight):
    wide, high = extent("weight", weight)
    assert wide == high
    assert wide * high / 40**2 == pytest.approx(weight, abs=2e-3)


def test_bars_begin_in_the_middle_point_to_their_sign_and_end_at_the_domain():
    assert [extent("score", value)[0] for value in (3.0, 1.5, 0.0, -1.5, -3.0, -300.0)] == [20, 10, 0, -10, -20, -20]
    assert [extent("change", value)[0] for value in (1.0, -0.5)] == [20, -10]
    assert extent("gradient", 0.01)[0] == pytest.approx(2) and extent("gradient", -0.25)[0] == pytest.approx(-10)
    assert extent("score", 2.0)[1] == extent("score", 0.1)[1], "only the length says how much"
    assert extent("weight", float("nan")) == extent("score", None) == (0, 0)


def luminance(colour):
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def mixed(above, below, opacity):
    return [opacity * a + (1 - opacity) * b for a, b in zip(above, below, strict=True)]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "panel"])
def test_numbers_read_well_on_every_square(theme, ground):
    colours = {
        role: [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for role, colour in role_colours(theme).items()
    }
    field = mixed(colours["ghost"], colours[ground], FIELD)
    for role in ("ink", "q", "k", "v", "weight"):
        square = mixed(colours[role], field, TINT["ink" if role == "ink" else "role"])
        for ground_of_number in (field, square):
            lighter, darker = sorted((luminance(colours["ink"]), luminance(ground_of_number)), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, role


def test_styles_and_formulas_have_the_colours_of_the_charts():
    light, dark = role_colours("light"), role_colours("dark")
    assert (light["weight"], dark["weight"]) == ("#6a3fb5", "#bda2f7")
    assert f"--lab-weight: light-dark({light['weight']}, {dark['weight']});" in role_styles()
    assert f"--lab-line: light-dark({light['line']}, {dark['line']});" in role_styles()
    formula = stage_formula("output", run_example(Example()))
    for theme, colours in (("light", light), ("dark", dark)):
        shown = in_role_colours(formula, theme)
        assert rf"\textcolor{{{colours['weight']}}}{{A}}\textcolor{{{colours['v']}}}{{V}}" in shown


def test_a_thing_of_an_unknown_kind_is_not_silently_left_out():
    grid = Grid(lambda *_: "", lambda *_: "")
    grid.matrix(DrawnMatrix("m", "m", [[1.0]]), 0, 0)
    assert can_be_drawn(grid.table())
    grid.text("?", 1, 1, "new kind")
    assert not can_be_drawn(grid.table())


def test_a_covered_figure_has_frames_and_what_is_given():
    trace = run_example(Example())
    table = one_query(trace, 2)
    covered = covered_table(table, ("k",)).to_pylist()
    for before, after in zip(table.to_pylist(), covered, strict=True):
        key = (before["cell_tag"] or "").strip("|").split(" ")[0]
        if key in ("", "k"):
            assert after == before
        else:
            assert (after["v"], after["text"], after["say"]) == (None, "", "")
            assert after["kind"] == ("masked" if before["kind"] == "masked" else "ghost")
    assert covered_table(table).schema == table.schema
