"""Controls of the lesson on the real model, bound to the address: a text, a head, and what is done to both."""

from dataclasses import replace
from itertools import product

import streamlit as st

from attention_ui.controls.bound import (
    control_of,
    number_field,
    one_in_changing_list,
    one_in_following_list,
    one_in_row,
    several_in_list,
    text_field,
)
from attention_ui.controls.model_view import open_head
from attention_ui.process.head_jobs import jobs_of
from attention_ui.session import get_state, set_state
from lessons.example.real_model import SMOLLM2, RealModel, head_name
from lessons.model.read.choices import (
    BEGINS,
    HEAD,
    MAPS,
    MOST_PATCHED,
    OTHER_HEADS,
    OTHER_TEXT,
    OWN,
    OWN_TEXT,
    PATCHED,
    SEED,
    SENTENCE,
    TEXTS,
    TOGETHER,
    VIEW,
    WORD,
    ReadChoices,
)
from lessons.model.read.earned_names import called
from lessons.model.read.reading import Reading
from lessons.screen import Message, OneOf, format_value, render, translate
from lessons.shared.head_jobs import MIXTURE

ASK_A_WORD = ("one", "maps", "sink", "guesses", "off")  # the views that look from one word
DRAW_HEADS = ("off", "patch")  # those with heads drawn at random beside


def read_choices(model: RealModel) -> ReadChoices:
    """Draw the controls of this page and return what they say."""
    view = control_of(VIEW if model.name == SMOLLM2 else without(VIEW, "flip"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        asked = texts_to_read(ReadChoices(view=view))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if view != "guesses":
            layer, head = chosen_head_of_model(model, BEGINS[view].head).split(".")
            asked = replace(asked, layer=int(layer), head=int(head))
        if view == "maps":
            asked = replace(asked, maps=one_in_row(MAPS))
        if view in ASK_A_WORD:
            asked = replace(asked, word=chosen_word(asked, model))
        if view == "one":
            asked = replace(asked, together=chosen_together(asked, model))
        if view == "patch":
            asked = replace(asked, patched=heads_patched_with(asked, model))
        if view in DRAW_HEADS:
            asked = replace(asked, seed=number_field(SEED))
        if view != "guesses":
            open_in_lessons(asked)
    return asked


def without(choice: OneOf, option: str) -> OneOf:
    """A choice among the other options: the flip test has sentences that only our model is sure to cut as it needs."""
    return replace(choice, options={key: label for key, label in choice.options.items() if key != option})


def chosen_head_of_model(model: RealModel, begin: str) -> str:
    """One of all heads, under the names that they have earned as soon as these are measured."""
    names = names_of_heads(model)
    choice = OneOf(HEAD.name, HEAD.label, names, width=HEAD.width)
    return one_in_following_list(choice, begin if begin in names else next(iter(names)))


def names_of_heads(model: RealModel) -> dict[str, Message]:
    """Each head, under the name that it has earned where that was measured."""
    config, jobs = model.kept.config, jobs_of(model)
    places = product(range(config.n_layers), range(config.n_heads))
    return {head_name(*place): called(jobs, *place) for place in places}


def texts_to_read(asked: ReadChoices) -> ReadChoices:
    """One of our texts, or one's own; the flip test has sentences of its own, and patching wants two."""
    if asked.view == "flip":
        return asked
    chosen = one_in_following_list(SENTENCE, BEGINS[asked.view].sentence)
    asked = replace(asked, text=text_field(OWN_TEXT) if chosen == OWN else TEXTS[chosen])
    return replace(asked, other=text_field(OTHER_TEXT)) if asked.view == "patch" else asked


def chosen_word(asked: ReadChoices, model: RealModel) -> int:
    """The token that asks, counted from 0: at first the one that the view begins with, or else the last."""
    reading = Reading(asked, model)
    tokens, word = reading.text.tokens, BEGINS[asked.view].word
    begin = tokens.index(word) + 1 if word in tokens else len(tokens)
    return one_in_changing_list(WORD, numbered_names(reading), begin) - 1


def chosen_together(asked: ReadChoices, model: RealModel) -> tuple[int, ...]:
    """The tokens whose weights are summed, counted from 0."""
    return tuple(number - 1 for number in several_in_list(TOGETHER, numbered_names(Reading(asked, model)), width=300))


def heads_patched_with(asked: ReadChoices, model: RealModel) -> tuple[int, ...]:
    """The heads that are patched beside the chosen one: none, all that have earned its name, or some by hand."""
    named = heads_of_its_name(asked, model)
    options = dict(PATCHED.options)
    if not named:
        del options["named"]
    if get_state(PATCHED.name) not in (None, *options):
        set_state(PATCHED.name, PATCHED.begin)
    which = one_in_row(replace(PATCHED, options=options))
    if which != "several":
        return named if which == "named" else ()
    n_heads = model.kept.config.n_heads
    names = dict(enumerate(map(render, names_of_heads(model).values())))
    del names[asked.layer * n_heads + asked.head]
    return several_in_list(OTHER_HEADS, names, MOST_PATCHED - 1, width=300)


def heads_of_its_name(asked: ReadChoices, model: RealModel) -> tuple[int, ...]:
    """The other heads under the name of the chosen one, by their numbers; none where they are too many to patch."""
    jobs = jobs_of(model)
    job = MIXTURE if jobs is None else jobs.job_of(asked.layer, asked.head)
    if jobs is None or job is MIXTURE or jobs.count(job) > MOST_PATCHED:
        return ()
    places = [place for place in jobs.all_heads if jobs.job_of(*place) is job and place != (asked.layer, asked.head)]
    return tuple(layer * model.kept.config.n_heads + head for layer, head in places)


def numbered_names(reading: Reading) -> dict[int, str]:
    """The tokens as they are called, counted from 1."""
    return {name.position + 1: format_value(name) for name in reading.names}


def open_in_lessons(choices: ReadChoices) -> None:
    """A button that makes this head, on this text, the running example of the lessons."""
    if st.button(translate("Open this head in the lessons"), key="open_head"):
        open_head(choices.text, choices.layer, choices.head)
