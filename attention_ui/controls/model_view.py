"""Controls of the first screen: a sentence, which token asks, which head is looked at, and whether that is on.

Words and heads can be clicked in the figure as well.
"""

from dataclasses import replace

import streamlit as st

from attention_core.text.tokens import clean_text
from attention_ui.contents import CONTENTS, open_entry
from attention_ui.controls.bound import label_of, one_in_changing_list, one_in_list, switch, text_field
from attention_ui.session import forget_in_link, get_state, set_state, show_notes, text_in_link
from attention_ui.session.chosen_model import CHOSEN
from lessons.example.real_model import DEFAULT_HEAD, DEFAULT_LAYER, DEFAULT_TEXT, SMOLLM2, head_name
from lessons.screen import Limit, Message, OneOf, OneToken, Switch, Text, message, render, translate
from lessons.shared.head_jobs import MIXTURE, HeadJobs
from lessons.start.overview.model_view import HEADS, MOST_TOKENS, SENTENCE_NAMES, SENTENCES, shown_tokens, usual_query

LONGEST_TEXT = 120  # characters
N_LAYERS, N_HEADS = 30, 9
ALL_HEADS = {head_name(layer, head): (layer, head) for layer in range(N_LAYERS) for head in range(N_HEADS)}
USUAL_HEAD = head_name(DEFAULT_LAYER, DEFAULT_HEAD)

LOOK_TEXT = Text("look_text", message("Your own sentence"), LONGEST_TEXT, DEFAULT_TEXT)
LOOK_HEAD = OneOf(
    "look_head", message("Head"), {name: message("Head {head}", head=name) for name in ALL_HEADS}, USUAL_HEAD
)
LOOK_ASKS = OneToken("look_asks", message("The token that asks"), Limit(1, MOST_TOKENS), masked=False)
LOOK_OFF = Switch("look_off", message("Switch the head off"))


def sentence_choice(*, here: bool) -> str:
    """The sentence, typed or one of ours. Without the model only the usual one is there."""
    text = text_field(LOOK_TEXT, label_visibility="collapsed", disabled=not here, on_change=begin_anew)
    chosen = next((key for key, sentence in SENTENCES.items() if sentence == text), None)
    set_state("look_sentence", chosen)
    st.segmented_control(
        translate("Our sentences"),
        list(SENTENCES),
        format_func=lambda key: label_of(SENTENCE_NAMES, key),
        key="look_sentence",
        label_visibility="collapsed",
        disabled=not here,
        on_change=choose_sentence,
        args=(chosen,),
    )
    return text if here and clean_text(text).text else DEFAULT_TEXT


def choose_sentence(before: str | None) -> None:
    """One of ours was chosen: its head comes with it, unless the visitor had chosen another one."""
    chosen = get_state("look_sentence")
    if chosen not in SENTENCES:
        return
    set_state(LOOK_TEXT.name, SENTENCES[chosen])
    if get_state(LOOK_HEAD.name) == head_of(before):
        set_state(LOOK_HEAD.name, head_of(chosen))
    begin_anew()


def head_of(sentence: str | None) -> str:
    """The head that one of our sentences begins with."""
    return head_name(*HEADS.get(sentence, (DEFAULT_LAYER, DEFAULT_HEAD)))


def begin_anew() -> None:
    """Another sentence has another token that asks."""
    set_state(LOOK_ASKS.name, None)
    forget_in_link(LOOK_ASKS.name)


def asking_choice(tokens: tuple[str, ...]) -> int:
    """Which of some tokens asks, counted from 0."""
    called = {token.position + 1: render(message("from {token}", token=token)) for token in shown_tokens(tokens)}
    return one_in_changing_list(LOOK_ASKS, called, usual_query(tokens) + 1, label_visibility="collapsed") - 1


def head_looked_at(jobs: HeadJobs | None, *, here: bool) -> tuple[int, int]:
    """Which head is looked at, under the name that it has earned; layer and head from 0.

    Without the model there are those of the layer that ships.
    """
    offered = [name for name, (layer, _) in ALL_HEADS.items() if here or layer == DEFAULT_LAYER]
    called = {name: called_head(name, jobs) for name in offered}
    asked = text_in_link(LOOK_HEAD.name)
    chosen = one_in_list(replace(LOOK_HEAD, options=called), label_visibility="collapsed")
    if asked in ALL_HEADS and asked not in called:
        note = message(
            "The link says {name} = {asked}, which needs the model; this is head {head}.",
            name=LOOK_HEAD.name,
            asked=asked,
            head=chosen,
        )
        show_notes(note)
    return ALL_HEADS[chosen]


def called_head(name: str, jobs: HeadJobs | None) -> Message:
    """A head in the list."""
    job = MIXTURE if jobs is None else jobs.job_of(*ALL_HEADS[name])
    if job is MIXTURE:
        return message("Head {head}", head=name)
    return message("Head {head}: {job}", head=name, job=job.title)


def off_switch(head: str, *, here: bool) -> bool:
    """Whether the head is off."""
    return switch(replace(LOOK_OFF, label=message("Switch head {head} off", head=head)), disabled=not here) and here


def follow_head(text: str, layer: int, head: int) -> None:
    """A button that makes this head, on this text, the running example of the lessons, and opens the next one."""
    if st.button(
        translate("Follow this head through the lessons →"), key="follow_head", type="primary", width="stretch"
    ):
        several = {CHOSEN: SMOLLM2} if get_state(CHOSEN) else {}  # this page shows no other, whichever is chosen
        open_head(text, layer, head, **several)


def open_head(text: str, layer: int, head: int, **more: str) -> None:
    """Make a head of the real model, as it reads a text, the running example, and open the first of the lessons."""
    chosen = {"example": "language", "says_language": text, "layer": layer + 1, "head": head + 1} | more
    for name, value in chosen.items():
        set_state(name, value)
    open_entry(CONTENTS[1], **{name: str(value) for name, value in chosen.items()})
