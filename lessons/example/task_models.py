"""Small models in training: what each learns, its weights after every few updates, and how well its heads do their job.

Reading order: the models (`TASK_SOURCES`), how one is trained (`recorded`), and what its heads are measured to do.
"""

import functools
import math
from abc import abstractmethod
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.errors import InputError, Phrase
from attention_core.learning.evaluation import Evaluation, evaluate_together, side_by_side
from attention_core.learning.steps import EVALUATE_EVERY, TrainingStack, TrainingState
from attention_core.learning.tasks import (
    NO_TARGET,
    InductionTask,
    LookUpTask,
    PreviousTask,
    PronounTask,
    ReverseTask,
    StoryTask,
    Task,
)
from attention_core.learning.training import (
    HELD_OUT,
    MAX_STEPS,
    TrainingSettings,
    begin_run,
    held_out_batch,
    recommended,
)
from attention_core.model.small_model import model_with
from attention_core.model.transformer import Transformer
from attention_core.one_head.masks import causal_mask, full_mask
from attention_core.text.tokens import Vocabulary, clean_text, tokenize
from lessons.example.real_model import MAX_TOKENS
from lessons.example.shipped_weights import shipped_weights
from lessons.example.source import (
    MOST_UPDATES,
    AnyChosen,
    Chosen,
    ExampleInputs,
    Job,
    Limit,
    Sizes,
    Source,
    TrainedLayer,
    derived,
    projected,
)
from lessons.example.task_texts import texts_of
from lessons.screen import ListOf, Message, Token, message, plural

TaskSource = Literal["stories", "pronouns", "previous", "reverse", "lookup", "induction"]
MOST_RECORDINGS = 48  # half a megabyte each, or less
MOST_WORK = 80_000  # updates times layers times features: about two seconds
FULL_STOP = "."
# By task. Of 41 seeds the median one moves 0.08 of a row's weight in ten updates up to 120, 0.04 up to 240, and 0.01
# from then on: nine tenths of the way lie in the first 240 of 400.
MOMENTS = {"story": (*range(0, 40, 10), *range(40, 120, 5), *range(120, 240, 10), 240, 280, 320, 400)}
# As the lesson on heads has them.
LIMITS_OF_MODELS: dict[str, Limit] = dict.fromkeys(("d_model", "d_k", "d_v", "n_heads"), Limit(1, 16))


