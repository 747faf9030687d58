"""Trace one number: the arithmetic of a cell that was clicked or chosen, line by line down to X and W."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention_ui.lesson import Picked, fold
from attention_ui.state import get_state, set_state
from lessons.formatting import english, equation
from lessons.screen import Axis, Matrices, Matrix


def derivation_panel(figures: Sequence[Matrices], picked: Picked | None) -> None:
    """The panel for the cells of these figures: a click on one opens it, its selectors reach all without a mouse."""
    reachable = [matrix for figure in figures for matrix in figure.matrices if matrix.step is not None and matrix.drawn]
    matrices = {matrix.key: matrix for matrix in reachable}
    if matrices:
        follow_click(picked, matrices)
        first = next((figure.first for figure in figures if figure.first in matrices), next(iter(matrices)))
        fold("trace", "Trace one number", "trace_open", partial(draw_derivation, matrices, first))


def draw_derivation(matrices: dict[str, Matrix], first: str) -> None:
    """The selectors of a cell, and how it comes about: each line in words, and below it the arithmetic."""
    st.caption("Click a number in the picture, or choose it here.")
    matrix, row, column = chosen_cell(matrices, first)
    with st.container(gap="xxsmall"):
        for step in matrices[matrix].derive(row, column):
            st.text(english(step.meaning))  # it may hold a learner's text
            st.code(equation(step), language=None, wrap_lines=True)


def follow_click(picked: Picked | None, matrices: dict[str, Matrix]) -> None:
    """Open the panel at a cell that was picked just now; what was chosen after an earlier click stays."""
    new = picked != get_state("trace_picked")
    set_state("trace_picked", picked)
    if new and picked is not None and picked[0] in matrices:
        for part, value in zip(("matrix", "row", "column"), picked, strict=True):
            set_state(f"trace_{part}", value)
        set_state("trace_open", True)


def chosen_cell(matrices: dict[str, Matrix], first: str) -> Picked:
    """Draw the selectors and return what they say. A cell that no longer exists gives way to the nearest."""
    at_matrix, at_row, at_column = st.columns(3)
    set_state("trace_matrix", get_state("trace_matrix") if get_state("trace_matrix") in matrices else first)
    titles = {key: english(matrix.title) for key, matrix in matrices.items()}
    key = at_matrix.selectbox("Matrix", list(matrices), format_func=titles.get, key="trace_matrix")
    rows, columns = entry_names(matrices[key].rows), entry_names(matrices[key].columns)
    set_state("trace_row", nearest(get_state("trace_row"), len(rows), default=len(rows) - 1))
    row = at_row.selectbox("Row", range(len(rows)), format_func=rows.__getitem__, key="trace_row")
    set_state("trace_column", nearest(get_state("trace_column"), len(columns), default=0))
    column = at_column.selectbox("Column", range(len(columns)), format_func=columns.__getitem__, key="trace_column")
    return key, row, column


def entry_names(axis: Axis) -> list[str]:
    """What rows or columns are called in a selector, each by a name of its own."""
    if axis.name is None:
        return list(axis.labels)
    if axis.named:
        return [f"{position + 1} · “{label}”" for position, label in enumerate(axis.labels)]
    return [f"{english(axis.name).removesuffix('s')} {label}" for label in axis.labels]


def nearest(index: object, size: int, default: int) -> int:
    """The index, or the last one where there are fewer by now; the default for what is none."""
    return min(index, size - 1) if isinstance(index, int) else default
