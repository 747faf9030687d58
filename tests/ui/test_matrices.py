"""Where the matrices of a figure stand."""

from dataclasses import replace

import pytest
import torch

from attention_ui.figures.matrices.matrices import Layout, matrices_table
from lessons.kit.matrices import feature_axis, token_axis
from lessons.screen.message import message
from lessons.screen.screen import Matrices, Matrix
from lessons.screen.text_width import letters


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
    assert places(5, 7, 11, 13) == [(2, 2, True), (16, 2, False), (2, 9, True)]
    assert Layout(figure(5, 7, 11, 13)).columns == 27
    assert places(5, 7, 11, 3) == [(2, 2, True), (10, 2, False), (22, 2, False)]


@pytest.mark.parametrize("rows", [5, 11])
def test_bands_that_the_lesson_chose_stay(rows):
    assert places(rows, 29, 23, bands=lambda m: ((m[0], m[1]), (None, m[1])))[1][:2] == (34, 2)
    assert Layout(figure(rows, 29, 23, 3, bands=lambda m: (m[:2], m[2:]))).columns == 55


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
    assert max(map(letters, lines)) <= max(37, layout.columns * 4.2)
    assert told["gy"] - below["gy"] >= (len(lines) + 1) / 2
    assert max(row["gy"] for row in rows) + 1 - told["gy"] >= (len(told["text"].split("\n")) + 1) / 2
