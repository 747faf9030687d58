"""A small form for a question of the teacher's own."""

import streamlit as st

from attention_ui.classroom.vote.asked import asked_here
from attention_ui.classroom.vote.rooms import do
from attention_ui.controls.bound import limited_field
from attention_ui.session import fold, get_state, set_state, show_notes, take_state
from classes.stages import Room
from lessons.screen import format_value, reason, translate
from lessons.teachers.class_plan.own_question import (
    KINDS,
    MOST_CARD,
    MOST_CARDS,
    MOST_PROMPT,
    OwnQuestion,
    number_of,
    written_own,
)


def own_question_form(room: Room, key: str) -> None:
    """A fold with the form and, below it, the button that asks."""
    fold("own", translate("A question of your own"), "own_open", lambda: draw_form_and_ask(room, key))


def draw_form_and_ask(room: Room, key: str) -> None:
    """The form of a class: what is pressed asks at once."""
    show_notes(take_state("own_note"))
    own_fields("own")
    st.button(
        translate("Ask the class"), key="own_ask", on_click=ask_own, args=(room.code, key, room.number), type="primary"
    )


def own_fields(form: str) -> None:
    """The fields of a question; `own_typed` reads them."""
    kind = st.segmented_control(
        translate("The answer is"),
        list(KINDS),
        default="choices",
        format_func=lambda kind: format_value(KINDS.get(kind, "")),
        key=f"{form}_kind",
    )
    limited_field(st.text_input, translate("Your question"), f"{form}_prompt", MOST_PROMPT)
    if kind == "number":
        with st.container(horizontal=True):
            st.text_input(translate("The right number, if there is one"), key=f"{form}_number", width=260)
            st.text_input(translate("Tolerance"), key=f"{form}_tolerance", width=160)
    elif kind != "word":
        for letter in "ABCD":
            limited_field(st.text_input, translate("Answer {letter}", letter=letter), f"{form}_{letter}", MOST_CARD)
        st.segmented_control(translate("The right answer"), list("ABCD"), key=f"{form}_right")


def own_typed(form: str) -> OwnQuestion:
    """The question in the form. Raises ValueError, with a sentence, for what cannot be asked."""
    kind, prompt = get_state(f"{form}_kind"), str(get_state(f"{form}_prompt") or "")[:MOST_PROMPT]
    if kind == "number":
        right, tolerance = (str(get_state(f"{form}_{name}") or "") for name in ("number", "tolerance"))
        if (right.strip() and number_of(right) is None) or (tolerance.strip() and number_of(tolerance) is None):
            raise ValueError(translate("Type a number, such as 0.25 or 12."))
        return OwnQuestion(kind=kind, prompt=prompt, number=number_of(right), tolerance=number_of(tolerance) or 0.0)
    if kind == "word":
        return OwnQuestion(kind=kind, prompt=prompt)
    typed = {letter: str(get_state(f"{form}_{letter}") or "")[:MOST_CARD].strip() for letter in "ABCD"[:MOST_CARDS]}
    letters = [letter for letter, text in typed.items() if text]
    right = get_state(f"{form}_right")
    return OwnQuestion(
        kind="choices",
        prompt=prompt,
        cards=tuple(typed[letter] for letter in letters),
        right=letters.index(right) if right in letters else None,
    )


def ask_own(code: str, key: str, number: int) -> None:
    """Put what is in the form to the class, or say why it cannot be asked; what was typed stays."""
    try:
        text = written_own(own_typed("own"))
    except ValueError as error:
        set_state("own_note", reason(error))
        return
    do("ask", code, key, number, asked_here(text).cards, text)
