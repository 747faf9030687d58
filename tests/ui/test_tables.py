"""Matrices as tables of the browser: they say what the figures of matrices say everywhere else."""

import math
import re
from importlib import import_module

import pytest
import torch
from test_every_screen import LESSONS, file_of

from attention_ui.figures.matrices.matrices import Layout, matrices_table, tag
from attention_ui.figures.matrices.tables import tables_of
from lessons.example.example import Example, run_example
from lessons.screen import Axis, Cells, Matrices, Matrix, matrices_figures, message
from words import speaking

EXAMPLES = (Example(), Example(source="sentence", text="a b c a d", d_k=3, d_v=5, n_heads=2, seed=7))
DRAWN_AS_CELLS = ("score", "weight", "change", "gradient", "masked", "ghost")


def lit_by(tables, m, i, j):
    """The tags of all that lights up with a cell, as the other figures write them."""
    keys = [matrix["key"] for matrix in tables["matrices"]]
    for place, row, column in tables["matrices"][m]["lights"][i][j]:
        row, column = (None if at < 0 else at for at in (row, column))
        yield tag(Cells(keys[place], row, column))


@pytest.mark.part(2)
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_cell_says_and_lights_up_the_same_as_in_the_other_figures(lesson, shapes_taken_for_granted):
    module = import_module(LESSONS[lesson])
    for example in EXAMPLES:
        trace = run_example(example)
        for choices in [*file_of(lesson).cases(trace)][::5]:
            for figure in matrices_figures(module.screen(trace, trace.example.n_heads - 1, choices).figures):
                check_figure(figure)


def check_figure(figure):
    rows = matrices_table(figure, Layout(figure), numbered=True).to_pylist()
    cells = {row["cell_tag"]: row for row in rows if row["cell_tag"] and row["kind"] in DRAWN_AS_CELLS}
    marked = {(row["gx"], row["gy"]) for row in rows if row["kind"] == "changed"}
    tables, keys, told = tables_of(figure), {matrix.key for matrix in figure.matrices}, 0
    for m, (matrix, table) in enumerate(zip(figure.matrices, tables["matrices"], strict=True)):
        for i, line in enumerate(table["text"]):
            for j, text in enumerate(line):
                if not matrix.drawn:
                    assert text == "" and table["share"][i][j] is None and not table["lights"][i][j]
                    continue
                cell, told = cells[f"|{matrix.key} {i},{j}|"], told + 1
                assert (text is None) == (cell["kind"] == "masked") and (text or "") == cell["text"]
                assert table["say"][i][j] == cell["say"]
                others = [one for one in re.findall(r"\|[^|]+\|", cell["lights"])[1:] if one[1:].split(" ")[0] in keys]
                assert [*lit_by(tables, m, i, j)] == others, "of a figure some sources may stand elsewhere"
                assert bool(table["marked"] and table["marked"][i][j]) == ((cell["gx"], cell["gy"]) in marked)
    assert told == len(cells)


def figure_of(values, scale, **look):
    names = [tuple(f"{kind}{at}" for at in range(n)) for kind, n in zip("rc", values.shape, strict=True)]
    rows, columns = (Axis(message("rows"), labels, named=True) for labels in names)
    matrix = Matrix(key="m", title=message("M"), values=values, rows=rows, columns=columns, scale=scale, **look)
    return Matrices(key="f", name=message("Some"), bands=((None, matrix),), first="m")


@pytest.mark.parametrize(
    ("scale", "shown", "share"),
    [
        ("weight", [["0.25", "0.75", "0.00"], ["1.00", "−0.20", "0.50"]], [[0.25, 0.75, 0.0], [1.0, -0.2, 0.5]]),
        ("change", [["0.25", "0.75", "0.00"], ["1.00", "−0.20", "0.50"]], [[0.25, 0.75, 0.0], [1.0, -0.2, 0.5]]),
        ("number", [["0.25", "0.75", "0.00"], ["1.00", "−0.20", "0.50"]], [[0.083, 0.25, 0.0], [0.333, -0.067, 0.167]]),
        ("gradient", [["0.25", "0.75", "0"], ["1.00", "−0.20", "0.50"]], [[0.5, 0.866, 0.0], [1.0, -0.447, 0.707]]),
    ],
)
def test_a_number_is_a_length_or_an_area_on_the_scale_of_its_kind(scale, shown, share):
    values = torch.tensor([[0.25, 0.75, 0.0], [1.0, -0.2, 0.5]], dtype=torch.float64)
    [table] = tables_of(figure_of(values, scale))["matrices"]
    assert table["text"] == shown and table["scale"] == ("areas" if scale == "weight" else "bars")
    assert table["share"] == [[pytest.approx(one, abs=1e-3) for one in line] for line in share]


def test_bars_of_a_figure_end_at_its_largest_number_and_what_is_like_infinity_at_its_edge():
    values = torch.tensor([[12.0, -3.0, -1e9]], dtype=torch.float64)
    [table] = tables_of(figure_of(values, "number"))["matrices"]
    assert table["share"] == [[1.0, -0.25, -1.0]] and table["text"] == [["12.0", "−3.00", "−1e9"]]


def test_what_is_masked_has_no_number_and_what_is_not_drawn_has_frames():
    values, visible = torch.full((2, 3), math.pi), torch.tensor([[True, False, False], [True, True, False]])
    [table] = tables_of(figure_of(values, "weight", visible=visible))["matrices"]
    assert table["text"] == [["3.14", None, None], ["3.14", "3.14", None]]
    assert table["share"] == [[1.0, None, None], [1.0, 1.0, None]]
    [table] = tables_of(figure_of(values, "weight", drawn=False))["matrices"]
    assert table["text"] == [[""] * 3] * 2 and table["say"] == [[""] * 3] * 2 and table["marked"] is None


def test_names_and_words_are_those_of_the_readers_language():
    with speaking("de"):
        tables = tables_of(figure_of(torch.full((2, 3), 0.5), "weight"))
    [table] = tables["matrices"]
    assert table["text"][0][0] == "0,50" and tables["masked"] != "masked"
    assert table["rows"]["labels"] == ["r0", "r1"] and table["columns"]["name"].endswith(" →")
    assert tables["bands"] == [[None, 0]]
