"""Trace one number: the arithmetic of a cell that was clicked or chosen, line by line down to X and W."""

import streamlit as st

from attention_core.arithmetic import MATRICES, Line, matrix_shape, trace_number
from attention_core.captions import seen
from attention_core.examples import ExampleTrace
from attention_ui.session import hidden, keep, recall

TITLES = {"x": "X", "q": "Q", "k": "K", "k_transposed": "Kᵀ", "v": "V"}
FEATURE_ROWS = ("k_transposed",)
FEATURE_COLUMNS = ("x", "q", "k", "v", "output")


def trace_panel(trace: ExampleTrace, head: int, picked: tuple[str, int, int] | None) -> None:
    """The panel. It opens at a click on a cell; the selectors reach every cell without a mouse."""
    follow(picked)
    if hidden("trace"):
        return
    with st.expander("Trace one number", key="trace_open", on_change="rerun") as panel:
        if panel.open:
            st.caption("Click a number in the picture, or choose it here.")
            matrix, row, column = chosen_cell(trace)
            show_lines(trace_number(trace, head, matrix, row, column))


def show_lines(lines: tuple[Line, ...]) -> None:
    """Each line in words, which may hold a learner's text, and below it the arithmetic."""
    with st.container(gap="xxsmall"):
        for line in lines:
            st.text(line.says)
            st.code(line.equation, language=None, wrap_lines=True)


def follow(picked: tuple[str, int, int] | None) -> None:
    """Open the panel at a cell that was picked just now; what was chosen after an earlier click stays."""
    new = picked != recall("trace_picked")
    keep("trace_picked", picked)
    if new and picked is not None and picked[0] in MATRICES:
        for part, value in zip(("matrix", "row", "column"), picked, strict=True):
            keep(f"trace_{part}", value)
        keep("trace_open", True)


def chosen_cell(trace: ExampleTrace) -> tuple[str, int, int]:
    """Draw the selectors and return what they say. A cell that no longer exists gives way to the nearest."""
    at_matrix, at_row, at_column = st.columns(3)
    keep("trace_matrix", recall("trace_matrix") or "weights")
    matrix = at_matrix.selectbox("Matrix", MATRICES, format_func=lambda key: TITLES.get(key, key), key="trace_matrix")
    rows, columns = matrix_shape(trace, matrix)
    row_names = place_names(trace, rows, features=matrix in FEATURE_ROWS)
    column_names = place_names(trace, columns, features=matrix in FEATURE_COLUMNS)
    keep("trace_row", nearest(recall("trace_row"), rows, default=rows - 1))
    row = at_row.selectbox("Row", range(rows), format_func=row_names.__getitem__, key="trace_row")
    keep("trace_column", nearest(recall("trace_column"), columns, default=0))
    column = at_column.selectbox("Column", range(columns), format_func=column_names.__getitem__, key="trace_column")
    return matrix, row, column


def nearest(place: int | None, size: int, default: int) -> int:
    """The place, or the last one where there are fewer by now; the default where none was chosen."""
    return default if place is None else min(place, size - 1)


def place_names(trace: ExampleTrace, size: int, *, features: bool) -> list[str]:
    """What the rows or columns of a matrix are called, each by a name of its own."""
    if features:
        return [f"feature {place + 1}" for place in range(size)]
    return [f"{place + 1} · “{seen(token)}”" for place, token in enumerate(trace.tokens)]
