"""A visitor's training run on the screen: buttons and live picture."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core.observe import (
    FutureLeak,
    ObservedTask,
    ObservedText,
    measure_future_leak,
    observe_task,
    observe_text,
)
from attention_core.tasks import CharacterTask
from attention_core.training import TrainingSettings
from attention_ui.drawing import draw_figure, draw_notice
from attention_ui.lesson import show_notes
from attention_ui.run_tools import RUN_TOOLS
from attention_ui.state import get_state
from attention_ui.training_controls import DEFAULT_PACE, PACES, SPANS, Choice
from attention_ui.training_runs import FIRST, one_step, pause, reset, start
from lessons.beginning import read_probe
from lessons.comparison import differences
from lessons.formatting import english, together, written
from lessons.screen import Screen
from lessons.train import HEADS_WIDTH, answer_lines, train_screen
from lessons.training_curves import WIDTH as CURVES_WIDTH
from lessons.training_curves import asks_for_next
from runs.run import RunView, TrainingRun

MOVING = "picture_moves"
FOLDS = ("compare", *RUN_TOOLS)
HALF_WIDTH, HEAT_WIDTH = 430, 250


def run_buttons(run: TrainingRun | None, choice: Choice) -> bool:
    """Start or go on, pause, one step, reset, and the pace. True where a run of this visitor plays.

    Whoever draws below goes by this answer: a run may end at any moment, and the buttons would then tell of another.
    """
    playing = run is not None and run.playing
    changed = run is not None and choice.settings is not None and run.recording.settings != choice.settings
    fresh = run is None or run.position == 0 or changed
    label = "Start" if fresh else "Play again" if run.finished else "Go on"
    with st.container(horizontal=True, vertical_alignment="center"):
        can_start = choice.settings is not None and (changed or not playing)
        press_button(label, "start", can_start, start, choice.settings, type="primary")
        press_button("Pause", "pause", playing, pause)
        press_button("One step", "one_step", run is not None and not run.finished, one_step)
        press_button("Reset", "reset", choice.settings is not None, reset, choice.settings)
        pace = st.segmented_control(
            "Steps", list(PACES), default=DEFAULT_PACE, format_func=PACES.get, required=True, key="pace",
            bind="query-params", label_visibility="collapsed",
        )  # fmt: skip
    steps_per_second = float(pace) if pace else None
    if run is not None and run.steps_per_second != steps_per_second:
        run.set_pace(steps_per_second)
    if changed and choice.settings is not None and run.position > 0:
        show_notes(f"Changed since this run: {in_words(run.recording.settings, choice.settings)}. Start begins anew.")
    first = get_state(FIRST)
    return playing or (first is not None and first.playing)


def press_button(label: str, key: str, enabled: bool, action: Callable, *about: object, **look: str) -> None:
    """A button that does something with the visitor's runs."""
    st.button(label, key=key, disabled=not enabled, on_click=press, args=(action, *about), **look)


def press(action: Callable, *about: object) -> None:
    """Do it; the buttons and the picture are drawn anew, and the whole page where that is not enough.

    The browser asks for the next picture until the whole page is drawn, and open folds tell of the run as it stood.
    """
    action(*about)
    if get_state(MOVING) or any(get_state(f"{fold}_open") for fold in FOLDS):
        st.rerun()


def in_words(before: TrainingSettings, after: TrainingSettings) -> str:
    """What differs between two runs, in one line."""
    return "; ".join(english(difference.sentence) for difference in differences(before, after))


def draw_progress(view: RunView) -> None:
    """How far the run is, and what went wrong."""
    steps = view.settings.steps
    st.progress(view.position / steps, text=f"{view.position} of {steps} updates")
    show_notes(*filter(None, [view.problem]))


def draw_run(view: RunView) -> None:
    """Curves on the left, what the heads do on the right."""
    left, right = st.columns([CURVES_WIDTH, HEADS_WIDTH + 20])
    with right:
        text = isinstance(view.settings.task, CharacterTask)
        picture = st.container()
        probe, heat = probe_controls() if text else ("", 1.0)
        observed, notes = observe(view, probe, heat)
        show_notes(*notes)
    screen = train_screen(view, observed, leak_of(view))
    with left:
        draw_curves_of(screen)
    with picture:
        draw_heads_of(screen, observed)


def draw_half(view: RunView, which: str) -> None:
    """One of two runs side by side: `which` tells its figures from those of the other."""
    observed, _ = observe(view, "", 1.0)
    screen = train_screen(view, observed, leak_of(view), width=HALF_WIDTH)
    draw_curves_of(screen, which)
    draw_heads_of(screen, observed, which)


def observe(view: RunView, probe: str, heat: float) -> tuple[ObservedText | ObservedTask, tuple[str, ...]]:
    """The model on a piece of text, or on the example of its task; and what had to be changed in the text."""
    if not isinstance(view.settings.task, CharacterTask):
        return observe_task(view.settings, view.snapshot), ()
    shown = read_probe(view.settings, probe)
    return observe_text(view.settings, view.snapshot, shown.tokens, heat), tuple(map(written, shown.notes))


def leak_of(view: RunView) -> FutureLeak | None:
    """How far a model that may look ahead reads the answers, once it stands still."""
    may_leak = asks_for_next(view.settings.task) and not view.settings.model.causal
    return measure_future_leak(view.settings, view.snapshot) if may_leak and not view.playing else None


def probe_controls() -> tuple[str, float]:
    """Which piece of text to look at, and how warm the sample is."""
    with st.container(horizontal=True):
        probe = st.text_input("Look at the attention on", "", key="probe", placeholder="a piece of the text")
        span, label = SPANS["heat"], "Temperature of the sample"
        heat = st.slider(label, span.least, span.most, 1.0, 0.1, key="heat", bind="query-params", width=HEAT_WIDTH)
    return probe or "", heat


def draw_curves_of(screen: Screen, which: str = "") -> None:
    """The curves of a run, each below what there is to notice, and what was found of reading ahead."""
    for figure in screen.figures[:-1]:
        draw_notice(None, figure.notice)
        draw_figure(None, replace(figure, key=figure.key + which))
    if screen.remarks:
        show_notes(together(screen.remarks))


def draw_heads_of(screen: Screen, observed: ObservedText | ObservedTask, which: str = "") -> None:
    """Every head's attention, and what the model answers or writes."""
    figure = screen.figures[-1]
    draw_figure(None, replace(figure, key=figure.key + which))
    draw_notice(None, figure.notice)
    if isinstance(observed, ObservedTask):
        st.code(answer_lines(observed.example, observed.predicted), language=None)
    else:
        st.text("The model writes:")
        st.code(observed.sample, language=None, wrap_lines=True)
