"""The code that ran: formula, source, the plain-loop and the NumPy version, and the shapes."""

import inspect
from collections.abc import Callable
from contextlib import nullcontext

import streamlit as st

from attention_core.attention import AttentionTrace
from attention_core.shapes import shape_table
from attention_core.three_ways import attend_with_loops, attend_with_numpy, compare_ways
from attention_ui.session import hidden


def code_panel(attention: AttentionTrace, scale: float, *functions: Callable) -> None:
    """The functions of this lesson as they stand in the files that ran, and the same in two other ways."""
    with source_panel() as panel:
        if not panel.open:
            return
        torch_tab, loops_tab, numpy_tab, shapes_tab = st.tabs(["PyTorch", "Plain loops", "NumPy", "Shapes"])
        difference = compare_ways(attention, scale)
        with torch_tab:
            show_source(*functions)
        with loops_tab:
            st.text(f"Run on these numbers, the loops differ from PyTorch by at most {difference.loops:.1e}.")
            show_source(attend_with_loops)
        with numpy_tab:
            st.text(f"Run on these numbers, NumPy differs from PyTorch by at most {difference.numpy:.1e}.")
            show_source(attend_with_numpy)
        with shapes_tab:
            st.dataframe(shape_table(attention), hide_index=True)


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
