"""A plan as its teacher reads, changes, keeps and begins it: stop after stop, with what is asked and answered there."""

from dataclasses import replace
from urllib.parse import urljoin

import streamlit as st

from attention_core.tokens import clean_text
from attention_ui.class_plan.leading import LANGUAGE_TAGS, PAGES
from attention_ui.class_plan.notes_view import draw_notes, minutes_of_stop, notes_of, title_of_stop
from attention_ui.class_plan.own_form import own_fields, own_typed
from attention_ui.class_plan.plan_choice import teach
from attention_ui.controls.bound import limited_field
from attention_ui.session.chart import fold, offer, show_notes
from attention_ui.session.links import SHOWN_WITH, address_of, forget_in_link, said_in_link, say_in_link, text_in_link
from attention_ui.session.real_model import smollm2
from attention_ui.session.recent_screens import stop_seen
from attention_ui.session.state import get_state, set_state, take_state
from lessons.class_plan.notes import if_time_is_short
from lessons.class_plan.plan import ACTIONS, MOST_MINUTES, MOST_PAUSE, MOST_SAID, MOST_STOPS, MOST_TITLE, Plan, Stop
from lessons.class_plan.plan_file import MOST_BYTES, plan_in_link, plan_of_link, read_plan, written_plan
from lessons.class_plan.ready_made import ready_plan
from lessons.class_plan.sentence import LONGEST_SENTENCE, with_sentence
from lessons.homework.stops import for_students
from lessons.screen.choice import Text
from lessons.screen.format import format_value, render, render_all, translate
from lessons.screen.message import message, reason
from words import LANGUAGES, tag_of

PLAN = Text("plan", "", None)  # which no control shows: a plan of one's own, as a link spells it
OWN = "own"
NONE_OPEN = message("No plan is open. Change one of the others, or open a file.")


def plan_panel(view: str) -> None:
    """All stops of a plan, with its controls. What they say is shown literally."""
    show_notes(take_state("plan_note"))
    plan = opened_plan(view)
    if plan is None:
        st.text(render(NONE_OPEN))
        with st.container(key="plan_controls"):
            open_file()
        return
    with st.container(key="plan_controls"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                translate("Teach a class with it"), key="plan_teach", on_click=teach, args=(plan,), type="primary"
            )
            offer(translate("Save this plan"), lambda: written_plan(plan), "plan.json", "application/json")
        fold("plan", translate("Change this plan"), "plan_change", lambda: change_panel(plan))
        fold("plan", translate("As homework"), "plan_homework", lambda: homework_link(plan))
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


def keep_plan(plan: Plan) -> None:
    """From now on this is the visitor's own plan."""
    set_state("plan_own", plan)
    set_state("paper", OWN)


def say_plan(plan: Plan) -> None:
    """The address holds the plan, unless it is too long for that."""
    try:
        code = plan_in_link(plan)
    except ValueError as error:
        show_notes(reason(error))
        forget_in_link(PLAN.name)
        return
    set_state("plan_code", code)
    say_in_link(PLAN.name, code)


