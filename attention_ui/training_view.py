"""A visitor's training run on the screen: buttons, live picture, and the sign in the sidebar."""

import streamlit as st

from attention_core.training import RunView, TrainingRun, TrainingSettings
from attention_core.watching import Watched, heads_caption, loss_caption, watch
from attention_ui.charts.heads import MOST_NUMBERED_COLUMNS, heads_size, heads_table
from attention_ui.charts.loss import loss_chart, loss_tables
from attention_ui.charts.template import template
from attention_ui.lesson import grid_template, show_chart, show_notes
from attention_ui.services import training_room
from attention_ui.session import keep, recall
from attention_ui.training_controls import DEFAULT_PACE, PACES, Choice, differences

RUN = "training_run"
REFRESH_SECONDS = 0.5
CHIP_SECONDS = 2.0
LOSS_WIDTH, LOSS_HEIGHT = 330, 200
HEADS_WIDTH = 600


def visitors_run(choice: Choice) -> TrainingRun | None:
    """The run of this visitor. One that has not begun follows the controls; one that has is kept."""
    run = recall(RUN)
    if choice.settings is None:
        return run
    if run is None or (run.position == 0 and not run.playing and run.tape.settings != choice.settings):
        run = training_room().open(choice.settings)
        keep(RUN, run)
    return run


def run_buttons(run: TrainingRun | None, choice: Choice) -> None:
    """Start or go on, pause, one step, reset, and the pace."""
    playing = run is not None and run.playing
    changed = run is not None and choice.settings is not None and run.tape.settings != choice.settings
    fresh = run is None or run.position == 0 or changed
    label = "Start" if fresh else "Play again" if run.finished else "Go on"
    with st.container(horizontal=True, vertical_alignment="center"):
        can_start = choice.settings is not None and (changed or not playing)
        st.button(label, key="start", type="primary", disabled=not can_start, on_click=start, args=(choice.settings,))
        st.button("Pause", key="pause", disabled=not playing, on_click=pause)
        st.button("One step", key="one_step", disabled=run is None or run.finished, on_click=one_step)
        st.button("Reset", key="reset", disabled=choice.settings is None, on_click=reset, args=(choice.settings,))
        pace = st.segmented_control(
            "Steps", list(PACES), default=DEFAULT_PACE, format_func=PACES.get, required=True, key="pace",
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
    steps_per_second = float(pace) if pace else None
    if run is not None and run.steps_per_second != steps_per_second:
        run.set_pace(steps_per_second)
    if changed and choice.settings is not None and run.position > 0:
        show_notes(
            f"Changed since this run: {', '.join(differences(run.tape.settings, choice.settings))}. Start begins anew."
        )


def start(settings: TrainingSettings) -> None:
    """Play the visitor's run, or a new one where the settings changed or the old one is over."""
    run = recall(RUN)
    if run is None or run.finished or run.tape.settings != settings:
        run = reset(settings)
    run.play()


def pause() -> None:
    """Let the visitor's run stand still where it is."""
    if (run := recall(RUN)) is not None:
        run.pause()


def one_step() -> None:
    """Move the visitor's run by one step."""
    if (run := recall(RUN)) is not None:
        run.step_once()


def reset(settings: TrainingSettings) -> TrainingRun:
    """Put a new run at step 0 in the place of the old one, at the same pace."""
    old = recall(RUN)
    if old is not None:
        old.pause()
    run = training_room().open(settings, old.steps_per_second if old is not None else None)
    keep(RUN, run)
    return run


def live_picture(run: TrainingRun) -> None:
    """Everything about the run that moves, refreshed in place while it plays."""
    st.fragment(draw_run, run_every=REFRESH_SECONDS if run.playing else None)(run, run.playing)


def draw_run(run: TrainingRun, was_playing: bool) -> None:
    """One refresh. When the run has come to its end the page is drawn anew, for its buttons."""
    view = run.look()
    progress, notes = st.container(), st.container()
    left, right = st.columns([LOSS_WIDTH + 90, HEADS_WIDTH])
    probe_place, heat_place = st.columns([3, 2])
    probe = probe_place.text_input("Look at the attention on", "", key="probe", placeholder="a piece of the text")
    heat = heat_place.slider("Temperature of the sample", 0.0, 2.0, 1.0, 0.1, key="heat", bind="query-params")
    watched = watch(view, probe or "", heat)
    steps = view.settings.steps
    progress.progress(view.position / steps, text=f"{view.position} of {steps} updates")
    with notes:
        show_notes(*filter(None, (view.problem, *watched.notes)))
    with left:
        draw_loss(view)
        st.text("The model writes:")
        st.code(watched.sample, language=None, wrap_lines=True)
    with right:
        draw_heads(watched, view)
    if was_playing and not view.playing:
        st.rerun()


def draw_loss(view: RunView) -> None:
    """The curve and its meaning."""
    baselines = view.settings.task.baselines()
    caption = loss_caption(float(view.losses[-1]), baselines)
    st.text(caption)
    tables = loss_tables(view.losses, view.settings.steps, baselines)
    show_chart(
        "loss", "The loss while the model trains", template(loss_chart, LOSS_WIDTH, LOSS_HEIGHT), tables, alt=caption
    )


def draw_heads(watched: Watched, view: RunView) -> None:
    """Every head's attention on the text."""
    caption = heads_caption(watched)
    st.text(caption)
    n = len(watched.tokens)
    columns, numbered = heads_size(n, view.settings.model.n_heads), n <= MOST_NUMBERED_COLUMNS
    chart = grid_template(columns, HEADS_WIDTH, numbered=numbered)
    tables = {"cells": heads_table(watched)}
    show_chart("heads", "The attention of every head", chart, tables, alt=caption)


def training_chip(on_training_page: bool) -> None:
    """On every other page: how far the visitor's model is, and a button to stop it."""
    run = recall(RUN)
    if run is None or not run.playing or on_training_page:
        return
    with st.sidebar:
        st.fragment(draw_chip, run_every=CHIP_SECONDS)(run)


def draw_chip(run: TrainingRun) -> None:
    """One refresh of the sign. Looking keeps the run going."""
    view = run.look()
    st.progress(view.position / view.settings.steps, text=f"Your model: {view.position} updates")
    st.button("Stop training", key="stop", on_click=pause, width="stretch")
    if not view.playing:
        st.rerun()
