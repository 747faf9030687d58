"""A plan as its teacher reads, changes, keeps and begins it: stop after stop, with what is asked and answered there."""

from dataclasses import replace
from urllib.parse import urljoin

import streamlit as st

from attention_core.text.tokens import clean_text
from attention_ui.classroom.plan.leading import LANGUAGE_TAGS, PAGES, title_of_stop
from attention_ui.classroom.plan.notes_view import draw_notes, minutes_of_stop, notes_of
from attention_ui.classroom.plan.plan_change import OWN, change_panel, keep_plan, other_plans, stop_controls
from attention_ui.classroom.plan.plan_choice import teach
from attention_ui.classroom.plan.slides import draw_slide
from attention_ui.controls.bound import limited_field
from attention_ui.session import (
    SHOWN_WITH,
    address_of,
    fold,
    forget_in_link,
    get_state,
    offer,
    said_in_link,
    say_in_link,
    set_state,
    show_notes,
    take_state,
    text_in_link,
)
from lessons.screen import Text, message, reason, render, render_all, translate
from lessons.teachers.class_plan.notes import if_time_is_short
from lessons.teachers.class_plan.plan import ACTIONS, MOST_TITLE, Plan, Stop
from lessons.teachers.class_plan.plan_file import plan_in_link, plan_of_link, written_plan
from lessons.teachers.class_plan.ready_made import ready_plan
from lessons.teachers.homework.stops import for_students

PLAN = Text("plan", "", None)  # which no control shows: a plan of one's own, as a link spells it
NONE_OPEN = message("No plan is open. Change one of the others, open a file, or begin an empty plan.")
NO_STOPS = message(
    "This plan has no stops yet: add the first one under “Change this plan”. With one stop or more, you can teach a "
    "class with it, save it, and give it as homework."
)
PICTURES_LEFT_OUT = message(
    "The link in the address and the homework leave out the stops that show a picture: save the plan to keep them."
)


def plan_panel(view: str) -> None:
    """All stops of a plan, with its controls. What they say is shown literally."""
    show_notes(take_state("plan_note"))
    plan = opened_plan(view)
    if plan is None:
        st.text(render(NONE_OPEN))
        with st.container(key="plan_controls"):
            other_plans()
        return
    with st.container(key="plan_controls"):
        if plan.stops:
            what_is_done_with_it(plan)
        else:
            st.text(render(NO_STOPS))
        fold("plan", translate("Change this plan"), "plan_change", lambda: change_panel(plan))
        if plan.stops:
            fold("plan", translate("As homework"), "plan_homework", lambda: homework_link(plan))
    if plan.stops:
        draw_stops(plan)


def what_is_done_with_it(plan: Plan) -> None:
    """Buttons that begin a class with the plan, and save it; and what its link cannot hold."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(translate("Teach a class with it"), key="plan_teach", on_click=teach, args=(plan,), type="primary")
        offer(translate("Save this plan"), lambda: written_plan(plan), "plan.json", "application/json")
    if any(stop.picture for stop in plan.stops):
        st.text(render(PICTURES_LEFT_OUT))


def draw_stops(plan: Plan) -> None:
    """Every stop, one below the other."""
    st.text(render_all(if_time_is_short(plan)))
    st.caption(
        translate(
            "Each link opens its screen in a new tab, with its controls set. The answers given here are "
            "those of that screen."
        )
    )
    for place in range(len(plan.stops)):
        with st.container(border=True, key=f"plan_stop_{place + 1}", gap="xsmall"):
            draw_stop(plan, place)


def opened_plan(view: str) -> Plan | None:
    """The plan of this view; of one's own what was changed last, or what the link spells."""
    if view != OWN:
        return ready_plan(int(view))
    code = text_in_link(PLAN.name)
    if code and code != get_state("plan_code"):
        try:
            set_state("plan_own", plan_of_link(code, PAGES, LANGUAGE_TAGS))
        except ValueError as error:
            show_notes(reason(error))
            forget_in_link(PLAN.name)
    plan = get_state("plan_own")
    if plan is not None:
        say_plan(plan)
    return plan


def say_plan(plan: Plan) -> None:
    """The address holds the plan, as far as it can."""
    if not plan.without_pictures().stops:
        forget_in_link(PLAN.name)
        return
    try:
        code = plan_in_link(plan)
    except ValueError as error:
        show_notes(reason(error))
        forget_in_link(PLAN.name)
        return
    set_state("plan_code", code)
    say_in_link(PLAN.name, code)


def homework_link(plan: Plan) -> None:
    """The link with which a student goes through the plan alone, and the title that stands in the certificates."""
    set_state("plan_title", plan.title)
    limited_field(st.text_input, translate("Its title"), "plan_title", MOST_TITLE, change_title, plan, width=420)
    st.caption(
        translate(
            "With this link, a student works through the stops alone and saves a certificate at the end. "
            "You can read it under Certificates."
        )
    )
    try:
        spoken = {"lang": plan.language} if plan.language else said_in_link("lang")
        said = spoken | {"homework": plan_in_link(for_students(plan))}
    except ValueError as error:
        show_notes(reason(error))
        return
    link = address_of("take_home", said)
    st.code(urljoin(st.context.url or "", link), language=None)
    st.link_button(translate("Open it as a student"), link)


def change_title(plan: Plan) -> None:
    """Another title."""
    keep_plan(replace(plan, title=clean_text(str(get_state("plan_title") or ""), MOST_TITLE).text))


def draw_stop(plan: Plan, place: int) -> None:
    """One stop: when, its link, what is done there, what to ask, and what will come."""
    stop, begins = plan.stops[place], plan.begins_at(place)
    head, screen = st.columns([3, 1], vertical_alignment="center")
    with head:
        st.subheader(f"{place + 1} · {title_of_stop(stop)}", anchor=False)
    if stop.own is None and not stop.is_slide:
        screen.link_button(translate("Open the screen"), url_of_stop(plan, stop))
    left = [message("can be left out")] if stop.out else []
    ends = [message("a good place to end")] if stop.ends else []
    st.caption(" · ".join(map(render, [minutes_of_stop(stop.minutes, begins), *left, *ends])))
    st.text(" → ".join(render(ACTIONS[action]) for action in stop.actions))
    if stop.says:
        st.text(stop.says)
    if stop.is_slide:
        draw_slide(stop, f"plan_slide_{place + 1}", plan.pictures)
    draw_notes(notes_of(stop), shows="show" in stop.actions or "answer" in stop.actions)
    fold("plan", translate("Change this stop"), f"plan_open_{place}", lambda: stop_controls(plan, place))


def url_of_stop(plan: Plan, stop: Stop) -> str:
    """The link of its screen as it will be projected, seen from the page of the plan."""
    along = said_in_link(*SHOWN_WITH)
    shown = ({"large": "true"} if plan.large else {}) | ({"lang": plan.language} if plan.language else {})
    hidden = ",".join(link["hide"] for link in (along, stop.link) if "hide" in link)
    return address_of(stop.page, along | shown | stop.link | ({"hide": hidden} if hidden else {}))
