"""The button beside a question with which its class is asked it, on whatever page it is."""

from dataclasses import replace

import streamlit as st

from attention_ui.classroom.plan.leading import come_along, is_alone, plan_of_class
from attention_ui.classroom.vote.asked import asked_here
from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.rooms import do
from attention_ui.classroom.vote.watching import ask_about, look_now
from attention_ui.session import get_state, set_state
from attention_ui.session.recent_screens import seen_of
from classes.stages import RefusedError
from lessons.screen import reason, translate
from lessons.teachers.class_vote.question_link import written_asked


def ask_class_button(address: str) -> None:
    """Ask the class the question of this page. What was asked and why not is said on the page of the class.

    At a stop of a plan its strip asks; whoever has gone elsewhere by himself asks by this button there, too.
    """
    if plan_of_class() is not None and not is_alone():
        return
    st.button(
        translate("Ask the class"), key="ask_class_here", on_click=ask_class_here, args=(address,), type="primary"
    )


def ask_class_here(address: str) -> None:
    """Put the question that stands on this page to the class, and go where it is answered."""
    lesson = get_state("lesson_seen") if address == "home" else address
    code, key, seen = get_state("class_inside"), get_state("class_key"), seen_of(lesson)
    try:
        if seen is None:
            raise ValueError(
                translate("This screen shows a model of your own, which the students' screens do not have.")
            )
        text = written_asked(replace(seen, number=get_state(f"{address}_question") or 0))
        here, room = asked_here(text), class_keeper().look(code)
        if do("ask", code, key, room.number, here.cards, text):
            ask_about(code)
            look_now()
            come_along()
    except (ValueError, LookupError, RefusedError) as error:
        set_state("class_said", reason(error))
