"""Which numbers of a screen a learner can change by hand: entries of X, W_q, W_k and W_v that a figure shows."""

from dataclasses import replace

import numpy as np

from attention_core.base.traced import Cells, Input, Traced
from attention_core.one_head.head import one_head
from lessons.example.edits import LETTER_OF
from lessons.example.example import ExampleTrace, projection_of, unedited, whose_weights
from lessons.screen import Entries, Figure, Matrices, Matrix, Screen, message, with_past
from lessons.shared.matrices import traced_matrix, weight_matrix
from lessons.trace.head import compute_head
from lessons.trace.story import settled


def with_entries(screen: Screen, trace: ExampleTrace, head: int) -> Screen:
    """The screen in whose figures every matrix of such entries knows which they are."""

    def knowing(figure: Figure) -> Figure:
        return knowing_entries(figure, trace, head) if isinstance(figure, Matrices) else figure

    return replace(screen, figures=tuple(map(knowing, screen.figures)))


def knowing_entries(figure: Matrices, trace: ExampleTrace, head: int) -> Matrices:
    """A figure of matrices that know which entries they show."""

    def knowing(matrix: Matrix | None) -> Matrix | None:
        found = None if matrix is None else entries_of(matrix, trace, head)
        return matrix if found is None else replace(matrix, entries=found)

    bands = tuple(tuple(map(knowing, band)) for band in figure.bands)
    return figure if bands == figure.bands else replace(figure, bands=bands)


def changeable_numbers(trace: ExampleTrace, head: int) -> Matrices:
    """A figure of all numbers that can be changed: X, and the columns of W_q, W_k and W_v of one head."""
    plain = unedited(trace)
    before = knowing_entries(numbers_of_head(plain, head), plain, head)
    if plain is trace:
        return before
    return with_past(numbers_of_head(trace, head), {matrix.key: matrix for matrix in before.matrices})


def numbers_of_head(trace: ExampleTrace, head: int) -> Matrices:
    """X, W_q, W_k and W_v of one head."""
    computation = compute_head(one_head, trace, head)
    x = traced_matrix(computation, "x", message("X"), trace.tokens, given=True)
    maps = (weight_matrix(trace, role, head, computation) for role in "qkv")
    name = message("Numbers that can be changed")
    return Matrices(key="changeable", name=name, first="x", bands=((x, *maps),), weights=whose_weights(trace))


def entries_of(matrix: Matrix, trace: ExampleTrace, head: int) -> Entries | None:
    """Which entries of the example a matrix shows, as its trace tells; None where it shows anything else.

    A head has its own columns of W_q, W_k and W_v; of the example's they are counted through all heads.
    """
    if matrix.traced is None or not matrix.drawn:
        return None
    found = copied_input(matrix.traced.array)
    if found is None or found.array.name not in LETTER_OF or found.array.ndim != 2:
        return None
    name, first = found.array.name, 0
    rows, columns = np.unravel_index(found.at, found.array.shape)
    own = trace.x if name == "x" else projection_of(trace, name[-1], head)
    if own.shape != found.array.shape or not np.array_equal(own.numpy()[rows, columns], np.asarray(matrix.values)):
        return None  # those of another example
    if name != "x":
        first = head * own.shape[1]
    return Entries(name, rows.tolist(), (columns + first).tolist())


def copied_input(array: Traced) -> Cells | None:
    """The cells of one input that an array shows as they are, all of them; None where it shows anything else."""
    if array.ndim != 2:
        return None
    found = settled(Cells(array, np.arange(array.values.size).reshape(array.shape)), through_names=True)
    return found if isinstance(found.array.rule, Input) and found.array.rule.kind == "input" else None
