"""The drawer at the foot of a page: its code, its numbers and pictures; beside it the lessons before and after.

What is not open is neither computed nor sent.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from attention_ui.contents import CONTENTS, step_to
from attention_ui.controls.bound import label_of
from attention_ui.page.code import A_PROGRAM, draw_code, draw_program
from attention_ui.page.drawing import kind_of, offer_figures
from attention_ui.session import COVERED, covered, get_state, hidden, offer, set_state, text_in_link
from lessons.screen import Code, Figure, Message, message, render, translate

OPEN, IPYNB = "drawer", "application/x-ipynb+json"
WITHOUT_NOTEBOOK = ("read", "generate")  # whole models at work: of these the program is enough
IN_DRAWER = {
    "code": message("The code that ran"),
    "program": A_PROGRAM,
    "numbers": message("Numbers and pictures"),
    "home": message("Take it home"),
    "progress": message("Your progress"),
}


def show_drawer(
    address: str,
    code: Code | None,
    figures: Sequence[Figure] = (),
    lesson: str = "",
    *,
    topic: Message,
    path: Callable[[], bytes] | None = None,
    more: Mapping[str, Callable[[], None]] | None = None,
) -> None:
    """One line at the foot: the lesson before, what the drawer holds, the lesson after. Below it what is open.

    The numbers of a `lesson` that is covered are not given away. `topic` is what a notebook of this screen begins
    with; `path` makes one of all lessons. `more` is what only this page has in its drawer.
    """
    parts = drawer_parts(code, figures, lesson)
    if "program" in parts and address not in WITHOUT_NOTEBOOK:
        parts = {**parts, "home": partial(draw_notebooks, address, topic, code, figures, path, lesson)}
    parts = {**parts, **(more or {})}
    if get_state(OPEN) is None and text_in_link("code"):  # a link that asks for one way of writing, once
        set_state(OPEN, "code")
    here = [entry.address for entry in CONTENTS].index(address)
    with st.container(key="foot"):
        step_to(here - 1, "lesson_before", "← {}", "Shift+Left")
        if parts:
            st.pills(
                translate("In the drawer"),
                list(parts),
                format_func=partial(label_of, IN_DRAWER),
                key=OPEN,
                label_visibility="collapsed",
            )
        step_to(here + 1, "lesson_after", "{} →", "Shift+Right")
    if get_state(OPEN) in parts:
        with st.container(border=True, key="drawer_open"):
            parts[get_state(OPEN)]()


def drawer_parts(code: Code | None, figures: Sequence[Figure], lesson: str) -> Mapping[str, Callable[[], None]]:
    """What the drawer of a screen holds, and how each part is drawn."""
    parts: dict[str, Callable[[], None]] = {}
    if code is not None and not hidden("code"):
        parts["code"] = partial(draw_code, code)
        if code.call is not None:
            parts["program"] = partial(draw_program, code)
    if any(kind_of(figure).numbers for figure in figures):
        parts["numbers"] = partial(draw_offers, figures, lesson)
    return parts


def draw_notebooks(
    address: str,
    topic: Message,
    code: Code,
    figures: Sequence[Figure],
    path: Callable[[], bytes] | None,
    lesson: str,
) -> None:
    """Offer this screen as a notebook, and all lessons as one; each is written when it is asked for."""
    if covered(lesson):
        st.text(render(COVERED))
        return
    st.text(
        translate(
            "A Jupyter notebook with the functions that ran, the numbers they ran on and pictures of the results. Its "
            "last cell compares them with this screen. It needs torch, NumPy, pandas and Altair."
        )
    )
    from attention_ui.export.notebook import Section, notebook_of  # with torch, which the first screen does without

    section = Section(render(topic), code, figures, address)
    with st.container(horizontal=True):
        offer(translate("This screen as a notebook"), partial(notebook_of, [section]), f"{address}.ipynb", IPYNB)
        if path is not None:
            offer(translate("All lessons as one notebook"), path, "attention_lab.ipynb", IPYNB)


def draw_offers(figures: Sequence[Figure], lesson: str) -> None:
    """The numbers of matrices, ribbons and curves as tables for a spreadsheet, and matrices as pictures."""
    if covered(lesson):
        st.text(render(COVERED))
        return
    offer_figures(figures)
    st.caption(translate("Streamlit's own menu at the top right corner of each figure saves it as a PNG."))
