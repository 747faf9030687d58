"""Trace one number: the arithmetic of a cell that was clicked or chosen, line by line down to X and W."""

from collections.abc import Iterable

import streamlit as st

from attention_ui.links import hidden
from attention_ui.state import get_state, set_state
from lessons.example import ExampleTrace
from lessons.old_arithmetic import Line
from lessons.sheets import Sheets, pipeline_sheets


def trace_panel(trace: ExampleTrace, head: int, picked: tuple[str, int, int] | None) -> None:
    """The panel for the matrices of one head of the running example."""
    sheets_panel(pipeline_sheets(trace, head), picked, first="weights")


def sheets_panel(sheets: Sheets, picked: tuple[str, int, int] | None, first: str) -> None:
    """The panel for any figure whose cells have sheets. `first` is the matrix that is chosen at first.

    It opens at a click on a cell; the selectors reach every cell without a mouse.
    """
    follow(picked, sheets)
    if hidden("trace"):
        return
    with st.expander("Trace one number", key="trace_open", on_change="rerun") as panel:
        if panel.open:
            st.caption("Click a number in the picture, or choose it here.")
            matrix, row, column = chosen_cell(sheets, first)
            show_lines(sheets[matrix].lines(row, column))


def show_lines(lines: Iterable[Line]) -> None:
    """Each line in words, which may hold a learner's text, and below it the arithmetic."""
    with st.container(gap="xxsmall"):
        for line in lines:
            st.text(line.says)
            st.code(line.equation, language=None, wrap_lines=True)


def follow(picked: tuple[str, int, int] | None, sheets: Sheets) -> None:
    """Open the panel at a cell that was picked just now; what was chosen after an earlier click stays."""
    new = picked != get_state("trace_picked")
    set_state("trace_picked", picked)
    if new and picked is not None and picked[0] in sheets:
        for part, value in zip(("matrix", "row", "column"), picked, strict=True):
            set_state(f"trace_{part}", value)
        set_state("trace_open", True)


def chosen_cell(sheets: Sheets, first: str) -> tuple[str, int, int]:
    """Draw the selectors and return what they say. A cell that no longer exists gives way to the nearest."""
    at_matrix, at_row, at_column = st.columns(3)
    set_state("trace_matrix", get_state("trace_matrix") if get_state("trace_matrix") in sheets else first)
    matrix = at_matrix.selectbox("Matrix", list(sheets), format_func=lambda key: sheets[key].title, key="trace_matrix")
    rows, columns = sheets[matrix].rows, sheets[matrix].columns
    set_state("trace_row", nearest(get_state("trace_row"), len(rows), default=len(rows) - 1))
    row = at_row.selectbox("Row", range(len(rows)), format_func=rows.__getitem__, key="trace_row")
    set_state("trace_column", nearest(get_state("trace_column"), len(columns), default=0))
    column = at_column.selectbox("Column", range(len(columns)), format_func=columns.__getitem__, key="trace_column")
    return matrix, row, column


def nearest(place: object, size: int, default: int) -> int:
    """The place, or the last one where there are fewer by now; the default for what is no place."""
    return min(place, size - 1) if isinstance(place, int) else default
