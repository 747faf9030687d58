"""A level of building a head, opened for a class: its pages go there, and its teacher sees how many have solved it."""

import streamlit as st

from attention_ui.classroom.plan.leading import come_along
from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.rooms import last_known, own_key, send_kept_vote, send_vote, voter
from attention_ui.classroom.vote.view import draw_count
from attention_ui.classroom.vote.watching import ask_about, look_now
from attention_ui.session import address_of, get_state, set_state
from classes.stages import Lead, RefusedError, Room
from lessons.one_head.puzzle.class_task import NOT_YET, SOLVED
from lessons.one_head.puzzle.lesson import LEVEL
from lessons.screen import format_value, reason, translate
from lessons.teachers.class_vote.question_link import level_asked, written_asked


def level_of_class(level: str, solved: bool) -> None:
    """Its teacher can open the level for the class and sees how far it is; a student's page tells how far he is."""
    try:
        room = last_known("look", get_state("class_inside"))
        opened = room.asked == written_asked(level_asked(level))
        if own_key():
            teachers_row(level, room, opened)
        elif opened and room.voting:
            tell_class(room, solved)
            st.caption(translate("A task for your class. Your teacher sees how many have solved it, but not who."))
    except RefusedError as error:
        st.text(format_value(reason(error)))


def teachers_row(level: str, room: Room, opened: bool) -> None:
    """The button that opens the level; once it is open, how many have solved it."""
    if not opened:
        st.button(
            translate("Open this level for the class"),
            key="class_level",
            on_click=open_level,
            args=(level,),
            type="primary",
        )
        return
    draw_count(room)


def open_level(level: str) -> None:
    """Put the level to the class as its next question, and bring all pages to it."""
    code, text, cards = get_state("class_inside"), written_asked(level_asked(level)), len((SOLVED, NOT_YET))
    try:
        room = class_keeper().look(code)
        to = Lead(room.place, address_of("build", {LEVEL.name: level}), 0, room.number + 1, "open", cards, text)
        class_keeper().lead(code, own_key(), room.revision, to)
        ask_about(code)
        look_now()
        come_along()
    except RefusedError as error:
        set_state("class_said", reason(error))


def tell_class(room: Room, solved: bool) -> None:
    """Vote in this student's place. Who has solved it has, whatever the numbers are afterwards."""
    send_kept_vote()
    token = voter(room.code)
    own = last_known("own", room.code, token, room.number, otherwise={room.voting: NOT_YET})
    told, place = own.get(room.voting), SOLVED if solved else NOT_YET
    if told not in (SOLVED, place):
        send_vote(room.code, token, room.number, room.stage, place)
