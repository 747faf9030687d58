"""Numbers changed by hand: what a hand does in a figure, the text that carries it in the address, and the way back."""

from dataclasses import dataclass

import streamlit as st

from attention_ui.controls.bound import text_field
from attention_ui.session import ASKED, HELD, get_state, say_in_link, set_state, show_notes, take_state
from lessons.example.edits import Edit, Edits, edits_code, parse_edits, put_edit, usable_number
from lessons.screen import Matrices, Message, Text, message, plural, reason, render, translate

MOST_UNDONE = 50
EDITS = Text("edits", message("Numbers changed by hand"), None, placeholder="q1,2=0.5;x3,1=-1")
REFUSED = "edits_refused"
SAME_ROWS = "row_ids"  # tokens with the same id share a row of X


def edits_in_link() -> tuple[Edits, tuple[Message, ...]]:
    """The field that holds the changed numbers for the address; what it says, and what it says in vain."""
    what = translate("q1,2=0.5 sets row 1, column 2 of W_q. In the figures, numbers of X and W can be dragged.")
    edits, notes = parse_edits(text_field(EDITS, help=what))
    held = get_state(HELD)
    return (edits if held is None else held), notes


def edits_line(edits: Edits) -> None:
    """How many numbers are changed by hand, and the way back; nothing where none ever was."""
    show_notes(take_state(REFUSED))
    undone = get_state("edits_before")
    if not edits and not undone:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="edits_line"):
        if edits:
            said = plural("{count} number changed by hand", "{count} numbers changed by hand", len(edits))
            st.text(render(said), width="content")
        st.button(translate("Undo"), key="edits_undo", on_click=undo, disabled=not undone)
        st.button(translate("Reset"), key="edits_reset", on_click=change_to, args=((),), disabled=not edits)


@dataclass(frozen=True)
class ByHand:
    """What the browser says of a number under a hand: where it is, what it shall be, whether it was let go, and the
    number of what it asks. Without a value it shall be what it was.
    """

    cell: tuple[str, int, int]
    value: float | str | None
    done: bool
    asked: int


def take_by_hand(figure: Matrices) -> None:
    """Called when a hand changes a number of a figure: check it, and compute with it.

    While it is held, nothing is kept; once it is let go, it is a change like any other.
    """
    told = told_by_hand(get_state(f"{figure.key}_tables"))
    if told is None:
        return
    set_state(f"{figure.key}_heard", told.asked)
    if told.done and told.value is None:
        return
    edits, refused = with_number(parse_edits(get_state(EDITS.name) or "")[0], figure, told)
    if not told.done:
        set_state(ASKED, edits)
        return
    set_state(REFUSED, refused)
    if edits_code(edits) != (get_state(EDITS.name) or ""):
        change_to(edits)


def told_by_hand(state: object) -> ByHand | None:
    """What the browser says, if it says so in the way these figures do."""
    told = state.get("by_hand") if isinstance(state, dict) else None
    match told:
        case {
            "cell": [str(key), int(row), int(column)],
            "value": int() | float() | str() | None as value,
            "done": bool(done),
            "asked": int(asked),
        } if row >= 0 and column >= 0:
            return ByHand((key, row, column), value, done, asked)
    return None


def with_number(edits: Edits, figure: Matrices, told: ByHand) -> tuple[Edits, Message | None]:
    """The changed numbers with the one under the hand; or as they were, and why it cannot be."""
    key, row, column = told.cell
    entries = next((matrix.entries for matrix in figure.matrices if matrix.key == key), None)
    if entries is None or told.value is None or not (row < len(entries.rows) and column < len(entries.rows[row])):
        return edits, None
    place = first_with_its_row(entries.matrix, entries.rows[row][column]), entries.columns[row][column]
    try:
        return put_edit(edits, Edit(entries.matrix, *place, usable_number(told.value))), None
    except ValueError as error:
        return edits, message("This number stays as it was: {why}.", why=reason(error))


def first_with_its_row(matrix: str, row: int) -> int:
    """The first token that has the same row of X: so a number that several share counts once."""
    ids = get_state(SAME_ROWS) or ()
    return ids.index(ids[row]) if matrix == "x" and row < len(ids) else row


def change_to(edits: Edits) -> None:
    """Make these the changed numbers; what they were before can be undone."""
    before, code = get_state(EDITS.name), edits_code(edits)
    set_state("edits_before", (*(get_state("edits_before") or ()), before or "")[-MOST_UNDONE:])
    if before is None:
        say_in_link(EDITS.name, code)  # which the field does itself where it stands already
    set_state(EDITS.name, code)


def undo() -> None:
    """Back to the changed numbers as they were before the last change."""
    *earlier, last = get_state("edits_before") or ("",)
    set_state("edits_before", tuple(earlier))
    set_state(EDITS.name, last)