class OfTask(Source):
    """A small model whose heads can be read: the task that it learns, and the sentence it is shown on.

    `sizes` are d_model, d_k, d_v and n_heads, small enough to print. `words` says how its tokens are written: with
    spaces between, or letter by letter. `training` says how long it is trained, and what of it is not as usual.
    """

    name: Message
    task: Task
    sentence: str
    words: bool
    sizes: Mapping[str, int]
    training: Mapping[str, Any]

    reads = ("says", "updates")

    @abstractmethod
    def run(self, example: Chosen) -> TrainingSettings:
        """The run that trains its model."""

    def model(self, example: Chosen) -> Transformer:
        """The model after so many updates; it is trained now unless somebody has asked for it before."""
        return recorded(self.run(example), example.updates).model(example.updates)

    def n_layers(self, example: Chosen) -> int:
        """Known without any weights."""
        return self.run(example).model.n_layers

    def earlier(self, example: Chosen) -> list[int]:
        """The numbers of updates, before those of the example, after which the weights are kept."""
        kept = recorded(self.run(example), example.updates).weights
        return sorted(updates for updates in kept if updates < example.updates)

    def inputs(self, example: Chosen) -> ExampleInputs:
        """What enters one layer of a small model after so many updates, and that layer's maps."""
        tokens, notes = self.tokens(example.text or self.sentence)
        recording = recorded(self.run(example), example.updates)
        model, updates = recording.model(example.updates), recording.reached(example.updates)
        ids = tuple(self.task.vocabulary.encode(tokens))
        layer = min(example.layer, len(model.layers)) - 1
        x, maps = model(torch.tensor(ids)).layers[layer].normed, projected(model.layers[layer].attention)
        embedded, added = model.table[list(ids)], model.positions(len(tokens))[1]
        whole = torch.equal(x, embedded) and added is None and maps.rotary is None  # the token alone makes x
        sizes = self.sizes if self.brings_sizes else {}
        unit = "words" if self.words else "characters"
        return ExampleInputs(
            x=x,
            W_q=maps.W_q,
            W_k=maps.W_k,
            W_v=maps.W_v,
            added=added,
            rotary=maps.rotary,
            example=replace(example, updates=updates, layer=layer + 1, unit=unit, **sizes),
            tokens=tokens,
            ids=ids,
            row_ids=ids if whole else tuple(range(len(ids))),
            notes=notes,
            trained=Trained(
                source=self,
                recording=recording,
                updates=updates,
                layer=layer,
                n_heads=maps.n_heads,
                vocabulary=self.task.vocabulary,
                table=model.table,
                embedded=embedded,
            ),
        )

    def tokens(self, text: str) -> tuple[tuple[str, ...], tuple[Message | Phrase, ...]]:
        """The tokens of a text that the model knows, at most as many as it sees at once, and notes on what is left out.

        There is always at least one.
        """
        clean, vocabulary = clean_text(text), self.task.vocabulary.tokens
        written = [spelt_as_known(token, vocabulary) for token in self.cut(clean.text)]
        known = tuple(token for token in written if token in vocabulary)
        notes: list[Message | Phrase] = list(clean.notes)
        if strangers := list(dict.fromkeys(token for token in written if token not in vocabulary)):
            left_out = ListOf(tuple(Token(token, 0) for token in strangers))
            notes.append(
                message(
                    "This model has never met {tokens}, so it is left out. It knows {known}.",
                    tokens=left_out,
                    known=self.known,
                )
            )
        if not known:
            notes.append(
                message(
                    "There is nothing to show yet: type something it knows. Until then this is “{sentence}”.",
                    sentence=self.sentence,
                )
            )
            return self.tokens(self.sentence)[0], tuple(notes)
        if len(known) > self.most_tokens:
            notes.append(
                message("This model sees {most} tokens at once: the first {most} are used.", most=self.most_tokens)
            )
        elif len(known) < self.task.window and self.has_positions:
            notes.append(
                message(
                    "It was trained on {window} tokens at a time; with {count} it may fail.",
                    window=self.task.window,
                    count=len(known),
                )
            )
        return known[: self.most_tokens], tuple(notes)

    @property
    def known(self) -> str:
        """All tokens that it knows, as one reads them."""
        return ", ".join(self.task.vocabulary.tokens)

    @property
    def most_tokens(self) -> int:
        """How many tokens it sees at once."""
        return int(self.training.get("context", self.task.window))

    @property
    def has_positions(self) -> bool:
        """True where the model has learnt a vector for each position."""
        return ({"positions": "learned"} | dict(self.task.model) | dict(self.training))["positions"] == "learned"

    def cut(self, text: str) -> list[str]:
        """A text in pieces that may be tokens: a full stop is one where the model knows it."""
        if not self.words:
            return list(text.replace(" ", ""))
        return tokenize(text, "words") if FULL_STOP in self.task.vocabulary.tokens else text.split()

    def joined(self, tokens: Sequence[str]) -> str:
        """Tokens, written as one types them."""
        return (" " if self.words else "").join(tokens).replace(f" {FULL_STOP}", FULL_STOP)


def spelt_as_known(token: str, vocabulary: Sequence[str]) -> str:
    """A token as the model knows it, whatever its capitals; one that it does not know, in small letters."""
    if token in vocabulary:
        return token
    return next((known for known in vocabulary if known.lower() == token.lower()), token.lower())


@dataclass(frozen=True, kw_only=True)
class LearntExample(OfTask):
    """A task, with the sizes and settings that learn it: the model is trained with the sizes that are chosen."""

    key: TaskSource
    name: Message
    task: Task
    sentence: str
    words: bool
    sizes: Mapping[str, int]
    training: Mapping[str, Any]
    asking: tuple[str, ...] = ()
    retired: bool = False

    asks = ("model_sizes", "seed")
    more = ("more_of_model",)
    limits = LIMITS_OF_MODELS
    title = derived(lambda self: message("Trained on {task}", task=self.name))
    begins = derived(lambda self: self.sizes)

    @property
    def causal(self) -> bool:
        """True where the model is trained with the causal mask unless one asks for something else."""
        return bool(self.task.model.get("causal", True))

    def run(self, example: Chosen) -> TrainingSettings:
        """The run that trains the model with these sizes."""
        return self.settings(example, causal=example.train_mask, scaling=example.train_scaling)

    def resized(self, example: AnyChosen, d_model: int, n_heads: int) -> AnyChosen:
        """The choices of a model trained with these sizes."""
        d_head = d_model // n_heads
        return replace(example, d_model=d_model, d_k=d_head, d_v=d_head, n_heads=n_heads)

    def settings(self, sizes: Sizes, *, causal: bool, scaling: bool) -> TrainingSettings:
        """The run that trains the model with these sizes and this seed."""
        of_model = {name: getattr(sizes, name) for name in ("d_model", "d_k", "d_v", "n_heads")}
        return recommended(
            self.task, sizes.seed, causal=causal and self.causal, scaling=scaling, **of_model, **self.training
        )