def change_panel(plan: Plan) -> None:
    """What concerns the whole plan: its sentence, its language, another stop, and files."""
    st.caption(translate("Any change makes this a plan of your own, and the address of this page holds it."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        limited_field(st.text_input, translate("Sentence of the plan"), "plan_sentence", LONGEST_SENTENCE, width=420)
        st.button(translate("Use this sentence"), key="plan_use_sentence", on_click=change_sentence, args=(plan,))
    tags = {"": translate("each reader's own")} | {tag_of(code): name for code, name in LANGUAGES.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        set_state("plan_language", plan.language)
        st.selectbox(
            translate("Language of all screens"),
            list(tags),
            format_func=lambda tag: tags.get(tag, ""),
            key="plan_language",
            on_change=change_language,
            args=(plan,),
            width=260,
        )
        set_state("plan_large", plan.large)
        st.toggle(translate("Large on the projector"), key="plan_large", on_change=change_large, args=(plan,))
    seen = stop_seen()
    if seen is not None:
        st.button(
            translate("Add the screen that you saw last: {name}", name=title_of_stop(seen)),
            key="plan_add",
            on_click=add_stop,
            args=(plan, seen),
        )
    open_file()
    st.subheader(translate("A question of your own"), anchor=False)
    own_fields("stop")
    st.button(translate("Add it as a stop"), key="plan_add_own", on_click=add_own, args=(plan,))


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


def open_file() -> None:
    """A place for a plan's file."""
    count = get_state("plan_files") or 0
    st.file_uploader(
        translate("Open a plan's file"), type="json", key=f"plan_file_{count}", on_change=open_brought, args=(count,)
    )


def open_brought(count: int) -> None:
    """Open the file that was brought, or say why it is no plan."""
    file = get_state(f"plan_file_{count}")
    if file is None:
        return
    try:
        keep_plan(read_plan(file.getvalue()[: MOST_BYTES + 1], PAGES, LANGUAGE_TAGS))
        set_state("plan_files", count + 1)  # a field that is new holds no file
    except ValueError as error:
        set_state("plan_note", reason(error))


def change_sentence(plan: Plan) -> None:
    """Let all screens that take one show this sentence."""
    try:
        keep_plan(with_sentence(plan, str(get_state("plan_sentence") or ""), smollm2()))
    except ValueError as error:
        set_state("plan_note", reason(error))


def change_language(plan: Plan) -> None:
    """Fix the language, or none."""
    tag = get_state("plan_language")
    keep_plan(replace(plan, language=tag if tag in LANGUAGE_TAGS else ""))


def change_large(plan: Plan) -> None:
    """Large figures on the projector, or as they are."""
    keep_plan(replace(plan, large=bool(get_state("plan_large"))))


def add_stop(plan: Plan, stop: Stop) -> None:
    """One more stop at the end."""
    if len(plan.stops) < MOST_STOPS:
        keep_plan(replace(plan, stops=(*plan.stops, stop)))


def add_own(plan: Plan) -> None:
    """A stop that asks a question of the teacher's own."""
    try:
        own = own_typed("stop")
    except ValueError as error:
        set_state("plan_note", reason(error))
        return
    add_stop(plan, Stop(page="class_vote", actions=("ask", "answer"), own=own))


def draw_stop(plan: Plan, place: int) -> None:
    """One stop: when, its link, what is done there, what to ask, and what will come."""
    stop, begins = plan.stops[place], plan.begins_at(place)
    head, screen = st.columns([3, 1], vertical_alignment="center")
    with head:
        st.subheader(f"{place + 1} · {title_of_stop(stop)}", anchor=False)
    if stop.own is None:
        screen.link_button(translate("Open the screen"), url_of_stop(plan, stop))
    left = [message("can be left out")] if stop.out else []
    ends = [message("a good place to end")] if stop.ends else []
    st.caption(" · ".join(map(render, [minutes_of_stop(stop.minutes, begins), *left, *ends])))
    st.text(" → ".join(render(ACTIONS[action]) for action in stop.actions))
    if stop.says:
        st.text(stop.says)
    draw_notes(notes_of(stop), shows="show" in stop.actions or "answer" in stop.actions)
    fold("plan", translate("Change this stop"), f"plan_open_{place}", lambda: stop_controls(plan, place))


def stop_controls(plan: Plan, place: int) -> None:
    """Order, minutes, actions and words of one stop."""
    stop = plan.stops[place]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, key, changed in (
            (translate("Earlier"), "up", plan.moved(place, place - 1)),
            (translate("Later"), "down", plan.moved(place, place + 1)),
            (translate("Remove"), "out", plan.without(place)),
        ):
            st.button(label, key=f"plan_{key}_{place}", on_click=keep_plan, args=(changed,), disabled=changed == plan)
    fields = {
        "minutes": (translate("Minutes"), 1, MOST_MINUTES, 1),
        "pause": (translate("Pause, in seconds"), 10, MOST_PAUSE, 10),
    }
    with st.container(horizontal=True):
        for name, (label, least, most, step) in fields.items():
            key = f"plan_{name}_{place}"
            set_state(key, getattr(stop, name))
            st.number_input(
                label, least, most, step=step, key=key, on_change=change_stop, args=(plan, place, name), width=180
            )
    key = f"plan_actions_{place}"
    set_state(key, list(dict.fromkeys(stop.actions)))
    st.multiselect(
        translate("Actions at this stop, in this order"),
        list(ACTIONS),
        format_func=lambda action: format_value(ACTIONS.get(action, "")),
        key=key,
        on_change=change_stop,
        args=(plan, place, "actions"),
    )
    key = f"plan_says_{place}"
    set_state(key, stop.says)
    limited_field(st.text_area, translate("What you want to say"), key, MOST_SAID, change_stop, plan, place, "says")


def change_stop(plan: Plan, place: int, name: str) -> None:
    """What was set in a control of a stop; a forged message changes nothing."""
    said = get_state(f"plan_{name}_{place}")
    kinds = {"minutes": (1, MOST_MINUTES), "pause": (10, MOST_PAUSE)}
    if name in kinds and isinstance(said, int):
        said = min(max(said, kinds[name][0]), kinds[name][1])
    elif name == "actions" and isinstance(said, list):
        said = tuple(action for action in said if action in ACTIONS) or ("show",)
    elif name == "says" and isinstance(said, str):
        said = said[:MOST_SAID]
    else:
        return
    keep_plan(plan.with_stop(place, **{name: said}))


def url_of_stop(plan: Plan, stop: Stop) -> str:
    """The link of its screen as it will be projected, seen from the page of the plan."""
    along = said_in_link(*SHOWN_WITH)
    shown = ({"large": "true"} if plan.large else {}) | ({"lang": plan.language} if plan.language else {})
    hidden = ",".join(link["hide"] for link in (along, stop.link) if "hide" in link)
    return address_of(stop.page, along | shown | stop.link | ({"hide": hidden} if hidden else {}))
