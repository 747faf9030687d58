"""Where the matrices of a figure stand."""

import pytest
import torch

from attention_ui.figures.matrices.matrices import Layout
from lessons.kit.matrices import feature_axis, token_axis
from lessons.screen.message import message
from lessons.screen.screen import Matrices, Matrix


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
