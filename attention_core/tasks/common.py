"""What every task has: data, what counts in the loss, where a perfect head would look, and what a loss means."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.gradients import NO_TARGET
from attention_core.randomness import generator as make_generator
from attention_core.tokens import Vocabulary

MAX_VOCABULARY = 128
ENOUGH_RIGHT = 0.95  # the accuracy from which on a task counts as learnt
EXAMPLE_SEED = 5


@dataclass(frozen=True, eq=False)
class Batch:
    """Sequences, the right answer at each place, and the cells where a perfect head would look.

    A target of NO_TARGET does not count. `looks` has an axis of jobs: most tasks have one, but to bring the
    last four tokens along is four jobs, which four heads may share. A query with no cell has no such job.
    """

    inputs: Int[Tensor, "batch tokens"]
    targets: Int[Tensor, "batch tokens"]
    looks: Bool[Tensor, "batch jobs queries keys"] | None = None


@dataclass(frozen=True)
class Baseline:
    """A loss that means something: what one reaches knowing only so much."""

    name: str
    loss: float  # nats per place that counts; squared error where vectors are compared


@dataclass(frozen=True)
class TaskExample:
    """One sequence to watch: the names of its tokens, the right answers, and the cells a perfect head looks at."""

    tokens: tuple[str, ...]
    answers: tuple[str | None, ...]  # None where a place does not count
    ids: Int[Tensor, " tokens"]
    targets: Int[Tensor, " tokens"]
    looks: Bool[Tensor, "jobs queries keys"] | None


class Task(ABC):
    """What there is to learn. A task is a frozen dataclass, so that equal ones share a run.

    `title`, `learns` and `looks_like` are for the screen: what a head must learn, and what its attention looks
    like when it has. `jobs` names what the heads must do, in the order of `Batch.looks`; `threshold` is the share
    of its weight that the best head puts on the right cells when the job is learnt. `model` and `training` are
    the settings that get there within seconds.
    """

    title: ClassVar[str]
    learns: ClassVar[str]
    looks_like: ClassVar[str]
    jobs: ClassVar[tuple[str, ...]] = ()
    threshold: ClassVar[float] = 0.7
    source: ClassVar[str] = "task"
    unit: ClassVar[str] = "tokens"
    model: ClassVar[Mapping[str, object]]
    training: ClassVar[Mapping[str, object]]

    window: int  # tokens of one sequence

    @property
    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """The different tokens, answers among them."""

    @abstractmethod
    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """`size` fresh sequences, drawn from the generator alone."""

    @abstractmethod
    def baselines(self) -> list[Baseline]:
        """Losses of guesses that know nothing, a little, and all there is to know, in this order."""

    def held_out(self, size: int, generator: torch.Generator) -> Batch | None:
        """Sequences that are never trained on; None where there are none."""
        return self.batch(size, generator)

    @property
    def measured_on(self) -> str:
        """Where the share of right answers is measured, in words."""
        return "on sequences it never trains on"

    @cached_property
    def example(self) -> TaskExample:
        """The sequence that is watched: the same in every run of the task."""
        with torch.inference_mode(False):  # it is kept, so it must be fit for every use
            return self.name(self.batch(1, make_generator(EXAMPLE_SEED, "example")))

    def name(self, batch: Batch, row: int = 0) -> TaskExample:
        """One row of a batch with the names of its tokens."""
        words, ids, targets = self.vocabulary.tokens, batch.inputs[row], batch.targets[row]
        return TaskExample(
            tokens=tuple(words[i] for i in ids.tolist()),
            answers=tuple(None if t == NO_TARGET else words[t] for t in targets.tolist()),
            ids=ids,
            targets=targets,
            looks=None if batch.looks is None else batch.looks[row],
        )

    @property
    def enough_right(self) -> float:
        """The share of right answers from which on the task counts as learnt."""
        return ENOUGH_RIGHT

    def learnt(self, accuracy: float, job_weights: tuple[float, ...]) -> bool:
        """True when enough answers are right and some head does each job, as far as the task has any."""
        return accuracy >= self.enough_right and all(weight >= self.threshold for weight in job_weights)


def cells(rows: Int[Tensor, "batch queries"], n_keys: int) -> Bool[Tensor, "batch 1 queries keys"]:
    """One job: query i of a sequence looks at key rows[i]; at none where that is negative."""
    return (rows[..., None] == torch.arange(n_keys))[:, None]


def shuffles(size: int, count: int, generator: torch.Generator) -> Int[Tensor, "batch count"]:
    """`size` random orders of the numbers 0 … count − 1."""
    return torch.rand(size, count, generator=generator).argsort(dim=-1)


def guessing(among: int, name: str = "guessing evenly") -> Baseline:
    """The loss of a guess that gives each of so many answers the same chance."""
    return Baseline(f"{name} among {among}", math.log(among))


PERFECT = Baseline("knowing every answer", 0.0)


def conditional_entropy(pairs: Iterable[tuple[Hashable, Hashable]]) -> float:
    """Mean of −ln p(outcome | context) over all observed (context, outcome) pairs, in nats.

    p is how often the outcome follows the context: no guess that knows only the context does better.
    """
    pairs = list(pairs)
    together, contexts = Counter(pairs), Counter(context for context, _ in pairs)
    return sum(n * math.log(contexts[context] / n) for (context, _), n in together.items()) / len(pairs)
