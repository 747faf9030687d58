"""Where a teacher changes a plan: what concerns all of it, a new stop wherever one wants it, and each stop."""

from dataclasses import replace

import streamlit as st

from attention_core.base.errors import InputError
from attention_core.text.tokens import is_invisible
from attention_ui.classroom.plan.leading import LANGUAGE_TAGS, PAGES, title_of_stop
from attention_ui.classroom.plan.own_form import own_fields, own_typed
from attention_ui.classroom.plan.pictures import FORMATS, redrawn
from attention_ui.controls.bound import limited_field
from attention_ui.process.real_models import smollm2
from attention_ui.process.turns import outside_turn
from attention_ui.session import get_state, set_state
from attention_ui.session.recent_screens import stop_seen
from lessons.screen import format_value, message, reason, translate
from lessons.teachers.class_plan.plan import (
    ACTIONS,
    MOST_MINUTES,
    MOST_PAUSE,
    MOST_PICTURES,
    MOST_SAID,
    MOST_SHOWN,
    MOST_STOPS,
    SLIDE_PAGE,
    Plan,
    Stop,
)
from lessons.teachers.class_plan.plan_file import MOST_BYTES, check_length, hash_of_picture, read_file
from lessons.teachers.class_plan.sentence import LONGEST_SENTENCE, with_sentence
from words import LANGUAGES, tag_of

OWN = "own"  # the view of one's own plan
AT_THE_END = -1
PICTURE_MB, MINUTES_OF_SLIDE = 1, 2
NOTHING_TO_SHOW = message("Type a text, or choose a picture, and then add it.")
PICTURE_LIMITS = message(
    "A picture is a PNG or a JPEG of at most 1 MB. It is made smaller where it has to be, and nothing but the picture "
    "itself is kept of the file. A plan has room for {most} pictures.",
    most=MOST_PICTURES,
)


def keep_plan(plan: Plan) -> None:
    """From now on this is the visitor's own plan."""
    set_state("plan_own", plan)
    set_state("paper", OWN)


def begin_empty() -> None:
    """A plan of one's own without stops, with the place open where they are added."""
    keep_plan(Plan())
    set_state("plan_change", True)


def change_panel(plan: Plan) -> None:
    """What concerns the whole plan: its sentence, its language, another stop, and files."""
    st.caption(translate("Any change makes this a plan of your own, and the address of this page holds it."))
    if plan.stops:
        sentence_of_plan(plan)
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
    st.subheader(translate("Another stop"), anchor=False)
    new_stops(plan)
    st.subheader(translate("Another plan"), anchor=False)
    other_plans()


def sentence_of_plan(plan: Plan) -> None:
    """A field for the sentence of all screens that take one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        limited_field(st.text_input, translate("Sentence of the plan"), "plan_sentence", LONGEST_SENTENCE, width=420)
        st.button(translate("Use this sentence"), key="plan_use_sentence", on_click=change_sentence, args=(plan,))


def new_stops(plan: Plan) -> None:
    """Where the next stop comes, and what it is: a screen, a question, a text or a picture."""
    choose_place(plan)
    st.markdown(translate("**A screen**"))
    seen = stop_seen()
    if seen is not None:
        st.button(
            translate("Add the screen that you saw last: {name}", name=title_of_stop(seen)),
            key="plan_add",
            on_click=add_stop,
            args=(plan, seen),
        )
    else:
        st.caption(translate("Open a lesson, set its controls, and come back: its screen can be added here."))
    st.markdown(translate("**A question of your own**"))
    own_fields("stop")
    st.button(translate("Add the question"), key="plan_add_own", on_click=add_own, args=(plan,))
    st.markdown(translate("**A text or a picture of your own**"))
    limited_field(st.text_area, translate("Text for the class"), "slide_text", MOST_SHOWN)
    count = get_state("slide_pictures") or 0
    st.file_uploader(
        translate("Picture for the class"),
        type=[*map(str.lower, FORMATS), "jpg"],
        key=f"slide_picture_{count}",
        max_upload_size=PICTURE_MB,
    )
    st.caption(format_value(PICTURE_LIMITS))
    st.button(translate("Add the text or picture"), key="plan_add_slide", on_click=add_slide, args=(plan, count))


def choose_place(plan: Plan) -> None:
    """Before which stop a new one comes; at the end, unless somebody wants it elsewhere."""
    places = {AT_THE_END: translate("at the end")}
    for place, stop in enumerate(plan.stops):
        places[place] = translate("before stop {place}, {name}", place=place + 1, name=title_of_stop(stop))
    set_state("plan_where", place_of_new(plan))
    st.selectbox(
        translate("Its place in the plan"),
        list(places),
        format_func=lambda place: places.get(place, ""),
        key="plan_where",
        width=420,
    )


def place_of_new(plan: Plan) -> int:
    """The place that is chosen for a new stop. A forged message, and a plan that is shorter by now, mean the end."""
    chosen = get_state("plan_where")
    return chosen if type(chosen) is int and 0 <= chosen < len(plan.stops) else AT_THE_END


def other_plans() -> None:
    """A plan of before, from its file, and one that begins with nothing."""
    open_file()
    st.button(translate("Begin an empty plan"), key="plan_empty", on_click=begin_empty)


def open_file() -> None:
    """A place for a plan's file."""
    count = get_state("plan_files") or 0
    st.file_uploader(
        translate("Open a plan's file"), type="json", key=f"plan_file_{count}", on_change=open_brought, args=(count,)
    )


