"""The controls of a small model in training, bound to the address: its sentence, its sizes, how far it is trained."""

from dataclasses import replace

import streamlit as st

from attention_core.training import EVALUATE_EVERY, MAX_STEPS, TrainingSettings
from attention_ui.controls.bound import changing_slider, clamped_control, switch, text_field
from attention_ui.server.process import lower_priority, yield_turn
from attention_ui.session.markdown import plain_label
from lessons.example.example import LIMITS, MINE, Example, n_layers_of, run_example
from lessons.example.language_model_layer import LANGUAGE, SENTENCE_READ
from lessons.example.task_models import TASK_SOURCES, LearntExample, recording_of
from lessons.screen.choice import Limit, Number, Switch, Text
from lessons.screen.format import render, translate
from lessons.screen.message import message

ITS_SENTENCE, ENGLISH_TEXT = message("Its sentence"), message("A text in English")
MOST_TYPED = 200  # characters
SENTENCES = {source: Text(f"says_{source}", ITS_SENTENCE, MOST_TYPED) for source in (*TASK_SOURCES, MINE)}
READ_TEXT = Text(f"says_{LANGUAGE}", ENGLISH_TEXT, MOST_TYPED, placeholder=SENTENCE_READ)
MODEL_SIZES = {
    name: Number(key, label, LIMITS[name], LIMITS[name].least)
    for name, key, label in (
        ("d_k", "model_d_k", message("$d_k$ · features of a query or key")),
        ("d_v", "model_d_v", message("$d_v$ · features of a value")),
        ("n_heads", "model_heads", message("Heads")),
        ("d_model", "model_d_model", message("$d_{model}$ · features of a token")),
    )
}
TRAINED_FOR = Number("trained_for", message("Updates of training"), Limit(0, MAX_STEPS), MAX_STEPS, step=EVALUATE_EVERY)
LAYER = Number("layer", message("Layer"), Limit(1, 4), 1)
TRAIN_MASK = Switch("train_mask", message("Train it with the causal mask"), True)
TRAIN_SCALING = Switch("train_scaling", message("Train it with scaling"), True)


def learnt_controls(source: str, learnt: LearntExample) -> dict[str, object]:
    """The sentence that the model reads, and how far it is trained."""
    knows = translate(
        "It knows these tokens: {known}. Left empty, it is “{sentence}”.", known=learnt.known, sentence=learnt.sentence
    )
    text = text_field(SENTENCES[source], placeholder=learnt.sentence, help=knows)
    end = learnt.training["steps"]
    return {"text": text, "updates": changing_slider(replace(TRAINED_FOR, limit=Limit(0, end), begin=end))}


def reader_controls() -> dict[str, object]:
    """What the learner chose of the language model: the text that it reads."""
    reads = translate(
        "Left empty, it is “{sentence}”. The model reads lower-case letters only.", sentence=SENTENCE_READ
    )
    return {"text": text_field(READ_TEXT, help=reads)}


def model_sizes(source: str) -> dict[str, int]:
    """The sizes that are changed often; moving one trains another model."""
    return {name: model_size(name, TASK_SOURCES[source]) for name in ("d_k", "d_v", "n_heads")}


def layer_choice(example: Example, *, named: bool) -> int:
    """Which layer to look at, counted from 1; where `named`, each under the name that its best head has earned."""
    n_layers = n_layers_of(example)
    if n_layers == 1:
        return 1
    names = {n: str(n) for n in range(1, n_layers + 1)}
    if named:
        best = {n: run_example(replace(example, layer=n)).trained.best for n in names}
        names = {n: render(message("{layer}: {name}", layer=n, name=job.name)) for n, job in best.items()}
    with clamped_control(LAYER.name, Limit(1, n_layers), 1):
        chosen = st.radio(
            plain_label(LAYER.label), list(names), format_func=names.get, key=LAYER.name, persist_state="session"
        )
    return chosen if chosen in names else 1  # a forged message may name what is none


def more_of_model(source: str) -> dict[str, object]:
    """What is changed less often."""
    learnt = TASK_SOURCES[source]
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
    steps = recording_of(settings).train_to(updates)
    if next(steps, steps) is None:  # a first step had to be made
        lower_priority()
        with st.spinner(translate("Training this model …")):
            for _ in steps:
                yield_turn()
