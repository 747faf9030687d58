"""A plan that a student goes through alone: which one, at which stop, and what is noted there.

The address holds the plan and the stop from page to page, so a reload goes on where one was. What was solved, the
browser keeps with all other progress.
"""

import time

import streamlit as st

from attention_ui.classroom.plan.leading import LANGUAGE_TAGS, PAGES
from attention_ui.classroom.vote.asked import asked_here, text_of_stop
from attention_ui.contents import page_of
from attention_ui.page.progress import Progress, add_progress, progress
from attention_ui.session import (
    LARGE,
    begin_link_anew,
    forget_in_link,
    get_state,
    open_link,
    said_in_link,
    set_state,
    take_state,
    text_in_link,
)
from lessons.screen import Limit, Number, Text, as_text, format_value, reason, render, translate
from lessons.teachers.class_plan.plan import MOST_STOPS, Plan, Stop
from lessons.teachers.class_plan.plan_file import plan_of_link
from lessons.teachers.class_vote.question_link import read_asked
from lessons.teachers.homework.notes import Happened, noted
from lessons.teachers.homework.stops import HOW, WHAT_TO_DO, Result, kind_of_stop, mark_of, news, results_of

HOMEWORK = Text("homework", "", None)  # which no control shows: the plan, as a link spells it
STOP = Number("stop", "", Limit(0, MOST_STOPS), 0)  # nor this: the stop one is at, counted from 1; 0 for the list
LIST_PAGE = "take_home"


def open_homework() -> Plan | None:
    """The homework that the address holds. Of one that cannot be read, the page says why, once."""
    code, known = text_in_link(HOMEWORK.name), get_state("homework_open")
    if not code:
        return None
    if known is None or known[0] != code:
        try:
            known = code, plan_of_link(code, PAGES, LANGUAGE_TAGS)
        except ValueError as error:
            set_state("link_notes", [*(get_state("link_notes") or []), format_value(reason(error))])
            leave_homework()
            return None
        set_state("homework_open", known)
    return known[1]


def leave_homework() -> None:
    """From now on this visit does no homework; what was solved stays."""
    forget_in_link(HOMEWORK.name, STOP.name)
    take_state("homework_open")
    forget_certificate()


def forget_certificate() -> None:
    """What was made before says less than is solved by now, or another name."""
    take_state("homework_made")


def stop_here(plan: Plan) -> int | None:
    """The place of the stop one is at, counted from 0; None at the list."""
    said = text_in_link(STOP.name)
    place = int(said) - 1 if said.isascii() and said.isdigit() and len(said) < 4 else -1
    return place if 0 <= place < len(plan.stops) else None


def results(plan: Plan) -> list[Result]:
    """How far each stop is."""
    done = progress()
    return results_of(plan, done.homework, done.exercises, done.levels)


def note(plan: Plan, place: int, happened: Happened) -> None:
    """Note what happened at a stop, where that is news."""
    if news(happened, results(plan)[place]):
        keep_note(plan, place, happened)


def keep_note(plan: Plan, place: int, happened: Happened) -> None:
    """Keep a note with all other progress."""
    add_progress(Progress(homework=frozenset([noted(mark_of(plan), place, happened, now())])))


def now() -> int:
    """What the clock says, in seconds since 1970: it is written down, and nothing depends on it."""
    return int(time.time())


def arrive_at_stop(here: str) -> None:
    """Before a page is drawn: what is only to be looked at is done, and so is a task that is solved by now."""
    plan = open_homework()
    place = None if plan is None else stop_here(plan)
    if plan is None or place is None or here != page_of_stop(plan.stops[place]):
        return
    result = results(plan)[place]
    if not result.when and (result.how == "done" or kind_of_stop(plan.stops[place]) == "look"):
        keep_note(plan, place, "done")


def page_of_stop(stop: Stop) -> str:
    """The page where a stop is: what is the teacher's own is asked and shown on the page of the homework itself."""
    return LIST_PAGE if stop.own is not None or stop.is_slide else stop.page


def note_answer(lesson: str, asked: str, right: bool) -> None:
    """A card was pressed on the page of a lesson: it counts if what is `asked` there is what the stop asks."""
    plan = open_homework()
    place = None if plan is None else stop_here(plan)
    if plan is None or place is None:
        return
    stop = plan.stops[place]
    if stop.page == lesson and kind_of_stop(stop) == "question" and asked == question_of(stop):
        note(plan, place, "right" if right else "wrong")


def question_of(stop: Stop) -> str | None:
    """What a stop asks, as it is read; None where it cannot be asked on this machine."""
    try:
        question = asked_here(text_of_stop(stop)).question
    except (ValueError, LookupError):
        return None
    return None if question is None else as_text(question)


def go_to_stop(plan: Plan, place: int | None) -> None:
    """Open a stop as it is meant, or the list, with nothing of what this visit had chosen before.

    A class is asked the stop's question elsewhere; whoever is alone finds it on its page.
    """
    forget_certificate()
    code, shown = text_in_link(HOMEWORK.name), said_in_link("lang", LARGE.name)
    shown |= {"lang": plan.language} if plan.language else {}
    begin_link_anew()
    stop = None if place is None else plan.stops[place]
    page = LIST_PAGE if stop is None else page_of_stop(stop)
    for kept in ("answer", "explored", "question", "left"):
        take_state(f"{page}_{kept}")
    here = {HOMEWORK.name: code} | ({} if place is None else {STOP.name: str(place + 1)})
    open_link(page_of(PAGES[page]), shown | (link_alone(stop) if stop and page != LIST_PAGE else {}) | here)


def link_alone(stop: Stop) -> dict[str, str]:
    """The link of a stop for whoever is alone: its question is not hidden, and it is the one that the page asks."""
    if kind_of_stop(stop) != "question":
        return stop.link
    set_state(f"{stop.page}_question", read_asked(stop.screen).number)
    hidden = [part for part in stop.link.get("hide", "").split(",") if part and part != "predict"]
    others = {name: said for name, said in stop.link.items() if name != "hide"}
    return others | ({"hide": ",".join(hidden)} if hidden else {})


def draw_homework_strip(here: str) -> None:
    """A line at the foot of every page: where one is, what is to be done there and how far it is, and the way on."""
    plan = open_homework()
    place = None if plan is None else stop_here(plan)
    if plan is None or place is None:
        return
    stop, last = plan.stops[place], len(plan.stops) - 1
    at_stop = here == page_of_stop(stop)
    with st.container(key="class_strip", horizontal=True, vertical_alignment="center", width="content"):
        if not at_stop and st.button(translate("Back to stop {place}", place=place + 1), key="homework_back"):
            go_to_stop(plan, place)
        if st.button("←", key="homework_before", disabled=place == 0, help=translate("Back")):
            go_to_stop(plan, place - 1)
        where = f"{place + 1}/{last + 1}"
        if st.button(where, key="homework_list", type="tertiary", help=translate("All stops")):
            go_to_stop(plan, None)
        st.text(state_of(stop, results(plan)[place]), width="content")
        label = translate("The end") if place == last else translate("Next")
        if st.button(f"{label} →", key="homework_next", type="primary"):
            go_to_stop(plan, None if place == last else place + 1)


def state_of(stop: Stop, result: Result) -> str:
    """What is to be done at a stop, or how far it is."""
    return render(WHAT_TO_DO[kind_of_stop(stop)] if result.how == "open" else HOW[result.how])
