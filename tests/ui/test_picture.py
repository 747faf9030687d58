"""A figure as an SVG file: the numbers, names and colours of the screen."""

import xml.etree.ElementTree as ET

import pytest

from attention_ui.figures.cover import covered_table
from attention_ui.figures.grid import DrawnMatrix, Grid
from attention_ui.figures.matrices import Layout, matrices_table
from attention_ui.figures.picture import between, can_be_drawn, colour, light_theme, svg_of
from lessons import output, overview
from lessons.example import Example, run_example

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
            assert rect.get("fill") == colour(cell["kind"], cell["v"])


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


def test_colours_run_from_end_to_end_of_the_theme():
    scores, weights = (light_theme()[f"chart{name}Colors"] for name in ("Diverging", "Sequential"))
    assert (colour("score", -9.0), colour("score", 3.0)) == (scores[0], scores[-1])
    assert colour("score", 0.0) == scores[4] == scores[5]
    assert (colour("gradient", -1.0), colour("gradient", 7.0)) == (scores[0], scores[-1])
    assert colour("gradient", -0.01) == colour("score", -0.3) and colour("gradient", 0.0) == colour("score", 0.0)
    assert (colour("weight", 0.0), colour("weight", 1.0)) == (weights[0], weights[-1])
    assert between(["#000000", "#ff8000"], 0.5) == "#804000"
    assert colour("weight", float("nan")) == colour("weight", None) == light_theme()["chartCategoricalColors"][-1]


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
