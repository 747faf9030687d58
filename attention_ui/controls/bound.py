"""Controls made of what a choice declares, bound to the address: the link says what was chosen, and sets them."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st

from attention_ui.session import (
    beginning_of,
    forget_in_link,
    get_state,
    linked_option,
    name_option_in_link,
    plain_label,
    restore_number,
    say_in_link,
    set_state,
    show_notes,
    text_in_link,
    write_in_link,
)
from lessons.screen import (
    Choice,
    Integer,
    Label,
    Limit,
    Number,
    OneOf,
    OneToken,
    Switch,
    Text,
    format_value,
    message,
    said_in_links,
    translate,
)

One = TypeVar("One")


def control_of(choice: Choice) -> object:
    """Draw the control that a choice has, and return what is chosen."""
    match choice:
        case OneOf():
            looks = {"row": one_in_row, "steps": stepper, "list": one_in_list, "slider": one_on_slider, "scale": scale}
            return looks[choice.look](choice)
        case Number():
            return number_field(choice) if choice.typed else slider(choice)
        case Text():
            return text_field(choice)
        case Switch():
            return switch(choice)
    raise TypeError(f"{type(choice).__name__} {choice.name} depends on more than itself: what draws it is elsewhere")


def look_of(choice: Choice, look: Mapping[str, object]) -> dict[str, object]:
    """The name of a control, and how it looks where that is said."""
    return {"key": choice.name} | ({} if choice.width is None else {"width": choice.width}) | look


def one_in_row(choice: OneOf) -> object:
    """One of a few options side by side."""
    with option_in_link(choice):
        chosen = st.segmented_control(
            plain_label(choice.label),
            list(choice.options),
            format_func=partial(label_of, choice.options),
            required=True,
            key=choice.name,
            persist_state="session",
            label_visibility="visible" if choice.labelled else "collapsed",
        )
    return known(choice, chosen)


def stepper(choice: OneOf) -> object:
    """Previous, next and the row of all steps; the arrow keys work too. After the last step comes the first again."""
    names, key = list(choice.options), choice.name
    here = names.index(known(choice, get_state(key)))
    with st.container(horizontal=True, vertical_alignment="center"):
        for way, label, move, shortcut in (
            ("Back", translate("Back"), -1, "Left"),
            ("Next", translate("Next"), 1, "Right"),
        ):
            target = names[(here + move) % len(names)]
            st.button(label, key=f"{key}_{way}", shortcut=shortcut, on_click=set_state, args=(key, target))
        return one_in_row(choice)


def one_in_list(choice: OneOf, **look) -> object:
    """One of many options in a list that unfolds."""
    with option_in_link(choice):
        chosen = st.selectbox(
            plain_label(choice.label),
            list(choice.options),
            format_func=partial(label_of, choice.options),
            persist_state="session",
            **look_of(choice, look),
        )
    return known(choice, chosen)


def one_in_following_list(choice: OneOf, begin: object, **look) -> object:
    """The same where what one finds at first changes with other choices. Who never chose goes along."""
    if get_state(choice.name) == get_state(f"{choice.name}_begin"):
        set_state(choice.name, None)
    set_state(f"{choice.name}_begin", begin)
    return one_in_list(replace(choice, begin=begin), **look)


def one_on_slider(choice: OneOf, **look) -> object:
    """One of some options, mostly numbers, on a slider; the browser sends their names."""
    named = {said_in_links(option): option for option in choice.options}
    with option_in_link(choice, list(named), said_in_links(choice.begin)):
        chosen = st.select_slider(
            plain_label(choice.label),
            list(named),
            format_func=lambda name: label_of(choice.options, named.get(name, name)),
            persist_state="session",
            **look_of(choice, look),
        )
    return named.get(chosen, choice.begin)


def scale(choice: OneOf) -> float:
    """One of some numbers, evenly spaced, with one decimal."""
    least, second, *_, most = choice.options
    step = round(second - least, 1)
    chosen = st.slider(
        plain_label(choice.label), least, most, choice.begin, step, "%.1f", **look_of(choice, {"bind": "query-params"})
    )
    return min(choice.options, key=lambda option: abs(option - chosen))


def known(choice: OneOf, chosen: object) -> object:
    """What was chosen, or what one finds at first: a forged message may name what is none."""
    return chosen if chosen in list(choice.options) else choice.begin


def label_of(options: Mapping[One, Label], option: One) -> str:
    """What an option is called in the reader's language; a forged message may name what is none."""
    return format_value(options.get(option, ""))


@contextmanager
def option_in_link(
    choice: OneOf, options: Collection[object] | None = None, begin: object | None = None
) -> Iterator[None]:
    """Around a control that chooses among options: the link names its choice in short, the same in every language.

    Streamlit itself would write the label. The control may know them, and what it begins with, by other words.
    """
    options, begin = (choice.options, choice.begin) if options is None else (options, begin)
    linked_option(choice.name, options, begin)
    yield
    name_option_in_link(choice.name, options, None if choice.always else begin)


def slider(choice: Number, **look) -> int:
    """A whole number within its limits, on a slider."""
    limit, look = choice.limit, look_of(choice, look)
    chosen = st.slider(
        plain_label(choice.label), limit.least, limit.most, choice.begin, choice.step, bind="query-params", **look
    )
    return chosen - choice.counted_from