def small(learning_rate: float, steps: int) -> dict[str, Any]:
    """Settings with which models of a dozen features learn."""
    return {"layer_norm": False, "embedding_std": 0.3, "batch_size": 32, "learning_rate": learning_rate, "steps": steps}


def sizes_of_model(d_model: int, d_k: int, d_v: int) -> dict[str, int]:
    """One head with so many features."""
    return {"d_model": d_model, "d_k": d_k, "d_v": d_v, "n_heads": 1}


EVERY_TASK = (
    LearntExample(
        key="stories",
        name=message("short stories"),
        task=StoryTask(),
        sentence="The girl left the king. She cried.",
        words=True,
        sizes=sizes_of_model(8, 2, 3),
        training={"context": 12, "steps": 400},
        asking=StoryTask.PRONOUNS,
    ),
    LearntExample(
        key="pronouns",
        name=message("pronouns"),
        task=PronounTask(),
        sentence="boy found lamp near girl when he",
        words=True,
        sizes=sizes_of_model(8, 2, 3),
        training=small(0.03, 300) | {"context": 12},
        asking=PronounTask.PRONOUNS,
        retired=True,
    ),
    LearntExample(
        key="previous",
        name=message("the letter before"),
        task=PreviousTask(n_letters=8, window=12),
        sentence="cafebeadhead",
        words=False,
        sizes=sizes_of_model(8, 4, 4),
        training=small(0.02, 300),
    ),
    LearntExample(
        key="reverse",
        name=message("letters backwards"),
        task=ReverseTask(n_letters=8, window=8),
        sentence="cafebadh",
        words=False,
        sizes=sizes_of_model(8, 4, 4),
        training=small(0.02, 300),
    ),
    LearntExample(
        key="lookup",
        name=message("look-up"),
        task=LookUpTask(n_letters=4, n_numbers=4, pairs=4, questions=2),
        sentence="b2 d4 a1 c3 c? b?",
        words=True,
        sizes=sizes_of_model(8, 4, 4),
        training=small(0.03, 400) | {"context": 12},
    ),
    LearntExample(
        key="induction",
        name=message("induction"),
        task=InductionTask(n_letters=12, window=12, shortest=4, longest=6),
        sentence="hadkbhadkbha",
        words=False,
        sizes=sizes_of_model(12, 6, 6),
        training=small(0.02, MOST_UPDATES) | {"positions": "learned"},
    ),
)
TASK_SOURCES: dict[str, LearntExample] = {learnt.key: learnt for learnt in EVERY_TASK}


@dataclass(frozen=True)
class OwnRun(OfTask):
    """The model of any run whose task names jobs for its heads, on the sequence that is watched; or of none yet.

    Raises ValueError for a run that cannot be one, or that would take too long to train for a lesson.
    """

    settings: TrainingSettings = None  # pyright: ignore[reportAssignmentType]  # that of the menu has no run: see `of`

    key = "mine"
    title = message("The model you trained")
    needs_run = brings_sizes = True

    def __post_init__(self):
        if self.settings is None:
            return
        task, model = self.settings.task, self.settings.model
        if not task.roles or model.output != "scores":
            raise InputError("the task gives its heads no job that could be measured")
        if model.positions == "alibi":
            raise InputError("the lessons do not show positions that are subtracted from the scores")
        if model.sink:
            raise InputError("the lessons do not show heads with sinks")
        if self.settings.steps * model.n_layers * model.d_model > MOST_WORK:
            raise InputError("training it would take too long for a lesson; use fewer steps, layers or features")

    def of(self, run: TrainingSettings | None) -> "OwnRun | None":
        """The source for the model of this run."""
        return None if run is None else OwnRun(run)

    def run(self, example: Chosen) -> TrainingSettings:
        """As the visitor has trained it, whatever is chosen."""
        return self.settings

    task = derived(lambda self: self.settings.task)
    name = derived(lambda self: texts_of(self.task).title)
    words = derived(lambda self: any(len(token) > 1 for token in self.task.vocabulary.tokens))
    sentence = derived(lambda self: self.joined(self.task.example.tokens[:MAX_TOKENS]))
    begins = derived(lambda self: {"own": self.settings, "seed": self.settings.seed})

    @property
    def sizes(self) -> Mapping[str, int]:
        """As it was trained with them."""
        model = self.settings.model
        features = {"d_model": model.d_model, "d_k": model.query_features, "d_v": model.value_features}
        return features | {"n_heads": model.n_heads}

    @property
    def training(self) -> Mapping[str, Any]:
        """The settings with which the model was trained."""
        model = self.settings.model
        return {"steps": self.settings.steps, "positions": model.positions, "context": model.context}


