"""Two runs side by side: in what their settings differ, the classical questions, and what came of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from attention_core.tasks import TASKS, CharacterTask, Task
from attention_core.training import TrainingHistory, TrainingSettings, recommended
from lessons.formatting import number, percent
from lessons.task_texts import texts_of

HEAD_WORDS = {"projected": "project all features", "sliced": "read their own slice only"}
POSITION_WORDS = {
    "learned": "learned, added to the tokens",
    "none": "none",
    "sinusoidal": "sines and cosines, added to the tokens",
    "rotary": "rotary",
    "qk": "learned, for queries and keys only",
}
OPTIMISER_WORDS = {"adamw": "AdamW", "sgd": "plain gradient descent"}
CLOSE = 0.05  # accuracies that differ by less count as about equal


@dataclass(frozen=True)
class Difference:
    """One setting of two runs, in words."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Comparison:
    """A classical question: a task, and what is changed from the first run to the second."""

    question: str
    task: Task
    first: Mapping[str, object]
    second: Mapping[str, object]

    def settings(self, seed: int = 0) -> tuple[TrainingSettings, TrainingSettings]:
        """The settings of both runs, with the same seed."""
        return recommended(self.task, seed, **self.first), recommended(self.task, seed, **self.second)


def changed(
    question: str, task: Task, first: dict[str, object], second: dict[str, object], **both: object
) -> Comparison:
    """A comparison in which both runs share some changes of what is recommended."""
    return Comparison(question, task, MappingProxyType(both | first), MappingProxyType(both | second))


SEA = "she sells sea shells by the sea shore. the shells she sells are sea shells, i am sure. "

COMPARISONS: dict[str, Comparison] = {
    "positions": changed(
        "Can letters be reversed without knowing where they stand?",
        TASKS["reverse"],
        {"positions": "learned"},
        {"positions": "none"},
    ),
    "scaling": changed(
        "Is a task with a large d_k learnt as soon without the division by √d_k?",
        TASKS["reverse"],
        {"scaling": True},
        {"scaling": False},
        d_model=64,
        d_k=512,
        embedding_std=1.0,
        steps=40,
    ),
    "layers": changed(
        "Can one layer find what followed a letter, or does it take two?",
        TASKS["recall"],
        {"n_layers": 2},
        {"n_layers": 1},
    ),
    "induction": changed(
        "At which moment does an induction head form, and can one layer grow one?",
        TASKS["induction"],
        {"n_layers": 2},
        {"n_layers": 1},
    ),
    "heads": changed(
        "Can one head bring four letters along at once as soon as four heads can?",
        TASKS["last"],
        {"n_heads": 4},
        {"n_heads": 1},
        d_model=16,
        steps=600,
    ),
    "mask": changed(
        "What does a model of letters learn when it may look ahead?",
        CharacterTask(SEA * 4, 16, held_out_share=0.25),
        {"causal": True},
        {"causal": False},
        steps=400,
    ),
    "slices": changed(
        "Must a head see all features, or is a slice of them enough?",
        TASKS["recall"],
        {"heads": "projected"},
        {"heads": "sliced"},
        n_heads=8,
        learning_rate=0.005,
    ),
}


def differences(before: TrainingSettings, after: TrainingSettings) -> list[Difference]:
    """The settings in which two runs differ, in words. A text is named, not shown: it may be long."""
    found = []
    if before.task != after.task:
        found.append(task_difference(before.task, after.task))
    both = zip(named_settings(before), named_settings(after), strict=True)
    return found + [Difference(name, was, now) for (name, was), (_, now) in both if was != now]


def task_difference(before: Task, after: Task) -> Difference:
    """Two tasks that are not equal, by their titles; of the same kind, by what is different about them."""
    if type(before) is not type(after):
        return Difference("task", texts_of(before).title, texts_of(after).title)
    changes = [
        (name, getattr(before, name), getattr(after, name))
        for name in before.__dataclass_fields__
        if getattr(before, name) != getattr(after, name)
    ]
    if any(name == "text" for name, *_ in changes):
        return Difference("text", "one text", "another text")
    was, now = (", ".join(f"{c[0].replace('_', ' ')} {c[i]}" for c in changes) for i in (1, 2))
    return Difference("task", was, now)


def named_settings(settings: TrainingSettings) -> list[tuple[str, str]]:
    """Every setting but the task, with a name for the screen and its value as it is read aloud."""
    model = settings.model
    return [
        ("layers", str(model.n_layers)),
        ("heads", str(model.n_heads)),
        ("features", str(model.d_model)),
        ("d_k", str(model.query_features)),
        ("the heads", HEAD_WORDS[model.heads]),
        ("positions", POSITION_WORDS[model.positions]),
        ("causal mask", on_or_off(model.causal)),
        ("division by √d_k", on_or_off(model.scaling)),
        ("residual", on_or_off(model.residual)),
        ("layer norm", on_or_off(model.layer_norm)),
        ("MLP", on_or_off(model.mlp)),
        ("spread of the embedding", f"{model.embedding_std:g}"),
        ("context", str(model.context)),
        ("optimiser", OPTIMISER_WORDS[settings.optimiser]),
        ("learning rate", f"{settings.learning_rate:g}"),
        ("weight decay", f"{settings.weight_decay:g}"),
        ("longest gradient", "any length" if settings.clip is None else f"{settings.clip:g}"),
        ("steps", str(settings.steps)),
        ("sequences per step", str(settings.batch_size)),
        ("seed", str(settings.seed)),
    ]


def on_or_off(switch: bool) -> str:
    """A switch as it is read aloud."""
    return "on" if switch else "off"


def comparison_caption(first: TrainingHistory, second: TrainingHistory) -> str:
    """What came of two runs so far, from the last evaluation of each; it claims nothing beyond these runs."""
    if not first.evaluations or not second.evaluations:
        return "Nothing was measured yet."
    one, other = first.evaluations[-1], second.evaluations[-1]
    when = f"after {one.step} updates" if one.step == other.step else f"after {one.step} and {other.step} updates"
    parts = [f"Right answers {when}: {percent(one.accuracy)} in the first run, {percent(other.accuracy)} in the second"]
    if not (math.isnan(one.weight) or math.isnan(other.weight)):
        parts.append(f"Weight on the right cells: {number(one.weight)} and {number(other.weight)}")
    return f"{'. '.join(parts)}. {verdict(one.accuracy, other.accuracy, one.learnt, other.learnt)}"


def verdict(accuracy: float, other: float, learnt: bool, other_learnt: bool) -> str:
    """Which of two runs is ahead, as far as these numbers say."""
    if learnt and other_learnt:
        return "Both have learnt it."
    if learnt != other_learnt:
        return f"Only the {'first' if learnt else 'second'} has learnt it."
    if abs(accuracy - other) <= CLOSE:
        return "Neither has learnt it, and they are about as far."
    return f"Neither has learnt it; the {'first' if accuracy > other else 'second'} is ahead."
