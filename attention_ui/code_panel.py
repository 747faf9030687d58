"""The code that ran: formula, source, the plain-loop and the NumPy version, and the shapes."""

import inspect
from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from attention_core.attention import AttentionTrace
from attention_core.reference import attend_with_loops, attend_with_numpy, compare_references
from attention_ui.lesson import show_rows
from attention_ui.links import hidden, in_link
from attention_ui.state import get_state, set_state
from lessons.reference_captions import references_caption
from lessons.shapes import shape_table

WAYS = {"torch": "PyTorch", "loops": "plain loops", "numpy": "NumPy"}
LINK_RULES = {"code": WAYS}


def code_panel(attention: AttentionTrace, scale: float, *functions: Callable, formula: str | None = None) -> None:
    """The functions of this lesson as they stand in the files that ran, and the same in two other ways.

    All three are run on the numbers of this page. `formula` is LaTeX, with numbers only.
    """
    open_for_link("code")
    with source_panel() as panel:
        if not panel.open:
            return
        if formula:
            st.latex(formula)
        way = st.segmented_control(
            "Written with", list(WAYS), default="torch", format_func=WAYS.get, required=True, key="code",
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
        st.text(references_caption(compare_references(attention, scale)))
        show_source(*{"loops": [attend_with_loops], "numpy": [attend_with_numpy]}.get(way, functions))
        show_rows(shape_table(attention))


def open_for_link(name: str) -> None:
    """A link that asks for one way of writing opens the panel, once."""
    if get_state("code_open") is None and in_link(name):
        set_state("code_open", True)


def plain_code_panel(*functions: Callable) -> None:
    """The functions that ran, where there is nothing to compare them with."""
    with source_panel() as panel:
        if panel.open:
            show_source(*functions)


def source_panel():
    """A fold that is filled when it is opened: every element on a page costs the browser time at each change."""
    if hidden("code"):
        return ClosedPanel()
    return st.expander("The code that ran", key="code_open", on_change="rerun")


class ClosedPanel(nullcontext):
    """Stands in for a panel that a class does not see."""

    open = False

    def __enter__(self):
        return self


def show_source(*functions: Callable) -> None:
    """The very source of functions that ran, with a button to copy it."""
    st.code("\n\n".join(inspect.getsource(function).rstrip() for function in functions), language="python")
