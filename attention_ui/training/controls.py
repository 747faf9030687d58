"""The settings of a training run: their controls, and what they make together."""

from dataclasses import dataclass

import streamlit as st

from attention_core.errors import Phrase
from attention_core.tasks import TASKS, CharacterTask, Task
from attention_core.tokens import clean_text
from attention_core.training import MAX_BATCH, MAX_STEPS, TrainingSettings, recommended
from attention_ui.controls.bound import bound_number, one_in_list, one_in_row
from attention_ui.session.links import SWITCH, LinkRule, Span, link_notes, named_in_link
from attention_ui.session.markdown import plain_label
from attention_ui.session.state import get_state, set_state
from lessons.example.example import Limit
from lessons.example.task_texts import TASK_TEXTS
from lessons.screen.format import format_value, render, translate
from lessons.screen.message import message, reason
from lessons.train.compare_runs import COMPARISONS, ENGINE_WORDS, HEAD_WORDS, OPTIMISER_WORDS, POSITION_WORDS
from lessons.train.notebook_runs import HELLO_WORLD, notebook_notes

DEFAULT_TASK, DEFAULT_TEXT = "induction", "hello world"
TASK_OF_OLD_LINKS = "characters"  # which once was the default, and so was named in no link
TASK_TITLES = {key: TASK_TEXTS[key].title for key in TASKS}
QUESTIONS = {key: comparison.question for key, comparison in COMPARISONS.items()}
QUERY_FEATURES = {0: message("features ÷ heads"), 2: "2", 8: "8", 32: "32", 128: "128", 512: "512"}
TRAINING_LIMITS = {
    "steps": Limit(1, MAX_STEPS),
    "train_seed": Limit(0, 999_999),
    "window": Limit(2, 16),
    "batch": Limit(1, MAX_BATCH),
}
SPANS = {"rate": Span(0.0001, 1000.0), "spread": Span(0.0, 100.0), "heat": Span(0.0, 2.0)}
SIZES = {
    key: (label, {size: str(size) for size in sizes})
    for key, label, sizes in (
        ("layers", message("Layers"), (1, 2, 3, 4)),
        ("train_heads", message("Heads"), (1, 2, 4, 8)),
        ("features", message("Features"), (8, 16, 32, 64)),
    )
}
CHOICES = {
    "train_positions": (message("Positions"), POSITION_WORDS),
    "kind": (message("The heads"), HEAD_WORDS),
    "query_features": (message("$d_k$ · query features of each head"), QUERY_FEATURES),
    "optimiser": (message("Optimiser"), OPTIMISER_WORDS),
    "engine": (message("Gradients"), ENGINE_WORDS),
}
SWITCHES = {
    "train_causal": message("Causal mask"),
    "train_scaling": message("Scaling"),
    "residual": message("Residual"),
    "norm": message("Layer norm"),
    "mlp": "MLP",
    "train_sink": message("Sinks"),
}
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
LINK_RULES: dict[str, LinkRule] = {
    **TRAINING_LIMITS,
    **SPANS,
    **{key: {str(short): name for short, name in options.items()} for key, (_, options) in (SIZES | CHOICES).items()},
    **{key: SWITCH for key in (*SWITCHES, "apart")},
    "task": TASK_TITLES,
    "classic": QUESTIONS,
}


@dataclass(frozen=True)
class Choice:
    """What the controls say: the task, its settings, or a note that says why there are none."""

    task: Task
    settings: TrainingSettings | None
    notes: tuple[str, ...]


