"""Figures of matrices on a projector: in as few parts as leave large numbers."""

import pytest
import torch

from attention_ui.figures.matrices.parts import parts_on_a_projector
from lessons.example.example import Example, run_example
from lessons.one_head.dot_product import lesson as dot_product
from lessons.screen import Matrices, Matrix, message
from lessons.shared.matrices import feature_axis, token_axis


def figure(rows, *widths):
    tokens = token_axis(tuple("abcdefghijklm"[:rows]))
    matrices = tuple(
        Matrix(key=str(at), title=message("M"), values=torch.zeros(rows, w), rows=tokens, columns=feature_axis(w))
        for at, w in enumerate(widths)
    )
    return Matrices(key="f", name=message("Some"), bands=(matrices,), first="0")


def parts(shown):
    return [[matrix.key for matrix in part.matrices] for part in parts_on_a_projector(shown)]


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [((9, 4, 2, 2), ["012"]), ((9, 8, 8, 8), ["0", "1", "2"]), ((9, 12, 12), ["0", "1"]), ((10, 5, 5), ["01"])],
)
def test_on_a_projector_stands_as_much_as_leaves_room_for_large_numbers(sizes, wanted):
    assert parts(figure(*sizes)) == [list(part) for part in wanted]


def test_a_part_begins_where_the_lesson_says_and_keeps_what_stands_above_and_below():
    (shown,) = dot_product.screen(run_example(Example(source="meanings")), 0, dot_product.Choices("one", 2)).figures
    assert parts(shown) == [["query", "k", "score"], ["weight", "v", "part", "sum"]]
    first, second = parts_on_a_projector(shown)
    assert [len(part.bands) for part in (first, second)] == [2, 2]
    assert parts_on_a_projector(shown) is parts_on_a_projector(shown), "their tables are kept by them"
