"""What one does with a run that stands still: scrub through it, ablate heads, keep it."""

import streamlit as st

from attention_core.observe import ablate_each_head, ablate_layer, observe_task, training_overlap
from attention_ui.drawing import draw_figure, draw_notice
from attention_ui.links import hidden
from attention_ui.save_load import download_history, download_model, run_checkpoint
from attention_ui.state import get_state, set_state
from lessons.ablation import ablation_table
from lessons.screen import Film
from lessons.train import film_steps, run_film
from runs.checkpoint import run_history
from runs.run import RunView, TrainingRun

RUN_TOOLS = {"replay": "Scrub through the run", "heads_off": "Ablate a head", "keep": "Keep the model"}


def run_tools(run: TrainingRun) -> None:
    """The folds below the picture; each is filled when it is opened."""
    view = run.look()
    for (name, title), draw in zip(RUN_TOOLS.items(), (draw_film_of, draw_ablations, draw_keep), strict=True):
        if hidden(name):
            continue
        with st.expander(title, key=f"{name}_open", on_change="rerun") as panel:
            if panel.open and view.playing:
                st.text("Pause first: this looks at a run that stands still.")
            elif panel.open:
                draw(run, view)


def draw_film_of(run: TrainingRun, view: RunView) -> None:
    """Every head at up to forty moments of the run; the slider below moves through them in the browser."""
    if view.position == 0:
        st.text("There is one moment only: train first.")
        return
    draw_figure(None, film_of(run, view))


def film_of(run: TrainingRun, view: RunView) -> Film:
    """The film of a run, made once for each step where it stands."""
    made = get_state("film")
    if made is not None and made[0] is run.recording and made[1] == view.position:
        return made[2]
    steps = film_steps(run.recording.snapshot_steps(view.position))
    film = run_film([observe_task(view.settings, run.recording.snapshot(step)) for step in steps])
    set_state("film", (run.recording, view.position, film))
    return film


def draw_ablations(run: TrainingRun, view: RunView) -> None:
    """What each head, and each layer, is worth on the evaluation sequences."""
    settings, snapshot, model = view.settings, view.snapshot, view.settings.model
    layers = [ablate_layer(settings, snapshot, layer) for layer in range(model.n_layers)] if model.n_heads > 1 else []
    overlap = training_overlap(settings, snapshot.step)
    table = ablation_table(ablate_each_head(settings, snapshot), layers, overlap)
    draw_notice(None, table.notice)
    draw_figure(None, table)


def draw_keep(run: TrainingRun, view: RunView) -> None:
    """Downloads of the model and of its history. The address of this page trains the same again."""
    st.text("The address of this page holds all settings and the seed: who opens it and presses Start sees this run.")
    with st.container(horizontal=True):
        download_model(lambda: run_checkpoint(view))
        download_history(lambda: run_history(view))
