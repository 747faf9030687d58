"""The words that a lesson needs first, each in two sentences, for whoever wants to look them up."""

import streamlit as st

from lessons.kit.glossary import words_of
from lessons.screen.format import render, translate


def draw_words(lesson: str) -> None:
    """A small panel with the words that are new in this lesson; nothing where there are none."""
    terms = words_of(lesson)
    if not terms:
        return
    with st.popover(translate("Words"), key="words", type="tertiary"):
        for term in terms:
            st.markdown(f"**{render(term.name)}**")
            st.text(render(term.meaning))
