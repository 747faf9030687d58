"""The page of the class: its teacher, one of its students, or somebody who is in no class yet."""

import streamlit as st

from attention_ui.classroom.plan.after import afterwards
from attention_ui.classroom.plan.leading import follow_from_vote, shows_notes
from attention_ui.classroom.plan.notes_view import notes_view
from attention_ui.classroom.vote.rooms import (
    join_class,
    last_known,
    open_class,
    opened_room,
    own_key,
    refuse_class,
    refused_lately,
    seconds_at_the_door,
)
from attention_ui.classroom.vote.student import student_view
from attention_ui.classroom.vote.teacher import UNTIL_WHEN, teacher_view
from attention_ui.classroom.vote.watching import in_doubt, know_room
from attention_ui.contents import draw_topic
from attention_ui.session import link_notes, show_notes, take_state, text_in_link
from attention_ui.streamlit_insides import draw_later
from classes.keeper import NOT_YOURS
from classes.stages import RefusedError, Room, UnreachableError
from lessons.screen import message, reason, render, translate
from lessons.teachers.class_vote import lesson as class_vote

GOES_ON = message("The votes cannot be reached at the moment. Keep this page open: it will continue by itself.")


def class_panel_of_visit() -> None:
    """Everything; what cannot be is said in a sentence."""
    show_notes(*link_notes())
    try:
        if seconds := seconds_at_the_door():
            st.text(translate("One moment. Wrong codes were typed from your network, so this one takes a few seconds."))
            draw_later(seconds)
            return
        room = opened_room()
        if room is None:
            lobby()
        else:
            class_view(room)
    except UnreachableError:  # and of this class nothing is known yet
        draw_topic(class_vote)
        show_notes(GOES_ON)
    except RefusedError as error:
        refuse_class(reason(error))
        lobby()


def class_view(room: Room) -> None:
    """The class for its teacher, or for one of its students."""
    rules = bool(own_key()) and last_known("rules", room.code, own_key())
    show_notes(GOES_ON if in_doubt() else None)
    know_room(room)
    if text_in_link("after") == "true":
        afterwards(room.code)
    elif rules and shows_notes():
        notes_view(room)
    elif rules:
        follow_from_vote(room)
        teacher_view(room, own_key())
    else:
        follow_from_vote(room)
        show_notes(reason(RefusedError(NOT_YOURS)) if own_key() else None)
        student_view(room)


def lobby() -> None:
    """Join a class, or open one."""
    show_notes(take_state("class_note"), refused_lately())
    draw_topic(class_vote)
    student, teacher = st.columns(2, gap="large")
    with student:
        st.header(translate("Join a class"), anchor=False)
        st.text_input(
            translate("The code that your teacher shows"),
            key="class_code",
            on_change=join_class,
            args=("class_code",),
        )
        st.button(translate("Join"), key="class_join", on_click=join_class, args=("class_code",), type="primary")
    with teacher:
        st.header(translate("Teach a class"), anchor=False)
        st.text(translate("You get a code, a link and a QR code for your students, and a key that only you have."))
        st.caption(render(UNTIL_WHEN))
        st.button(translate("Open a class"), key="class_open", on_click=open_class)