def open_brought(count: int) -> None:
    """Open the file that was brought, or say why it is no plan; then the plan of before stays."""
    file = get_state(f"plan_file_{count}")
    if file is None:
        return
    try:
        with outside_turn():
            plan = read_file(file.getvalue()[: MOST_BYTES + 1], redrawn, PAGES, LANGUAGE_TAGS)
        keep_plan(plan)
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


def add_stop(plan: Plan, stop: Stop) -> bool:
    """One more stop, where it was wanted; or say why there is none, and change nothing."""
    place = place_of_new(plan)
    at = len(plan.stops) if place == AT_THE_END else place
    try:
        keep_plan(with_one_more(plan, at, stop))
    except ValueError as error:
        set_state("plan_note", reason(error))
        return False
    set_state("plan_note", message("Added as stop {place}.", place=at + 1))
    set_state("plan_where", place if place == AT_THE_END else at + 1)  # the next one comes after it
    return True


def with_one_more(plan: Plan, at: int, stop: Stop) -> Plan:
    """The plan with a stop more. Raises ValueError, with a sentence, for one that would have too much."""
    if len(plan.stops) >= MOST_STOPS:
        raise InputError(
            "A plan has at most {most} stops, and this one has as many: remove one first.", most=MOST_STOPS
        )
    more = plan.with_new(at, stop)
    if len(more.pictures) > MOST_PICTURES:
        raise InputError(
            "A plan has at most {most} pictures, and this one has as many: remove one first.", most=MOST_PICTURES
        )
    check_length(more)
    return more


def add_own(plan: Plan) -> None:
    """A stop that asks a question of the teacher's own."""
    try:
        own = own_typed("stop")
    except ValueError as error:
        set_state("plan_note", reason(error))
        return
    add_stop(plan, Stop(page=SLIDE_PAGE, actions=("ask", "answer"), own=own))


def add_slide(plan: Plan, count: int) -> None:
    """A stop that shows what was typed or brought. What cannot be added stays in its fields."""
    text, file = shown_text(get_state("slide_text")), get_state(f"slide_picture_{count}")
    if not text and file is None:
        set_state("plan_note", NOTHING_TO_SHOW)
        return
    name = None
    try:
        if file is not None:
            with outside_turn():
                picture = redrawn(file.getvalue())
            name = hash_of_picture(picture)
            plan = replace(plan, pictures=plan.pictures | {name: picture})
    except ValueError as error:
        set_state("plan_note", reason(error))
        return
    if add_stop(plan, Stop(page=SLIDE_PAGE, minutes=MINUTES_OF_SLIDE, text=text, picture=name)):
        set_state("slide_text", "")
        set_state("slide_pictures", count + 1)


def shown_text(typed: object) -> str:
    """A text as a class is shown it: its lines, without what nobody can see."""
    text = typed[:MOST_SHOWN] if isinstance(typed, str) else ""
    return "".join(letter for letter in text if letter == "\n" or not is_invisible(letter)).strip()


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
    texts = {"says": (translate("What you want to say"), MOST_SAID)}
    texts |= {"text": (translate("Text for the class"), MOST_SHOWN)} if stop.is_slide else {}
    for name, (label, most) in texts.items():
        key = f"plan_{name}_{place}"
        set_state(key, getattr(stop, name))
        limited_field(st.text_area, label, key, most, change_stop, plan, place, name)


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
    elif name == "text" and (shown_text(said) or plan.stops[place].picture):
        said = shown_text(said)
    else:
        return
    changed = plan.with_stop(place, **{name: said})
    try:
        check_length(changed)
    except ValueError as error:
        set_state("plan_note", reason(error))
        return
    keep_plan(changed)
