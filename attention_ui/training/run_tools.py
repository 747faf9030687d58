"""What one does with a run that stands still: ablate heads, keep it."""

import streamlit as st

from attention_core.learning.training import TrainingSettings
from attention_ui.contents import CONTENTS, open_entry
from attention_ui.controls.example import show_in_lessons
from attention_ui.page.drawing import draw_figure, draw_notice
from attention_ui.session import hidden, show_notes
from attention_ui.training.save_load import download_history, download_model, run_checkpoint
from lessons.learning.train.ablation import ablation_table
from lessons.screen import message, reason, render, translate
from runs.checkpoint import run_history
from runs.run import RunView, TrainingRun

RUN_TOOLS = {"heads_off": message("Ablate a head"), "keep": message("Save the model")}


def run_tools(run: TrainingRun) -> None:
    """The folds below the picture; each is filled when it is opened."""
    view = run.look()
    open_run_in_lessons(view.settings)
    for (name, title), draw in zip(RUN_TOOLS.items(), (draw_ablations, draw_keep), strict=True):
        if hidden(name):
            continue
        with st.expander(render(title), key=f"{name}_open", on_change="rerun") as panel:
            if panel.open and view.training:
                st.text(translate("Pause first: this does not work while the model is training."))
            elif panel.open:
                draw(run, view)


def open_run_in_lessons(settings: TrainingSettings) -> None:
    """A button that makes the model of a run, trained to its end, the running example; why not, where it cannot be."""
    if st.button(translate("Open its heads in the lessons"), key="open_heads"):
        try:
            said = show_in_lessons(settings)
        except ValueError as error:
            show_notes(message("This run cannot be shown in the lessons: {why}.", why=reason(error)))
        else:
            open_entry(CONTENTS[0], **said)


def draw_ablations(run: TrainingRun, view: RunView) -> None:
    """What each head, and each layer, is worth on the evaluation sequences."""
    table = ablation_table(view.settings, view.snapshot)
    draw_notice(None, table.notice)
    draw_figure(None, table)


def draw_keep(run: TrainingRun, view: RunView) -> None:
    """Downloads of the model and of its history. The address of this page trains the same again."""
    st.text(
        translate(
            "The address of this page holds all settings and the seed: whoever opens it and presses Start sees "
            "this run."
        )
    )
    with st.container(horizontal=True):
        download_model(lambda: run_checkpoint(view))
        download_history(lambda: run_history(view))
