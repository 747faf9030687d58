"""Controls of the first page: which picture, which token asks, and the word that asks in a small model's sentence."""

import streamlit as st

from attention_ui.controls.bound import one_in_row, stepper
from attention_ui.controls.choices import query_choice
from attention_ui.controls.example import BEFORE_MODELS_CAME, SOURCE
from attention_ui.session.links import named_in_link, text_in_link
from attention_ui.session.state import get_state, set_state
from lessons.example.example import ExampleTrace
from lessons.kit.shared_choices import QUERY
from lessons.overview import matrices_view as overview
from lessons.overview import row_view as carried
from lessons.overview.sentence_view import Choices, place_to_change, sentence_with, words_that_fit
from lessons.screen.choice import OneOf
from lessons.screen.format import translate
from lessons.screen.message import message

PICTURE = OneOf(
    "picture",
    message("Picture"),
    {
        "model": message("A real model"),
        "sentence": message("One sentence"),
        "row": message("Open it up"),
        "steps": message("All steps"),
    },
)
REAL_ONES = ("language", "lesson")  # examples that this page shows with the real model
SMALL_ONES = tuple(choice.name for choice in (*BEFORE_MODELS_CAME, QUERY) if choice is not SOURCE)


def settled_picture() -> str:
    """Which picture the first page is about to show; to be called in each run of it, before its controls are drawn.

    The real model at first. A link that names a step, or a small example that was not the one before, means the picture
    that shows it, unless it names a picture as well.
    """
    named, example = text_in_link(PICTURE.name), text_in_link(SOURCE.name)
    is_new = get_state(PICTURE.name) is None or (get_state("pictured") != example and names_small_one())
    set_state("pictured", example)
    if is_new and not named:
        step = named_in_link((overview.STEP.name,))
        set_state(PICTURE.name, "steps" if step else "sentence" if names_small_one() else "model")
    return named or get_state(PICTURE.name)


def chosen_picture() -> str:
    """Which picture the first page shows."""
    with st.container(horizontal=True, horizontal_alignment="right", key="pictures"):
        return one_in_row(PICTURE)


def names_small_one() -> bool:
    """True where the link says of a small example that it is meant, by its name or as links said before models came."""
    named = text_in_link(SOURCE.name)
    return named not in REAL_ONES if named else named_in_link(SMALL_ONES)


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
