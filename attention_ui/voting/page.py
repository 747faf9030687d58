"""The page of the class: its teacher, one of its students, or somebody who is in no class yet."""

import streamlit as st

from attention_ui.lesson import show_notes
from attention_ui.links import link_notes
from attention_ui.state import take_state
from attention_ui.voting.rooms import class_keeper, join_class, open_class, opened_room, own_key
from attention_ui.voting.student import student_view
from attention_ui.voting.teacher import teacher_view
from classes.keeper import NOT_YOURS
from classes.stages import RefusedError
from lessons.formatting import spoken, tell
from lessons.sentence import reason
from lessons.voted import HEADING, OPENING


def class_panel_of_visit() -> None:
    """Everything; what cannot be is said in a sentence."""
    show_notes(*link_notes())
    try:
        room = opened_room()
        if room is None:
            lobby()
        elif not own_key():
            student_view(room)
        elif class_keeper().rules(room.code, own_key()):
            teacher_view(room, own_key())
        else:
            show_notes(reason(RefusedError(NOT_YOURS)))
            student_view(room)
    except RefusedError as error:
        show_notes(reason(error))
        lobby()


def lobby() -> None:
    """Join a class, or open one."""
    show_notes(take_state("class_note"))
    st.title(spoken(HEADING), anchor=False)
    st.markdown(spoken(OPENING))
    student, teacher = st.columns(2, gap="large")
    with student:
        st.header(tell("Join a class"), anchor=False)
        st.text_input(tell("The code that your teacher shows"), key="class_code", max_chars=12, on_change=join_class,
                      args=("class_code",))  # fmt: skip
        st.button(tell("Join"), key="class_join", on_click=join_class, args=("class_code",), type="primary")
    with teacher:
        st.header(tell("Teach a class"), anchor=False)
        st.text(tell("You get a code, a link and a QR code for your students, and a key that is yours alone."))
        st.button(tell("Open a class"), key="class_open", on_click=open_class)
