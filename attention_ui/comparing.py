"""Two runs side by side: one kept as the first, the other the visitor's own; and the classical questions."""

import streamlit as st

from attention_ui.links import hidden
from attention_ui.server.process import page_turn, redraw_pace, redraw_seconds, redrawn_picture, scheduler
from attention_ui.state import get_state, set_state
from attention_ui.training_controls import QUESTIONS, Choice, set_task
from attention_ui.training_runs import FIRST, RUN, visitors_run
from attention_ui.training_view import MOVING, draw_half, draw_progress, draw_run, in_words, run_buttons
from lessons.comparison import COMPARISONS, comparison_sentences
from lessons.formatting import together
from runs.page_lock import Priority
from runs.run import RunView, TrainingRun

WRONG_PACE = 2.0  # times as fast, or as slow, as it should be


@st.fragment
def live_run(choice: Choice) -> TrainingRun | None:
    """The buttons and the picture of the run returned. A press draws these alone: a class may press Start at once."""
    with page_turn(Priority.NOBODY_WAITS):
        run = visitors_run(choice)
        playing = run_buttons(run, choice)
        if run is not None:
            live_picture(run, playing)
    return run


def live_picture(run: TrainingRun, playing: bool) -> None:
    """Everything about the run that moves, refreshed in place while it plays, beside the first run if one is kept."""
    set_state(MOVING, playing)
    every = redraw_seconds() if playing else None
    st.fragment(draw_live, run_every=every)(run, get_state(FIRST), every)


def draw_live(run: TrainingRun, first: TrainingRun | None, every: float | None) -> None:
    """One refresh. When all has come to its end, or the pace no longer suits, the page is drawn anew."""
    with redrawn_picture(), redraw_pace().measured():
        view = run.look()
        draw_progress(view)
        if first is None or first is run:
            draw_run(view)
            playing = view.playing
        else:
            playing = draw_both(first.look(), view)
    if every is not None and (not playing or wrong_pace(every)):
        st.rerun()


def wrong_pace(every: float) -> bool:
    """True where the class has become so much larger or smaller that pictures should come at another pace."""
    return not 1 / WRONG_PACE <= redraw_seconds() / every <= WRONG_PACE


def compare_panel(run: TrainingRun | None) -> None:
    """Keep this run as the first, or let both runs of a classical question begin at once."""
    if hidden("compare"):
        return
    with st.expander("Compare two runs", key="compare_open", on_change="rerun") as panel:
        if not panel.open:
            return
        st.text("Keep this run, change one thing, and press Start: both are shown side by side.")
        first = get_state(FIRST)
        with st.container(horizontal=True):
            st.button("Keep this run as the first", key="keep_first", disabled=run is None, on_click=keep_first)
            st.button("Forget the first run", key="forget_first", disabled=first is None, on_click=forget_first)
        asked = st.selectbox(
            "Or a classical question", list(QUESTIONS), format_func=QUESTIONS.get, key="classic", bind="query-params"
        )
        st.button("Train both", key="train_both", on_click=train_both, args=(asked,))


def keep_first() -> None:
    """Let the run of the moment be the first of two."""
    set_state(FIRST, get_state(RUN))


def forget_first() -> None:
    """Show one run alone again."""
    if (first := get_state(FIRST)) is not None and first is not get_state(RUN):
        first.pause()
    set_state(FIRST, None)


def train_both(asked: str) -> None:
    """Begin both runs of a question, and let the controls show the second."""
    run = get_state(RUN)
    seed = run.recording.settings.seed if run is not None else 0
    pace = run.steps_per_second if run is not None else None
    forget_first()
    settings = COMPARISONS[asked].settings(seed)
    for key, one in zip((FIRST, RUN), settings, strict=True):
        set_state(key, scheduler().open(one, pace))
        get_state(key).play()
    set_task(settings[1])


def draw_both(first: RunView, second: RunView) -> bool:
    """One refresh of two runs; True while one of them plays."""
    st.text(f"From the first to the second: {in_words(first.settings, second.settings) or 'nothing changed'}.")
    st.text(together(comparison_sentences(first, second)))
    runs = zip(st.columns(2), (first, second), ("The first run", "The second run"), ("first", ""), strict=True)
    for place, view, title, which in runs:
        with place:
            st.subheader(title, anchor=False)
            draw_half(view, which)
    return first.playing or second.playing
