"""The controls of a small model in training, bound to the address: its sentence, its sizes, how far it is trained."""

from dataclasses import replace

import streamlit as st

from attention_core.learning.training import MAX_STEPS, TrainingSettings
from attention_ui.controls.bound import (
    changing_slider,
    clamped_control,
    one_in_list,
    one_on_changing_slider,
    switch,
    text_field,
)
from attention_ui.controls.get_model import get_model_panel, which_model
from attention_ui.process.for_pages import read_beside, train_beside
from attention_ui.process.real_models import smollm2
from attention_ui.process.turns import lower_priority, yield_turn
from attention_ui.session import plain_label
from attention_ui.session.chosen_model import real_model
from lessons.example.example import LIMITS, SOURCES, Example, run_example
from lessons.example.real_layer import RealModelSource
from lessons.example.task_models import LearntExample, OfTask, kept_updates, recording_of
from lessons.screen import Limit, Number, OneOf, Switch, Text, message, render, translate
from worker.process import WORKER

MOST_TYPED = 200  # characters
SENTENCES = {
    key: Text(f"says_{key}", message("Its sentence"), MOST_TYPED) for key, source in SOURCES.items() if source.reads
}
MODEL_SIZES = {
    name: Number(key, label, LIMITS[name], LIMITS[name].least)
    for name, key, label in (
        ("d_k", "model_d_k", message("$d_k$ · features of a query or key")),
        ("d_v", "model_d_v", message("$d_v$ · features of a value")),
        ("n_heads", "model_heads", message("Heads")),
        ("d_model", "model_d_model", message("$d_{model}$ · features of a token")),
    )
}
TRAINED_FOR = Number("trained_for", message("Training steps"), Limit(0, MAX_STEPS), MAX_STEPS)
LAYER = Number("layer", message("Layer"), Limit(1, 200), 1)
TURNED = Switch("turned", message("Turn the features of its heads for this sentence"), True)
TRAIN_MASK = Switch("train_mask", message("Train it with the causal mask"), True)
TRAIN_SCALING = Switch("train_scaling", message("Train it with scaling"), True)


def sentence_of_model(learnt: OfTask) -> dict[str, str]:
    """The sentence that the model reads."""
    knows = translate(
        "It knows these tokens: {known}. If you leave it empty, “{sentence}” is used.",
        known=learnt.known,
        sentence=learnt.sentence,
    )
    return {"text": text_field(SENTENCES[learnt.key], placeholder=learnt.sentence, help=knows)}


def updates_of_model(learnt: OfTask) -> dict[str, int]:
    """The control for how many updates a model is trained."""
    moments = kept_updates(learnt.training["steps"], learnt.task)
    return {"updates": one_on_changing_slider(TRAINED_FOR, moments)}


def real_text(reader: RealModelSource) -> dict[str, object]:
    """The text that the real model reads, and the model itself, where it is on this machine."""
    which_model()
    label = replace(SENTENCES[reader.key], label=message("Its sentence, in any language"))
    reads = translate("If you leave it empty, “{sentence}” is used.", sentence=reader.sentence)
    text, model = text_field(label, placeholder=reader.sentence, help=reads), real_model()
    if model is None:
        get_model_panel(message("Other sentences and other layers need the model itself."), place="_beside")
    why = translate(
        "A head has 64 features. Turning its queries and keys together keeps their products, so each "
        "score and weight stays as it is, but the scores come almost entirely from the first 8 "
        "features, which are shown. The values are turned likewise. The turn is found for this "
        "sentence; another sentence has its own."
    )
    return {
        "text": text,
        "real_model": model,
        "turned": switch(TURNED, help=why if model is None or model is smollm2() else None),
    }


def model_sizes(learnt: LearntExample) -> dict[str, int]:
    """The sizes that are changed often; moving one trains another model."""
    return {name: model_size(name, learnt) for name in ("d_k", "d_v", "n_heads")}


def layer_choice(example: Example, *, named: bool) -> int:
    """Which layer to look at, counted from 1; where `named`, each under the name that its best head has earned."""
    n_layers = example.given_by.n_layers(example)
    if n_layers == 1:
        return example.layer
    if example.real_model is not None:
        return real_layer(example, n_layers)
    names = {n: str(n) for n in range(1, n_layers + 1)}
    if named:
        best = {n: run_example(replace(example, layer=n)).trained.best for n in names}
        names = {n: render(message("{layer}: {name}", layer=n, name=job.name)) for n, job in best.items()}
    with clamped_control(LAYER.name, Limit(1, n_layers), 1):
        chosen = st.radio(
            plain_label(LAYER.label), list(names), format_func=names.get, key=LAYER.name, persist_state="session"
        )
    return chosen if chosen in names else 1  # a forged message may name what is none


def real_layer(example: Example, n_layers: int) -> int:
    """Which layer of a real model, counted from 0 where it is read, as heads are called."""
    layers = {n: str(n - 1) for n in range(1, n_layers + 1)}
    return one_in_list(OneOf(LAYER.name, LAYER.label, layers, min(example.layer, n_layers)))


def more_of_model(learnt: LearntExample) -> dict[str, object]:
    """The controls of a model that are changed less often."""
    return {
        "d_model": model_size("d_model", learnt),
        "train_mask": switch(TRAIN_MASK, disabled=not learnt.causal),
        "train_scaling": switch(TRAIN_SCALING),
    }


def model_size(name: str, learnt: LearntExample) -> int:
    """One size of the model; moving it trains another."""
    return changing_slider(replace(MODEL_SIZES[name], begin=learnt.sizes[name]))


def see_it_trained(settings: TrainingSettings, updates: int) -> None:
    """Train the model so far unless somebody has asked for it before, and say so while it lasts; others go first."""
    recording = recording_of(settings)
    if recording.is_trained(updates):
        return
    with st.spinner(translate("Training this model …")):
        if WORKER.runs:
            train_beside(recording, updates)
            return
        lower_priority()
        for _ in recording.train_to(updates):
            yield_turn()


def see_it_read(example: Example) -> None:
    """Have the worker read the text of a real model, where there is one: others' pages go on meanwhile."""
    if WORKER.runs and isinstance(example.given_by, RealModelSource):
        read_beside(example.real_model, example.given_by.ids_read(example))
