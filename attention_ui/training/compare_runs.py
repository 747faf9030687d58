"""Two runs side by side: one kept as the first, the other the visitor's own; and the classic questions."""

import time

import streamlit as st

from attention_ui.controls.bound import one_in_list
from attention_ui.page.drawing import step_through
from attention_ui.process.turns import lower_priority, page_turn, picture_seconds, redrawn_picture, scheduler
from attention_ui.process.waiting import look_again_when
from attention_ui.session import get_state, hidden, set_state, take_state
from attention_ui.session.training_runs import BY_ITSELF, FIRST, RUN, start, visitors_run
from attention_ui.training.controls import QUESTION, ChosenRun, set_task
from attention_ui.training.view import (
    MOVING,
    asks_beside,
    draw_half,
    draw_progress,
    draw_run,
    in_words,
    note_change,
    run_buttons,
)
from lessons.learning.train.compare_runs import COMPARISONS, comparison_sentences
from lessons.screen import render_all, translate
from runs.run import TrainingRun


@st.fragment
def live_run(choice: ChosenRun) -> TrainingRun | None:
    """The buttons and the picture of the run returned. A press draws these alone: a class may press Start at once."""
    with page_turn():  # a press does not stand behind the pictures that move by themselves
        if take_state("train_now") and choice.settings is not None:  # a class has come to a stop that trains
            start(choice.settings)
        run = visitors_run(choice)
        line = st.container(key="run_line", horizontal=True, vertical_alignment="center")
        with line:
            training = run_buttons(run, choice)
        note_change(run, choice)
        set_state(MOVING, training)
        if run is not None:
            first = get_state(FIRST)
            first = None if first is run else first
            with line, st.container(key="run_progress"):
                st.fragment(watch_progress)(run, first, time.monotonic() if training else None)
            with line:
                part = step_through("run", 2) if asks_beside() else None
            if training:
                lower_priority()  # a class that presses Start sees thirty runs move before thirty pictures are drawn
            draw_picture(run, first, part)
    return run


def watch_progress(run: TrainingRun, first: TrainingRun | None, drawn: float | None) -> None:
    """One refresh. Some time after it was `drawn`, and when all has come to its end, the page is drawn anew."""
    runs = [run] if first is None else [run, first]
    with redrawn_picture(small=True):
        views = [one.look() for one in runs]
        training = any(view.training for view in views)
        draw_progress(views[0])
    if drawn is None:
        return
    if not training or time.monotonic() - drawn > picture_seconds():
        set_state(BY_ITSELF, training)
        st.rerun()
    shown = [view.position for view in views]
    look_again_when(lambda: [one.position for one in runs] != shown or not any(one.training for one in runs))


def draw_picture(run: TrainingRun, first: TrainingRun | None, part: int | None) -> None:
    """The run alone, or a `part` of it, or beside the first one if one is kept."""
    if first is None:
        draw_run(run, run.look(), part)
    else:
        draw_both(first, run)


def compare_panel(run: TrainingRun | None) -> None:
    """Keep this run as the first, or let both runs of a classic question begin at once."""
    if hidden("compare"):
        return
    with st.expander(translate("Compare two runs"), key="compare_open", on_change="rerun") as panel:
        if not panel.open:
            return
        st.text(translate("Keep this run, change one thing, and press Start: both are shown side by side."))
        first = get_state(FIRST)
        with st.container(horizontal=True):
            st.button(
                translate("Keep this run as the first"), key="keep_first", disabled=run is None, on_click=keep_first
            )
            st.button(
                translate("Forget the first run"), key="forget_first", disabled=first is None, on_click=forget_first
            )
        asked = one_in_list(QUESTION)
        st.button(translate("Train both"), key="train_both", on_click=train_both, args=(asked,))


def keep_first() -> None:
    """Let the run of the moment be the first of two."""
    set_state(FIRST, get_state(RUN))


def forget_first() -> None:
    """Forget the first run and show a single one again."""
    if (first := get_state(FIRST)) is not None and first is not get_state(RUN):
        first.stop()
    set_state(FIRST, None)


def train_both(asked: str) -> None:
    """Begin both runs of a question, and let the controls show the second."""
    run = get_state(RUN)
    seed = run.recording.settings.seed if run is not None else 0
    forget_first()
    settings = COMPARISONS[asked].settings(seed)
    for key, one in zip((FIRST, RUN), settings, strict=True):
        set_state(key, scheduler().open(one))
        get_state(key).train()
    set_task(settings[1])


def draw_both(first: TrainingRun, second: TrainingRun) -> None:
    """Two runs side by side, and what came of them."""
    views = first.look(), second.look()
    changed = in_words(*(v.settings for v in views)) or translate("nothing changed")
    st.text(translate("From the first to the second: {changed}.", changed=changed))
    st.text(render_all(comparison_sentences(*views)))
    named = ((translate("The first run"), "first"), (translate("The second run"), ""))
    for place, run, view, (title, which) in zip(st.columns(2), (first, second), views, named, strict=True):
        with place:
            st.subheader(title, anchor=False)
            draw_half(run, view, which)
