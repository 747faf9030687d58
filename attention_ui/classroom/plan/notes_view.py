"""What a teacher alone sees, on a second tab or a phone: what comes next, the answers that will come, what to say."""

import streamlit as st

from attention_ui.classroom.plan.leading import (
    notes_switch,
    plan_of_class,
    step_buttons,
    title_of_stop,
)
from attention_ui.classroom.plan.slides import draw_slide
from attention_ui.classroom.plan.strip import draw_timer, stop_buttons
from attention_ui.classroom.vote.asked import screen_here
from attention_ui.classroom.vote.teacher import draw_answers
from attention_ui.classroom.vote.view import asked_of, draw_count
from attention_ui.session import show_notes, take_state
from classes.stages import Room
from lessons.screen import Message, join_sentences, message, not_yet_said, plural, reason, render, translate
from lessons.teachers.class_plan.notes import Expected, Notes, notes_of_exercise, notes_of_own, notes_of_screen
from lessons.teachers.class_plan.plan import ACTIONS, Plan, Stop
from lessons.teachers.class_vote.question_link import read_asked

NO_PLAN = message("This class has no plan. Choose one on the class page, in your other tab.")


def notes_view(room: Room) -> None:
    """Where the class is, what comes next, and the notes of both."""
    show_notes(take_state("class_note"), take_state("class_said"))
    notes_switch()
    plan = plan_of_class()
    if plan is None:
        st.text(render(NO_PLAN))
        return
    place, steps = min(room.place, len(plan.steps) - 1), plan.steps
    with st.container(horizontal=True, vertical_alignment="center"):
        step_buttons(plan, place)
        if room.seconds >= 1:
            draw_timer(round(room.seconds))
        if room.stage != "waiting":
            draw_count(room)
    stop_buttons(plan, place)
    if place >= 0:
        st.header(translate("Now"), anchor=False)
        draw_step(plan, place)
    if room.stage != "waiting":
        draw_answers(room, asked_of(room))
    if place + 1 < len(steps):
        st.header(translate("Coming next"), anchor=False)
        draw_next(plan, place + 1)


def draw_next(plan: Plan, place: int) -> None:
    """The next step. The notes of a stop that the class is at already stand above."""
    if place and plan.steps[place].stop == plan.steps[place - 1].stop:
        st.subheader(said_of_step(plan, place), anchor=False)
    else:
        draw_step(plan, place)


def draw_step(plan: Plan, place: int) -> None:
    """One step: its action and its stop, what to ask, what will be answered, and what to say."""
    step = plan.steps[place]
    stop = plan.stops[step.stop]
    begins = plan.begins_at(step.stop)
    st.subheader(said_of_step(plan, place), anchor=False)
    st.caption(render(minutes_of_stop(stop.minutes, begins)))
    if stop.says:
        st.text(stop.says)
    if stop.is_slide:
        draw_slide(stop, f"notes_slide_{place}")
    draw_notes(notes_of(stop), shows=step.action in ("show", "answer"))


def said_of_step(plan: Plan, place: int) -> str:
    """What is done, and where."""
    step = plan.steps[place]
    return f"{render(ACTIONS[step.action])} · {title_of_stop(plan.stops[step.stop])}"


def minutes_of_stop(minutes: int, begins: int) -> Message:
    """How long a stop takes, and when, from the beginning of the plan."""
    return plural(
        "{count} minute, from {begins} to {ends}",
        "{count} minutes, from {begins} to {ends}",
        minutes,
        begins=begins,
        ends=begins + minutes,
    )


def draw_notes(notes: Notes, *, shows: bool) -> None:
    """What to ask, which answers come and what to say to each; and what there is to see."""
    if notes.asks is not None:
        st.markdown(translate("**Ask the room**") if notes.right else translate("**Let the room write**"))
        st.text(render(notes.asks))
    if notes.right is not None:
        st.markdown(translate("**Right**"))
        st.text(said_of_answer(notes.right))
    if notes.wrong:
        st.markdown(translate("**What else to expect, and what to say**"))
        says = said_of_answer if notes.right else said_of_mistake
        st.text("\n".join(f"• {says(answer)}" for answer in notes.wrong))
    replies = [answer.reply for answer in (notes.right, *notes.wrong) if answer is not None]
    said = not_yet_said(notes.shows, replies) if shows else []
    if said:
        st.markdown(translate("**What to notice**"))
        st.text(join_sentences(said))


def said_of_mistake(answer: Expected) -> str:
    """A known mistake of an exercise, by what helps."""
    return render(answer.reply)


def said_of_answer(answer: Expected) -> str:
    """An answer, the thought behind it, and the reply."""
    text = render(answer.text).rstrip(".。")
    if answer.thought is None:
        return translate("{text}: {reply}", text=text, reply=answer.reply)
    return translate("{text} ({thought}): {reply}", text=text, thought=answer.thought, reply=answer.reply)


def notes_of(stop: Stop) -> Notes:
    """The notes of a stop. A screen that cannot be made on this machine has none but that.

    Where a stop neither asks the class its question nor leaves it on the page, nothing is said of it.
    """
    if stop.own is not None:
        return notes_of_own(stop.own)
    if stop.page == "exercises":
        return notes_of_exercise(stop.link.get("exercise", ""))
    if not stop.screen:
        return Notes()
    try:
        screen, question = screen_here(stop.screen)
    except (ValueError, LookupError) as error:
        return Notes(shows=(message("{why}", why=reason(error)),))
    asks = not {"ask", "again"}.isdisjoint(stop.actions) or "predict" not in stop.link.get("hide", "").split(",")
    return notes_of_screen(read_asked(stop.screen), screen, question if asks else None)
