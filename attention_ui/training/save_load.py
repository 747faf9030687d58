"""Keeping a model: downloads of the model and of its history, and bringing one back."""

from collections.abc import Callable

import streamlit as st

from attention_ui.session import get_state, set_state, show_notes
from lessons.screen import message, reason, render_all, translate
from runs.checkpoint import Checkpoint, History, load_checkpoint, save_checkpoint
from runs.run import RunView
from words.spreadsheet import csv_file

# The model that this visitor brought last, why the last file could not be used, and the file.
BROUGHT, PROBLEM, FILE = "brought_model", "brought_problem", "model_file"
MEGABYTES = 1


def run_checkpoint(view: RunView) -> Checkpoint:
    """The model that a run shows at this moment. A copy: a recording keeps many of them in one piece of memory."""
    return Checkpoint(view.settings, view.snapshot.step, view.snapshot.weights.copy())


def download_model(model: Callable[[], Checkpoint]) -> None:
    """A button that saves the model; the file is made at the click."""
    st.download_button(
        translate("Download the model"),
        lambda: save_checkpoint(model()),
        "attention-lab-model.safetensors",
        "application/octet-stream",
        key="download_model",
        on_click="ignore",
    )


def download_history(history: Callable[[], History] | None) -> None:
    """A button that saves the history as CSV; None where there is none."""
    why_not = None if history is not None else translate("The file holds the model, not the history of its training.")
    st.download_button(
        translate("Download the history (CSV)"),
        "" if history is None else lambda: csv_file(history()),
        "attention-lab-history.csv",
        "text/csv",
        key="download_history",
        on_click="ignore",
        disabled=history is None,
        help=why_not,
    )


def bring_model(then: Callable[[], None]) -> None:
    """Take a model from a file, and do `then`. A file that cannot be used changes nothing but the note."""
    st.file_uploader(
        translate("Upload a model that was saved here"),
        type=["safetensors"],
        max_upload_size=MEGABYTES,
        key=FILE,
        on_change=take_in,
        args=(then,),
    )
    show_notes(get_state(PROBLEM))


def take_in(then: Callable[[], None]) -> None:
    """What happens when a file has been chosen, or was taken away again."""
    file = get_state(FILE)
    set_state(PROBLEM, None)
    if file is None:
        return
    try:
        set_state(BROUGHT, load_checkpoint(file.getvalue()))
    except ValueError as error:
        refused = message("This file cannot be used: {why}", why=reason(error))
        kept = [] if get_state(BROUGHT) is None else [message("The model you uploaded before is kept.")]
        set_state(PROBLEM, render_all([refused, *kept]))
    else:
        then()
