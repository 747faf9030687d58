"""What a student sees: the question, the answers to press, and afterwards what was chosen."""

import streamlit as st

from attention_ui.classroom.plan.leading import come_along
from attention_ui.classroom.plan.slides import draw_slide, slide_of
from attention_ui.classroom.vote.asked import Asked
from attention_ui.classroom.vote.rooms import kept_vote, last_known, leave_class, send_kept_vote, send_vote, voter
from attention_ui.classroom.vote.view import (
    VERDICTS,
    asked_of,
    cards_to_read,
    draw_figures,
    draw_prompt,
    draw_written,
    say_what_is_kept,
)
from attention_ui.page.question import LETTERS, card_label, row_of_cards
from attention_ui.process.turns import lower_priority
from attention_ui.session import get_state, set_state, show_notes, take_state
from classes.keeper import WRITTEN
from classes.stages import Room
from lessons.screen import Question, format_value, message, reason, render, translate
from lessons.teachers.class_plan.own_question import KINDS, OwnQuestion, answer_of

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
    slide = slide_of(room)
    if slide is not None:
        send_kept_vote()
        draw_slide(slide)
    elif room.stage == "waiting":
        st.title(translate("You are in the class"), anchor=False)
        st.text(translate("The question appears here when your teacher asks it. Keep this page open."))
    else:
        asked = asked_of(room)
        question = asked.question
        draw_prompt(asked)
        at_level = asked.is_level and room.voting is not None
        if at_level:
            st.button(translate("Go to the level"), key="class_to_level", on_click=come_along, type="primary")
        else:
            tells = asked.right is not None or (asked.own is not None and asked.own.number is not None)
            st.text(render(SAYS["closed" if room.stage == "explained" and not tells else room.stage]))
        token = voter(room.code)
        send_kept_vote()
        if room.voting is not None and not at_level:
            st.fragment(write_answer if asked.cards == WRITTEN else vote_cards)(room, asked, token)
        elif asked.cards == WRITTEN:
            draw_own_words(room, asked, token)
        else:
            draw_own(room, question, token)
        draw_figures(room, asked)
    say_what_is_kept(room)
    st.button(translate("Leave this class"), key="class_leave", on_click=leave_class, type="tertiary")


def write_answer(room: Room, asked: Asked, token: str) -> None:
    """A field for an answer in writing. Sending it runs this alone, not the page."""
    show_notes(take_state("class_note"))
    sent = last_known("own_words", room.code, token, room.number, otherwise={}).get(room.voting)
    kept = kept_vote(room)
    label = KINDS[asked.own.kind]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(format_value(label).capitalize(), key="class_written", width=320)
        st.button(
            translate("Send"),
            key="class_send",
            on_click=send_written,
            args=(asked.own, room.code, token, room.number, room.stage),
            type="primary",
        )
    own, mark = (sent, CHOSEN) if kept is None else (kept, NOT_SENT)
    if own is not None:
        st.text(f"{own} {render(mark)}")
    show_notes(None if kept is None else SENT_LATER)


def send_written(own: OwnQuestion, *where: object) -> None:
    """Send what was typed, as it is counted; or say why it is no answer."""
    try:
        send_vote(*where, answer_of(own, str(get_state("class_written") or "")))
    except ValueError as error:
        set_state("class_note", reason(error))


def draw_own_words(room: Room, asked: Asked, token: str) -> None:
    """What this student wrote, and once it is explained, whether it is right."""
    show_notes(take_state("class_note"))
    own = last_known("own_words", room.code, token, room.number, otherwise={})
    tells = room.stage == "explained" and asked.own.number is not None
    for taken, answer in sorted(own.items()):
        right = f" · {render(VERDICTS['right' if asked.own.fits(answer) else 'wrong'])}" if tells else ""
        st.text(translate("{vote}: {letter}", vote=VOTED_IN[taken], letter=answer) + right)
    if not own:
        st.text(translate("You did not answer this question."))
    if room.shows and asked.own.kind == "number":
        draw_written(room, asked)


def vote_cards(room: Room, asked: Asked, token: str) -> None:
    """A button for each answer. A press runs this alone, not the page."""
    question = asked.question
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
    tells = explained and question.right >= 0
    for taken, place in sorted(own.items()):
        right = f" · {render(VERDICTS['right' if place == question.right else 'wrong'])}" if tells else ""
        st.text(translate("{vote}: {letter}", vote=VOTED_IN[taken], letter=LETTERS[place]) + right)
    if not own:
        st.text(translate("You did not answer this question."))
    cards_to_read(question, explained=explained)