def kept_updates(steps: int, task: Task) -> tuple[int, ...]:
    """After how many updates of a run its weights are kept: where its task is known to learn, then evenly; at its end.

    The first are closest together where most is learnt.
    """
    known = MOMENTS.get(task.key, (0,))
    kept = (*known, *range(known[-1] + EVALUATE_EVERY, steps, EVALUATE_EVERY))
    return (*(updates for updates in kept if updates < steps), steps)


@dataclass(eq=False)
class ModelRecording:
    """A run as far as anybody has asked for it: the weights of its model after some updates, the last among them.

    Whoever asks for more goes on where it stands, and comes to the same bits; it is evaluated only where it is looked
    at. A class that moves a slider together trains one model together.
    """

    settings: TrainingSettings
    weights: dict[int, Float[np.ndarray, " parameters"]] = field(default_factory=dict, repr=False)  # by updates
    evaluations: dict[int, Evaluation] = field(default_factory=dict, repr=False)  # by updates
    ended: bool = False  # no more weights will come

    @cached_property
    def state(self) -> TrainingState:
        """Where the run stands, between two of its steps."""
        return begin_run(self.settings)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """After how many updates weights are kept."""
        return kept_updates(self.settings.steps, self.settings.task)

    def wanted(self, updates: int) -> int:
        """The updates after which weights are kept: as many as asked for, or the nearest before."""
        return self.kept[max(bisect_right(self.kept, updates) - 1, 0)]

    def reached(self, updates: int) -> int:
        """The latest updates up to these whose weights are kept: a run ends early where its loss is no number."""
        return min(self.wanted(updates), max(self.weights))

    def is_trained(self, updates: int) -> bool:
        """Whether the weights after so many updates are kept, or never will be."""
        return self.ended or self.wanted(updates) in self.weights

    def train_to(self, updates: int) -> Iterator[None]:
        """Train until the weights after so many updates are kept, one step at a time."""
        if self.is_trained(updates):
            return
        stack = TrainingStack([self.state], evaluated=False)
        while not self.is_trained(updates):
            with np.errstate(all="ignore"):  # a loss that is no number ends the run
                (step,) = stack.step()
            self.keep(step.step, step.loss, step.weights)
            yield

    def keep(self, step: int, loss: float, weights: Float[np.ndarray, " parameters"]) -> None:
        """Keep the weights of a step, if they are wanted, or end where it shows that the run is over."""
        if step in self.kept:
            self.weights[step] = weights
        self.ended = step == self.settings.steps or not math.isfinite(loss)
        if self.ended:
            vars(self).pop("state", None)  # and with it its means and batches

    def model(self, updates: int) -> Transformer:
        """The model after so many updates, of torch tensors."""
        return model_with(self.settings.model, torch.from_numpy(self.weights[self.reached(updates)]))

    def evaluation(self, updates: int) -> Evaluation:
        """How good the model is after so many updates."""
        reached = self.reached(updates)
        if reached not in self.evaluations:
            model = model_with(self.settings.model, self.weights[reached][None])
            batch = side_by_side([held_out_batch(self.settings)])
            (self.evaluations[reached],) = evaluate_together([self.settings.task.goal], model, batch, [reached])
        return self.evaluations[reached]


RECORDINGS: OrderedDict[TrainingSettings, ModelRecording] = OrderedDict()  # those asked for last, for all visitors


def recorded(settings: TrainingSettings, updates: int = MAX_STEPS) -> ModelRecording:
    """The recording of a run; trained now up to so many updates unless somebody has asked for them before."""
    recording = recording_of(settings)
    for _ in recording.train_to(updates):
        pass
    return recording


def recording_of(settings: TrainingSettings) -> ModelRecording:
    """The recording of a run as far as it is trained."""
    recording = RECORDINGS[settings] = RECORDINGS.get(settings) or ModelRecording(settings, shipped_weights(settings))
    RECORDINGS.move_to_end(settings)
    while len(RECORDINGS) > MOST_RECORDINGS:
        RECORDINGS.popitem(last=False)
    return recording