def training_controls() -> Choice:
    """Draw the controls of a run and put the settings together."""
    with st.sidebar:
        st.subheader(translate("What is trained"), anchor=False)
        begin = TASK_OF_OLD_LINKS if named_in_link({*LINK_RULES, "learn"} - {"task", "classic"}) else DEFAULT_TASK
        task = TASKS[one_in_list(translate("Task"), "task", TASK_TITLES, begin, always=True, on_change=follow_task)]
        usual = control_values(recommended(task))
        rate = run_number(translate("Learning rate"), "rate", usual["rate"], step=0.001, format="%g")
        steps = run_number(translate("Steps"), "steps", usual["steps"], step=50)
        seed = run_number(translate("Seed"), "train_seed", 0)
    notes = link_notes()
    try:
        with st.sidebar:
            task, text_notes = chosen_text(task)
            changes = model_controls(usual)
        settings = recommended(task, seed, learning_rate=rate, steps=steps, **changes)
    except ValueError as error:
        return Choice(task, None, (*notes, translate("This cannot be trained: {why}.", why=reason(error))))
    return Choice(task, settings, (*notes, *map(format_value, (*text_notes, *notebook_notes(settings)))))


def chosen_text(task: Task) -> tuple[Task, tuple[Phrase, ...]]:
    """The task with the learner's text where it has one, and what had to be changed in it."""
    if not isinstance(task, CharacterTask):
        return task, ()
    text = st.text_input(translate("Text to learn"), DEFAULT_TEXT, key="learn", bind="query-params")
    window = run_number(translate("Window (characters)"), "window", task.window)
    apart = st.toggle(translate("Keep its last quarter apart"), key="apart", bind="query-params")
    st.button(translate("Exactly as in the notebook"), key="as_in_notebook", on_click=set_task, args=(HELLO_WORLD,))
    clean = clean_text(text or "")
    return CharacterTask(clean.text, window, HELD_OUT_SHARE if apart else 0.0), clean.notes


def model_controls(usual: dict[str, object]) -> dict[str, object]:
    """The size and the parts of the model, and how it is trained; they open at what the task recommends."""
    chosen = {}
    with st.expander(translate("The model and its training")):
        for key, (label, sizes) in SIZES.items():
            chosen[key] = one_in_row(render(label), key, sizes, usual[key], labelled=True)
        chosen["batch"] = run_number(translate("Sequences per step"), "batch", usual["batch"])
        chosen["spread"] = run_number(
            translate("Embedding std. deviation"), "spread", usual["spread"], step=0.1, format="%g"
        )
        for key, (title, options) in CHOICES.items():
            chosen[key] = one_in_list(plain_label(title), key, options, usual[key])
        for key, label in SWITCHES.items():
            chosen[key] = st.toggle(format_value(label), usual[key], key=key, bind="query-params")
    names = MODEL_SETTINGS | RUN_SETTINGS
    return {names[key]: value for key, value in chosen.items()} | {"d_k": chosen["query_features"] or None}


def control_values(settings: TrainingSettings) -> dict[str, object]:
    """What each control shows for these settings."""
    of_model = {key: getattr(settings.model, name) for key, name in MODEL_SETTINGS.items()}
    of_run = {key: getattr(settings, name) for key, name in RUN_SETTINGS.items()}
    return {**of_model, **of_run, "query_features": settings.model.d_k or 0}


def follow_task() -> None:
    """Set all controls to what the chosen task recommends."""
    if get_state("task") in TASKS:  # a forged message may name what is none
        set_controls(recommended(TASKS[get_state("task")]))


def set_controls(settings: TrainingSettings) -> None:
    """Let the controls show these settings. To be called before they are drawn."""
    for key, value in control_values(settings).items():
        set_state(key, value)


def set_task(settings: TrainingSettings) -> None:
    """Let all controls show these settings, the task and the seed among them."""
    task = settings.task
    set_state("task", next(key for key, known in TASKS.items() if type(known) is type(task)))
    set_state("train_seed", settings.seed)
    if isinstance(task, CharacterTask):
        for key, value in {"learn": task.text, "window": task.window, "apart": task.held_out_share > 0}.items():
            set_state(key, value)
    set_controls(settings)


def run_number(label: str, key: str, begin: float, **look) -> float:
    """A number of `TRAINING_LIMITS` or `SPANS`, bound to the address."""
    return bound_number(label, key, (TRAINING_LIMITS | SPANS)[key], begin, **look)
