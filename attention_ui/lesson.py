"""The furniture every page shares: the question, the steps, the chart, the code that ran."""

import inspect
from collections.abc import Callable, Sequence

import pyarrow as pa
import streamlit as st

from attention_ui.charts.template import alt_table
from attention_ui.session import keep, recall


def question(title: str, answer: str) -> None:
    """The question of a lesson and one or two sentences that open it."""
    st.title(title)
    st.markdown(answer)


def stepper(key: str, steps: Sequence[str], names: dict[str, str]) -> str:
    """Previous, next and the row of all steps; the arrow keys work too. Opens at the last step: the whole.

    The chosen step is part of the address. After the last step comes the first again.
    """
    chosen = recall(key)
    here = steps.index(chosen) if chosen in steps else len(steps) - 1
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, move, shortcut in (("Back", -1, "Left"), ("Next", 1, "Right")):
            target = steps[(here + move) % len(steps)]
            st.button(label, key=f"{key}_{label}", shortcut=shortcut, on_click=keep, args=(key, target))
        shown = st.segmented_control(
            "Step", list(steps), default=steps[-1], format_func=names.get, required=True, key=key,
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
    return shown or steps[-1]


def show_chart(key: str, name: str, spec: dict, tables: dict[str, pa.Table], alt: str) -> None:
    """A chart from a shared template and fresh tables. The box scrolls sideways; the page never does.

    `name` says what kind of picture it is and never changes; `alt` says what the numbers show.
    """
    with st.container(key=key):
        datasets = {**tables, "alt": alt_table(alt)}
        st.vega_lite_chart({**spec, "datasets": datasets}, width="content", alt=name)


def show_notes(*sentences: str) -> None:
    """Sentences that want to be seen. Shown literally, whatever a learner's text in them may say."""
    if sentences:
        with st.container(border=True, gap="small"):
            for sentence in sentences:
                st.text(sentence)


def code_that_ran(*functions: Callable) -> None:
    """The source of the functions that computed this page."""
    with st.expander("The code that ran"):
        st.code("\n\n".join(inspect.getsource(function).rstrip() for function in functions), language="python")
