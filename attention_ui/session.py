"""The only file that touches session state and query parameters: what one visitor has, and nobody else."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from attention_core.examples import Limit

T = TypeVar("T")


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


def numbers_from_link(limits: dict[str, Limit]) -> list[str]:
    """Bring the whole numbers of a link within their limits; sentences on what had to be changed.

    Streamlit puts a widget at its default when the link asks for the impossible; the nearest possible
    value is closer to what was meant. To be called before the widgets are drawn.
    """
    notes = []
    for name, limit in limits.items():
        asked = st.query_params.get(name)
        if asked is None or name in st.session_state:
            continue
        try:
            value = int(asked)
        except ValueError:
            notes.append(f"The link says {name} = {shortened(asked)}, which is not a whole number; it was left out.")
            continue
        if value != limit.clamp(value):
            st.session_state[name] = limit.clamp(value)
            notes.append(
                f"The link says {name} = {shortened(asked)}, but {name} goes from {limit.least} to {limit.most}; "
                f"this is {limit.clamp(value)}."
            )
    return notes


def shortened(text: str, most: int = 20) -> str:
    """The beginning of a text that may be of any length."""
    return text if len(text) <= most else f"{text[:most]}…"
