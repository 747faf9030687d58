"""The code that ran: source, the plain-loop and the NumPy version, and the shapes."""

import inspect
import textwrap
from collections.abc import Callable

import streamlit as st

from attention_ui.controls.bound import one_in_row
from attention_ui.session import get_state, show_rows
from lessons.screen import (
    WRITTEN_WITH,
    Code,
    OneOf,
    call_in_other_way,
    message,
    program_of,
    render,
    shape_table,
    translate,
)

WAY = OneOf("code", message("Written with"), {"torch": "PyTorch", "loops": message("plain loops"), "numpy": "NumPy"})
A_PROGRAM = message("A program to copy")
PROGRAM_HEIGHT = 420  # pixels


def draw_code(code: Code) -> None:
    """The functions as they stand in the files that ran, and where there is a program that runs by itself.

    Where they are an attention, the same in two other ways: all three are run on the numbers of this page.
    """
    if code.call is not None:
        st.text(
            translate(
                "These lines need the package attention_core. For code that runs on its own, choose “{program}”.",
                program=A_PROGRAM,
            )
        )
    if code.attention is None:
        show_source(*code.functions)
        show_call(code)
        return
    from lessons.one_head.dot_product.compare_ways import compared  # with torch, which the first screen does without

    way = one_in_row(WAY)
    st.text(render(compared(code.attention, code.scale)))
    show_source(*([WRITTEN_WITH[way]] if way in WRITTEN_WITH else code.functions))
    if way not in WRITTEN_WITH:
        show_call(code)
    show_rows(shape_table(code.attention))


def show_call(code: Code) -> None:
    """How the function was called."""
    if code.call is not None:
        st.code(code.call().line, language="python")


def draw_program(code: Code) -> None:
    """Sources, the numbers of this screen, and what was done with them, in one piece."""
    way = get_state(WAY.name)
    if code.attention is not None and way in WRITTEN_WITH:
        program = program_of(call_in_other_way(code.attention, code.scale, way))
    else:
        program = program_of(code.call())
    st.text(
        translate("Copy it into an empty file: it needs only torch and NumPy, and prints the numbers of this page.")
    )
    st.code(program.text, language="python", height=PROGRAM_HEIGHT)


def show_source(*functions: Callable) -> None:
    """The very source of functions that ran, with a button to copy it. A method stands without its class."""
    sources = (textwrap.dedent(inspect.getsource(function)).rstrip() for function in functions)
    st.code("\n\n\n".join(sources), language="python")
