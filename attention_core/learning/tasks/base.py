"""What every task has: data, what counts in the loss, where a perfect head attends, and what a loss means."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.base.randomness import generator as make_generator
from attention_core.learning.batches import NO_TARGET, Batch
from attention_core.learning.evaluation import Goal
from attention_core.text.tokens import Vocabulary

MAX_VOCABULARY = 128
ENOUGH_RIGHT = 0.95  # the accuracy from which on a task counts as learnt
EXAMPLE_SEED = 5


@dataclass(frozen=True)
class Baseline:
    """A loss to compare with: that of the best guess from limited knowledge.

    `key` names that knowledge; `counts` are numbers that go with it, such as how many answers one guesses among.
    """

    key: str
    loss: float  # nats per position that counts; squared error where vectors are compared
    counts: tuple[int, ...] = ()


@dataclass(frozen=True)
class TaskExample:
    """One sequence to show: the names of its tokens, the right answers, and where a perfect head attends."""

    tokens: tuple[str, ...]
    answers: tuple[str | None, ...]  # None where a position does not count
    ids: Int[Tensor, " tokens"]
    targets: Int[Tensor, " tokens"]
    target_attention: Bool[Tensor, "roles queries keys"] | None


class Task(ABC):
    """The base of all tasks. A task is a frozen dataclass, so that equal ones share a run.

    `key` is the short name of a task. `roles` are what its heads must do, in the order of `Batch.target_attention`. A
    role is learnt when the best head puts at least the share `threshold` of its weight on the right cells. `model` and
    `training` are settings that learn the task within seconds.
    """

    key: ClassVar[str]
    roles: ClassVar[tuple[str, ...]] = ()
    threshold: ClassVar[float] = 0.7
    source: ClassVar[str] = "task"
    unit: ClassVar[str] = "tokens"
    draws_afresh: ClassVar[bool] = True  # from so many sequences that some can be held out for evaluation
    model: ClassVar[Mapping[str, Any]]
    training: ClassVar[Mapping[str, Any]]

    window: int  # tokens of one sequence

    @property
    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """The different tokens, answers among them."""

    @abstractmethod
    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw `size` fresh sequences, from the generator alone."""

    @abstractmethod
    def baselines(self) -> list[Baseline]:
        """Return the losses of guesses that know nothing, a little, and all there is to know, in this order."""

    def held_out(self, size: int, generator: torch.Generator) -> Batch | None:
        """Draw `size` different sequences that are never trained on, or None where there are fewer than four in all.

        If some of `size` sequences are equal, the task may have few: then 4 · `size` are drawn, and a third of the
        different ones are set aside, but at most `size`.
        """
        batch = self.batch(size, generator)
        if len(first_rows(batch)) == size:
            return batch
        batch = self.batch(4 * size, generator)
        different = first_rows(batch)
        return None if len(different) < 4 else batch.rows(different[: min(size, len(different) // 3)])

    def training_batch(self, size: int, generator: torch.Generator, aside: Int[Tensor, " sequences"]) -> Batch:
        """Draw `size` fresh sequences whose fingerprints are not in `aside`: for each excluded one another is drawn."""
        batch = self.batch(size, generator)
        taken = torch.isin(fingerprints(batch.inputs), aside)
        if not taken.any():
            return batch
        kept, others = batch.rows(~taken), self.training_batch(int(taken.sum()), generator, aside)
        return Batch(torch.cat([kept.inputs, others.inputs]), torch.cat([kept.targets, others.targets]))

    @cached_property
    def example(self) -> TaskExample:
        """The sequence that is shown, equal in every run of the task."""
        with torch.inference_mode(False):  # it is kept, so it must be fit for every use
            return self.name(self.batch(1, make_generator(EXAMPLE_SEED, "example")))

    def name(self, batch: Batch, row: int = 0) -> TaskExample:
        """Return one row of a batch with the names of its tokens."""
        words, ids, targets = self.vocabulary.tokens, batch.inputs[row], batch.targets[row]
        return TaskExample(
            tokens=tuple(words[i] for i in ids.tolist()),
            answers=tuple(None if t == NO_TARGET else words[t] for t in targets.tolist()),
            ids=ids,
            targets=targets,
            target_attention=None if batch.target_attention is None else batch.target_attention[row],
        )

    @property
    def enough_right(self) -> float:
        """The share of right answers from which on the task counts as learnt."""
        return ENOUGH_RIGHT

    @property
    def goal(self) -> Goal:
        """From when on the task counts as learnt: enough answers are right, and some head plays each of its roles."""
        return Goal(self.enough_right, self.threshold)


def attention_to(keys: Int[Tensor, "batch queries"], n_keys: int) -> Bool[Tensor, "batch 1 queries keys"]:
    """Return the target of one role: query i of a sequence attends to key keys[i]; to none where that is negative."""
    return (keys[..., None] == torch.arange(n_keys))[:, None]


def fingerprints(inputs: Int[Tensor, "batch tokens"]) -> Int[Tensor, " batch"]:
    """Return a number for each sequence: equal for equal sequences, and for others by a rare chance only."""
    factors = torch.randint(2**62, inputs.shape[1:], generator=make_generator(0, "fingerprints"))
    return inputs @ factors  # beyond 64 bits the numbers wrap around


def first_rows(batch: Batch) -> Int[Tensor, " different"]:
    """Return the rows of the different sequences, each where it comes first."""
    return torch.from_numpy(np.sort(np.unique(fingerprints(batch.inputs).numpy(), return_index=True)[1]))


def shuffles(size: int, count: int, generator: torch.Generator) -> Int[Tensor, "batch count"]:
    """Draw `size` random orders of the numbers 0 … count − 1."""
    return torch.rand(size, count, generator=generator).argsort(dim=-1)


def guessing(among: int) -> Baseline:
    """Return the baseline of a guess that gives each of `among` answers the same chance."""
    return Baseline("uniform", math.log(among), (among,))


PERFECT = Baseline("perfect", 0.0)


def conditional_entropy(pairs: Iterable[tuple[Hashable, Hashable]]) -> float:
    """Compute the mean of −ln p(outcome | context) over all observed (context, outcome) pairs, in nats.

    p is how often the outcome follows the context: no guess that knows only the context does better.
    """
    pairs = list(pairs)
    together, contexts = Counter(pairs), Counter(context for context, _ in pairs)
    return sum(n * math.log(contexts[context] / n) for (context, _), n in together.items()) / len(pairs)
