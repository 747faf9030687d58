"""The matrices of a lesson's figure, and how any of their cells comes about.

Each lesson computes with numbers of its own: with no weights, another mask, another temperature. A sheet
follows the very tensor it is named after, so the arithmetic always belongs to the number that was clicked.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lessons.example import ExampleTrace
from lessons.formatting import seen
from lessons.old_arithmetic import (
    MATRICES,
    Derivation,
    Explainer,
    Line,
    divisor_of,
    matrix_shape,
)

TITLES = {"x": "X", "q": "Q", "k": "K", "k_transposed": "Kᵀ", "v": "V"}
Names = tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """One matrix: its title, what its rows and columns are called, and the lines that lead to a cell, itself last."""

    title: str
    rows: Names
    columns: Names
    lines: Callable[[int, int], Iterable[Line]]


Sheets = dict[str, Sheet]


def places(tokens: Names) -> Names:
    """What rows or columns are called that belong to tokens, each by a name of its own."""
    return tuple(f"{place + 1} · “{seen(token)}”" for place, token in enumerate(tokens))


def features(size: int) -> Names:
    """What rows or columns are called that belong to features."""
    return tuple(f"feature {place + 1}" for place in range(size))


def pipeline_sheets(trace: ExampleTrace, head: int) -> Sheets:
    """All matrices of one head of the running example."""
    derivation = Derivation(Explainer.of(trace, head), head, divisor_of(trace))
    tokens, sheets = places(trace.tokens), {}
    for key in MATRICES:
        n_rows, n_columns = matrix_shape(trace, key)
        rows = features(n_rows) if key == "k_transposed" else tokens
        columns = features(n_columns) if key in ("x", "q", "k", "v", "output") else tokens
        sheets[key] = Sheet(TITLES.get(key, key), rows, columns, follow(derivation, key))
    return sheets


def follow(derivation: Derivation, matrix: str) -> Callable[[int, int], Iterator[Line]]:
    """The lines of a derivation for the cells of one matrix."""
    return lambda i, j: derivation.lines(matrix, i, j)
