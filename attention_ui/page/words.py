"""The words that were needed up to a lesson, each in two sentences, for whoever wants to look them up."""

from pathlib import Path

import streamlit as st

from attention_ui.contents import CONTENTS
from attention_ui.session import literal
from lessons.screen import render, translate
from lessons.shared.glossary import words_of


def draw_words(lesson: str) -> None:
    """A small panel with these words, those that are new in this lesson first; nothing where there are none."""
    lessons = [Path(entry.file).stem for entry in CONTENTS]
    so_far = lessons[: lessons.index(lesson) + 1]
    terms = [term for name in reversed(so_far) for term in words_of(name)]
    if not terms:
        return
    told = (f"**{literal(render(term.name))}**  \n{literal(render(term.meaning))}" for term in terms)
    with st.popover(translate("Words"), key="words", type="tertiary"):
        st.markdown("\n\n".join(told))  # as one element: there are up to two dozen of them on each page
