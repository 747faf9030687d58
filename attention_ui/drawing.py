"""Figures of every kind on the page: each becomes a table for a template that is built once."""

from collections.abc import Sequence

import streamlit as st

from attention_ui.figures.matrices import Layout, matrices_table
from attention_ui.lesson import COVERED, covered, fitted_template, grid_template, pick_chart, show_rows
from attention_ui.links import hidden
from attention_ui.panels.derivation import Picked
from lessons.formatting import english, together, written
from lessons.screen import Figure, Matrices, Sentence, Table

LINES_BELOW = 2  # of a figure of matrices: whose weights, and what to do


def draw_notice(lesson: str, sentences: Sequence[Sentence]) -> None:
    """What there is to notice; not where a class shall find it, nor while the lesson is covered."""
    if sentences and not hidden("caption"):
        st.text(COVERED if covered(lesson) else together(sentences))


def draw_figure(lesson: str, figure: Figure) -> Picked | None:
    """Draw one figure; the cell that was picked in it, where it has cells."""
    match figure:
        case Matrices():
            return draw_matrices(lesson, figure)
        case Table():
            draw_table(lesson, figure)
        case _:
            raise TypeError(f"no way to draw a {type(figure).__name__} is known")
    return None


def draw_matrices(lesson: str, figure: Matrices) -> Picked | None:
    """Matrices, in cells as large as their room allows."""
    layout = Layout(figure)
    if figure.numbered is None:
        template, numbered = fitted_template(layout.columns, layout.rows + LINES_BELOW, figure.height)
    else:
        template, numbered = grid_template(layout.columns, figure.width, numbered=figure.numbered), figure.numbered
    return pick_chart(
        figure.key, english(figure.name), template, {"cells": matrices_table(figure, layout, numbered=numbered)},
        alt=together(figure.notice), lesson=lesson, given=[m.key for m in figure.matrices if m.given],
    )  # fmt: skip


def draw_table(lesson: str, figure: Table) -> None:
    """A small table; there is none while the lesson is covered."""
    if covered(lesson):
        return
    columns = [english(column) for column in figure.columns]
    rows = [dict(zip(columns, map(written, row), strict=True)) for row in figure.cells]
    show_rows(rows, figure.width if figure.width != Table.width else "stretch")
