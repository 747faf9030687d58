"""A class that is led through a plan: its pages follow, one key goes on, and whoever goes elsewhere is left alone.

A page that follows asks nobody: it goes by what the task in `watching` has heard last.
"""

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from attention_ui.classroom.vote.asked import asked_here, text_of_stop
from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.rooms import OVER, leave_class, opened_room, own_key, seconds_at_the_door, voter
from attention_ui.classroom.vote.watching import KNOWN, ask_about, know_room, look_now, unwatch, watch
from attention_ui.contents import CONTENTS, page_of
from attention_ui.controls.bound import switch
from attention_ui.session import (
    LARGE,
    address_of,
    begin_link_anew,
    forget_in_link,
    get_state,
    open_link,
    said_in_link,
    say_in_link,
    set_state,
    take_state,
    text_in_link,
)
from classes.keys import typed_code
from classes.stages import Lead, RefusedError, Room, UnreachableError
from lessons.screen import Switch, message, reason, render, translate
from lessons.teachers.class_plan.plan import ACTIONS, Plan, Stop
from lessons.teachers.class_plan.plan_file import read_plan
from lessons.teachers.class_plan.steps import Now, after_step
from words import LANGUAGES, tag_of

FOLLOW = Switch("follow", "", True)  # which no control shows: off in the link of whoever has gone elsewhere
AFTER = Switch("after", "")  # which none shows either: the questions of a class, for who was absent
NOTES = Switch("notes", message("Private notes"))
TEXT_STOP, PICTURE_STOP = message("A text of your own"), message("A picture of your own")
VOTE_PAGE = "class_vote"
PAGES = {entry.address: entry for entry in CONTENTS}
OTHER_PLAN = message("Another plan has been chosen for this class since this page was drawn, so nothing was done.")
LANGUAGE_TAGS = {tag_of(code) for code in LANGUAGES}


def follow_class(here: str, arrives: bool) -> None:
    """Before a page is drawn: bring it to where its class is, unless its visitor has gone elsewhere by himself.

    A visit that `arrives` with a link of that screen is there already: so does whoever comes back where a server has
    gone, with what he has set beside what the stop sets. The page of the class lets one in, says why not, and follows
    when it has looked.
    """
    if here == VOTE_PAGE:
        return
    code = get_state("class_inside")
    if code is None:
        code = let_in()
        if code is None:
            return
    say_in_link("class", code)
    if is_alone():
        unwatch()
        return
    watched, known = watch(code, voter(code), leads=bool(own_key())), KNOWN.get(code)
    if known is None:
        return  # in a second it is
    watched.revision = known.revision
    if known.revision < 0:
        leave_class()
        set_state("class_said", OVER)
        return
    follow(here, known.link, arrives)


def let_in() -> str | None:
    """The class that the link names, where there is one; whoever guesses waits here as on its own page."""
    if typed_code(text_in_link("class")) is None or seconds_at_the_door():
        return None
    try:
        room = opened_room()
    except RefusedError as error:
        if not isinstance(error, UnreachableError):
            leave_class()
        return None
    know_room(room)
    return room.code


def follow_from_vote(room: Room) -> None:
    """The same on the page of the class, which knows its room."""
    if not is_alone():
        follow(VOTE_PAGE, room.link, arrives=False)


def is_alone() -> bool:
    """True for a visit that has gone elsewhere by itself."""
    return bool(get_state("class_alone")) or text_in_link(FOLLOW.name) == "false"


def follow(here: str, link: str, arrives: bool) -> None:
    """Go where the class is, once; whoever is elsewhere afterwards has gone there by himself."""
    followed, (place, said) = get_state("class_followed"), place_of(link)
    if followed == link:
        if here != place:
            go_alone()
        return
    set_state("class_followed", link)
    is_there = arrives and all(text_in_link(name) == said.get(name, "") for name in {*said, "hide", "cover"})
    if here != place or (said and not is_there):
        go_along(place, said)


def go_along(place: str, said: dict[str, str]) -> None:
    """Open a page as a stop wants it, and nothing of what this visit had chosen before."""
    entry, shown = PAGES[place], said_in_link("lang", LARGE.name)
    begin_link_anew()
    for kept in ("answer", "explored", "question", "left"):
        take_state(f"{place}_{kept}")
    if own_key() and (plan := plan_of_class()) is not None:
        shown |= {LARGE.name: "true"} if plan.large else {}
        shown |= {"lang": plan.language} if plan.language else {}
    key = {"teacher": own_key()} if own_key() and place == VOTE_PAGE else {}
    open_link(page_of(entry), shown | said | {"class": get_state("class_inside")} | key)


def place_of(link: str) -> tuple[str, dict[str, str]]:
    """The page that a link opens, and what it says; without a link, the page of the class."""
    parts = urlsplit(link)
    place = parts.path.removeprefix("./") or ("home" if link else VOTE_PAGE)
    return (place if place in PAGES else VOTE_PAGE), dict(parse_qsl(parts.query))


