"""Controls bound to the address: the link says what was chosen with them, and sets them."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import streamlit as st

from attention_ui.session.chart import show_notes
from attention_ui.session.links import Label, Span, linked_option, name_option_in_link, restore_number, write_in_link
from attention_ui.session.state import get_state, set_state
from lessons.example.example import Limit
from lessons.screen.format import format_value, translate

One = TypeVar("One")


def one_in_row(
    label: str, key: str, options: Mapping[One, Label], begin: One | None = None, *, labelled: bool = False
) -> One:
    """One of a few choices side by side, at first `begin` or else the first; unless `labelled`, its label is unseen."""
    begin = next(iter(options)) if begin is None else begin
    with option_in_link(key, options, begin):
        chosen = st.segmented_control(
            label,
            list(options),
            format_func=partial(label_of, options),
            required=True,
            key=key,
            persist_state="session",
            label_visibility="visible" if labelled else "collapsed",
        )
    return chosen if chosen in options else begin  # a forged message may name what is none


def label_of(options: Mapping[One, Label], option: One) -> str:
    """What a choice is called in the reader's language; a forged message may name what is none."""
    return format_value(options.get(option, ""))


@contextmanager
def option_in_link(key: str, options: Collection[One], begin: One, *, always: bool = False) -> Iterator[None]:
    """Around a control that chooses among options: the link names its choice in short, the same in every language.

    Streamlit itself would write the label. What one finds at first is named only where a link `always` says it.
    """
    linked_option(key, options, begin)
    yield
    name_option_in_link(key, options, None if always else begin)


def stepper(key: str, steps: Mapping[str, Label], begin: str | None = None) -> str:
    """Previous, next and the row of all steps; the arrow keys work too. After the last step comes the first again."""
    names, chosen = list(steps), get_state(key)
    here = names.index(chosen) if chosen in names else names.index(begin or names[0])
    with st.container(horizontal=True, vertical_alignment="center"):
        for way, label, move, shortcut in (
            ("Back", translate("Back"), -1, "Left"),
            ("Next", translate("Next"), 1, "Right"),
        ):
            target = names[(here + move) % len(names)]
            st.button(label, key=f"{key}_{way}", shortcut=shortcut, on_click=set_state, args=(key, target))
        return one_in_row(translate("Step"), key, steps, begin)


def one_in_list(
    label: str, key: str, options: Mapping[One, Label], begin: One | None = None, *, always: bool = False, **look
) -> One:
    """One of many choices in a list that unfolds, at first `begin` or else the first.

    Where the address `always` says which, a link keeps its meaning whatever the list begins with one day.
    """
    begin = next(iter(options)) if begin is None else begin
    with option_in_link(key, options, begin, always=always):
        chosen = st.selectbox(
            label, list(options), format_func=partial(label_of, options), key=key, persist_state="session", **look
        )
    return chosen


def bound_slider(label: str, key: str, limit: Limit, begin: int, **look) -> int:
    """A whole number within its limits, on a slider."""
    return st.slider(label, limit.least, limit.most, begin, key=key, bind="query-params", **look)


def bound_number(label: str, key: str, limit: Limit | Span, begin: float, **look) -> float:
    """A number within its limits, to be typed; a whole one where the limits are, whatever a forged message says."""
    typed = st.number_input(label, limit.least, limit.most, begin, key=key, bind="query-params", **look)
    return limit.clamp(int(typed)) if isinstance(limit, Limit) else typed


def next_number(key: str, limit: Limit) -> None:
    """Let such a control show the next number; after the last comes 0."""
    set_state(key, (int(get_state(key) or 0) + 1) % (limit.most + 1))


@contextmanager
def clamped_control(key: str, limit: Limit, begin: int) -> Iterator[None]:
    """Around a control whose limits or beginning change with other choices: Streamlit itself binds none of those."""
    note = restore_number(key, limit, begin)
    yield
    write_in_link(key)
    show_notes(note)


def changing_slider(label: str, key: str, limit: Limit, begin: int, **look) -> int:
    """A slider whose limits or beginning change with other choices. Who never moved it goes along."""
    with clamped_control(key, limit, begin):
        chosen = st.slider(label, limit.least, limit.most, key=key, persist_state="session", **look)
    return limit.clamp(int(chosen))
