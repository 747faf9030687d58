"""Controls of the lesson on the language model, bound to the address: sentence, head, and what is done to both."""

from dataclasses import replace

import streamlit as st

from attention_core.language_model import language_model
from attention_ui.controls.bound import one_in_changing_list, one_in_list, switch, text_field
from attention_ui.page.contents import CONTENTS, open_entry
from attention_ui.session.chart import room_for
from attention_ui.session.state import set_state
from lessons.example.example import SOURCES
from lessons.example.language_model_text import (
    LONGEST_TEXT,
    SENTENCES_READ,
    ReadChoices,
    all_heads,
    first_head_named,
    name_of_head,
    names_in,
    read,
)
from lessons.read.lesson import cost_of_head
from lessons.screen.choice import Limit, OneOf, OneToken, Switch, Text
from lessons.screen.format import format_value, render_all, translate
from lessons.screen.message import message

OWN_SENTENCE = "own"
OF_OURS = {**SENTENCES_READ, OWN_SENTENCE: message("a sentence of your own")}
HEADS_READ = {
    f"{layer + 1}.{head + 1}": message(
        "{layer}.{head} {name}", layer=layer + 1, head=head + 1, name=name_of_head(layer, head)
    )
    for layer, head in all_heads()
}
BEGINS_WITH = ".".join(str(place + 1) for place in first_head_named("previous token"))
SENTENCE_TO_READ = OneOf("read", message("Sentence"), OF_OURS)
TEXT_TO_READ = Text("read_text", message("Your sentence, in English"), LONGEST_TEXT)
HEAD_READ = OneOf("read_head", message("Head"), HEADS_READ, BEGINS_WITH, width=260)
TWICE = Switch("twice", message("Repeat the sentence"))
HEAD_OFF = Switch("head_off", message("Switch this head off"))
NAMES_SWAPPED = Switch("names_swapped", message("Swap the names"))
WORD = OneToken("word", message("Word"), Limit(1, language_model().model.config.context), width=260)


def read_choices() -> ReadChoices:
    """Draw the controls of this page and return what they say."""
    text = text_to_read()
    beside = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with beside:
        layer, head = (int(part) - 1 for part in one_in_list(HEAD_READ).split("."))
        twice, off = switch(TWICE), switch(HEAD_OFF)
        swapped = names_in(text) is not None and switch(NAMES_SWAPPED)
    asked = ReadChoices(text=text, twice=twice, swapped=swapped, layer=layer, head=head, off=off)
    with beside:
        return replace(asked, word=chosen_word(asked))


def show_effect(choices: ReadChoices) -> None:
    """Below the switch of the head, what it costs to switch it off; the figure below keeps its place."""
    now, else_ = cost_of_head(choices)
    if now:
        with room_for("effect", [[render_all(now)], [render_all(else_)]]):
            st.text(render_all(now))


def text_to_read() -> str:
    """One of our sentences, or one's own."""
    chosen = one_in_list(SENTENCE_TO_READ)
    return text_field(TEXT_TO_READ) if chosen == OWN_SENTENCE else SENTENCES_READ[chosen]


def chosen_word(asked: ReadChoices) -> int:
    """The token that looks, and whose next token is predicted; the last one at first. Counted from 0."""
    names = {name.position + 1: format_value(name) for name in read(asked).names}
    return one_in_changing_list(WORD, names, len(names)) - 1


def open_in_lessons(choices: ReadChoices) -> None:
    """A button that makes this head, on this text, the running example of the lessons."""
    if st.button(translate("Open this head in the lessons"), key="open_head"):
        key = SOURCES["language"].key
        chosen = {"example": key, f"says_{key}": choices.text, "layer": choices.layer + 1, "head": choices.head + 1}
        for name, value in chosen.items():
            set_state(name, value)
        open_entry(CONTENTS[0], **{name: str(value) for name, value in chosen.items()})
