"""What a student sees: the question, the answers to press, and afterwards what was chosen."""

import streamlit as st

from attention_ui.page.question import LETTERS, RIGHT, card_label, row_of_cards
from attention_ui.server.process import lower_priority
from attention_ui.session.chart import show_notes
from attention_ui.session.markdown import ROLE_COLOURS, marked
from attention_ui.session.state import take_state
from attention_ui.voting.rooms import kept_vote, last_known, leave_class, send_kept_vote, send_vote, voter
from attention_ui.voting.view import cards_to_read, draw_figures, say_what_is_kept, screen_of
from classes.stages import Room
from lessons.screen.format import render, translate
from lessons.screen.message import message
from lessons.screen.screen import Question

CHOSEN, NOT_SENT = message("✓ your answer"), message("… not sent yet")
SENT_LATER = message("Your answer could not be sent just now. Keep this page open: it is sent again by itself.")
VOTED_IN = {1: message("Your first answer"), 2: message("Your second answer")}
SAYS = {
    "open": message("Choose an answer. You can change it until the vote is closed."),
    "again": message(
        "The same question again: talk to your neighbour, then choose. Your first answer stays as it was."
    ),
    "closed": message("The vote is closed."),
    "shown": message("The vote is closed: see how the others answered."),
    "compared": message("Both votes are closed."),
    "explained": message("This is the answer."),
}


def student_view(room: Room) -> None:
    """The page of a student, drawn anew only when the teacher has done something."""
    lower_priority()  # a whole class is drawn anew at the same moment: whoever moves a slider goes first
    if room.stage == "waiting":
        st.title(translate("You are in the class"), anchor=False)
        st.text(translate("The question appears here when your teacher asks it. Keep this page open."))
    else:
        screen, question = screen_of(room)
        st.title(marked(question.prompt, ROLE_COLOURS), anchor=False)
        st.text(render(SAYS[room.stage]))
        token = voter(room.code)
        send_kept_vote()
        if room.voting is not None:
            st.fragment(vote_cards)(room, question, token)
        else:
            draw_own(room, question, token)
        draw_figures(room, screen, question)
    say_what_is_kept(room)
    st.button(translate("Leave this class"), key="class_leave", on_click=leave_class, type="tertiary")


def vote_cards(room: Room, question: Question, token: str) -> None:
    """A button for each answer. A press runs this alone, not the page."""
    show_notes(take_state("class_note"))
    sent = last_known("own", room.code, token, room.number, otherwise={}).get(room.voting)
    kept = kept_vote(room)
    own, mark = (sent, CHOSEN) if kept is None else (kept, NOT_SENT)
    with st.container(key=row_of_cards("class", question)):
        for place, (letter, card) in enumerate(zip(LETTERS, question.cards, strict=False)):
            st.button(
                f"{letter} · {card_label(card, render(mark) if place == own else '')}",
                key=f"class_vote_{letter}",
                on_click=send_vote,
                args=(room.code, token, room.number, room.stage, place),
                type="primary" if place == own else "secondary",
                width="stretch",
            )
    show_notes(None if kept is None else SENT_LATER)


def draw_own(room: Room, question: Question, token: str) -> None:
    """What this student chose, and all answers; once it is explained, which is right and why the others are not."""
    show_notes(take_state("class_note"))
    own = last_known("own", room.code, token, room.number, otherwise={})
    explained = room.stage == "explained"
    for taken, place in sorted(own.items()):
        right = "" if not explained else f" · {render(RIGHT)}" if place == question.right else " · ✗"
        st.text(translate("{vote}: {letter}", vote=VOTED_IN[taken], letter=LETTERS[place]) + right)
    if not own:
        st.text(translate("You did not answer this question."))
    cards_to_read(question, explained=explained)
