"""Trace one number: how the one that was asked for, clicked or chosen comes about, beside the figure it stands in."""

from collections.abc import Iterable, Sequence
from functools import partial

import streamlit as st

from attention_ui.session import Picked, fold, get_state, hidden, set_state, show_in_widget
from lessons.screen import (
    Axis,
    Matrix,
    Question,
    Screen,
    Step,
    Token,
    as_text,
    equation,
    labels_of,
    matrices_figures,
    message,
    quote_token,
    render,
    translate,
)

WHERE = ("trace_matrix", "trace_row", "trace_column")
CHOOSE = message("Choose a number by row and column")
LAST_STEPS = 3  # of a long way, as many as stand beside a figure


def traceable(figures: Sequence[object]) -> dict[str, Matrix]:
    """The matrices of these figures whose numbers can be followed."""
    matrices = (matrix for figure in matrices_figures(figures) for matrix in figure.matrices)
    return {matrix.key: matrix for matrix in matrices if matrix.step is not None and matrix.drawn}


def derivation_panel(screen: Screen, picked: Picked | None, answered: Question | None = None) -> None:
    """How one number of this screen comes about: of the question that was answered, until another is picked.

    A click into the figure beside it picks one; the menus below reach those of all figures, without a mouse.
    """
    matrices = traceable(screen.figures)
    asked = answered.about if answered is not None and screen.derive is not None else None
    if hidden("trace") or not (matrices or asked):
        return
    set_state("trace_asked", as_text(answered) if asked else None)
    follow_click(picked, matrices)
    with st.container(key="derivation", gap="small"):
        shown = st.container(gap="xxsmall")
        cell = get_state("trace_cell")
        if matrices:
            first = first_of(screen.figures, matrices)
            fold("trace", render(CHOOSE), "trace_open", partial(draw_menus, matrices, first))
            if get_state("trace_open"):
                cell = existing(cell, matrices, first)
        with shown:
            if asked and get_state("trace_instead_of") != get_state("trace_asked"):
                draw_steps(screen.derive(*asked))
            elif cell is not None and cell[0] in matrices:
                matrix, row, column = existing(cell, matrices, cell[0])
                draw_steps(matrices[matrix].derive(row, column), clicked=picked == cell)
            else:
                st.caption(translate("Click a number to see how it is computed."))


def derivation_of_click(screen: Screen, picked: Picked | None, place: int) -> None:
    """Beside a figure further down the page, the one at this `place`: how the number that is picked in it comes about.

    The question that was answered, and the menus, are not about it: they stay beside the first figure.
    """
    matrices = traceable(screen.figures)
    if picked is None or picked[0] not in matrices or hidden("trace"):
        return
    matrix, row, column = existing(picked, matrices, picked[0])
    with st.container(key=f"derivation_{place}", gap="xxsmall"):
        draw_steps(matrices[matrix].derive(row, column), place, clicked=True)


def draw_steps(steps: Iterable[Step], place: int = 0, *, clicked: bool = False) -> None:
    """Each line in words, and below it the arithmetic. Of a long way the end, until one asks for all of it.

    One asks for all of it anew at each `place`. What was `clicked` just now stays in view as long as its figure does.
    """
    steps, shown = list(steps), st.container(key=f"{'clicked' if clicked else 'steps'}_{place}")
    if len(steps) > LAST_STEPS:
        label = translate("All {count} steps, from the inputs on", count=len(steps))
        if not st.toggle(label, key=f"trace_all_{place}" if place else "trace_all", persist_state="session"):
            steps = steps[-LAST_STEPS:]
    with shown:
        for step in steps:
            with st.container(gap="xxsmall"):
                st.text(render(step.meaning))  # it may hold a learner's text
                st.code(equation(step), language=None, wrap_lines=True)


def follow_click(picked: Picked | None, matrices: dict[str, Matrix]) -> None:
    """Show the cell that was picked just now; what was chosen after an earlier click stays."""
    new = picked != get_state("trace_picked")
    set_state("trace_picked", picked)
    if new and picked is not None and picked[0] in matrices:
        show_cell(picked)


def show_cell(cell: Picked) -> None:
    """From now on this cell is shown, and not the number of the question that was answered."""
    set_state("trace_cell", cell)
    set_state("trace_instead_of", get_state("trace_asked"))


def first_of(figures: Sequence[object], matrices: dict[str, Matrix]) -> str:
    """The matrix whose derivation is offered first."""
    firsts = (figure.first for figure in matrices_figures(figures) if figure.first in matrices)
    return next(firsts, next(iter(matrices)))


def existing(cell: object, matrices: dict[str, Matrix], first: str) -> Picked:
    """The cell, or the nearest that exists; the last row of the first matrix where there is none."""
    key, row, column = cell if isinstance(cell, tuple) and cell[0] in matrices else (first, None, None)
    n_rows, n_columns = (len(axis.labels) for axis in (matrices[key].rows, matrices[key].columns))
    return key, nearest(row, n_rows, default=n_rows - 1), nearest(column, n_columns, default=0)


def draw_menus(matrices: dict[str, Matrix], first: str) -> None:
    """Menus for a matrix, a row and a column. They say which cell is shown, and a choice shows another."""
    cell = existing(get_state("trace_cell"), matrices, first)
    for key, value in zip(WHERE, cell, strict=True):
        show_in_widget(key, value)
    titles = {key: render(matrix.title) for key, matrix in matrices.items()}
    rows, columns = (entry_names(axis) for axis in (matrices[cell[0]].rows, matrices[cell[0]].columns))
    chosen = {"on_change": take_menus}
    with st.container(horizontal=True, gap="small"):
        st.selectbox(
            translate("Matrix"), list(matrices), format_func=titles.get, key="trace_matrix", width=200, **chosen
        )
        st.selectbox(
            translate("Row"), range(len(rows)), format_func=rows.__getitem__, key="trace_row", width=140, **chosen
        )
        st.selectbox(
            translate("Column"),
            range(len(columns)),
            format_func=columns.__getitem__,
            key="trace_column",
            width=140,
            **chosen,
        )


def take_menus() -> None:
    """Show the cell that the menus say."""
    show_cell(tuple(get_state(key) for key in WHERE))


def entry_names(axis: Axis) -> list[str]:
    """What rows or columns are called in a selector, each by a name of its own."""
    if axis.name is None:
        return list(labels_of(axis))
    if axis.named:
        return [
            f"{position + 1} · {quote_token(Token(label, position))}" for position, label in enumerate(labels_of(axis))
        ]
    return [translate("{thing} {number}", thing=axis.one or axis.name, number=label) for label in labels_of(axis)]


def nearest(index: object, size: int, default: int) -> int:
    """The index, or the last one where there are fewer by now; the default for what is none."""
    return min(index, size - 1) if isinstance(index, int) else default
