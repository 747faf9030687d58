"""The only file that touches session state and query parameters: what one visitor has, and nobody else."""

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention_core.tokens import clean_text
from lessons.example import Limit

T = TypeVar("T")


@dataclass(frozen=True)
class Span:
    """The numbers, whole or not, that a control takes."""

    least: float
    most: float


@dataclass(frozen=True)
class Length:
    """How many characters a control takes, where nothing else says that a text was cut."""

    most: int


# Whole numbers or any numbers within limits; a text; or the short names of choices and their labels.
LinkRule = Limit | Span | Length | dict[str, str]
SWITCH = {"true": "true", "false": "false"}


def remembered(name: str, make: Callable[[], T]) -> T:
    """Something kept for this visitor from run to run; made the first time."""
    if name not in st.session_state:
        st.session_state[name] = make()
    return st.session_state[name]


def recall(name: str) -> object | None:
    """What was kept under this name, or None."""
    return st.session_state.get(name)


def keep(name: str, value: object) -> None:
    """Keep something for this visitor; also sets the widget with this key, before it is drawn."""
    st.session_state[name] = value


def give_way() -> None:
    """End this run of the page here if its visitor has asked for another by now: Streamlit looks at each access."""
    _ = "anything" in st.session_state


def forget_left_controls() -> None:
    """Let go of controls that are on this visitor's page no longer. To be called before any is drawn.

    Streamlit forgets the value of such a control but keeps its description, half a kilobyte with all that belongs to
    it, until the visitor is gone. What is shown again is described again. Nothing public reaches these descriptions:
    in a version that has them elsewhere, they stay.
    """
    state = getattr(getattr(get_script_run_ctx(suppress_warning=True), "session_state", None), "_state", None)
    controls, values = getattr(state, "_new_widget_state", None), getattr(state, "_old_state", None)
    described, sent = getattr(controls, "widget_metadata", None), getattr(controls, "states", None)
    if described is None or values is None or sent is None:
        return
    there = values.keys() | sent.keys()
    for control in described.keys() - there:
        del described[control]
    forget_left_names(state, there)


def forget_left_names(state: object, there: Collection[str]) -> None:
    """Let go of the names of controls that are not `there`, which Streamlit keeps both ways to the end of the visit.

    Not of those that the address holds: by their names Streamlit knows what a link, or going back, may set.
    """
    mapper = getattr(state, "_key_id_mapper", None)
    names, controls = getattr(mapper, "_id_key_mapping", None), getattr(mapper, "_key_id_mapping", None)
    bound = getattr(state, "_query_param_bound_widget_ids", None)
    if names is None or controls is None or bound is None:
        return
    for control in names.keys() - there:
        newest = controls.get(names[control]) == control
        if newest and control in bound:
            continue
        name = names.pop(control)
        if newest:
            del controls[name]


def repair_link(page, rules: dict[str, LinkRule]) -> None:
    """Where the link asks for the impossible, open the page again with the nearest that is possible.

    Streamlit itself would put such a widget at its default, without a word. Short names of choices become
    the labels that Streamlit expects. To be called before any widget is drawn.
    """
    if recall("link_checked"):
        return
    keep("link_checked", True)
    repaired, notes, repeated = {}, [], False
    for name in st.query_params:
        *others, asked = st.query_params.get_all(name)
        repaired[name], note = repaired_value(name, asked, rules.get(name))
        repeated = repeated or bool(others)
        notes += [f"The link says {name} more than once; the last one counts."] if others else []
        notes += [note] if note else []
    possible = {name: value for name, value in repaired.items() if value is not None}
    if repeated or possible != st.query_params.to_dict():
        keep("link_notes", notes)
        st.switch_page(page, query_params=possible)


def link_notes() -> list[str]:
    """What had to be changed in the link, in sentences; told once."""
    return st.session_state.pop("link_notes", [])


def said_in_link(name: str) -> str:
    """What the link says of this name; nothing where it does not mention it."""
    return st.query_params.get(name, "")


def asked_in_link(name: str) -> int | None:
    """The whole number that the link gives for a widget whose choices depend on others; None without one."""
    asked = st.query_params.get(name, "")
    return int(asked) if asked.isascii() and asked.isdigit() else None


