"""Two runs side by side: in what their settings differ, the classic questions, and what came of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from attention_core.learning.tasks import TASKS, CharacterTask, Task
from attention_core.learning.training import Evaluation, TrainingHistory, TrainingSettings, recommended
from lessons.example.task_texts import texts_of
from lessons.learning.train.curves import asks_for_next, may_read_ahead
from lessons.learning.train.future_leak import measure_future_leak
from lessons.screen import Argument, Fixed, Magnitude, Message, Numeral, Percent, message, percent, plural

HEAD_WORDS = {"projected": message("project all features"), "sliced": message("read only their own slice")}
POSITION_WORDS = {
    "learned": message("learned, added to the tokens"),
    "none": message("no positions"),
    "sinusoidal": message("sines and cosines, added to the tokens"),
    "rotary": message("rotary"),
    "qk": message("learned, for queries and keys only"),
}
OPTIMISER_WORDS = {"adamw": message("AdamW"), "sgd": message("plain gradient descent")}
ENGINE_WORDS = {"numpy": message("the chain rule written out"), "autograd": message("PyTorch's autograd")}


@dataclass(frozen=True)
class Difference:
    """One setting of two runs, in words."""

    name: Message
    before: Argument
    after: Argument

    @property
    def sentence(self) -> Message:
        """The setting with both its values."""
        return message("{name}: {before} → {after}", name=self.name, before=self.before, after=self.after)


@dataclass(frozen=True)
class Comparison:
    """A classic question: a task, what is changed from the first run to the second, and what both runs change."""

    question: Message
    task: Task
    first: Mapping[str, Any]
    second: Mapping[str, Any]
    both: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, seed: int = 0) -> tuple[TrainingSettings, TrainingSettings]:
        """The settings of both runs, with the same seed."""
        first, second = (recommended(self.task, seed, **self.both, **own) for own in (self.first, self.second))
        return first, second


HARBOUR = (  # no sixteen letters of its last quarter stand in the rest, so what is measured there is not recited
    "the tide comes in and the gulls fly low over the harbour wall. a boat with a red sail rounds the point "
    "and drops its anchor in the bay. an old man mends his net and his dog sleeps in the shade of the pier. "
    "the wind turns, the sail comes down, and the crew row in with the last of the light. "
    "when the moon is up the harbour is still, and the boat lies at rest on the dark water of the bay. "
)

COMPARISONS: dict[str, Comparison] = {
    "positions": Comparison(
        message("Can letters be reversed without knowing their positions?"),
        TASKS["reverse"],
        {"positions": "learned"},
        {"positions": "none"},
    ),
    "scaling": Comparison(
        message("Is a task with a large d_k learned as soon without the division by √d_k?"),
        TASKS["reverse"],
        {"scaling": True},
        {"scaling": False},
        {"d_model": 64, "d_k": 512, "embedding_std": 1.0, "steps": 40},
    ),
    "layers": Comparison(
        message("Can one layer find what followed a letter, or does it take two?"),
        TASKS["recall"],
        {"n_layers": 2},
        {"n_layers": 1},
    ),
    "induction": Comparison(
        message("When does an induction head form, and can one layer form one?"),
        TASKS["induction"],
        {"n_layers": 2},
        {"n_layers": 1},
    ),
    "heads": Comparison(
        message("Can one head learn to carry four letters at once as quickly as four heads can?"),
        TASKS["last"],
        {"n_heads": 4},
        {"n_heads": 1},
        {"d_model": 16, "steps": 600},
    ),
    "mask": Comparison(
        message("What does a model of letters learn when it may look ahead?"),
        CharacterTask(HARBOUR, 16, held_out_share=0.25),
        {"causal": True},
        {"causal": False},
        {"steps": 400},
    ),
    "slices": Comparison(
        message("Must a head see all features, or is a slice of them enough?"),
        TASKS["recall"],
        {"heads": "projected"},
        {"heads": "sliced"},
        {"n_heads": 8, "learning_rate": 0.005},
    ),
    "engine": Comparison(
        message("Do gradients by hand train the same model as PyTorch's autograd?"),
        TASKS["reverse"],
        {"engine": "numpy"},
        {"engine": "autograd"},
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
        return Difference(message("task"), texts_of(before).title, texts_of(after).title)
    names = [one.name for one in fields(before)] if is_dataclass(before) else []
    changed = [name for name in names if getattr(before, name) != getattr(after, name)]
    if "text" in changed:
        return Difference(message("text"), message("one text"), message("another text"))
    was, now = (", ".join(f"{n.replace('_', ' ')} {getattr(task, n)}" for n in changed) for task in (before, after))
    return Difference(message("task"), was, now)


def named_settings(settings: TrainingSettings) -> list[tuple[Message, Argument]]:
    """Every setting but the task, with a name for the screen and its value as it is read aloud."""
    model = settings.model
    switches = [
        (message("causal mask"), model.causal),
        (message("division by √d_k"), model.scaling),
        (message("residual"), model.residual),
        (message("layer norm"), model.layer_norm),
        (message("MLP"), model.mlp),
        (message("sinks"), model.sink),
    ]
    return [
        (message("layers"), str(model.n_layers)),
        (message("heads"), str(model.n_heads)),
        (message("features"), str(model.d_model)),
        (message("d_k"), str(model.query_features)),
        (message("d_v"), message("features ÷ heads") if model.d_v is None else str(model.d_v)),
        (message("the heads"), HEAD_WORDS[model.heads]),
        (message("positions"), POSITION_WORDS[model.positions]),
        *((name, message("on") if switch else message("off")) for name, switch in switches),
        (message("standard deviation of the embedding"), Numeral(f"{model.embedding_std:g}")),
        (message("context"), str(model.context)),
        (message("optimiser"), OPTIMISER_WORDS[settings.optimiser]),
        (message("learning rate"), Numeral(f"{settings.learning_rate:g}")),
        (message("weight decay"), Numeral(f"{settings.weight_decay:g}")),
        (
            message("limit on gradient length"),
            message("any length") if settings.clip is None else Numeral(f"{settings.clip:g}"),
        ),
        (message("steps"), str(settings.steps)),
        (message("sequences per step"), str(settings.batch_size)),
        (message("seed"), str(settings.seed)),
        (message("gradients"), ENGINE_WORDS[settings.engine]),
    ]


def comparison_sentences(first: TrainingHistory, second: TrainingHistory) -> tuple[Message, ...]:
    """What came of two runs so far, from the last evaluation of each; it claims nothing beyond these runs."""
    if not first.evaluations or not second.evaluations:
        return (message("Nothing has been evaluated yet."),)
    one, other = first.evaluations[-1], second.evaluations[-1]
    said = [right_in_both(one, other)]
    if not (math.isnan(one.weight) or math.isnan(other.weight)):
        said.append(
            message("Weight on the target cells: {one} and {other}.", one=Fixed(one.weight), other=Fixed(other.weight))
        )
    judged = look_ahead(first, second) or (verdict(one.learnt, other.learnt),)
    return *said, *judged, *same_run(first, second)


def look_ahead(first: TrainingHistory, second: TrainingHistory) -> tuple[Message, ...]:
    """Where a run may read its answers: how both do when they cannot. Nothing where neither may."""
    if not any(may_read_ahead(history.settings) for history in (first, second)):
        return ()
    warning = message("A run that may look ahead can read its answers, so they say little about what it has learned.")
    if not all(asks_for_next(history.settings.task) for history in (first, second)):
        return (warning,)
    one, other = (measure_future_leak(history.settings, history.snapshot) for history in (first, second))
    losses = {"one": Fixed(one.loss_hidden), "other": Fixed(other.loss_hidden)}
    return warning, message("With the future hidden, the losses are {one} and {other}.", **losses)


def same_run(first: TrainingHistory, second: TrainingHistory) -> tuple[Message, ...]:
    """How far apart the losses are of two runs that differ in nothing but how their gradients are found."""
    if first.settings == second.settings or replace(first.settings, engine=second.settings.engine) != second.settings:
        return ()
    both = min(len(first.losses), len(second.losses))
    gap = float(abs(first.losses[:both] - second.losses[:both]).max())
    return (
        plural(
            "Only the way gradients are computed differs: over {count} training step, the losses differ by at "
            "most {gap}.",
            "Only the way gradients are computed differs: over {count} training steps, the losses differ by at "
            "most {gap}.",
            both - 1,
            gap=Magnitude(gap),
        ),
    )


def right_in_both(one: Evaluation, other: Evaluation) -> Message:
    """The shares of right answers, each with the step of its evaluation."""
    steps = {"one_step": one.step, "other_step": other.step}
    if percent(one.accuracy) == percent(other.accuracy):
        return message(
            "Right answers: {share} in both runs (after {one_step} and {other_step} training steps).",
            share=Percent(one.accuracy),
            **steps,
        )
    return message(
        "Right answers: {one} in the first run, {other} in the second (after {one_step} and {other_step} training "
        "steps).",
        one=Percent(one.accuracy),
        other=Percent(other.accuracy),
        **steps,
    )


def verdict(learnt: bool, other_learnt: bool) -> Message:
    """Which of two runs has learned its task."""
    if learnt and other_learnt:
        return message("Both have learned it.")
    if learnt:
        return message("Only the first has learned it.")
    return message("Only the second has learned it.") if other_learnt else message("Neither has learned it.")
