"""A text or a picture of the teacher's own, which a class looks at in the place of a screen or a question."""

import base64
import functools
from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from attention_ui.classroom.plan.leading import stop_at, stored_plan
from attention_ui.classroom.vote.watching import doubt
from attention_ui.session import address_of
from classes.pictures import kind_of_picture
from classes.stages import RefusedError, Room, UnreachableError
from lessons.screen import translate
from lessons.teachers.class_plan.plan import SLIDE_PAGE, Plan, Stop

PLANS_KEPT = 16  # a class asks for its plan once, not each of its pages
MOST_LARGE = 300  # characters of a text in the largest letters
NONE_AT_HAND: Mapping[str, bytes] = MappingProxyType({})


def slide_of(room: Room) -> Stop | None:
    """The slide that a class looks at just now; None where it looks at something else."""
    if room.place < 0 or room.link != address_of(SLIDE_PAGE):
        return None
    try:
        plan = plan_at(room.code, room.revision)
    except UnreachableError:
        doubt()
        return None
    except RefusedError:
        return None
    stop = stop_at(plan, room.place) if plan is not None and room.place < len(plan.steps) else None
    return stop if stop is not None and stop.is_slide else None


@functools.lru_cache(maxsize=PLANS_KEPT)
def plan_at(code: str, revision: int) -> Plan | None:
    """The plan of a class at this revision, which grows with every plan that is brought."""
    return stored_plan(code)


def draw_slide(stop: Stop, key: str = "class_slide", at_hand: Mapping[str, bytes] = NONE_AT_HAND) -> None:
    """Show it: its text literally, as large as there is room; its picture from the class, or `at_hand` by its hash."""
    size = "large" if len(stop.text) <= MOST_LARGE else "long"
    with st.container(key=f"{key}_{size}"):
        if stop.picture:
            alt = translate("A picture from your teacher")
            st.markdown(f"![{alt}]({address_of_picture(stop.picture, at_hand)})")
        if stop.text:
            st.text(stop.text)


def address_of_picture(name: str, at_hand: Mapping[str, bytes]) -> str:
    """Where a browser finds a picture: in the address itself, before any class has it."""
    data = at_hand.get(name)
    if data is None:
        return f"./picture/{name}"
    return f"data:{kind_of_picture(data)};base64,{base64.b64encode(data).decode()}"
