"""Controls of the first page beside a small model: which token asks, and the word that asks in its sentence."""

import streamlit as st

from attention_ui.controls.bound import stepper
from attention_ui.controls.choices import query_choice
from attention_ui.session import get_state, set_state
from lessons.example.example import ExampleTrace
from lessons.screen import translate
from lessons.start.overview import row_view as carried
from lessons.start.overview.sentence_view import Choices, place_to_change, sentence_with, words_that_fit


def look_choices(trace: ExampleTrace) -> Choices:
    """Below the figure: the token that asks, for who cannot point, and another word that asks."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="look_controls"):
        with st.container(width=220):
            query = query_choice(trace)
        last_word_choice(trace)
    return Choices(query)


def carried_choices(trace: ExampleTrace) -> carried.Choices:
    """The chapter, and the token whose row is carried through."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        with st.container(width="content"):
            chapter = stepper(carried.CHAPTER)
        with st.container(width=220):
            return carried.Choices(chapter, query_choice(trace))


def last_word_choice(trace: ExampleTrace) -> None:
    """The words that can ask in a sentence of the model's task. Choosing one changes the sentence."""
    fitting = words_that_fit(trace)
    if not fitting:
        return
    place = place_to_change(trace)
    word = trace.tokens[place]
    set_state("last_word", word if word in fitting else None)
    last = place == len(trace.tokens) - 1
    st.segmented_control(
        translate("Change the last word") if last else translate("Change the word that asks"),
        fitting,
        key="last_word",
        on_change=change_last_word,
        args=(f"says_{trace.example.source}", trace),
    )


def change_last_word(key: str, trace: ExampleTrace) -> None:
    """The sentence has what was chosen, if that is something that fits."""
    chosen = get_state("last_word")
    if chosen in words_that_fit(trace):
        set_state(key, sentence_with(trace, chosen))