ROLE_NAMES = {
    "needed": message("finds who and what"),
    "referent": message("finds the word"),
    "previous": message("one back"),
    "mirror": message("mirror"),
    "self": message("itself"),
    "pair": message("finds the pair"),
    "after_match": message("after the match"),
    "next_larger": message("the next larger"),
    "letter_before": message("the letter before"),
    "number": message("finds the number"),
    "last": message("the last"),
    "one_back": message("one back"),
    "two_back": message("two back"),
    "three_back": message("three back"),
    "next": message("one ahead"),
}


WAYS_TO_X = {
    "learned": message("This model adds a learned position vector to each row."),
    "sinusoidal": message("This model adds a vector of sines and cosines to each row for its position."),
    "qk": message("Before it makes queries and keys, this model adds a learned position vector to its input."),
    "rotary": message("This model turns queries and keys by their positions."),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Trained(TrainedLayer):
    """One layer of a small model after so many updates: its vocabulary, and the embedding table with a row for each."""

    source: OfTask
    recording: ModelRecording
    updates: int
    vocabulary: Vocabulary
    table: Float[Tensor, "vocabulary d_model"]

    @property
    def evaluation(self) -> Evaluation:
        """How good the model is by now on sequences it is not trained on."""
        return self.recording.evaluation(self.updates)

    @property
    def answers(self) -> int:
        """How many answers it is asked for in those sequences."""
        return answers_asked(self.recording.settings)

    @property
    def untrained(self) -> bool:
        """True for a model that has had no training step yet."""
        return self.updates == 0

    @property
    def sliced(self) -> bool:
        """True where each head reads only a slice of X."""
        return self.recording.settings.model.heads == "sliced"

    @property
    def input_description(self) -> tuple[Message, ...]:
        """What is added, the layers below, a norm; and what this model tells queries and keys besides."""
        config, way = self.recording.settings.model, []
        if config.positions in ("learned", "sinusoidal"):
            way.append(WAYS_TO_X[config.positions])
        if self.layer:
            way.append(plural("{count} layer processes the result.", "{count} layers process the result.", self.layer))
        if config.layer_norm:
            way.append(message("Each row is then given mean 0 and variance 1, then scaled and shifted."))
        result = message("This gives the X of the other lessons.")
        way.append(result if way else message("These rows are the X of the other lessons."))
        if config.positions in ("qk", "rotary"):
            way.append(WAYS_TO_X[config.positions])
        return tuple(way)

    @property
    def so_far(self) -> Message:
        """How good the model is by now."""
        return message(
            "Training steps so far: {updates} of {steps}. New answers that are right: {right} of {count}.",
            updates=self.updates,
            steps=self.recording.settings.steps,
            count=self.answers,
            right=round(self.evaluation.accuracy * self.answers),
        )

    def job(self, head: int) -> Job:
        """The one of the task's jobs that a head does best."""
        task, shares = self.source.task, self.evaluation.role_weights[:, self.layer, head].tolist()
        best = max(range(len(shares)), key=shares.__getitem__)
        role, even = task.roles[best], even_shares(self.recording.settings)[best]
        done, texts = shares[best] >= task.threshold, message("{n} new sequences", n=HELD_OUT)
        return Job(ROLE_NAMES[role], texts_of(task).roles[role], shares[best], even, done, texts)

    def origin(self) -> Message:
        """What made the weights, and how well they do."""
        seed = self.recording.settings.seed
        if self.untrained:
            return message("Untrained: random weights (seed {seed}).", seed=seed)
        return message(
            "Trained on {task}, training steps: {updates} (seed {seed}). New answers that are right: {right} of "
            "{count}.",
            task=self.source.name,
            updates=self.updates,
            seed=seed,
            count=self.answers,
            right=round(self.evaluation.accuracy * self.answers),
        )


@functools.lru_cache(maxsize=64)
def answers_asked(settings: TrainingSettings) -> int:
    """How many positions of the held-out sequences count."""
    return int((held_out_batch(settings).targets != NO_TARGET).sum())


@functools.lru_cache(maxsize=64)
def even_shares(settings: TrainingSettings) -> tuple[float, ...]:
    """For each role, the mean weight on the right cells if each query divided it evenly among what it sees."""
    target = held_out_batch(settings).target_attention
    if target is None:
        return ()
    n = target.shape[-1]
    visible = causal_mask(n) if settings.model.causal else full_mask(n)
    even = visible / visible.sum(dim=-1, keepdim=True)
    rows = target.any(dim=-1).sum(dim=(0, -1))
    return tuple(((target * even).sum(dim=(0, -2, -1)) / rows).tolist())
