"""Controls of the lesson on the language model, bound to the address: sentence, head, and what is done to both."""

from dataclasses import replace

import streamlit as st

from attention_core.language_model import language_model
from attention_ui.controls.bound import clamped_control, one_in_list
from attention_ui.page.contents import CONTENTS, open_entry
from attention_ui.session.chart import room_for
from attention_ui.session.links import SWITCH, Length, LinkRule
from attention_ui.session.state import set_state
from lessons.example.example import Limit
from lessons.example.language_model_layer import THE_LANGUAGE_MODEL
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
LINK_RULES: dict[str, LinkRule] = {
    "read": OF_OURS,
    "read_text": Length(LONGEST_TEXT),
    "read_head": HEADS_READ,
    "word": Limit(1, language_model().model.config.context),
    **dict.fromkeys(("twice", "names_swapped", "head_off"), SWITCH),
}


def read_choices() -> ReadChoices:
    """Draw the controls of this page and return what they say."""
    text = text_to_read()
    layer, head = first_head_named("previous token")
    beside = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with beside:
        chosen = one_in_list(translate("Head"), "read_head", HEADS_READ, f"{layer + 1}.{head + 1}", width=260)
        twice = st.toggle(translate("Repeat the sentence"), key="twice", bind="query-params")
        off = st.toggle(translate("Switch this head off"), key="head_off", bind="query-params")
        swapped = names_in(text) is not None and st.toggle(
            translate("Swap the names"), key="names_swapped", bind="query-params"
        )
    layer, head = (int(part) - 1 for part in (chosen if chosen in HEADS_READ else "1.1").split("."))
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
    chosen = one_in_list(translate("Sentence"), "read", OF_OURS)
    if chosen != OWN_SENTENCE:
        return SENTENCES_READ[chosen if chosen in SENTENCES_READ else next(iter(SENTENCES_READ))]
    own = st.text_input(
        translate("Your sentence, in English"), "", key="read_text", bind="query-params", max_chars=LONGEST_TEXT
    )
    return own or ""


def chosen_word(asked: ReadChoices) -> int:
    """The token that looks, and whose next token is predicted; the last one at first. Counted from 0."""
    names = {name.position + 1: format_value(name) for name in read(asked).names}
    with clamped_control("word", Limit(1, len(names)), len(names)):
        chosen = st.selectbox(
            translate("Word"),
            list(names),
            format_func=lambda position: names.get(position, ""),
            key="word",
            persist_state="session",
            width=260,
        )
    return (chosen if isinstance(chosen, int) else len(names)) - 1


def open_in_lessons(choices: ReadChoices) -> None:
    """A button that makes this head, on this text, the running example of the lessons."""
    if st.button(translate("Open this head in the lessons"), key="open_head"):
        key = THE_LANGUAGE_MODEL.key
        chosen = {"example": key, f"says_{key}": choices.text, "layer": choices.layer + 1, "head": choices.head + 1}
        for name, value in chosen.items():
            set_state(name, value)
        open_entry(CONTENTS[0], **{name: str(value) for name, value in chosen.items()})
