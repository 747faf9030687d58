"""Which model writes: a real one, one of two that come with the app, the visitor's own, or one from a file."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.tasks.text import notebook_model
from attention_core.learning.training import TrainingSettings
from attention_core.model.small_model import ModelConfig
from attention_ui.controls.bound import one_in_row
from attention_ui.controls.get_model import get_model_panel, which_model
from attention_ui.process.turns import scheduler
from attention_ui.session import fold, get_state, set_state
from attention_ui.session.chosen_model import real_model
from attention_ui.session.training_runs import RUN
from attention_ui.training.save_load import BROUGHT, bring_model, download_history, download_model, run_checkpoint
from lessons.model.generate.real_writer import WritingModel
from lessons.screen import Message, OneOf, message, reason, translate
from runs.checkpoint import Checkpoint, History, check_writes, run_history

NOTEBOOK, SEA_SHELLS = "hello world", "she sells sea shells by the sea shore"
WRITER = OneOf(
    "writer",
    message("Who writes?"),
    {
        "language": message("a real language model"),
        "notebook": message("“hello world”, the notebook’s"),
        "sea": message("“she sells sea shells”"),
        "mine": message("the one you trained"),
        "file": message("from a file"),
    },
)

REAL = message("Here a real language model goes on with your own text, in any language: SmolLM2, 135 million weights.")


@dataclass(frozen=True, eq=False)
class Writer:
    """A model that writes, the history of its training where it is known, and what has to be said about it.

    A real `model` has no checkpoint. `waits_for` says what will stand on the page once the real model is here.
    """

    checkpoint: Checkpoint | None
    history: Callable[[], History] | None
    notes: tuple[Message, ...] = ()
    model: WritingModel | None = None
    waits_for: Message | None = None

    @property
    def task(self) -> CharacterTask | None:
        """What a small one was trained on."""
        return None if self.checkpoint is None else self.checkpoint.settings.task


def shipped_settings(name: str) -> TrainingSettings:
    """How a model that comes with the app was trained. The first is that of the notebook, to the learning rate."""
    if name == "notebook":
        task = CharacterTask(NOTEBOOK, 8)
        model = notebook_model(len(task.vocabulary))
        return TrainingSettings(task=task, model=model, learning_rate=0.001, steps=200, seed=1337)
    task = CharacterTask(SEA_SHELLS, 12)
    model = ModelConfig(
        vocabulary=len(task.vocabulary), context=12, d_model=32, n_heads=4, residual=True, embedding_std=0.3
    )
    return TrainingSettings(task=task, model=model, learning_rate=0.003, steps=80, batch_size=8, seed=0)


@functools.cache
def shipped(name: str) -> Writer:
    """A model that comes with the app, trained at its first use.

    Training takes a fraction of a second and needs no file: the weights are those that the code on the screen makes.
    """
    settings = shipped_settings(name)
    run = scheduler().open(settings)
    run.recording.record(settings.steps)
    run.train()
    view = run.look()
    return Writer(run_checkpoint(view), lambda: run_history(view))


def chosen_writer() -> Writer:
    """Draw the choice of the model. What is not there gives way to the notebook's, with a note."""
    chosen = one_in_row(WRITER)
    if chosen == "mine":
        return own_writer()
    if chosen == "language":
        return real_writer()
    if chosen != "file":
        return shipped(chosen)
    brought = get_state(BROUGHT)
    if brought is None:
        return instead(message("No model has been uploaded in this session. Choose a file below."))
    return Writer(brought, None)


def real_writer() -> Writer:
    """The real model; where it is not on this machine, the notebook's until somebody gets it."""
    which_model()
    model = real_model()
    if model is not None:
        return Writer(None, None, model=model)
    return replace(instead(message("The real model is not on this machine; you can get it below.")), waits_for=REAL)


def own_writer() -> Writer:
    """The model of the visitor's run, as far as it is trained by now."""
    run = get_state(RUN)
    if run is None:
        return instead(
            message("No model was trained in this session. Train one on the page Train, or choose the language model.")
        )
    view = run.look()
    try:
        check_writes(view.settings)
    except ValueError as error:
        return instead(message("Your model cannot write: {why}.", why=reason(error)))
    before = get_state("own_writer")
    same = (view.settings, view.snapshot.step)  # all that decides which weights a run has
    if before is not None and (before.checkpoint.settings, before.checkpoint.updates) == same:
        return before
    notes = (
        ()
        if view.snapshot.step
        else (message("Your model has had no training step yet, so it knows nothing about its text."),)
    )
    writer = Writer(run_checkpoint(view), lambda: run_history(view), notes)
    set_state("own_writer", writer)
    return writer


def instead(*why: Message) -> Writer:
    """The notebook's model, and why it stands in."""
    stands_in = shipped("notebook")
    return Writer(stands_in.checkpoint, stands_in.history, (*why, message("Until then the notebook’s model writes.")))


def keep_panel(writer: Writer) -> None:
    """What gets the real model where it is wanted; a fold with downloads of this one, and a place for a file."""
    if writer.waits_for is not None:
        get_model_panel(writer.waits_for)
    fold("keep", translate("Save this model, or upload one"), "keep_open", functools.partial(draw_keeping, writer))


def draw_keeping(writer: Writer) -> None:
    """The downloads side by side, and below them the place for a file."""
    if writer.checkpoint is None:
        st.caption(
            translate("The real model is on this machine already. To save a small model, choose it above first.")
        )
    else:
        draw_downloads(writer)
    bring_model(then=functools.partial(set_state, WRITER.name, "file"))


def draw_downloads(writer: Writer) -> None:
    """The downloads of a model and its history side by side."""
    with st.container(horizontal=True):
        download_model(lambda: writer.checkpoint)
        download_history(writer.history)
