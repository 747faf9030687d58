"""Numbers changed by hand: the text that carries them in the address, and the tables to type them into."""

from collections.abc import Iterator
from functools import partial

import pandas as pd
import streamlit as st

from attention_ui.controls.bound import text_field
from attention_ui.session import fold, get_state, set_state, show_notes, take_state
from lessons.example.edits import Edits, edits_code, parse_edits, set_numbers, title
from lessons.example.example import ExampleTrace, projection_of
from lessons.screen import Text, message, plural, render, translate, visible_text
from lessons.shared.edit_notices import shared_row

IN_VIEW = {"q": ("W_q", "x"), "k": ("W_k", "x"), "v": ("W_v", "x"), "mirror": ("W_q", "W_k", "x")}
MOST_UNDONE = 50
EDITS = Text("edits", message("Numbers changed by hand"), None, placeholder="q1,2=0.5;x3,1=-1")


def edits_in_link() -> tuple[Edits, tuple[str, ...]]:
    """The field that holds the changed numbers for the address; what it says, and what it says in vain."""
    what = translate("q1,2=0.5 sets row 1, column 2 of W_q. The lesson on projections has tables to type into.")
    return parse_edits(text_field(EDITS, help=what))


def edits_line(edits: Edits) -> None:
    """Say how many numbers are changed by hand, with a button that resets them; nothing while none is."""
    if edits:
        st.text(render(plural("{count} number changed by hand", "{count} numbers changed by hand", len(edits))))
        st.button(translate("Reset"), key="edits_reset", on_click=change_to, args=((),))


def editing_panel(trace: ExampleTrace, head: int, view: str) -> None:
    """The tables for the matrices in view, in a fold."""
    fold("edit", translate("Change numbers by hand"), "editing_open", partial(draw_editors, trace, head, IN_VIEW[view]))


def draw_editors(trace: ExampleTrace, head: int, matrices: tuple[str, ...]) -> None:
    """Undo and reset, and a table for each matrix, side by side where there is room."""
    show_notes(*(take_state("edits_refused") or ()))
    edit_buttons(trace.example.edits, matrices)
    for place, matrix in zip(st.columns(len(matrices)), matrices, strict=True):
        with place:
            editor(trace, head, matrix)


def edit_buttons(edits: Edits, matrices: tuple[str, ...]) -> None:
    """Undo, reset one matrix, reset everything; each can be pressed when there is something to take back."""
    undone = get_state("edits_before") or ()
    with st.container(horizontal=True):
        st.button(translate("Undo"), key="edits_undo", on_click=undo, disabled=not undone)
        for matrix in matrices:
            rest = tuple(edit for edit in edits if edit.matrix != matrix)
            name, same = translate("Reset {matrix}", matrix=title(matrix)), rest == edits
            st.button(name, key=f"reset_{matrix}", on_click=change_to, args=(rest,), disabled=same)
        st.button(translate("Reset all"), key="reset_all", on_click=change_to, args=((),), disabled=not edits)


def editor(trace: ExampleTrace, head: int, matrix: str) -> None:
    """One matrix as a table of numbers to type over. Of W the columns of one head."""
    numbers = trace.x if matrix == "x" else projection_of(trace, matrix[-1], head)
    rows, columns = numbers.shape
    if matrix == "x":
        st.text(translate("X: rows are tokens, columns are features of x"))
        names = [f"{place + 1} · {visible_text(token)}" for place, token in enumerate(trace.tokens)]
    else:
        st.text(
            translate(
                "{matrix}: rows are features of x, columns are features of {vector}", matrix=matrix, vector=matrix[-1]
            )
        )
        names = [f"x {feature + 1}" for feature in range(rows)]
    key = f"editor_{matrix}_{head}_{rows}x{columns}_{generation()}"
    looks = {str(j + 1): number_column(j) for j in range(columns)}
    st.data_editor(
        pd.DataFrame(numbers.tolist(), columns=list(looks), index=names),
        key=key,
        num_rows="fixed",
        column_config=looks,
        on_change=take_typed,
        args=(trace, head, matrix, key),
    )
    if matrix == "x":
        st.text(render(shared_row(trace)))


def number_column(column: int):
    """How numbers look in a table. It has no limits of its own: it would silently put the limit for what was typed."""
    return st.column_config.NumberColumn(translate("feature {number}", number=column + 1), format="%.4f", width="small")


def take_typed(trace: ExampleTrace, head: int, matrix: str, key: str) -> None:
    """Called when something was typed into a table: check it and make it part of the example."""
    current = trace.x if matrix == "x" else getattr(trace, matrix)
    first = 0 if matrix == "x" else head * projection_of(trace, matrix[-1], head).shape[1]  # column of this head
    typed = [(row, first + column, value) for row, column, value in typed_cells(get_state(key))]
    edits, refused = set_numbers(trace.example.edits, matrix, current, typed, trace.row_ids if matrix == "x" else ())
    if edits != trace.example.edits:
        change_to(edits)
    set_state("edits_refused", refused)
    shared = matrix == "x" and len(set(trace.row_ids)) < len(trace.row_ids)
    # Where the table shows what it typed, it stays; where it would show something else, it is drawn anew.
    set_state("edits_in_tables", None if refused or shared else edits_code(edits))


def typed_cells(state: object) -> Iterator[tuple[int, int, object]]:
    """Row, column and value of each cell that was typed over, as a table in the browser reports them."""
    for row, cells in (state.get("edited_rows", {}) if isinstance(state, dict) else {}).items():
        for column, value in cells.items():
            if column.isdecimal():
                yield row, int(column) - 1, value


def generation() -> int:
    """A number that grows when the changed numbers are no longer those that were typed into the tables.

    A table keeps what was typed into it; after a reset or an undo a new one must take its place.
    """
    code, count = get_state("edits") or "", get_state("edits_generation") or 0
    if get_state("edits_in_tables") != code:
        count += 1
        set_state("edits_generation", count)
        set_state("edits_in_tables", code)
    return count


def change_to(edits: Edits) -> None:
    """Make these the changed numbers; what they were before can be undone."""
    before = get_state("edits") or ""
    set_state("edits_before", (*(get_state("edits_before") or ()), before)[-MOST_UNDONE:])
    set_state("edits", edits_code(edits))


def undo() -> None:
    """Back to the changed numbers as they were before the last change."""
    *earlier, last = get_state("edits_before") or ("",)
    set_state("edits_before", tuple(earlier))
    set_state("edits", last)
