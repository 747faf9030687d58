"""The furniture every page shares: the steps, the charts, the notes."""

import re
from collections.abc import Sequence

import pyarrow as pa
import streamlit as st

from attention_ui.charts.grid import cell_size, grid_chart
from attention_ui.charts.template import alt_table, template
from attention_ui.session import keep, recall

LARGER = 15  # tenths


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


def large_switch() -> None:
    """For projectors: larger cells and numbers in every figure made of matrices."""
    st.toggle("Large figures, for a projector", key="large", bind="query-params")


def grid_template(columns: int, width: int = 1000, *, numbered: bool = True) -> dict:
    """The template for a figure of so many columns, in the size this visitor likes."""
    cell = cell_size(columns, width, numbered=numbered)
    return template(grid_chart, LARGER * cell // 10 if recall("large") else cell)


def show_chart(key: str, name: str, spec: dict, tables: dict[str, pa.Table], alt: str) -> None:
    """A chart from a shared template and fresh tables. The box scrolls sideways; the page never does.

    `name` says what kind of picture it is and never changes; `alt` says what the numbers show.
    """
    with st.container(key=key):
        datasets = {**tables, "alt": alt_table(alt)}
        st.vega_lite_chart({**spec, "datasets": datasets}, width="content", alt=name)


def pick_chart(key: str, name: str, spec: dict, tables: dict[str, pa.Table], alt: str) -> tuple[str, int, int] | None:
    """As `show_chart`, for a chart whose cells can be clicked: the matrix, row and column of the picked cell.

    Only a click asks the server; pointing never does. `name` must never change, or the chart is drawn anew.
    """
    with st.container(key=key):
        datasets = {**tables, "alt": alt_table(alt)}
        state = st.vega_lite_chart(
            {**spec, "datasets": datasets}, width="content", alt=name,
            key=f"{key}_chart", on_select="rerun", selection_mode=["pick"],
        )  # fmt: skip
    return picked_cell(state)


def picked_cell(state: dict) -> tuple[str, int, int] | None:
    """The cell that the browser says was picked, if it says so in the way the figures do."""
    picked = state.get("selection", {}).get("pick")
    tag = picked[0].get("cell_tag") if picked else None
    found = re.fullmatch(r"\|(.+) (\d{1,4}),(\d{1,4})\|", str(tag), re.ASCII)
    return (found[1], int(found[2]), int(found[3])) if found else None


def show_notes(*sentences: str) -> None:
    """Sentences that want to be seen. Shown literally, whatever a learner's text in them may say."""
    if sentences:
        with st.container(border=True, gap="small"):
            for sentence in sentences:
                st.text(sentence)
