"""A visitor's training run on the screen: buttons and live picture."""

from collections.abc import Callable

import streamlit as st

from attention_core.observe import measure_future_leak, observe_task, observe_text
from attention_core.tasks import CharacterTask, NoiseTask
from attention_core.training import TrainingSettings
from attention_ui.figures.heads import heads_size, heads_table, numbers_fit
from attention_ui.figures.loss import loss_chart, loss_tables
from attention_ui.figures.progress import progress_chart, progress_tables
from attention_ui.figures.template import template
from attention_ui.lesson import grid_template, show_chart, show_notes
from attention_ui.run_tools import RUN_TOOLS
from attention_ui.state import get_state
from attention_ui.training_controls import DEFAULT_PACE, PACES, SPANS, Choice
from attention_ui.training_runs import FIRST, one_step, pause, reset, start
from lessons.comparison import differences
from lessons.success import answer_lines, success_caption
from lessons.watching import future_leak_caption, heads_caption, loss_caption, read_probe
from runs.run import RunView, TrainingRun

MOVING = "picture_moves"
FOLDS = ("compare", *RUN_TOOLS)
CURVE_WIDTH, LOSS_HEIGHT, PROGRESS_HEIGHT = 262, 120, 70
HEADS_WIDTH, HEAT_WIDTH = 630, 250


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
    return "; ".join(f"{d.name}: {d.before} → {d.after}" for d in differences(before, after))


def draw_progress(view: RunView) -> None:
    """How far the run is, and what went wrong."""
    steps = view.settings.steps
    st.progress(view.position / steps, text=f"{view.position} of {steps} updates")
    show_notes(*filter(None, [view.problem]))


def draw_run(view: RunView) -> None:
    """Curves on the left, what the heads do on the right."""
    left, right = st.columns([CURVE_WIDTH + 80, HEADS_WIDTH + 20])
    with left:
        draw_loss(view)
        draw_success(view)
        draw_cheat(view)
    with right:
        draw_text_heads(view) if isinstance(view.settings.task, CharacterTask) else draw_task_heads(view, HEADS_WIDTH)


def draw_loss(view: RunView, key: str = "loss") -> None:
    """The curve and its meaning."""
    task = view.settings.task
    baselines = task.baselines()
    caption = loss_caption(float(view.losses[-1]), baselines)
    st.text(caption)
    tables = loss_tables(view.losses, view.settings.steps, baselines, view.evaluations)
    unit = "nats" if view.settings.model.output == "scores" else "squared error"
    chart = template(loss_chart, CURVE_WIDTH, LOSS_HEIGHT, unit, bool(view.evaluations))
    show_chart(key, "The loss while the model trains", chart, tables, alt=caption)
    if view.evaluations:
        st.caption("Line: the sequences of each step. Dots: the sequences it is measured on.")


def draw_success(view: RunView, key: str = "progress") -> None:
    """How many answers are right, how much weight lies on the right cells, and whether that is enough."""
    if not view.evaluations:
        return
    task = view.settings.task
    caption = success_caption(task, view.evaluations[-1])
    tables = progress_tables(view.evaluations, view.settings.steps, task.enough_right)
    chart = template(progress_chart, CURVE_WIDTH, PROGRESS_HEIGHT)
    show_chart(key, "Right answers while the model trains", chart, tables, alt=caption)
    st.text(caption)


def draw_cheat(view: RunView) -> None:
    """How far a model that may look ahead reads the answers, once it stands still; for tasks of the next token."""
    asks_for_next = isinstance(view.settings.task, CharacterTask | NoiseTask)
    if asks_for_next and not view.settings.model.causal and not view.playing:
        show_notes(future_leak_caption(measure_future_leak(view.settings, view.snapshot)))


def draw_task_heads(view: RunView, width: int, key: str = "heads") -> None:
    """Every head on the example of the task, the right cells marked, and the answers there."""
    watched = observe_task(view.settings, view.snapshot)
    example = watched.example
    targets = None if example.target_attention is None else example.target_attention.any(dim=0)
    draw_heads(example.tokens, watched.layers, width, key, targets)
    if targets is not None:
        st.caption("A corner mark: here some head has to look.")
    st.code(answer_lines(example, watched.predicted), language=None)


def draw_text_heads(view: RunView) -> None:
    """Every head on a piece of text of the visitor's choice, and what the model writes."""
    picture = st.container()
    with st.container(horizontal=True):
        probe = st.text_input("Look at the attention on", "", key="probe", placeholder="a piece of the text")
        span, label = SPANS["heat"], "Temperature of the sample"
        heat = st.slider(label, span.least, span.most, 1.0, 0.1, key="heat", bind="query-params", width=HEAT_WIDTH)
    shown = read_probe(view.settings, probe or "")
    watched = observe_text(view.settings, view.snapshot, shown.tokens, heat)
    show_notes(*shown.notes)
    with picture:
        draw_heads(watched.tokens, watched.layers, HEADS_WIDTH, "heads")
        st.text("The model writes:")
        st.code(watched.sample, language=None, wrap_lines=True)


def draw_heads(tokens: tuple[str, ...], layers: tuple, width: int, key: str, targets=None) -> None:
    """Every head's attention, and the firmest look of any of them."""
    caption = heads_caption(tokens, layers)
    size = (len(tokens), len(layers), layers[0].weights.shape[0])
    numbered = numbers_fit(*size, width)
    chart = grid_template(heads_size(*size), width, numbered=numbered)
    table = heads_table(tokens, layers, targets, numbered=numbered)
    show_chart(key, "The attention of every head", chart, {"cells": table}, alt=caption)
    st.text(caption)
