"""The only file that touches session state and query parameters: what one visitor has, and nobody else."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from attention_core.examples import Limit
from attention_core.tokens import clean_text

T = TypeVar("T")

LinkRule = Limit | dict[str, str]  # numbers within limits; or the short names of choices and their labels
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


def repair_link(page, rules: dict[str, LinkRule]) -> None:
    """Where the link asks for the impossible, open the page again with the nearest that is possible.

    Streamlit itself would put such a widget at its default, without a word. Short names of choices become
    the labels that Streamlit expects. To be called before any widget is drawn.
    """
    if recall("link_checked"):
        return
    keep("link_checked", True)
    repaired, notes = {}, []
    for name, asked in st.query_params.to_dict().items():
        rule = rules.get(name)
        if isinstance(rule, Limit):
            repaired[name], note = repaired_number(name, asked, rule)
        elif rule is not None:
            repaired[name], note = repaired_option(name, asked, rule)
        else:
            repaired[name], note = asked, None
        notes += [note] if note else []
    possible = {name: value for name, value in repaired.items() if value is not None}
    if possible != st.query_params.to_dict():
        keep("link_notes", notes)
        st.switch_page(page, query_params=possible)


def link_notes() -> list[str]:
    """What had to be changed in the link, in sentences; told once."""
    return st.session_state.pop("link_notes", [])


def repaired_option(name: str, asked: str, labels: dict[str, str]) -> tuple[str | None, str | None]:
    """The label for a short name; a label as it is; nothing, and a sentence, for anything else."""
    known = {label.lower(): label for label in labels.values()} | {key.lower(): labels[key] for key in labels}
    if asked.lower() in known:
        return known[asked.lower()], None
    return None, f"The link says {name} = {shortened(asked)}, which is none of the choices; it was left out."


def repaired_number(name: str, asked: str, limit: Limit) -> tuple[str | None, str | None]:
    """The nearest possible number; nothing for what is no number; and the sentence that says so."""
    try:
        value = int(float(asked))
    except (ValueError, OverflowError):
        return None, f"The link says {name} = {shortened(asked)}, which is not a number; it was left out."
    nearest = limit.clamp(value)
    if value == nearest:
        return str(nearest), None
    return str(nearest), (
        f"The link says {name} = {shortened(asked)}, but {name} goes from {limit.least} to {limit.most}; "
        f"this is {nearest}."
    )


def hidden(part: str) -> bool:
    """True when the link of this class leaves the part out: `?hide=predict,code`."""
    return part in st.query_params.get("hide", "").split(",")


def go_to(page) -> None:
    """Open another page. What the teacher's link hides stays hidden; the widgets bring their own parameters."""
    hide = st.query_params.get("hide")
    st.switch_page(page, query_params={"hide": hide} if hide else {})


def shortened(text: str, most: int = 20) -> str:
    """The beginning of a text that may be anything, made fit to show."""
    clean = clean_text(text).text
    return clean if len(clean) <= most else f"{clean[:most]}…"
