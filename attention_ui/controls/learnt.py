"""The controls of a small model in training, bound to the address: its sentence, its sizes, how far it is trained."""

from dataclasses import replace

import streamlit as st

from attention_core.training import EVALUATE_EVERY, MAX_STEPS, TrainingSettings
from attention_ui.controls.bound import changing_slider, clamped_control
from attention_ui.server.process import lower_priority, yield_turn
from attention_ui.session.links import SWITCH, Length, LinkRule
from attention_ui.session.markdown import plain_label
from lessons.example.example import LIMITS, SOURCES, Example, Limit, run_example
from lessons.example.language_model_layer import LanguageModelSource
from lessons.example.task_models import LearntExample, OfTask, recording_of
from lessons.screen.format import render, translate
from lessons.screen.message import Message, message

LABELS_OF_SIZES = {
    "d_k": message("$d_k$ · features of a query or key"),
    "d_v": message("$d_v$ · features of a value"),
    "n_heads": message("Heads"),
}
KEY_OF_SIZE = {"d_model": "model_d_model", "d_k": "model_d_k", "d_v": "model_d_v", "n_heads": "model_heads"}
MOST_TYPED = 200  # characters
LINK_RULES: dict[str, LinkRule] = {
    **{f"says_{key}": Length(MOST_TYPED) for key, source in SOURCES.items() if source.reads},
    **{key: LIMITS[name] for name, key in KEY_OF_SIZE.items()},
    "trained_for": Limit(0, MAX_STEPS),
    "layer": Limit(1, 4),
    "train_mask": SWITCH,
    "train_scaling": SWITCH,
}


def sentence_of_model(learnt: OfTask) -> dict[str, str]:
    """The sentence that the model reads."""
    text = st.text_input(
        translate("Its sentence"),
        key=f"says_{learnt.key}",
        bind="query-params",
        placeholder=learnt.sentence,
        max_chars=MOST_TYPED,
        help=translate(
            "It knows these tokens: {known}. Left empty, it is “{sentence}”.",
            known=learnt.known,
            sentence=learnt.sentence,
        ),
    )
    return {"text": text or ""}


def updates_of_model(learnt: OfTask) -> dict[str, int]:
    """How far it is trained."""
    end, title = learnt.training["steps"], translate("Updates of training")
    return {"updates": changing_slider(title, "trained_for", Limit(0, end), end, step=EVALUATE_EVERY)}


def text_of_reader(reader: LanguageModelSource) -> dict[str, str]:
    """What the learner chose of the language model: the text that it reads."""
    text = st.text_input(
        translate("A text in English"),
        key=f"says_{reader.key}",
        bind="query-params",
        placeholder=reader.sentence,
        max_chars=MOST_TYPED,
        help=translate(
            "Left empty, it is “{sentence}”. The model reads lower-case letters only.", sentence=reader.sentence
        ),
    )
    return {"text": text or ""}


def model_sizes(learnt: LearntExample) -> dict[str, int]:
    """The sizes that are changed often; moving one trains another model."""
    return {name: model_size(name, title, learnt) for name, title in LABELS_OF_SIZES.items()}


def layer_choice(example: Example, *, named: bool) -> int:
    """Which layer to look at, counted from 1; where `named`, each under the name that its best head has earned."""
    n_layers = example.given_by.model(example).config.n_layers
    if n_layers == 1:
        return 1
    names = {n: str(n) for n in range(1, n_layers + 1)}
    if named:
        best = {n: run_example(replace(example, layer=n)).trained.best for n in names}
        names = {n: render(message("{layer}: {name}", layer=n, name=job.name)) for n, job in best.items()}
    with clamped_control("layer", Limit(1, n_layers), 1):
        chosen = st.radio(translate("Layer"), list(names), format_func=names.get, key="layer", persist_state="session")
    return chosen if chosen in names else 1  # a forged message may name what is none


def more_of_model(learnt: LearntExample) -> dict[str, object]:
    """What is changed less often."""
    d_model = model_size("d_model", message("$d_{model}$ · features of a token"), learnt)
    mask = st.toggle(
        translate("Train it with the causal mask"),
        True,
        key="train_mask",
        bind="query-params",
        disabled=not learnt.causal,
    )
    scaling = st.toggle(translate("Train it with scaling"), True, key="train_scaling", bind="query-params")
    return {"d_model": d_model, "train_mask": mask, "train_scaling": scaling}


def model_size(name: str, title: str | Message, learnt: LearntExample) -> int:
    """One size of the model; moving it trains another."""
    return changing_slider(plain_label(title), KEY_OF_SIZE[name], LIMITS[name], learnt.sizes[name])


def see_it_trained(settings: TrainingSettings, updates: int) -> None:
    """Train the model so far unless somebody has asked for it before, and say so while it lasts; others go first."""
    steps = recording_of(settings).train_to(updates)
    if next(steps, steps) is None:  # a first step had to be made
        lower_priority()
        with st.spinner(translate("Training this model …")):
            for _ in steps:
                yield_turn()
