"""The settings of a training run: their controls, and what they make together."""

from dataclasses import dataclass, replace

import streamlit as st

from attention_core.base.errors import Phrase
from attention_core.learning.tasks import TASKS, CharacterTask, Task
from attention_core.learning.training import MAX_BATCH, MAX_STEPS, TrainingSettings, recommended
from attention_core.text.tokens import clean_text
from attention_ui.controls.bound import control_of, number_field, one_in_list, switch, text_field
from attention_ui.session import get_state, link_notes, named_in_link, set_state
from lessons.example.task_texts import TASK_TEXTS
from lessons.learning.train.compare_runs import COMPARISONS, ENGINE_WORDS, HEAD_WORDS, OPTIMISER_WORDS, POSITION_WORDS
from lessons.learning.train.notebook_runs import HELLO_WORLD, notebook_notes
from lessons.screen import Limit, Number, OneOf, Span, Switch, Text, format_value, message, numbers, reason, translate

DEFAULT_TASK = "induction"
TASK_OF_OLD_LINKS = "characters"  # which once was the default, and so was named in no link
TASK = OneOf(
    "task", message("Task"), {key: TASK_TEXTS[key].title for key in TASKS}, DEFAULT_TASK, look="list", always=True
)
QUESTION = OneOf(
    "classic",
    message("Or a classic question"),
    {key: comparison.question for key, comparison in COMPARISONS.items()},
    look="list",
)
RATE = Number("rate", message("Learning rate"), Span(0.0001, 1000.0), 0.001, typed=True, step=0.001)
STEPS = Number("steps", message("Steps"), Limit(1, MAX_STEPS), MAX_STEPS, typed=True, step=50)
TRAIN_SEED = Number("train_seed", message("Seed"), Limit(0, 999_999), 0, typed=True)
LEARNT_TEXT = Text("learn", message("Text to learn"), None, "hello world")
WINDOW = Number("window", message("Window (characters)"), Limit(2, 16), 2, typed=True)
APART = Switch("apart", message("Hold out the last quarter"))
HEAT = Number("heat", message("Temperature of the sample"), Span(0.0, 2.0), 1.0, step=0.1, width=250)
QUERY_FEATURES = {0: message("features ÷ heads")} | numbers((2, 8, 32, 128, 512))
IN_FOLD = (  # each begins as the task recommends
    OneOf("layers", message("Layers"), numbers((1, 2, 3, 4)), labelled=True),
    OneOf("train_heads", message("Heads"), numbers((1, 2, 4, 8)), labelled=True),
    OneOf("features", message("Features"), numbers((8, 16, 32, 64)), labelled=True),
    Number("batch", message("Sequences per step"), Limit(1, MAX_BATCH), 1, typed=True),
    Number("spread", message("Embedding std. deviation"), Span(0.0, 100.0), 1.0, typed=True, step=0.1),
    OneOf("train_positions", message("Positions"), POSITION_WORDS, look="list"),
    OneOf("kind", message("The heads"), HEAD_WORDS, look="list"),
    OneOf("query_features", message("$d_k$ · query features of each head"), QUERY_FEATURES, look="list"),
    OneOf("optimiser", message("Optimiser"), OPTIMISER_WORDS, look="list"),
    OneOf("engine", message("Gradients"), ENGINE_WORDS, look="list"),
    Switch("train_causal", message("Causal mask")),
    Switch("train_scaling", message("Scaling")),
    Switch("residual", message("Residual")),
    Switch("norm", message("Layer norm")),
    Switch("mlp", "MLP"),
    Switch("train_sink", message("Sinks")),
)
OF_A_RUN = {choice.name for choice in (RATE, STEPS, TRAIN_SEED, LEARNT_TEXT, WINDOW, APART, HEAT, *IN_FOLD)}
MODEL_SETTINGS = {  # by the key of their control, as those of the training below
    "layers": "n_layers",
    "train_heads": "n_heads",
    "features": "d_model",
    "query_features": "d_k",
    "kind": "heads",
    "spread": "embedding_std",
    "train_positions": "positions",
    "train_causal": "causal",
    "train_scaling": "scaling",
    "residual": "residual",
    "norm": "layer_norm",
    "mlp": "mlp",
    "train_sink": "sink",
}
RUN_SETTINGS = {
    "rate": "learning_rate",
    "steps": "steps",
    "batch": "batch_size",
    "optimiser": "optimiser",
    "engine": "engine",
}
HELD_OUT_SHARE = 0.25


