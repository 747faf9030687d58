"""The controls of the lesson on heads, bound to the address, and what they make of the running example."""

import re
from dataclasses import replace

import streamlit as st

from attention_ui.controls.bound import one_in_list, one_in_row, slider, switch
from attention_ui.controls.learnt import see_it_trained
from attention_ui.session import (
    get_state,
    number_in_link,
    picked_cell,
    plain_label,
    set_state,
    show_notes,
    too_large_in_link,
)
from lessons.example.example import Example, ExampleTrace, model_settings
from lessons.model.heads.example import (
    HEADS_LIMITS,
    HEADS_PRESETS,
    NOTEBOOK_SEED,
    HeadsChosen,
    Notebook,
    SideBySide,
    divisors,
    nearest_divisor,
    run_heads,
)
from lessons.model.heads.lesson import HEAD, ROLE, STEP, Choices
from lessons.screen import Limit, Message, Number, OneOf, Switch, message, plural, render, translate

HEADS_DEFAULTS = HeadsChosen()
SOURCE_OF_HEADS = OneOf(
    "mh", message("Example"), {key: preset.title for key, preset in HEADS_PRESETS.items()}, width=240
)
FEATURES = Number(
    "mh_d_model",
    message("$d_{model}$ · features"),
    HEADS_LIMITS["d_model"],
    HEADS_DEFAULTS.d_model,
    width=210,  # as in `training_controls`
)
HEADS_OF_LAYER = Number("mh_heads", message("Heads"), Limit(1, HEADS_LIMITS["d_model"].most), HEADS_DEFAULTS.n_heads)
BIAS = Switch("mh_bias", message("Bias"), HEADS_DEFAULTS.bias)
DROPOUT = Number(
    "mh_dropout",
    message("Dropout, percent"),
    HEADS_LIMITS["dropout_percent"],
    round(100 * HEADS_DEFAULTS.dropout),
    width=150,
)
SMALL_HEATMAPS = "heads_figure"
STEPS_OF_ONE_HEAD = STEPS_WITHOUT_MODULE = ("attend", "dropout")  # drawn Q, K and V are not projected or split


def heads_controls(trace: ExampleTrace) -> HeadsChosen:
    """Draw the controls and return what they say. What a notebook fixes is text."""
    notes = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source, choices = source_and_sizes(SOURCE_OF_HEADS.options, notes, trace)
        percent = slider(DROPOUT)
    return seen_trained(trace, HeadsChosen(source=source, dropout=percent / 100, **choices))


def seen_trained(trace: ExampleTrace, chosen: HeadsChosen) -> HeadsChosen:
    """The heads that are chosen, their model trained where they are of one."""
    taken = chosen.taken(trace.example)
    run = model_settings(taken)
    if run is not None:
        see_it_trained(run, taken.updates)
    return chosen


def source_and_sizes(sources: dict[str, str], notes, trace: ExampleTrace) -> tuple[str, dict[str, int | bool]]:
    """Which example, and its sizes where nothing fixes them; drawn side by side in a row that is there.

    The models that are trained have no bias.
    """
    source = one_in_list(replace(SOURCE_OF_HEADS, options=sources, begin=next(iter(sources))))
    if HEADS_PRESETS[source].fixed:
        st.text(render(what_the_notebook_fixes(HEADS_PRESETS[source])), width="stretch")
        return source, {}
    if trace.example.given_by.brings_sizes:
        st.text(render(what_the_model_fixes(trace.example)), width="stretch")
        return source, {}
    return source, size_choices(notes, learnt=trace.trained is not None)


def what_the_model_fixes(example: Example) -> Message:
    """The sizes of a model that is trained already."""
    sizes = {name: getattr(example, name) for name in ("d_model", "n_heads", "d_k", "d_v")}
    return plural(
        "The model's own: {d_model} features and {count} head, with {d_k} features per query or key and {d_v} "
        "per value.",
        "The model's own: {d_model} features and {count} heads, with {d_k} features per query or key and {d_v} "
        "per value.",
        sizes.pop("n_heads"),
        **sizes,
    )


