"""The training runs that a visitor has: kept for the session, started, stopped, and announced on other pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from attention_ui.process.turns import redrawn_picture, scheduler
from attention_ui.process.waiting import look_again_when
from attention_ui.state import get_state, set_state
from lessons.screen import plural, render, translate

if TYPE_CHECKING:  # on a page of a visitor who trains nothing, torch is not needed
    from attention_core.learning.training import TrainingSettings
    from attention_ui.training.controls import ChosenRun
    from runs.run import TrainingRun

RUN, FIRST = "training_run", "first_run"
BY_ITSELF = "drawn_by_itself"  # the picture of a run that is trained is drawn anew, and its page with it: once
BADGE_SECONDS = 2.0  # that it stands at least


def visitors_run(choice: ChosenRun) -> TrainingRun | None:
    """The run of this visitor. One that has not begun follows the controls; one that has is kept."""
    run = get_state(RUN)
    if choice.settings is None:
        return run
    if run is None or (run.position == 0 and not run.training and run.recording.settings != choice.settings):
        run = scheduler().open(choice.settings)
        set_state(RUN, run)
    return run


def start(settings: TrainingSettings) -> None:
    """Train the visitor's run to its end, or a new one where the settings changed or the old one is over.

    The first update is made here, so that the next picture shows it however many wait for the training thread.
    """
    run = get_state(RUN)
    if run is None or run.finished or run.recording.settings != settings:
        run = reset(settings)
    run.step_once()
    run.train()


def pause() -> None:
    """Let the visitor's runs stand still where they are."""
    for key in (RUN, FIRST):
        if (run := get_state(key)) is not None:
            run.stop()


def one_step() -> None:
    """Move the visitor's run by one step."""
    if (run := get_state(RUN)) is not None:
        run.step_once()


def reset(settings: TrainingSettings) -> TrainingRun:
    """Put a new run at step 0 in the place of the old one."""
    old = get_state(RUN)
    if old is not None and old is not get_state(FIRST):
        old.stop()
    run = scheduler().open(settings)
    set_state(RUN, run)
    return run


def run_badge(on_training_page: bool) -> None:
    """On every other page: how far the visitor's model is, and a button to stop it."""
    run = get_state(RUN)
    if on_training_page:
        return
    if run is None or not run.training:
        return
    with st.sidebar:
        st.fragment(draw_badge)(run)


def draw_badge(run: TrainingRun) -> None:
    """One refresh of the sign. Looking keeps the run going."""
    with redrawn_picture(small=True):
        view = run.look()
        st.progress(
            view.position / view.settings.steps,
            text=render(
                plural("Your model: {count} training step", "Your model: {count} training steps", view.position)
            ),
        )
        st.button(translate("Stop training"), key="stop", on_click=pause, width="stretch")
    if not view.training:
        st.rerun()
    look_again_when(lambda: run.position != view.position or not run.training, BADGE_SECONDS)
