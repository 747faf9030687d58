"""A visitor's training run on the screen: buttons, progress, and the film of the run."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import Snapshot, TrainingSettings
from attention_core.measured.observe import ObservedTask, observe_task, observe_texts
from attention_core.model.small_model import ModelConfig
from attention_ui.controls.bound import slider
from attention_ui.figures.template import alt_table, template
from attention_ui.page.drawing import PROJECTED_WIDTH, draw_figure, draw_film, draw_notice, say_whose_weights
from attention_ui.process.kept import KeptByLanguage
from attention_ui.process.turns import lower_priority, yield_turn
from attention_ui.session import get_state, hidden, is_projected, least_letters, set_state, show_notes
from attention_ui.session.training_runs import FIRST, RUN, one_step, pause, reset, start
from attention_ui.training.controls import HEAT, ChosenRun
from attention_ui.training.run_tools import RUN_TOOLS
from lessons.example.prompt import Beginning, read_probe
from lessons.learning.train.ablation import WithoutHead, heads_by_layer, without_head
from lessons.learning.train.compare_runs import differences
from lessons.learning.train.lesson import FILM_WIDTH, Observed, answer_rows, film_steps, train_screen
from lessons.screen import Screen, labelled, listed, message, plural, render, render_all, translate
from lessons.shared.head_maps import head_name
from models.shared import UNUSED_SECONDS, Once
from runs.recording import Recording
from runs.run import RunView, TrainingRun

MOVING, HEAD_LEFT_OUT = "picture_moves", "left_out"
FOLDS = ("compare", *RUN_TOOLS)
HALF_WIDTH, PROJECTED_FILM = 480, 838  # pixels
MOST_FILMS = 16  # of runs that stand still, which are drawn with every press on their page
MOMENTS: Once[Sequence[Observed]] = Once(MOST_FILMS, lambda _: 1, UNUSED_SECONDS)
STANDING: KeptByLanguage[Screen] = KeptByLanguage(MOST_FILMS)


def run_buttons(run: TrainingRun | None, choice: ChosenRun) -> bool:
    """Start or go on, pause, one step, reset. True where a run of this visitor is trained.

    Whoever draws below goes by this answer: a run may end at any moment, and the buttons would then tell of another.
    """
    training, changed = run is not None and run.training, has_changed(run, choice)
    fresh = run is None or run.position == 0 or changed
    can_start = choice.settings is not None and (changed or (not training and not (run is not None and run.finished)))
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        press_button(
            translate("Start") if fresh else translate("Go on"),
            "start",
            can_start,
            start,
            choice.settings,
            type="primary",
        )
        press_button(translate("Pause"), "pause", training, pause)
        press_button(translate("One step"), "one_step", run is not None and not run.finished, one_step)
        press_button(translate("Reset"), "reset", choice.settings is not None, reset, choice.settings)
    first = get_state(FIRST)
    return training or (first is not None and first.training)


def has_changed(run: TrainingRun | None, choice: ChosenRun) -> bool:
    """Whether other settings were chosen than those of the run."""
    return run is not None and choice.settings is not None and run.recording.settings != choice.settings


def note_change(run: TrainingRun | None, choice: ChosenRun) -> None:
    """Say what was changed since a run began."""
    if run is not None and choice.settings is not None and has_changed(run, choice) and run.position > 0:
        show_notes(
            message(
                "Changed since this run: {changed}. Start begins a new run.",
                changed=in_words(run.recording.settings, choice.settings),
            )
        )


def press_button(label: str, key: str, enabled: bool, action: Callable, *about: object, **look: str) -> None:
    """A button that does something with the visitor's runs."""
    st.button(label, key=key, disabled=not enabled, on_click=press, args=(action, *about), **look)


def press(action: Callable, *about: object) -> None:
    """Do it; the buttons and the picture are drawn anew, and the whole page where that is not enough.

    The browser asks for the progress until the whole page is drawn, and open folds tell of the run as it stood.
    """
    action(*about)
    if get_state(MOVING) or any(get_state(f"{fold}_open") for fold in FOLDS):
        st.rerun()


