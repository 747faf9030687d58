"""The only file that touches session state: what one visitor has, and nobody else."""

from collections.abc import Set

import streamlit as st

HELD = "edits_held"  # in a run for which a hand asks that holds a number: the changed numbers as it has them
ASKED = "edits_asked"  # the same before that run


def get_state(name: str) -> object | None:
    """What is kept for this visitor under this name, the value of the widget with this key included; or None."""
    return st.session_state.get(name)


def set_state(name: str, value: object) -> None:
    """Keep something for this visitor; also sets the widget with this key, before it is drawn."""
    st.session_state[name] = value


def show_in_widget(key: str, value: object) -> None:
    """Let a widget that is about to be drawn show this value.

    Only a value that is new is set: Streamlit sends what is set to the browser, where it would take the place of what
    the visitor has changed since.
    """
    if get_state(key) != value:
        set_state(key, value)


def take_state(name: str) -> object | None:
    """What is kept under this name, or None; from now on nothing is."""
    return st.session_state.pop(name, None)


def take_all(names: Set[str]) -> None:
    """From now on nothing is kept under any of these names, of which a visit has few."""
    for name in names & set(st.session_state):
        take_state(name)


def is_held() -> bool:
    """True in a run for which a hand asks that still holds its number."""
    return get_state(HELD) is not None