def repaired_value(name: str, asked: str, rule: LinkRule | None) -> tuple[str | None, str | None]:
    """What of a parameter can be, or None; and a sentence where that is something else than the link says."""
    if isinstance(rule, Limit | Span):
        return repaired_number(name, asked, rule)
    if isinstance(rule, Length):
        return repaired_text(name, asked, rule)
    return (asked, None) if rule is None else repaired_option(name, asked, rule)


def repaired_option(name: str, asked: str, labels: dict[str, str]) -> tuple[str | None, str | None]:
    """The label for a short name; a label as it is; nothing, and a sentence, for anything else."""
    known = {label.lower(): label for label in labels.values()} | {key.lower(): labels[key] for key in labels}
    if asked.lower() in known:
        return known[asked.lower()], None
    return None, f"{link_says(name, asked)}, which is none of the choices; it was left out."


def repaired_number(name: str, asked: str, limit: Limit | Span) -> tuple[str | None, str | None]:
    """The nearest possible number; nothing for what is no number; and the sentence that says so."""
    try:
        value = float(asked)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        return None, f"{link_says(name, asked)}, which is not a number; it was left out."
    within = min(max(value, limit.least), limit.most)
    nearest = round(within) if isinstance(limit, Limit) else within
    if value == nearest:
        return str(nearest), None
    takes = "is a whole number" if value == within else f"goes from {limit.least} to {limit.most}"
    return str(nearest), f"{link_says(name, asked)}, but {name} {takes}; this is {nearest}."


def repaired_text(name: str, asked: str, length: Length) -> tuple[str, str | None]:
    """The beginning that fits, and the sentence that says so."""
    if len(asked) <= length.most:
        return asked, None
    return asked[: length.most], (
        f"{link_says(name, asked)}, which has {len(asked):,} characters; the first {length.most} are used."
    )


def link_says(name: str, asked: str) -> str:
    """The beginning of a sentence about what cannot be."""
    return f"The link says {name} = {shortened(asked) or 'nothing'}"


def linked_number(name: str, limit: Limit, default: int) -> str | None:
    """Before a control is drawn whose limits follow the tokens, which Streamlit cannot bind: set it, from the link.

    A number that is new in the link is taken over; what lies outside the limits by now gives way to the nearest,
    and whoever never chose keeps the default. The sentence returned says what of the link could not be.
    """
    asked, note = st.query_params.get(name), None
    untouched = recall(name) in (None, recall(f"{name}_default"))
    # A forged message may have put words there.
    value = default if untouched or not isinstance(recall(name), int) else recall(name)
    if asked is not None and asked != recall(f"{name}_in_link"):
        found, note = repaired_number(name, asked, limit)
        value = default if found is None else int(found)
    keep(name, limit.clamp(value))
    keep(f"{name}_default", default)
    return note


def tell_link(name: str) -> None:
    """After such a control is drawn: the address says what was chosen, unless it is the default."""
    chosen = None if recall(name) == recall(f"{name}_default") else str(recall(name))
    if chosen is None:
        st.query_params.pop(name, None)
    elif chosen != st.query_params.get(name):
        st.query_params[name] = chosen
    keep(f"{name}_in_link", chosen)


def too_large_in_link(name: str, most: int) -> str | None:
    """A sentence where the link, before its control was ever drawn, asks for more than there is just now."""
    asked = asked_in_link(name) if recall(name) is None else None
    return None if asked is None or asked <= most else f"{link_says(name, str(asked))}, but here are only {most}."


def in_link(name: str) -> bool:
    """True when the address says something of this name."""
    return name in st.query_params


def asked_on(name: str) -> bool:
    """True when the address turns this switch on."""
    return st.query_params.get(name, "").lower() == "true"


def hidden(part: str) -> bool:
    """True when the link of this class leaves the part out: `?hide=predict,code`."""
    return part in st.query_params.get("hide", "").split(",")


def left_out() -> list[str]:
    """The names of all that the link of this class leaves out, those that can be names."""
    return [name for name in st.query_params.get("hide", "").split(",") if re.fullmatch("[A-Za-z_]{1,40}", name)]


def go_to(page) -> None:
    """Open another page. What the teacher's link hides stays hidden; the widgets bring their own parameters."""
    hide = st.query_params.get("hide")
    st.switch_page(page, query_params={"hide": hide} if hide else {})


def shortened(text: str, most: int = 20) -> str:
    """The beginning of a text that may be anything, made fit to show."""
    clean = clean_text(text).text
    return clean if len(clean) <= most else f"{clean[:most]}…"
