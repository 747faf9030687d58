"""Tasks whose answer has a known position: here, one before, mirrored, the last few at once, or the next."""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.learning.batches import NO_TARGET, Batch
from attention_core.learning.evaluation import Goal
from attention_core.learning.tasks.base import ENOUGH_RIGHT, PERFECT, Baseline, Task, attention_to, guessing
from attention_core.text.tokens import Vocabulary

TASK_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class LetterTask(Task):
    """Random letters, each answer one of them. A subclass says at which position each answer stands."""

    n_letters: int = 10
    window: int = 8

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The first letters of the alphabet."""
        return Vocabulary(tuple(TASK_LETTERS[: self.n_letters]))

    @cached_property
    def answer_position(self) -> Int[Tensor, " tokens"]:
        """The position of each token's answer; negative where there is none."""
        raise NotImplementedError

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw random letters, and for each position the letter that is its answer."""
        inputs = torch.randint(self.n_letters, (size, self.window), generator=generator)
        positions = self.answer_position
        targets = inputs[:, positions.clamp(min=0)].masked_fill(positions < 0, NO_TARGET)
        return Batch(inputs, targets, lambda: attention_to(positions.expand(size, -1), self.window))

    def baselines(self) -> list[Baseline]:
        """Return the losses of guessing any letter, and of knowing the right one."""
        return [guessing(self.n_letters), PERFECT]


@dataclass(frozen=True)
class CopyTask(LetterTask):
    """The task of repeating each letter."""

    key = "copy"
    roles = ("self",)
    model = MappingProxyType(
        {"d_model": 32, "n_heads": 1, "positions": "qk", "causal": False, "residual": False, "embedding_std": 0.3}
    )
    training = MappingProxyType({"learning_rate": 0.003, "steps": 200, "batch_size": 32, "weight_decay": 0.0})

    @cached_property
    def answer_position(self) -> Int[Tensor, " tokens"]:
        """The position of the token."""
        return torch.arange(self.window)


@dataclass(frozen=True)
class PreviousTask(LetterTask):
    """The task of naming the letter before."""

    key = "previous"
    roles = ("previous",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 200, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 12
    window: int = 16

    @cached_property
    def answer_position(self) -> Int[Tensor, " tokens"]:
        """One position back; the first token has nothing before it."""
        return torch.arange(self.window) - 1


@dataclass(frozen=True)
class ReverseTask(LetterTask):
    """The task of naming the letters backwards."""

    key = "reverse"
    roles = ("mirror",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "causal": False, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 200, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 10
    window: int = 10

    @cached_property
    def answer_position(self) -> Int[Tensor, " tokens"]:
        """The mirrored position."""
        return torch.arange(self.window - 1, -1, -1)


@dataclass(frozen=True)
class LastTokensTask(Task):
    """The task of naming the last few letters at once: one token stands for all of them in their order."""

    key = "last"
    roles = ("last", "one_back", "two_back", "three_back")
    model = MappingProxyType({"d_model": 32, "n_heads": 4, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 600, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 3
    window: int = 12
    last: int = 4

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The letters, then every word of `last` letters."""
        letters = TASK_LETTERS[: self.n_letters]
        return Vocabulary((*letters, *("".join(word) for word in itertools.product(letters, repeat=self.last))))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw random letters; the answer reads the last ones as a number in base `n_letters`, oldest first."""
        inputs = torch.randint(self.n_letters, (size, self.window), generator=generator)
        powers = self.n_letters ** torch.arange(self.last - 1, -1, -1)
        numbers = (inputs.unfold(1, self.last, 1) * powers).sum(dim=-1)
        targets = torch.full_like(inputs, NO_TARGET)
        targets[:, self.last - 1 :] = self.n_letters + numbers
        offsets = range(self.last)
        return Batch(inputs, targets, lambda: torch.cat([self.back(offset, size) for offset in offsets], dim=1))

    def back(self, offset: int, size: int) -> Bool[Tensor, "batch 1 queries keys"]:
        """Return the role of attending `offset` positions back, in the rows that count."""
        positions = torch.arange(self.window)
        keys = (positions - offset).masked_fill(positions < self.last - 1, -1)
        return attention_to(keys.expand(size, -1), self.window)

    def baselines(self) -> list[Baseline]:
        """Return the losses of knowing none of the letters, one, two, …, and all."""
        known = [
            Baseline("some_letters", (self.last - n) * math.log(self.n_letters), (n, self.last))
            for n in range(1, self.last)
        ]
        return [guessing(self.n_letters**self.last), *known, PERFECT]

    @property
    def goal(self) -> Goal:
        """Enough answers are right, whatever the heads do: unequal weights can carry the order, too."""
        return Goal(self.enough_right, 0.0)


@dataclass(frozen=True)
class NoiseTask(Task):
    """The task of predicting the next of random letters: impossible, unless a query may attend to the answer."""

    key = "noise"
    roles = ("next",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "causal": False, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 400, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 26
    window: int = 16

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The letters."""
        return Vocabulary(tuple(TASK_LETTERS[: self.n_letters]))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw random letters; the last one of each row is only an answer, and no token of the input."""
        drawn = torch.randint(self.n_letters, (size, self.window + 1), generator=generator)
        following = torch.arange(1, self.window + 1)
        keys = following.masked_fill(following == self.window, -1)
        return Batch(drawn[:, :-1], drawn[:, 1:], lambda: attention_to(keys.expand(size, -1), self.window))

    def baselines(self) -> list[Baseline]:
        """Return two losses: guessing evenly, the best of a causal model, and knowing all next letters but the last."""
        evenly = guessing(self.n_letters)
        reading_ahead = Baseline("reading_ahead", evenly.loss / self.window)
        return [evenly, reading_ahead]

    @property
    def enough_right(self) -> float:
        """The share of right answers that is enough: nearly all that can be read ahead, all but the last of a row."""
        return ENOUGH_RIGHT * (self.window - 1) / self.window