def in_words(before: TrainingSettings, after: TrainingSettings) -> str:
    """What differs between two runs, in one line."""
    return "; ".join(render(difference.sentence) for difference in differences(before, after))


def draw_progress(view: RunView) -> None:
    """How far the run is, and what went wrong."""
    steps = view.settings.steps
    done = plural("{done} of {count} training step", "{done} of {count} training steps", steps, done=view.position)
    st.progress(view.position / steps, text=render(done))
    show_notes(view.problem)


def asks_beside() -> bool:
    """True on a projector: there the question stands beside the run, unless it is hidden or two runs take all of the
    width.
    """
    return is_projected() and not hidden("predict") and get_state(FIRST) in (None, get_state(RUN))


def draw_run(run: TrainingRun, view: RunView, part: int | None) -> None:
    """The film of a run, or one `part` of it; of a text, with a choice of what to look at."""
    picture = st.container()
    probe, heat = probe_controls() if isinstance(view.settings.task, CharacterTask) else ("", 1.0)
    with picture:
        width = PROJECTED_FILM if part is not None else PROJECTED_WIDTH if is_projected() else FILM_WIDTH
        shown = draw_film_of(run, view, probe, heat, width=width, part=part)
    show_notes(*shown.notes)


def draw_half(run: TrainingRun, view: RunView, which: str) -> None:
    """One of two runs side by side: `which` tells its film from that of the other."""
    draw_film_of(run, view, "", 1.0, width=HALF_WIDTH, which=which)


def draw_film_of(
    run: TrainingRun,
    view: RunView,
    probe: str,
    heat: float,
    *,
    width: int = FILM_WIDTH,
    which: str = "",
    part: int | None = None,
) -> Beginning:
    """A run that stands still, from its first moment to the present one; of one that is trained, the present alone.

    The piece of text that was looked at, and what had to be changed in it.
    """
    text = isinstance(view.settings.task, CharacterTask)
    shown = read_probe(view.settings, probe) if text else Beginning(())
    steps = (view.snapshot.step,) if view.training else film_steps(run.recording.snapshot_steps(view.position))
    watched = moments_of if len(steps) > 1 else observed_at  # pictures of runs that are trained would fill what is kept
    moments = watched(run.recording, tuple(steps), shown.tokens, heat)
    picture = st.container(key=f"run_picture{which}")
    can_be_left_out = view.position > 0 and not view.training
    head = head_to_leave_out(view, which) if can_be_left_out else None
    less = None if head is None else losses_without(run.recording, tuple(steps), head)
    yield_turn()
    asked = run.recording, view.position, tuple(steps), shown.tokens, heat, head, width
    if view.training:
        screen = train_screen(view, moments, width=width)
    else:
        screen = STANDING.get(asked, lambda: train_screen(view, moments, still=True, less=less, width=width))
    film, *of_task = screen.figures
    if which:  # else what is kept by them would be made anew
        curves = tuple(replace(one, key=one.key + which) for one in film.curves)
        film = replace(film, key=film.key + which, curves=curves)
    pressed = partial(press_head, f"{film.key}_film", HEAD_LEFT_OUT + which, view.settings.model)
    with picture:
        draw_film(None, film, pressed if can_be_left_out else None, part)
    if less is not None:  # what the press did stands where it was pressed
        show_notes(less.sentence)
    with st.container(key=f"run_said{which}"):
        say_whose_weights(film)
        for figure in (*film.curves, film.frames[-1]):
            draw_notice(None, figure.notice)
        if remarks := [remark for remark in screen.remarks if less is None or remark != less.sentence]:
            show_notes(render_all(remarks))
        draw_answers(moments[-1], view.settings.task.vocabulary.tokens, which)
        for figure in of_task:
            draw_notice(None, figure.notice)
            draw_figure(None, replace(figure, key=figure.key + which))
    return shown


