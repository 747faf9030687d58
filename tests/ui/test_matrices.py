"""Where the matrices of a figure stand."""

import gc
import weakref
from dataclasses import replace

import pytest
import torch

from attention_ui.figures.matrices.matrices import Layout, matrices_table, parts_on_a_projector
from attention_ui.page.drawing import numbers_of, placed_both_ways
from lessons.example.example import Example, run_example
from lessons.one_head.dot_product import lesson as dot_product
from lessons.one_head.output import lesson as output
from lessons.screen import Axis, Matrices, Matrix, letters, message
from lessons.shared.matrices import feature_axis, token_axis
from words import speaking


def figure(rows, *widths, bands=None):
    tokens = token_axis(tuple("abcdefghijklm"[:rows]))
    matrices = tuple(
        Matrix(key=str(at), title=message("M"), values=torch.zeros(rows, w), rows=tokens, columns=feature_axis(w))
        for at, w in enumerate(widths)
    )
    return Matrices(key="f", name=message("Some"), bands=bands(matrices) if bands else (matrices,), first="0")


def places(*arguments, **choices):
    return [(p.left, p.top, p.named) for p in Layout(figure(*arguments, **choices)).places]


def test_a_band_that_is_too_wide_goes_on_below_itself_with_the_names_of_its_rows():
    assert places(5, 7, 11, 13) == [(1.75, 2, True), (15.25, 2, False), (1.75, 9, True)]
    assert Layout(figure(5, 7, 11, 13)).columns == 26.25
    assert places(5, 7, 11, 3) == [(1.75, 2, True), (9.25, 2, False), (20.75, 2, False)]


@pytest.mark.parametrize("rows", [5, 11])
def test_bands_that_the_lesson_chose_stay(rows):
    assert places(rows, 29, 23, bands=lambda m: ((m[0], m[1]), (None, m[1])))[1][:2] == (33, 2)
    assert Layout(figure(rows, 29, 23, 3, bands=lambda m: (m[:2], m[2:]))).columns == 54.25


@pytest.mark.parametrize("widths", [(2,), (7, 11, 4)])
def test_what_is_said_below_is_whole_and_has_room(widths):
    """No line is wider than the matrices or a phone, none is left out, and none lies over another."""
    weights, hint = " ".join(f"word{n}" for n in range(40)) + ".", "Rows are some queries here. " + "Point at it. " * 3
    said = replace(figure(5, *widths), weights=message(weights), hint=message(hint.strip()))
    layout = Layout(said)
    rows = matrices_table(said, layout, numbered=True).to_pylist()
    (below,) = [row for row in rows if row["kind"] == "shape" and row["text"].startswith("word0")]
    (told,) = [row for row in rows if row["kind"] == "hint"]
    assert below["text"].split() == weights.split() and told["text"].split() == hint.split()
    lines = below["text"].split("\n")
    assert max(map(letters, lines)) <= max(37, layout.columns * 5)
    assert told["gy"] - below["gy"] >= (len(lines) + 1) / 2
    assert max(row["gy"] for row in rows) + 1 - told["gy"] >= (len(told["text"].split("\n")) + 1) / 2


def parts(shown):
    return [[matrix.key for matrix in part.matrices] for part in parts_on_a_projector(shown)]


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [((9, 8, 2, 2), ["012"]), ((9, 8, 8, 8), ["01", "2"]), ((9, 12, 12), ["0", "1"]), ((10, 10, 10), ["01"])],
)
def test_on_a_projector_stands_as_much_as_leaves_room_for_large_numbers(sizes, wanted):
    assert parts(figure(*sizes)) == [list(part) for part in wanted]


def test_a_part_begins_where_the_lesson_says_and_keeps_what_stands_above_and_below():
    (shown,) = dot_product.screen(run_example(Example(source="meanings")), 0, dot_product.Choices("one", 2)).figures
    assert parts(shown) == [["query", "k", "score"], ["weight", "v", "part", "sum"]]
    first, second = parts_on_a_projector(shown)
    assert [len(part.bands) for part in (first, second)] == [2, 2] and not (first.hinted or second.hinted)
    assert parts_on_a_projector(shown) is parts_on_a_projector(shown), "their tables are kept by them"


def test_names_that_are_to_be_seen_whole_have_the_room_they_need():
    shown = figure(3, 1, 1)
    rows = Axis(message("heads"), ("20.0, 23.3, 25.2", "1.1", "2.2 … 29.8 (30)"), named=True)
    widths = []
    for whole in (False, True):
        named = replace(rows, whole=whole)
        band = tuple(replace(matrix, rows=named) for matrix in shown.matrices)
        widths.append([Layout(replace(shown, bands=(band,)), stacked=stacked).names for stacked in (False, True)])
    assert widths == [[2, 2], [3.25, 3.25]]


def test_a_compact_figure_says_remarks_behind_titles_and_the_title_of_a_single_row_beside_it():
    (shown,) = output.screen(run_example(Example(source="language")), 0, output.Choices("one", 7)).figures
    first, second = parts_on_a_projector(shown)
    assert parts(shown) == [["weight", "v"], ["part", "sum"]] and first.compact
    assert Layout(shown).height == 14 and Layout(first).height == 11 and Layout(second).height == 12
    rows = matrices_table(second, Layout(second), numbered=True).to_pylist()
    said = {(row["kind"], row["gy"]): row["text"].replace("\u00a0", " ") for row in rows}
    assert said["title", 0] == "weight × value: 10 × 8 of 64" and said["axis", 11] == "output"


def test_names_of_rows_take_what_they_need_and_no_more_than_two_columns():
    assert [Layout(replace(figure(3, 1, 1), **look)).names for look in ({}, {"numbered": False})] == [1.75, 2]
    (shown,) = dot_product.screen(run_example(Example(source="meanings")), 0, dot_product.Choices("one", 2)).figures
    assert Layout(shown).names < 1.75 and Layout(shown, stacked=True).names == 2


def test_the_tables_of_a_figure_are_made_once_a_language_and_go_with_it():
    (shown,) = dot_product.screen(run_example(Example()), 0, dot_product.Choices("all", 0)).figures
    numbers, placed = numbers_of(shown), placed_both_ways(shown)
    assert numbers_of(shown) is numbers and placed_both_ways(shown) is placed
    with speaking("de"):
        assert numbers_of(shown) is not numbers and numbers_of(shown) is numbers_of(shown)
    gone = weakref.ref(shown), weakref.ref(numbers), weakref.ref(placed)
    del shown, numbers, placed
    gc.collect()
    assert [each() for each in gone] == [None] * 3
