"""The strip of a class that is led: for its teacher the stops of the plan and the menu, for others the way back."""

import streamlit as st

from attention_ui.classroom.plan.leading import (
    PAGES,
    VOTE_PAGE,
    bring_to_stop,
    come_along,
    go_alone,
    is_alone,
    plan_drawn,
    plan_of_class,
    shows_notes,
    step_buttons,
    title_of_stop,
)
from attention_ui.classroom.vote.rooms import own_key
from attention_ui.classroom.vote.teacher import draw_menu
from attention_ui.classroom.vote.watching import KNOWN
from attention_ui.contents import open_entry
from attention_ui.session import get_state, show_notes, take_state
from lessons.screen import render, translate
from lessons.teachers.class_plan.plan import ACTIONS, Plan


def draw_strip(here: str) -> None:
    """What leads a class. For its teacher the stops of the plan stand in the head of the page, what one key does, and
    all else that a class needs; for others, at the foot, the way back to the class.
    """
    show_notes(take_state("class_said"))
    code = get_state("class_inside")
    if code is None or (here == VOTE_PAGE and shows_notes()):  # the notes have all of it at their top
        return
    plan = plan_of_class() if own_key() else None
    known = KNOWN.get(code)
    if not is_alone() and plan is None and not (known and known.seconds):
        return
    place = -1 if known is None else known.place
    with st.container(key="class_strip", horizontal=True, vertical_alignment="center", width="content"):
        if plan is not None:
            stop_buttons(plan, place)
        if is_alone():
            st.button(translate("Back to the class"), key="class_back", on_click=come_along)
        if known is not None and known.seconds:
            draw_timer(known.seconds)
        if plan is not None:
            step_buttons(plan, place)
            class_menu(here)


def class_menu(here: str) -> None:
    """What a class needs at every stop: its page, the code, the file of its votes, and its end."""
    with st.popover(translate("Class"), key="class_menu", on_change="rerun") as menu:
        if not menu.open:
            return
        if here != VOTE_PAGE and st.button(PAGES[VOTE_PAGE].name, key="class_page"):
            go_alone()
            open_entry(PAGES[VOTE_PAGE])
        draw_menu()


def draw_timer(seconds: int) -> None:
    """What the pause is for, and how long it still takes. The browser counts down: nobody asks the server."""
    st.text(render(ACTIONS["pause"]), width="content")
    with st.container(key="class_timer", width="content"):
        st.text(f"{seconds // 60}:{seconds % 60:02d}")


def stop_buttons(plan: Plan, place: int) -> None:
    """All stops of the plan, and at which one the class is. Pressing one goes there.

    Buttons, and no choice that keeps a value: where a page is drawn anew from outside, it would be the one of before.
    """
    here = plan.steps[place].stop if 0 <= place < len(plan.steps) else None
    with st.container(key="plan_stops", horizontal=True, gap="xsmall"):
        for number, stop in enumerate(plan.stops):
            st.button(
                f"{number + 1} · {title_of_stop(stop)}",
                key=f"to_stop_{number}",
                on_click=bring_to_stop,
                args=(number, plan_drawn()),
                type="primary" if number == here else "secondary",
            )
