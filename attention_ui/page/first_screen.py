"""The first screen: a real sentence, a head of a real model at work on it, its guesses, and all its heads."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial

import streamlit as st

from attention_ui.controls.get_model import get_model_panel
from attention_ui.controls.model_view import (
    asking_choice,
    follow_head,
    head_looked_at,
    off_switch,
    sentence_choice,
)
from attention_ui.page.drawer import show_drawer
from attention_ui.page.drawing import draw_figure, draw_notice
from attention_ui.process.head_jobs import head_jobs, how_far_measured
from attention_ui.process.kept import KeptByLanguage
from attention_ui.process.real_models import begin_opening, smollm2, smollm2_so_far, will_be_open
from attention_ui.process.turns import outside_turn
from attention_ui.process.waiting import look_again_when
from attention_ui.session import ROLE_COLOURS, fold, get_state, link_notes, marked, set_state, show_notes
from lessons.example.real_model import DEFAULT_LAYER, DEFAULT_TEXT, RealModel, head_name
from lessons.screen import Percent, Screen, Table, join_sentences, message, reason, render, translate
from lessons.shared.head_jobs import HeadJobs
from lessons.start.overview.model_view import (
    TOPIC,
    ModelChoices,
    ReadSentence,
    cut_sentence,
    model_screen,
    read_sentence,
    shipped_sentence,
)

COLOURS = {**ROLE_COLOURS, "keys": ROLE_COLOURS["key"], "share": "violet"}
WATCH_SECONDS = 1.0
PLACES = ("stage", "band", "heads", "go", "wait")  # a figure, and what stands in the room that it leaves free
STANDS_HERE = message(
    "With the model, all {count} heads appear here, each with its measured job. Above them is the "
    "model’s guess for the next word, with and without any one head. Your own sentence needs the "
    "model as well.",
    count=270,
)
SENTENCES: KeptByLanguage[tuple[ReadSentence, Screen]] = KeptByLanguage(16)  # a class opens the same one


def show_first_screen() -> None:
    """The whole page. While the model is being opened, the layer that ships is at work."""
    opens = will_be_open()
    model = smollm2_so_far() if opens else smollm2()
    jobs, top = head_jobs(), st.container(key="model_headline")
    show_notes(*link_notes())
    with st.container(key="model_look", gap=None):
        places = {name: st.container(key=f"model_{name}") for name in PLACES}
    read, screen = ask_and_read(model, jobs, places, opens=opens)
    with top:
        draw_headline(screen)
    with places["stage"]:
        draw_figure(None, screen.figures[0])
    with places["go"]:
        follow_head(read.asked.text, read.asked.layer, read.asked.head)
    with places["wait"]:
        draw_what_is_missing(read.model, jobs, opens=opens)
    for rules in screen.figures[1:]:
        fold(rules.key, render(rules.name), rules.key, partial(draw_rules, rules))
    show_drawer("home", screen.code, screen.figures[:1], topic=TOPIC)


def ask_and_read(
    model: RealModel | None, jobs: HeadJobs | None, places: Mapping[str, AbstractContextManager], *, opens: bool
) -> tuple[ReadSentence, Screen]:
    """Draw the controls in their places, read the sentence that they say, and make its screen; nobody else's page
    waits for that.

    Where the layer that ships does not know what is asked for, this page waits for a model that is being opened.
    """
    here = opens or model is not None
    with places["band"]:
        text = sentence_choice(here=here)
        if model is None and text != DEFAULT_TEXT:
            model = awaited_model()
        tokens = shipped_sentence(ModelChoices()).cut.tokens if model is None else cut_sentence(model, text).tokens
        asks = asking_choice(tokens)
        with places["heads"]:
            layer, head = head_looked_at(jobs, here=here)
        off = off_switch(head_name(layer, head), here=here)
    asked = ModelChoices(text, layer, head, asks, off)
    if model is None and (layer != DEFAULT_LAYER or off):
        model = awaited_model()
    key = model, asked, jobs
    if (found := SENTENCES.kept(key)) is not None:
        return found
    with outside_turn():
        return SENTENCES.get(key, lambda: read_and_shown(*key))


def read_and_shown(model: RealModel | None, asked: ModelChoices, jobs: HeadJobs | None) -> tuple[ReadSentence, Screen]:
    """A sentence as the model reads it, or without one as the layer does that ships, and what is shown of it."""
    read = shipped_sentence(asked) if model is None else read_sentence(model, asked)
    return read, model_screen(read, jobs)


def awaited_model() -> RealModel | None:
    """The model, when it is open."""
    with outside_turn():
        return smollm2()


def draw_rules(rules: Table) -> None:
    """By which rule each name is earned."""
    draw_figure(None, rules)
    draw_notice(None, rules.notice, charts_below=False)


def draw_headline(screen: Screen) -> None:
    """The question, and what the figure shows."""
    st.title(marked(screen.headline, COLOURS), anchor=False)
    st.markdown(join_sentences(marked(sentence, COLOURS) for sentence in screen.lead))


def draw_what_is_missing(model: RealModel | None, jobs: HeadJobs | None, *, opens: bool) -> None:
    """In the place of heads and jobs: how to get the model, that it opens, or how far the heads are measured."""
    if model is None and opens:
        set_state("looked_on", False)
        st.fragment(watch_opening)()
    elif model is None:
        get_model_panel(STANDS_HERE)
    elif jobs is None:
        st.fragment(watch_measuring)()


def watch_opening() -> None:
    """Have the model opened once the browser shows this page, as it is converted the first time; then draw it anew."""
    if not will_be_open():
        st.rerun()
    if get_state("looked_on"):
        begin_opening()
    set_state("looked_on", True)
    look_again_when(lambda: True, WATCH_SECONDS)
    st.caption(translate("The model is being opened. Its guesses and its other heads will follow in a moment."))


def watch_measuring() -> None:
    """How far the measurement is, until it has ended: then the page is drawn anew."""
    now = how_far_measured()
    if now.error is not None:
        st.warning(translate("The heads could not be measured: {why}", why=reason(now.error)))
    elif now.value is not None:
        st.rerun()
    else:
        st.progress(
            now.done,
            translate(
                "What each head does is being measured, once for this machine: {share} is done.",
                share=Percent(now.done),
            ),
        )
        look_again_when(lambda: how_far_measured() is not now)