def number_field(choice: Number, **look) -> float:
    """A number within its limits, to be typed; a whole one where the limits are, whatever a forged message says."""
    limit, look = choice.limit, look_of(choice, look)
    whole = isinstance(limit, Limit)
    typed = st.number_input(
        plain_label(choice.label),
        limit.least,
        limit.most,
        choice.begin,
        choice.step,
        None if whole else "%g",
        bind="query-params",
        **look,
    )
    return limit.clamp(int(typed)) if whole else typed


def text_field(choice: Text, **look) -> str:
    """A text, to be typed; `on_change` is called when it was, with nothing."""
    look = {"bind": "query-params", "placeholder": format_value(choice.placeholder)} | look_of(choice, look)
    label, then = plain_label(choice.label), look.pop("on_change", None)
    if choice.most is None:
        return st.text_input(label, choice.begin, on_change=then, **look) or ""
    return limited_field(st.text_input, label, look.pop("key"), choice.most, then, value=choice.begin, **look)


def limited_field(field: Callable, label: str, key: str, most: int, then: Callable | None = None, *args, **look) -> str:
    """A field for a text of so many characters at most; `then` is called when its text has changed.

    A longer text is cut, which is said below the field. What is pasted beyond the limit that Streamlit itself can set
    is refused without a word, and the text before stays.
    """
    typed = field(label, key=key, on_change=cut_typed, args=(most, key, then, *args), **look) or ""
    used, note = get_state(f"{key}_cut") or ("", None)
    show_notes(note if used == typed else None)
    return typed


def cut_typed(most: int, key: str, then: Callable | None, *args) -> None:
    """Keep what fits of a text that was typed, and the sentence that says so."""
    typed = str(get_state(key) or "")
    if len(typed) > most:
        used = beginning_of(typed, most)
        note = message(
            "This field takes at most {most} characters, and the text has {count}; the first {used} are used.",
            most=most,
            count=Integer(len(typed)),
            used=len(used),
        )
        set_state(key, used)
        set_state(f"{key}_cut", (used, note))
    if then:
        then(*args)


def switch(choice: Switch, **look) -> bool:
    """A toggle for a choice between on and off."""
    return st.toggle(plain_label(choice.label), choice.begin, bind="query-params", **look_of(choice, look))


def next_number(choice: Number) -> None:
    """Let such a control show the next number; after the last comes 0."""
    set_state(choice.name, (int(get_state(choice.name) or 0) + 1) % (choice.limit.most + 1))


@contextmanager
def clamped_control(key: str, limit: Limit, begin: int) -> Iterator[None]:
    """Around a control whose limits or beginning change with other choices: Streamlit itself binds none of those."""
    note = restore_number(key, limit, begin)
    yield
    write_in_link(key)
    show_notes(note)


def changing_slider(choice: Number, **look) -> int:
    """A slider whose limits or beginning change with other choices. Who never moved it goes along."""
    limit = choice.limit
    with clamped_control(choice.name, limit, choice.begin):
        chosen = st.slider(
            plain_label(choice.label),
            limit.least,
            limit.most,
            step=choice.step,
            persist_state="session",
            **look_of(choice, look),
        )
    return limit.clamp(int(chosen))


def one_on_changing_slider(choice: Number, stops: Sequence[int], **look) -> int:
    """A slider with these stops, in order, the last at first; a number between them gives way to the one before."""
    with clamped_control(choice.name, Limit(stops[0], stops[-1]), stops[-1]):
        set_state(choice.name, stops[bisect_right(stops, get_state(choice.name)) - 1])
        chosen = st.select_slider(
            plain_label(choice.label), list(stops), persist_state="session", **look_of(choice, look)
        )
    return chosen if chosen in stops else stops[-1]  # a forged message may hand over words


def one_in_changing_list(choice: Number | OneToken, names: Mapping[int, str], begin: int, **look) -> int:
    """One of so many numbered things, under their names, in a list; one may be gone by the next look."""
    with clamped_control(choice.name, Limit(1, len(names)), begin):
        chosen = st.selectbox(
            plain_label(choice.label),
            list(names),
            format_func=lambda number: names.get(number, ""),
            persist_state="session",
            **look_of(choice, look),
        )
    return chosen if isinstance(chosen, int) else begin  # a forged message may hand over words


def several_in_list(choice: Text, names: Mapping[int, str], most: int | None = None, **look) -> tuple[int, ...]:
    """Some of so many numbered things, at `most` so many, under their names; the link lists their numbers."""
    asked, chosen = text_in_link(choice.name), get_state(choice.name)
    if not isinstance(chosen, list) or asked != (get_state(f"{choice.name}_in_link") or ""):
        chosen = [int(number) for number in asked.split(",") if number.isascii() and number.isdigit()]
    set_state(choice.name, [number for number in chosen if number in names][:most])
    chosen = st.multiselect(
        plain_label(choice.label),
        list(names),
        format_func=lambda number: names.get(number, ""),
        placeholder=format_value(choice.placeholder),
        max_selections=most,
        persist_state="session",
        **look_of(choice, look),
    )
    said = ",".join(str(number) for number in sorted(chosen))
    say_in_link(choice.name, said) if said else forget_in_link(choice.name)
    set_state(f"{choice.name}_in_link", said)
    return tuple(sorted(number for number in chosen if number in names))
