"""From a plan to a class that is led through it."""

from urllib.parse import urljoin

import streamlit as st

from attention_ui.classroom.plan.leading import VOTE_PAGE, come_along, plan_of_class
from attention_ui.classroom.vote.rooms import do, open_class, own_key
from attention_ui.session import address_of, fold, get_state, said_in_link, set_state, show_notes
from lessons.screen import Message, message, plural, render, translate
from lessons.teachers.class_plan.plan import Plan
from lessons.teachers.class_plan.plan_file import text_of_plan
from lessons.teachers.class_plan.ready_made import READY_MADE, ready_plan


def teach(plan: Plan) -> None:
    """Open a class with this plan, or give it to the class that this visit rules already."""
    if not own_key():
        open_class()
    if own_key():
        bring_plan(plan)
        come_along()


def bring_plan(plan: Plan) -> None:
    """The class of this visit goes through this plan from its beginning."""
    if do("bring_plan", get_state("class_inside"), own_key(), text_of_plan(plan), tuple(plan.pictures.values())):
        set_state("class_plan", None)


def plan_choice(*, begins: bool) -> None:
    """Which plan the class goes through, how one does where it `begins`, and where the teacher's own notes are."""
    plan = plan_of_class()
    if plan is not None:
        show_notes(how_one_leads(plan) if begins else None)
        st.link_button(translate("Your notes, on a second screen"), notes_address())
    fold("plan", translate("Go through a plan"), "class_plans", choose_plan)


def how_one_leads(plan: Plan) -> Message:
    """What the keys do, said where the plan begins."""
    return plural(
        "This class follows a plan of {count} stop. The right arrow key, or Page Down on a presenter's "
        "remote, takes the next step; B blanks the screen. Your students' pages follow.",
        "This class follows a plan of {count} stops. The right arrow key, or Page Down on a presenter's "
        "remote, takes the next step; B blanks the screen. Your students' pages follow.",
        len(plan.stops),
    )


def choose_plan() -> None:
    """A button for each plan."""
    with st.container(horizontal=True):
        for minutes in READY_MADE:
            st.button(
                render(plural("{count} minute", "{count} minutes", minutes)),
                key=f"class_plan_{minutes}",
                on_click=lambda minutes=minutes: bring_plan(ready_plan(minutes)),
            )
        if (own := get_state("plan_own")) is not None:
            st.button(translate("Your plan"), key="class_plan_own", on_click=bring_plan, args=(own,))
    st.caption(render(message("You can read, change and save plans on the page Take home.")))


def notes_address() -> str:
    """The link to what the teacher alone sees, with the key in it."""
    said = {"class": get_state("class_inside"), "teacher": own_key(), "notes": "true"} | said_in_link("lang")
    return urljoin(st.context.url or "", address_of(VOTE_PAGE, said))
