"""Two runs side by side: in what their settings differ, the classical questions, and what came of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from attention_core.tasks import TASKS, CharacterTask, Task
from attention_core.training import Evaluation, TrainingHistory, TrainingSettings, recommended
from lessons.example.task_texts import texts_of
from lessons.screen.format import percent
from lessons.screen.message import Argument, Number, Numeral, Sentence, Share, Size, say
from lessons.train.curves import asks_for_next, may_read_ahead
from lessons.train.future_leak import measure_future_leak

HEAD_WORDS = {"projected": say("project all features"), "sliced": say("read their own slice only")}
POSITION_WORDS = {
    "learned": say("learned, added to the tokens"),
    "none": say("none"),
    "sinusoidal": say("sines and cosines, added to the tokens"),
    "rotary": say("rotary"),
    "qk": say("learned, for queries and keys only"),
}
OPTIMISER_WORDS = {"adamw": say("AdamW"), "sgd": say("plain gradient descent")}
ENGINE_WORDS = {"numpy": say("the chain rule written out"), "autograd": say("PyTorch's autograd")}
CLOSE = 0.05  # accuracies that differ by less count as about equal


@dataclass(frozen=True)
class Difference:
    """One setting of two runs, in words."""

    name: Sentence
    before: Argument
    after: Argument

    @property
    def sentence(self) -> Sentence:
        """The setting with both its values."""
        return say("{name}: {before} → {after}", name=self.name, before=self.before, after=self.after)


@dataclass(frozen=True)
class Comparison:
    """A classical question: a task, what is changed from the first run to the second, and what both runs change."""

    question: Sentence
    task: Task
    first: Mapping[str, object]
    second: Mapping[str, object]
    both: Mapping[str, object] = field(default_factory=dict)

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
    "positions": Comparison(say("Can letters be reversed without knowing where they stand?"), TASKS["reverse"],
                            {"positions": "learned"}, {"positions": "none"}),
    "scaling": Comparison(say("Is a task with a large d_k learnt as soon without the division by √d_k?"),
                          TASKS["reverse"], {"scaling": True}, {"scaling": False},
                          {"d_model": 64, "d_k": 512, "embedding_std": 1.0, "steps": 40}),
    "layers": Comparison(say("Can one layer find what followed a letter, or does it take two?"), TASKS["recall"],
                         {"n_layers": 2}, {"n_layers": 1}),
    "induction": Comparison(say("At which moment does an induction head form, and can one layer grow one?"),
                            TASKS["induction"], {"n_layers": 2}, {"n_layers": 1}),
    "heads": Comparison(say("Can one head bring four letters along at once as soon as four heads can?"), TASKS["last"],
                        {"n_heads": 4}, {"n_heads": 1}, {"d_model": 16, "steps": 600}),
    "mask": Comparison(
        say("What does a model of letters learn when it may look ahead?"),
        CharacterTask(HARBOUR, 16, held_out_share=0.25), {"causal": True}, {"causal": False}, {"steps": 400}),
    "slices": Comparison(say("Must a head see all features, or is a slice of them enough?"), TASKS["recall"],
                         {"heads": "projected"}, {"heads": "sliced"}, {"n_heads": 8, "learning_rate": 0.005}),
    "engine": Comparison(say("Do gradients by hand train the same model as PyTorch's autograd?"), TASKS["reverse"],
                         {"engine": "numpy"}, {"engine": "autograd"}),
}  # fmt: skip


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
        return Difference(say("task"), texts_of(before).title, texts_of(after).title)
    changed = [name for name in before.__dataclass_fields__ if getattr(before, name) != getattr(after, name)]
    if "text" in changed:
        return Difference(say("text"), say("one text"), say("another text"))
    was, now = (", ".join(f"{n.replace('_', ' ')} {getattr(task, n)}" for n in changed) for task in (before, after))
    return Difference(say("task"), was, now)


def named_settings(settings: TrainingSettings) -> list[tuple[Sentence, Argument]]:
    """Every setting but the task, with a name for the screen and its value as it is read aloud."""
    model = settings.model
    switches = [
        (say("causal mask"), model.causal), (say("division by √d_k"), model.scaling), (say("residual"), model.residual),
        (say("layer norm"), model.layer_norm), (say("MLP"), model.mlp), (say("sinks"), model.sink),
    ]  # fmt: skip
    return [
        (say("layers"), str(model.n_layers)), (say("heads"), str(model.n_heads)),
        (say("features"), str(model.d_model)), (say("d_k"), str(model.query_features)),
        (say("d_v"), say("features ÷ heads") if model.d_v is None else str(model.d_v)),
        (say("the heads"), HEAD_WORDS[model.heads]), (say("positions"), POSITION_WORDS[model.positions]),
        *((name, say("on") if switch else say("off")) for name, switch in switches),
        (say("standard deviation of the embedding"), Numeral(f"{model.embedding_std:g}")),
        (say("context"), str(model.context)),
        (say("optimiser"), OPTIMISER_WORDS[settings.optimiser]),
        (say("learning rate"), Numeral(f"{settings.learning_rate:g}")),
        (say("weight decay"), Numeral(f"{settings.weight_decay:g}")),
        (say("longest gradient"), say("any length") if settings.clip is None else Numeral(f"{settings.clip:g}")),
        (say("steps"), str(settings.steps)), (say("sequences per step"), str(settings.batch_size)),
        (say("seed"), str(settings.seed)),
        (say("gradients"), ENGINE_WORDS[settings.engine]),
    ]  # fmt: skip


def comparison_sentences(first: TrainingHistory, second: TrainingHistory) -> tuple[Sentence, ...]:
    """What came of two runs so far, from the last evaluation of each; it claims nothing beyond these runs."""
    if not first.evaluations or not second.evaluations:
        return (say("Nothing was evaluated yet."),)
    one, other = first.evaluations[-1], second.evaluations[-1]
    said = [right_in_both(one, other)]
    if not (math.isnan(one.weight) or math.isnan(other.weight)):
        said.append(say("Weight on the target cells: {one} and {other}.",
                        one=Number(one.weight), other=Number(other.weight)))  # fmt: skip
    looked = look_ahead(first, second)
    judged = verdict(one.accuracy, other.accuracy, one.learnt, other.learnt) if looked is None else looked
    return *said, judged, *same_run(first, second)


def look_ahead(first: TrainingHistory, second: TrainingHistory) -> Sentence | None:
    """Where a run may read its answers: how both do when they cannot. None where neither may."""
    ahead = [may_read_ahead(history.settings) for history in (first, second)]
    if not any(ahead):
        return None
    if not all(asks_for_next(history.settings.task) for history in (first, second)):
        return say("A run that may look ahead can read its answers, so they say little about what it has learnt.")
    one, other = (measure_future_leak(history.settings, history.snapshot) for history in (first, second))
    losses = {"one": Number(one.loss_hidden), "other": Number(other.loss_hidden)}
    if all(ahead):
        return say("Both may look ahead, so what they get right may be read. With the future hidden the losses are "
                   "{one} and {other}.", **losses)  # fmt: skip
    if ahead[0]:
        return say("Only the first run may look ahead, so what it gets right may be read. With the future hidden the "
                   "losses are {one} and {other}.", **losses)  # fmt: skip
    return say("Only the second run may look ahead, so what it gets right may be read. With the future hidden the "
               "losses are {one} and {other}.", **losses)  # fmt: skip


def same_run(first: TrainingHistory, second: TrainingHistory) -> tuple[Sentence, ...]:
    """How far apart the losses are of two runs that differ in nothing but how their gradients are found."""
    if first.settings == second.settings or replace(first.settings, engine=second.settings.engine) != second.settings:
        return ()
    both = min(len(first.losses), len(second.losses))
    gap = float(abs(first.losses[:both] - second.losses[:both]).max())
    return (say("Only the way to the gradients differs: over {updates} updates the two losses are never further apart "
                "than {gap}.", updates=both - 1, gap=Size(gap)),)  # fmt: skip


def right_in_both(one: Evaluation, other: Evaluation) -> Sentence:
    """The shares of right answers, each with the step of its evaluation."""
    steps = {"one_step": one.step, "other_step": other.step}
    if percent(one.accuracy) == percent(other.accuracy):
        return say("Right answers: {share} in the first run (after {one_step} updates) and as many in the second "
                   "(after {other_step}), to the percent.", share=Share(one.accuracy), **steps)  # fmt: skip
    return say("Right answers: {one} in the first run (after {one_step} updates), {other} in the second (after "
               "{other_step}).", one=Share(one.accuracy), other=Share(other.accuracy), **steps)  # fmt: skip


def verdict(accuracy: float, other: float, learnt: bool, other_learnt: bool) -> Sentence:
    """Which of two runs is ahead, as far as these numbers say."""
    if learnt and other_learnt:
        return say("Both have learnt it.")
    if learnt:
        return say("Only the first has learnt it.")
    if other_learnt:
        return say("Only the second has learnt it.")
    if abs(accuracy - other) <= CLOSE:
        return say("Neither has learnt it, and they are about as far.")
    if accuracy > other:
        return say("Neither has learnt it; the first is ahead.")
    return say("Neither has learnt it; the second is ahead.")
