"""What a teacher sees: how to join, the stages of a question, how many have answered, and the next question."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import segno
import streamlit as st

from attention_ui.classroom.plan.after import offer_afterwards
from attention_ui.classroom.plan.leading import led_by_plan, plan_of_class
from attention_ui.classroom.plan.own_form import own_question_form
from attention_ui.classroom.plan.plan_choice import notes_address, plan_choice
from attention_ui.classroom.plan.slides import draw_slide, slide_of
from attention_ui.classroom.vote.asked import Asked, asked_here, lesson_asked
from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.rooms import do, join_link, last_known, leave_class, own_key
from attention_ui.classroom.vote.view import (
    asked_of,
    cards_to_read,
    draw_count,
    draw_figures,
    draw_moves,
    draw_prompt,
    draw_votes,
    draw_written,
    say_what_is_kept,
)
from attention_ui.contents import CONTENTS
from attention_ui.page.question import LETTERS, number_after
from attention_ui.session import ROLE_COLOURS, fold, get_state, marked, offer, set_state, show_notes, take_state
from attention_ui.session.recent_screens import seen_of
from classes.keeper import UNJOINED_MINUTES, WRITTEN
from classes.stages import NEXT, ROUNDS, Lead, RefusedError, Room
from lessons.screen import format_value, message, reason, render, translate
from lessons.teachers.class_plan.steps import left_to_hand
from lessons.teachers.class_vote.question_link import ScreenLink, askable, first_asked, written_asked
from words.spreadsheet import csv_file

DEEDS = {
    "closed": message("Close the vote"),
    "shown": message("Show how the class voted"),
    "again": message("Vote again"),
    "compared": message("Close and compare both votes"),
    "explained": message("Show the answer"),
}
KEY_IN_ADDRESS = message(
    "The address of this page holds your key: whoever has it controls the class. Keep the address "
    "so that you can come back, and project this page in full screen."
)
UNTIL_WHEN = message(
    "If nobody joins within {minutes} minutes, the class ends by itself. Once the first student has joined, it lasts a "
    "day.",
    minutes=UNJOINED_MINUTES,
)
CSV_COLUMNS = (
    message("question"),
    message("lesson"),
    message("asked"),
    message("answer"),
    message("right"),
    message("first vote"),
    message("second vote"),
    message("what it means"),
)


def teacher_view(room: Room, key: str) -> None:
    """The page of a teacher, in the order of a lesson: join, ask, vote, compare, explain, next.

    With a plan, how to join comes first, whole on a projector, and what the plan does not need is folded.
    """
    show_notes(take_state("class_note"))
    asked, led, slide = room.stage != "waiting", plan_of_class() is not None, slide_of(room)
    if slide is not None:
        draw_slide(slide)
    elif asked:
        here = asked_of(room)
        draw_prompt(here)
        draw_stage(room, key)
        draw_question(room, here)
    elif not led:
        plan_choice(begins=True)
    begins = not asked and slide is None
    with st.expander(translate("How to join"), expanded=begins, key=f"class_join_{not begins}"):
        draw_invitation(room, "page")
    if asked or led:
        plan_choice(begins=begins)
    with st.expander(
        translate("The next question") if asked else translate("The first question"),
        expanded=not led,
        key=f"class_next_{asked}_{led}",
    ):
        choose_question(room, key)
    own_question_form(room, key)
    if not led:  # of a plan, the menu at its every stop has all of this
        draw_end(room, key)


def draw_question(room: Room, here: Asked) -> None:
    """The answers beside what they are about; once they are explained, beside how the class voted."""
    explained = room.stage == "explained"
    look = "told" if explained else "asked" if here.figures or room.shows else "alone"
    with st.container(key=f"class_{look}"):
        with st.container(key="class_answers"):
            cards_to_read(here.question, explained=explained)
        with st.container(key="class_results"):
            draw_answers(room, here)
        with st.container(key="class_figures"):
            if room.shows and here.cards != WRITTEN:
                draw_moves(room, here)
            draw_figures(room, here)


def draw_menu() -> None:
    """What a teacher needs at every stop of a plan: the way in for latecomers, the notes, the votes, and the end."""
    try:
        room = last_known("look", get_state("class_inside"))
    except RefusedError as error:
        st.text(format_value(reason(error)))
        return
    draw_invitation(room, "menu")
    st.link_button(translate("Your notes, on a second screen"), notes_address())
    draw_end(room, own_key())


def draw_end(room: Room, key: str) -> None:
    """The votes as files, what is kept, and the button that forgets it."""
    if room.stage != "waiting":
        offer(
            translate("Save all questions and votes as CSV"),
            partial(class_csv, room.code),
            "class_votes.csv",
            "text/csv",
        )
        offer_afterwards(room.code)
    say_what_is_kept(room)
    st.caption(render(KEY_IN_ADDRESS))
    st.button(
        translate("Close this class and forget it now"),
        key="class_close",
        on_click=close_class,
        args=(room.code, key),
        type="tertiary",
    )


def draw_answers(room: Room, here: Asked) -> None:
    """How the class voted. Words wait in a fold, so that the teacher sees them before the room does."""
    if here.own is not None and here.own.kind == "word":
        fold(
            "class_words",
            translate("The words, for you to check first"),
            "words_open",
            partial(draw_written, room, here),
        )
    elif room.shows:
        (draw_written if here.cards == WRITTEN else draw_votes)(room, here)


def close_class(code: str, key: str) -> None:
    """Forget the class at once."""
    if do("close", code, key):
        leave_class()


def draw_stage(room: Room, key: str) -> None:
    """How many have answered, and what can be done next; where the strip of a plan does it, that is not said twice."""
    led = led_by_plan(room)
    with st.container(horizontal=True, vertical_alignment="center"):
        for to in left_to_hand(plan_of_class(), room.place, room.stage) if led else NEXT[room.stage]:
            st.button(
                render(DEEDS[to]),
                key=f"class_to_{to}",
                on_click=do,
                args=lead_by_hand(room, key, to) if led else ("step", room.code, key, room.number, room.stage, to),
                type="secondary" if led else "primary",
            )
        with st.container(key="class_count", width="content"):
            draw_count(room)
        with st.container(key="class_code", width="content"):
            st.text(translate("Join with the code {code}", code=spaced(room.code)), width="content")


def lead_by_hand(room: Room, key: str, to: str) -> tuple[object, ...]:
    """What brings the question of a plan to a stage to which no step to come does, and the class nowhere else."""
    return "lead", room.code, key, room.revision, Lead(room.place, room.link, round(room.seconds), room.number, to)


def spaced(code: str) -> str:
    """A code as it is read aloud."""
    return f"{code[:3]} {code[3:]}"


def draw_invitation(room: Room, where: str) -> None:
    """The code, the link and its QR code, large enough for a projector; `where` tells them from those elsewhere."""
    link = join_link(room.code)
    picture = segno.make(link, error="m").png_data_uri(scale=8, border=2)
    code, image = st.columns([3, 2], vertical_alignment="center")
    with code:
        st.text(translate("Open this link, or go to the page Class vote and type the code:"))
        with st.container(key=f"class_code_large_{where}"):
            st.title(spaced(room.code), anchor=False)
        st.code(link, language=None, wrap_lines=True)
        st.caption(render(UNTIL_WHEN))
    with image:
        text = translate("The link as a QR code")
        st.markdown(f"![{text}]({picture})")  # an image of Streamlit's own has no alternative text


def choose_question(room: Room, key: str) -> None:
    """A question of any lesson, as the visit has seen its screen last; the preview names no right answer."""
    titles = {Path(entry.file).stem: entry.name for entry in CONTENTS}
    lessons, seen = list(askable()), get_state("lesson_seen")
    begin = lessons.index(seen) if seen in lessons else 0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        lesson = st.selectbox(
            translate("A question from the lesson"),
            lessons,
            begin,
            format_func=titles.get,
            key="class_lesson",
            width=260,
        )
        lesson = lesson if lesson in lessons else lessons[begin]  # a forged message may name what is none
        asked = chosen_asked(lesson)
        st.button(
            translate("Another question"),
            key="class_another",
            on_click=another_question,
            args=(lesson,),
            type="tertiary",
        )
        try:
            text = written_asked(asked)
            question = asked_here(text).question
        except (ValueError, LookupError) as error:
            show_notes(reason(error))
            return
        st.button(
            translate("Ask the class"),
            key="class_ask",
            on_click=ask_class,
            args=(lesson, room.code, key, room.number, len(question.cards), text),
            type="primary",
        )
    if seen_of(lesson) is not None:
        st.caption(
            translate("It is about the screen of this lesson that you saw last, with its controls as you left them.")
        )
    else:
        st.caption(translate("To ask about other numbers, open the lesson, set its controls, and come back."))
    st.markdown(marked(question.prompt, ROLE_COLOURS))
    for letter, card in zip(LETTERS, question.cards, strict=False):
        st.markdown(f"{letter} · {marked(card.text)}")


def chosen_asked(lesson: str) -> ScreenLink:
    """The question of a lesson that is offered just now."""
    asked, skipped = seen_of(lesson) or first_asked(lesson), (get_state("class_numbers") or {}).get(lesson)
    return asked if skipped is None else replace(asked, number=skipped)


def ask_class(lesson: str, *values: object) -> None:
    """Put the question to the class, and have another one ready."""
    if do("ask", *values):
        another_question(lesson)


def another_question(lesson: str) -> None:
    """Offer the next question of a lesson that reads differently."""
    asked = chosen_asked(lesson)
    number = number_after(
        asked.number, lambda number: asked_here(written_asked(replace(asked, number=number))).question
    )
    set_state("class_numbers", (get_state("class_numbers") or {}) | {lesson: number})


def class_csv(code: str) -> bytes:
    """A line for each answer to each question, with how many chose it in both votes; of one whose answer was not shown
    yet, not which is right.
    """
    return csv_file([map(render, CSV_COLUMNS), *lines_of_class(code)])


def lines_of_class(code: str) -> Iterator[list[str | int]]:
    """The lines, question by question."""
    room = class_keeper().look(code)
    for number, cards, asked in class_keeper().asked(code):
        here, lesson = asked_here(asked), lesson_asked(asked)
        question, told = here.question, number < room.number or room.stage == "explained"
        for taken, answer, count in class_keeper().written(code, number) if cards == WRITTEN else ():
            right = (
                ""
                if not told or here.own.number is None
                else translate("yes")
                if here.own.fits(answer)
                else translate("no")
            )
            counts = [count if taken == vote else 0 for vote in ROUNDS]
            yield [number, lesson, render(question.prompt), answer, right, *counts, ""]
        votes = class_keeper().votes(code, number, cards)
        for place, card in enumerate(question.cards):
            answer, right = (
                f"{LETTERS[place]}: {render(card.text)}",
                translate("yes") if place == question.right else translate("no"),
            )
            right = right if told and here.right is not None else ""
            counts = votes.first[place], votes.second[place]
            yield [number, lesson, render(question.prompt), answer, right, *counts, render(card.reply) if told else ""]
