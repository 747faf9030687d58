"""The page of the lesson on tokens: a real model cuts one's own text, or the running example looks up its rows."""

import streamlit as st

from attention_core.text.tokens import clean_text
from attention_ui.controls.bound import changing_slider, one_in_changing_list, one_in_row, text_field
from attention_ui.controls.choices import chosen_in
from attention_ui.controls.get_model import get_model_panel, which_model
from attention_ui.page.lesson_page import Room, draw_screen, lay_out, show_lesson
from attention_ui.process.real_models import smollm2
from attention_ui.session import get_state, link_notes, set_state, show_notes
from attention_ui.session.chosen_model import real_model
from attention_ui.session.recent_screens import forget_screen
from lessons.example.example import ExampleTrace
from lessons.example.real_model import SMOLLM2, RealModel
from lessons.one_head.tokens import lesson as tokens
from lessons.one_head.tokens.cutting import MOST_LETTERS, TEXT_AT_FIRST, Cutting, cut, cutting_screen, is_cut_into_bytes
from lessons.one_head.tokens.cutting_questions import seen_word
from lessons.screen import Limit, Number, OneOf, OneToken, Text, message, translate

WHO_CUTS = OneOf(
    "cuts",
    message("Who cuts the text?"),
    {"real": message("a real language model"), "example": message("the example of the lessons")},
)
TEXT_TO_CUT = Text("cut", message("Your text, in any language"), MOST_LETTERS, placeholder=TEXT_AT_FIRST)
WORD_TO_MERGE = OneToken("merge_word", message("Word"), Limit(1, MOST_LETTERS), width=260)
MERGES_DONE = Number("merges", message("Merges done"), Limit(0, MOST_LETTERS), 0, width=360)


def show_tokens() -> None:
    """The view that is chosen. Where the real model is not on this machine, a panel below the example offers it."""
    room = lay_out()
    with room.controls:
        real = one_in_row(WHO_CUTS) == "real"
        if real:
            which_model()
    with room.notes:
        model = model_that_cuts() if real else None
    if model is not None:
        show_cutting(model, room)
        return
    show_lesson(tokens, words_to_look_up, heads=False, room=room)
    if real:
        get_model_panel(
            message(
                "Here a real language model cuts your own text into tokens, and you step through its merges one by one."
            )
        )


def model_that_cuts() -> RealModel | None:
    """The model of this visit, or SmolLM2 in its place where it cuts texts in a way that cannot be played here."""
    model = real_model()
    if model is None or is_cut_into_bytes(model):
        return model
    show_notes(
        message(
            "{model} cuts text differently from what this page shows, so {usual} is used here.",
            model=model.name,
            usual=SMOLLM2,
        )
    )
    return smollm2()


def words_to_look_up(trace: ExampleTrace) -> tokens.Choices:
    """The words that the table may not hold. A model that cuts words into pieces knows every one: none is asked for."""
    return tokens.Choices() if trace.example.given_by.cuts_words else chosen_in(tokens.Choices, trace)


def show_cutting(model: RealModel, room: Room) -> None:
    """A text of one's own, its tokens, and the merges of one word, step by step."""
    with room.controls:
        raw = text_field(TEXT_TO_CUT)
        cutting = cut(model, raw)
        word, step = chosen_step(cutting)
    with room.notes:
        show_notes(*link_notes(), *clean_text(raw, MOST_LETTERS).notes)
    draw_screen(tokens, cutting_screen(cutting, word, step), room, address="tokens", covers=False)
    forget_screen(tokens)


def chosen_step(cutting: Cutting) -> tuple[int, int]:
    """Which word is merged, and how far. A click on a token chooses its word."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {place: seen_word(word.text) for place, word in enumerate(cutting.words, start=1)}
        word = one_in_changing_list(WORD_TO_MERGE, names, cutting.longest + 1) - 1
        most = len(cutting.words[word].steps) - 1
        if most == 0:
            return word, 0
        here = min(int(get_state(MERGES_DONE.name) or 0), most)
        for label, key, to in (
            (translate("Back"), "merge_back", here - 1),
            (translate("Next merge"), "merge_next", here + 1),
        ):
            st.button(
                label,
                key=key,
                type="primary" if to > here else "secondary",
                shortcut="Right" if to > here else "Left",
                disabled=not 0 <= to <= most,
                on_click=set_state,
                args=(MERGES_DONE.name, to),
            )
        return word, changing_slider(Number("merges", MERGES_DONE.label, Limit(0, most), 0, width=MERGES_DONE.width))