@dataclass(frozen=True)
class ChosenRun:
    """What the controls say: the task, its settings, or a note that says why there are none."""

    task: Task
    settings: TrainingSettings | None
    notes: tuple[str, ...]


def training_controls() -> ChosenRun:
    """Draw the controls of a run and put the settings together."""
    with st.sidebar:
        st.subheader(translate("What is trained"), anchor=False)
        begin = TASK_OF_OLD_LINKS if named_in_link(OF_A_RUN) else DEFAULT_TASK
        task = TASKS[one_in_list(replace(TASK, begin=begin), on_change=follow_task)]
        usual = control_values(recommended(task))
        rate = number_field(replace(RATE, begin=usual["rate"]))
        steps = number_field(replace(STEPS, begin=usual["steps"]))
        seed = number_field(TRAIN_SEED)
    notes = link_notes()
    try:
        with st.sidebar:
            task, text_notes = chosen_text(task)
            changes = model_controls(usual)
        settings = recommended(task, seed, learning_rate=rate, steps=steps, **changes)
    except ValueError as error:
        return ChosenRun(task, None, (*notes, translate("This cannot be trained: {why}.", why=reason(error))))
    return ChosenRun(task, settings, (*notes, *map(format_value, (*text_notes, *notebook_notes(settings)))))


def chosen_text(task: Task) -> tuple[Task, tuple[Phrase, ...]]:
    """The task with the learner's text where it has one, and what had to be changed in it."""
    if not isinstance(task, CharacterTask):
        return task, ()
    text, window, apart = text_field(LEARNT_TEXT), number_field(replace(WINDOW, begin=task.window)), switch(APART)
    st.button(translate("Exactly as in the notebook"), key="as_in_notebook", on_click=set_task, args=(HELLO_WORLD,))
    clean = clean_text(text)
    return CharacterTask(clean.text, window, HELD_OUT_SHARE if apart else 0.0), clean.notes


def model_controls(usual: dict[str, object]) -> dict[str, object]:
    """The size and the parts of the model, and how it is trained; they open at what the task recommends."""
    with st.expander(translate("The model and its training")):
        chosen = {choice.name: control_of(replace(choice, begin=usual[choice.name])) for choice in IN_FOLD}
    names = MODEL_SETTINGS | RUN_SETTINGS
    return {names[key]: value for key, value in chosen.items()} | {"d_k": chosen["query_features"] or None}


def control_values(settings: TrainingSettings) -> dict[str, object]:
    """What each control shows for these settings."""
    of_model = {key: getattr(settings.model, name) for key, name in MODEL_SETTINGS.items()}
    of_run = {key: getattr(settings, name) for key, name in RUN_SETTINGS.items()}
    return {**of_model, **of_run, "query_features": settings.model.d_k or 0}


def follow_task() -> None:
    """Set all controls to what the chosen task recommends."""
    if get_state(TASK.name) in TASKS:  # a forged message may name what is none
        set_controls(recommended(TASKS[get_state(TASK.name)]))


def set_controls(settings: TrainingSettings) -> None:
    """Let the controls show these settings. To be called before they are drawn."""
    for key, value in control_values(settings).items():
        set_state(key, value)


def set_task(settings: TrainingSettings) -> None:
    """Let all controls show these settings, the task and the seed among them."""
    task = settings.task
    set_state(TASK.name, next(key for key, known in TASKS.items() if type(known) is type(task)))
    set_state(TRAIN_SEED.name, settings.seed)
    if isinstance(task, CharacterTask):
        for choice, value in ((LEARNT_TEXT, task.text), (WINDOW, task.window), (APART, task.held_out_share > 0)):
            set_state(choice.name, value)
    set_controls(settings)