def head_to_leave_out(view: RunView, which: str) -> tuple[int, int] | None:
    """The titles of all heads, as buttons: one press leaves a head out, another brings it back.

    So does a click on its map or on the title of that; the buttons are there for whoever has no pointer as well.
    """
    heads = [head for layer in heads_by_layer(view.settings.model) for head in layer]
    chosen = st.pills(
        translate("Leave out a head: click its map or choose it here"),
        heads,
        format_func=lambda head: render(head_name(*head)),
        key=f"{HEAD_LEFT_OUT}{which}",
    )
    return chosen if chosen in heads else None


def press_head(film: str, buttons: str, model: ModelConfig) -> None:
    """The head whose map was clicked is left out; if it was, it comes back."""
    maps = {f"{layer}.{head}": (layer, head) for heads in heads_by_layer(model) for layer, head in heads}
    told = get_state(film)
    head = maps.get(str(told.get("pressed"))) if isinstance(told, dict) else None
    if head is not None:
        set_state(buttons, None if get_state(buttons) == head else head)


@functools.lru_cache(maxsize=8)
def losses_without(recording: Recording, steps: tuple[int, ...], head: tuple[int, int]) -> WithoutHead:
    """The losses of the recorded models, each without this head."""
    return without_head(recording.settings, (snapshot_in_turn(recording, step) for step in steps), head)


def snapshot_in_turn(recording: Recording, step: int) -> Snapshot:
    """The weights of a step. Thirty films may be drawn at once, and others are on a lesson: they go first."""
    yield_turn()
    return recording.snapshot(step)


def moments_of(
    recording: Recording, steps: tuple[int, ...], tokens: tuple[str, ...], heat: float
) -> Sequence[Observed]:
    """The model at many of the recorded steps. Whoever is the first to ask for them lets the others go first; so nobody
    waits for him who asks for the same meanwhile.
    """
    asked = recording, steps, tokens, heat
    known = MOMENTS.kept(asked)
    if known is None:
        lower_priority()
        known = observed_at(*asked)
    return MOMENTS.get(asked, lambda: known)


def observed_at(recording: Recording, steps: tuple[int, ...], tokens: tuple[str, ...], heat: float) -> list[Observed]:
    """The model at some of the recorded steps: on these tokens of its text, or on the example of its task."""
    settings, snapshots = recording.settings, (snapshot_in_turn(recording, step) for step in steps)
    if isinstance(settings.task, CharacterTask):
        return observe_texts(settings, list(snapshots), tokens, heat)
    return [observe_task(settings, snapshot) for snapshot in snapshots]


def probe_controls() -> tuple[str, float]:
    """Which piece of text to look at, and how warm the sample is."""
    with st.container(horizontal=True):
        probe = st.text_input(
            translate("Piece of text to look at"), "", key="probe", placeholder=translate("a piece of the text")
        )
        return probe or "", slider(HEAT)


def draw_answers(now: Observed, vocabulary: Sequence[str], which: str) -> None:
    """What the model answers, with tokens of this vocabulary, or writes at the present moment.

    `which` tells the answers of one of two runs from those of the other.
    """
    if isinstance(now, ObservedTask):
        with st.container(key=f"answers{which}"):
            draw_columns(answer_rows(now.example, now.predicted), vocabulary)
    else:
        st.text(translate("The model writes:"))
        st.code(now.sample, language=None, wrap_lines=True)


def draw_columns(rows: Mapping[str, Sequence[str]], vocabulary: Sequence[str]) -> None:
    """Rows of texts below each other, in columns as wide as any text of the vocabulary: none moves when one changes."""
    from attention_ui.figures.sentence.answers import answers_chart, answers_table, column_width  # with Altair

    letters, (tokens, *_) = least_letters(), rows.values()
    beside = column_width(rows, letters)
    step = column_width([*tokens, *vocabulary], letters)
    chart = template(answers_chart, len(rows), len(tokens), beside, step, letters)
    said = "\n".join(labelled(title, " ".join(texts)) for title, texts in rows.items() if title)
    tables = {"answers": answers_table(rows, beside, step, letters), "alt": alt_table(said)}
    st.vega_lite_chart({**chart, "datasets": tables}, width="content", alt=listed([*filter(None, rows)]))
