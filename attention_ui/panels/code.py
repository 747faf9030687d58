"""The code that ran: source, the plain-loop and the NumPy version, and the shapes."""

import inspect
from collections.abc import Callable
from functools import partial

import streamlit as st

from attention_core.reference import attend_with_loops, attend_with_numpy
from attention_ui.controls.bound import one_in_row
from attention_ui.lesson import fold, show_rows
from attention_ui.links import text_in_link
from attention_ui.state import get_state, set_state
from lessons.formatting import english
from lessons.screen import Code
from lessons.shapes import shape_table
from lessons.ways import compared

WAYS = {"torch": "PyTorch", "loops": "plain loops", "numpy": "NumPy"}
LINK_RULES = {"code": WAYS}


def show_code(code: Code) -> None:
    """The functions of this lesson, in a fold. A link that asks for one way of writing opens it, once."""
    if get_state("code_open") is None and text_in_link("code"):
        set_state("code_open", True)
    fold("code", "The code that ran", "code_open", partial(draw_code, code))


def draw_code(code: Code) -> None:
    """The functions as they stand in the files that ran.

    Where they are an attention, the same in two other ways: all three are run on the numbers of this page.
    """
    if code.attention is None:
        show_source(*code.functions)
        return
    way = one_in_row("Written with", "code", WAYS)
    st.text(english(compared(code.attention, code.scale)))
    show_source(*{"loops": [attend_with_loops], "numpy": [attend_with_numpy]}.get(way, code.functions))
    show_rows(shape_table(code.attention))


def show_source(*functions: Callable) -> None:
    """The very source of functions that ran, with a button to copy it."""
    st.code("\n\n".join(inspect.getsource(function).rstrip() for function in functions), language="python")
