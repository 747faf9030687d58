"""Matrices as tables of the browser: what a cell holds, and what a question leaves of it."""

import gc
import json
import weakref
from functools import partial

import pytest
import torch

from attention_ui.figures.matrices.tables import covered_tables, numbers_of, tables_of
from attention_ui.page.drawing import WRITTEN
from lessons.example.example import Example, run_example
from lessons.one_head.dot_product import lesson as dot_product
from lessons.one_head.output import lesson as output
from lessons.screen import Axis, Matrices, Matrix, message
from lessons.shared.differences import unit_of
from words import speaking


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
    assert table["share"] == [[1.0, -0.25, -2]] and table["text"] == [["12.0", "−3.00", "−1e9"]]


def test_what_is_masked_has_no_number_and_what_is_not_drawn_has_frames():
    values, visible = torch.full((2, 3), 0.25), torch.tensor([[True, False, False], [True, True, False]])
    [table] = tables_of(figure_of(values, "weight", visible=visible))["matrices"]
    assert table["text"] == [["0.25", None, None], ["0.25", "0.25", None]]
    assert table["share"] == [[0.25, None, None], [0.25, 0.25, None]]
    [table] = tables_of(figure_of(values, "weight", drawn=False))["matrices"]
    assert table["text"] == [[""] * 3] * 2 and table["say"] == [[""] * 3] * 2 and table["marked"] is None


def test_names_and_words_are_those_of_the_readers_language():
    with speaking("de"):
        tables = tables_of(figure_of(torch.full((2, 3), 0.5), "weight"))
    [table] = tables["matrices"]
    assert table["text"][0][0] == "0,50" and tables["masked"] != "masked"
    assert table["rows"]["labels"] == ["r0", "r1"] and table["columns"]["name"].endswith(" →")
    assert tables["bands"] == [[None, 0]]


def test_differences_are_multiples_of_their_unit_and_long_numbers_are_written_shortly_besides():
    gap = torch.tensor([[2.4e-7, -2.4e-7, 0.0], [-1.49e-8, 3e-11, 5.96e-8]], dtype=torch.float64)
    data = tables_of(figure_of(gap, "number", unit=unit_of(gap)))
    [table] = data["matrices"]
    assert table["text"] == [["24.0", "−24.0", "0"], ["−1.49", "0.00", "5.96"]]
    assert table["short"] == [["24", "−24", "0"], ["−1.5", "0.0", "6.0"]] and data["letters"] == [5, 4]
    assert [unit_of(torch.tensor([size])) for size in (0.0, 0.5, 7.0)] == [1.0] * 3, "two decimals show these as well"
    [table] = tables_of(figure_of(abs(gap) * 1e8 % 10, "number"))["matrices"]
    assert table["short"] is None, "nothing is sent twice"


def test_a_mark_and_what_a_number_was_stand_where_it_changed():
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    was = values.clone()
    was[1, 1] = 7.0
    [table] = tables_of(figure_of(values, "number", was=was))["matrices"]
    assert table["marked"] == [[False] * 3, [False, True, False]]
    assert table["say"][1][1].endswith("Changed: it was 7.00.") and "Changed" not in table["say"][0][0]


def one_query(trace, query):
    (figure,) = output.screen(trace, 0, output.Choices("one", query)).figures
    return figure


def test_a_question_leaves_frames_what_is_given_and_what_is_masked():
    whole = tables_of(one_query(run_example(Example()), 2))
    covered = covered_tables(whole, ("v",))
    assert covered["covered"] and not whole["covered"] and covered["letters"] == whole["letters"], "sizes stay"
    for before, after in zip(whole["matrices"], covered["matrices"], strict=True):
        if before["key"] == "v":
            assert after == before
            continue
        for i, line in enumerate(before["text"]):
            for j, text in enumerate(line):
                assert after["text"][i][j] == (None if text is None else "")
                assert (after["say"][i][j], after["share"][i][j], after["lights"][i][j]) == ("", None, [])
        names = {name: before[name] for name in ("title", "note", "rows", "columns", "role")}
        assert {name: after[name] for name in names} == names
    told = json.dumps([table for table in covered["matrices"] if table["key"] != "v"])
    numbers = {text for table in whole["matrices"] if table["key"] != "v" for line in table["text"] for text in line}
    assert not [number for number in numbers if number and f'"{number}"' in told]


def test_a_learners_words_stay_in_the_data():
    tables = tables_of(one_query(run_example(Example(source="sentence", text="<script> two")), 0))
    assert any("<script>" in said for table in tables["matrices"] for line in table["say"] for said in line)


def test_numbers_leave_with_matrix_row_and_column_and_what_is_masked_without_one():
    values, visible = torch.tensor([[0.1, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.ones(3, 2, dtype=torch.bool)
    visible[0, 1] = False
    rows = numbers_of(figure_of(values, "weight", visible=visible)).to_pylist()
    assert rows[:2] == [
        {"matrix": "m", "row": 1, "column": 1, "value": pytest.approx(0.1, abs=1e-8)},
        {"matrix": "m", "row": 1, "column": 2, "value": None},
    ]
    assert len(rows) == 6 and not numbers_of(figure_of(values, "weight", drawn=False)).to_pylist()


def test_the_tables_of_a_figure_are_made_once_a_language_and_go_with_it():
    (shown,) = dot_product.screen(run_example(Example()), 0, dot_product.Choices("all", 0)).figures
    made = WRITTEN.get(shown, partial(str, shown.key))
    assert WRITTEN.get(shown, lambda: "") is made
    with speaking("de"):
        assert WRITTEN.get(shown, lambda: "") == ""
    gone = weakref.ref(shown)
    del shown, made
    gc.collect()
    assert gone() is None