def go_alone() -> None:
    """From now on this visit is left where it goes, and asked and covered as everybody is, whatever the stop was."""
    set_state("class_alone", True)
    _, said = place_of(get_state("class_followed"))
    forget_in_link(*(name for name in ("hide", "cover") if text_in_link(name) == said.get(name)))
    say_in_link(FOLLOW.name, "false")
    unwatch()


def come_along() -> None:
    """Follow the class again, from wherever one is."""
    set_state("class_alone", None)
    set_state("class_followed", None)
    forget_in_link(FOLLOW.name)
    try:
        ask_about(get_state("class_inside"))
    except UnreachableError:
        KNOWN.pop(get_state("class_inside"), None)


def notes_switch() -> bool:
    """The switch that leaves the notes of this tab; a link with the teacher's key opens them."""
    return switch(NOTES)


def shows_notes() -> bool:
    """True for a tab with a teacher's notes; it follows nobody."""
    return bool(own_key()) and text_in_link(NOTES.name) == "true"


def plan_of_class() -> Plan | None:
    """The plan that this visit leads its class through. It is asked for once, and again when another is brought."""
    code, kept = get_state("class_inside"), get_state("class_plan") or (None, None, None)
    known = KNOWN.get(code)
    if kept[0] != code or (known is not None and known.brought != kept[1]):
        try:
            kept = code, ask_about(code).brought, stored_plan(code)
        except RefusedError:
            return None
        set_state("class_plan", kept)
    return kept[2]


def stored_plan(code: str) -> Plan | None:
    """The plan that the database has for a class; None where it has none, or one that cannot be read here."""
    text = class_keeper().plan(code)
    try:
        return read_plan(text.encode(), PAGES, LANGUAGE_TAGS) if text else None
    except ValueError:
        return None


def plan_drawn() -> int:
    """The revision at which the plan was brought that this page shows, whatever is known of the class by now."""
    _, brought, _ = get_state("class_plan")
    return brought


def title_of_stop(stop: Stop) -> str:
    """The title of a stop's page; of a slide, what it is."""
    if stop.is_slide:
        return render(PICTURE_STOP if stop.picture else TEXT_STOP)
    return PAGES[stop.page].name


def step_buttons(plan: Plan, place: int) -> None:
    """Back, and what comes next; the arrow keys and a presenter's remote press them. Nothing here tells an answer."""
    last, brought = len(plan.steps) - 1, plan_drawn()
    st.button("←", key="plan_back", on_click=go_step, args=(-1, brought), disabled=place <= 0, help=translate("Back"))
    label = translate("The end") if place >= last else render(ACTIONS[plan.steps[place + 1].action])
    st.button(
        f"{label} →", key="plan_next", on_click=go_step, args=(1, brought), type="primary", disabled=place >= last
    )
    st.text(f"{place + 1}/{last + 1}", width="content")


def go_step(by: int, brought: int) -> None:
    """Do what the next step of the plan says, or the one before, whoever has pressed in another tab meanwhile."""
    bring_class(lambda plan, room: min(max(0, room.place + by), len(plan.steps) - 1), brought)


def bring_to_stop(stop: int, brought: int) -> None:
    """Do what the first step of this stop says."""
    bring_class(lambda plan, _: [step.stop for step in plan.steps].index(stop), brought)


def bring_class(to: Callable[[Plan, Room], int], brought: int) -> None:
    """Bring the class to a step of its plan. A button of another plan, the one `brought` before, does nothing."""
    code, key = get_state("class_inside"), own_key()
    try:
        room = class_keeper().look(code)
        know_room(room)
        plan = plan_of_class()
        if plan is None or room.brought != brought:
            set_state("class_said", OTHER_PLAN)
            return
        place = to(plan, room)
        class_keeper().lead(code, key, room.revision, lead_to(plan, place, room))
        ask_about(code)
        look_now()
    except (RefusedError, ValueError) as error:
        set_state("class_said", reason(error))
        return
    set_state("train_now", plan.steps[place].action == "train" and place > room.place)
    if not shows_notes():
        set_state("class_alone", None)
        forget_in_link(FOLLOW.name)


def led_by_plan(room: Room) -> bool:
    """True where the question of a class is the one of the stop that its plan is at: the strip leads it."""
    plan = plan_of_class()
    return plan is not None and room.place >= 0 and room.asked == text_of_stop(stop_at(plan, room.place))


def stop_at(plan: Plan, place: int) -> Stop:
    """The stop of a step."""
    return plan.stops[plan.steps[place].stop]


def lead_to(plan: Plan, place: int, room: Room) -> Lead:
    """Where the class is brought. A question that cannot be asked on this machine is left out, and its screen shown."""
    stop = stop_at(plan, place)
    text, cards = text_of_stop(stop), 0
    try:
        here = asked_here(text) if text else None
        text, cards = (text, here.cards) if here is not None and here.question is not None else ("", 0)
    except (ValueError, LookupError) as error:
        set_state("class_said", reason(error))
        text = ""
    now = Now(room.link, room.number, room.stage, room.asked)
    done = after_step(plan, place, now, address_of(stop.page, stop.link), text)
    asked = (cards, text) if done.asks else (0, "")
    return Lead(place, done.link, done.seconds, done.number, done.stage, *asked)