def size_choices(notes, *, learnt: bool) -> dict[str, int | bool]:
    """Features, heads and bias; only numbers of heads that can share the features are offered."""
    d_model, name = slider(FEATURES), HEADS_OF_LAYER.name
    asked = get_state(name) or number_in_link(name) or HEADS_OF_LAYER.begin
    n_heads = nearest_divisor(d_model, asked)
    if n_heads != asked:
        with notes:
            show_notes(cannot_share(d_model, asked, n_heads))
    if len(divisors(d_model)) > 1:
        set_state(name, n_heads)
        label, usual = plain_label(HEADS_OF_LAYER.label), nearest_divisor(d_model, HEADS_OF_LAYER.begin)
        n_heads = st.select_slider(label, divisors(d_model), usual, key=name, bind="query-params", width=FEATURES.width)
    return {"d_model": d_model, "n_heads": n_heads, "bias": not learnt and switch(BIAS)}


def cannot_share(d_model: int, asked: int, n_heads: int) -> Message:
    """Why another number of heads stands where one was asked for."""
    return plural(
        "{asked} heads cannot share {count} feature evenly; the nearest number that can is {n_heads}.",
        "{asked} heads cannot share {count} features evenly; the nearest number that can is {n_heads}.",
        d_model,
        asked=asked,
        n_heads=n_heads,
    )


def what_the_notebook_fixes(preset: Notebook) -> Message:
    """The sizes that a notebook chose."""
    sizes = {"d_model": preset.d_model, "seed": NOTEBOOK_SEED}
    if not preset.projects:
        return message("Fixed: {d_model} features, seed {seed}.", **sizes)
    return message("Fixed: {d_model} features, {n_heads} heads, seed {seed}.", n_heads=preset.n_heads, **sizes)


def chosen_in_heads(trace: ExampleTrace) -> Choices:
    """All controls of the lesson: whose heads, the step, and at some steps a role or a head."""
    chosen = heads_controls(trace)
    heads = run_heads(trace.example, chosen)
    steps, choice = st.columns([7, 3], vertical_alignment="bottom")
    with steps:
        step = chosen_step(heads)
    with choice:
        role = one_in_row(ROLE) if step == "split" else ROLE.begin
        head = chosen_head(heads) if step in STEPS_OF_ONE_HEAD else 0
    return Choices(chosen, step, role, head)


def chosen_step(trace: SideBySide) -> str:
    """Which step of the way to look at; at first the heads side by side."""
    without = trace.module is None
    steps = {step: title for step, title in STEP.options.items() if not without or step in STEPS_WITHOUT_MODULE}
    if not without and trace.x.shape[-1] % trace.n_heads:
        del steps["slices"]  # which there are none of that are alike
    if get_state(STEP.name) not in (None, *steps):
        set_state(STEP.name, STEP.begin)
    return one_in_row(replace(STEP, options=steps))


def chosen_head(trace: SideBySide) -> int:
    """The head to show large, counted from 0; the nearest where there are fewer by now."""
    count = trace.n_heads
    if count == 1:
        return 0
    name = HEAD.name
    show_notes(too_large_in_link(name, count))
    follow_head_click()
    set_state(name, min(get_state(name) or number_in_link(name) or 1, count))
    label = translate("Enlarge sentence") if trace.module is None else plain_label(HEAD.label)
    chosen = st.select_slider(label, range(1, count + 1), 1, key=name, bind="query-params")
    return chosen - 1


def follow_head_click() -> None:
    """A head whose small heatmap was clicked since the last time is the one to show large."""
    clicked = picked_cell(SMALL_HEATMAPS)
    if clicked != get_state("mh_clicked"):
        set_state("mh_clicked", clicked)
        found = re.fullmatch(r"map\.(\d{1,2})", clicked[0] if clicked else "", re.ASCII)
        if found:
            set_state(HEAD.name, int(found[1]) + 1)
