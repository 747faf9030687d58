"""What one does with a run that stands still: scrub through it, switch heads off, keep it."""

import streamlit as st

from attention_core.observe import ablate_each_head, ablate_layer, observe_task
from attention_ui.figures.heads import heads_size, numbers_fit
from attention_ui.figures.replay import frame_steps, replay_chart, replay_table
from attention_ui.lesson import own_template, show_chart, show_rows
from attention_ui.links import hidden
from attention_ui.save_load import download_history, download_model, run_checkpoint
from attention_ui.state import get_state, set_state
from lessons.success import heads_off_caption, heads_off_rows, moment_caption
from runs.checkpoint import run_history
from runs.run import RunView, TrainingRun

REPLAY_WIDTH = 1000
RUN_TOOLS = {"replay": "Scrub through the run", "heads_off": "Switch a head off", "keep": "Keep the model"}


def run_tools(run: TrainingRun) -> None:
    """The folds below the picture; each is filled when it is opened."""
    view = run.look()
    for (name, title), draw in zip(RUN_TOOLS.items(), (draw_replay, draw_heads_off, draw_keep), strict=True):
        if hidden(name):
            continue
        with st.expander(title, key=f"{name}_open", on_change="rerun") as panel:
            if panel.open and view.playing:
                st.text("Pause first: this looks at a run that stands still.")
            elif panel.open:
                draw(run, view)


def draw_replay(run: TrainingRun, view: RunView) -> None:
    """Every head at up to forty moments of the run; the slider below moves through them in the browser."""
    if view.position == 0:
        st.text("There is one moment only: train first.")
        return
    n_tokens, n_frames, table, last = replay_of(run, view)
    size = (n_tokens, view.settings.model.n_layers, view.settings.model.n_heads)
    chart = own_template(replay_chart, heads_size(*size), n_frames, numbered=numbers_fit(*size, REPLAY_WIDTH))
    show_chart("replay", "Every head through time", chart, {"cells": table}, alt=last)


def replay_of(run: TrainingRun, view: RunView) -> tuple:
    """How many tokens and frames, the table, and the last sentence; made once for each place where a run stands."""
    made = get_state("replay")
    if made is not None and made[0] is run.recording and made[1] == view.position:
        return made[2]
    steps = frame_steps(run.recording.snapshot_steps(view.position))
    moments = [observe_task(view.settings, run.recording.snapshot(step)) for step in steps]
    said = [moment_caption(moment) for moment in moments]
    tokens, model = moments[0].example.tokens, view.settings.model
    numbered = numbers_fit(len(tokens), model.n_layers, model.n_heads, REPLAY_WIDTH)
    table = replay_table(tokens, [moment.layers for moment in moments], said, numbered=numbered)
    replay = (len(tokens), len(moments), table, said[-1])
    set_state("replay", (run.recording, view.position, replay))
    return replay


def draw_heads_off(run: TrainingRun, view: RunView) -> None:
    """What each head, and each layer, is worth on held-out sequences."""
    heads = ablate_each_head(view.settings, view.snapshot)
    layers = [ablate_layer(view.settings, view.snapshot, layer) for layer in range(view.settings.model.n_layers)]
    st.text(heads_off_caption(heads))
    several = view.settings.model.n_heads > 1
    show_rows(heads_off_rows((*heads, *(layers if several else ()))), "content")


def draw_keep(run: TrainingRun, view: RunView) -> None:
    """Downloads of the model and of its history. The address of this page trains the same again."""
    st.text("The address of this page holds all settings and the seed: who opens it and presses Start sees this run.")
    with st.container(horizontal=True):
        download_model(lambda: run_checkpoint(view))
        download_history(lambda: run_history(view))
