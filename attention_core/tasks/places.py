"""Tasks whose answer stands at a place: here, one before, at the other end, or at the last few places at once."""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from jaxtyping import Int
from torch import Tensor

from attention_core.gradients import NO_TARGET
from attention_core.tasks.common import ENOUGH_RIGHT, PERFECT, Baseline, Batch, Task, cells, guessing
from attention_core.tokens import Vocabulary

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class LetterTask(Task):
    """Random letters, each answer one of them. What is left to say is at which place each answer stands."""

    n_letters: int = 10
    window: int = 8

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The first letters of the alphabet."""
        return Vocabulary(tuple(LETTERS[: self.n_letters]))

    @cached_property
    def answer_place(self) -> Int[Tensor, " tokens"]:
        """The place where the answer to each place stands; negative where nothing is asked."""
        raise NotImplementedError

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Random letters, and for each place the letter at its answer's place."""
        inputs = torch.randint(self.n_letters, (size, self.window), generator=generator)
        places = self.answer_place
        targets = inputs[:, places.clamp(min=0)].masked_fill(places < 0, NO_TARGET)
        looks = cells(places.expand(size, -1), self.window)
        return Batch(inputs, targets, looks)

    def baselines(self) -> list[Baseline]:
        """Any letter, or the right one."""
        return [guessing(self.n_letters), PERFECT]


@dataclass(frozen=True)
class CopyTask(LetterTask):
    """Say each letter again."""

    title = "Copy"
    learns = "Each place must look at itself and hand on the letter it finds there."
    looks_like = "A diagonal: every row looks at its own column."
    jobs = ("look at yourself",)
    model = MappingProxyType(
        {"d_model": 32, "n_heads": 1, "positions": "qk", "causal": False, "residual": False, "embedding_std": 0.3}
    )
    training = MappingProxyType({"learning_rate": 0.003, "steps": 200, "batch_size": 32, "weight_decay": 0.0})

    @cached_property
    def answer_place(self) -> Int[Tensor, " tokens"]:
        """Itself."""
        return torch.arange(self.window)


@dataclass(frozen=True)
class PreviousTask(LetterTask):
    """Say the letter before."""

    title = "Previous token"
    learns = "Each place must look one place back and hand on the letter it finds there."
    looks_like = "A line just below the diagonal: every row looks at the column before its own."
    jobs = ("look one place back",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 200, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 12
    window: int = 16

    @cached_property
    def answer_place(self) -> Int[Tensor, " tokens"]:
        """One place back; the first place has nothing before it."""
        return torch.arange(self.window) - 1


@dataclass(frozen=True)
class ReverseTask(LetterTask):
    """Say the letters backwards."""

    title = "Reverse"
    learns = "Each place must look at the place as far from the end as it is from the beginning."
    looks_like = "A diagonal from the bottom left to the top right."
    jobs = ("look at the mirrored place",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "causal": False, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 200, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 10
    window: int = 10

    @cached_property
    def answer_place(self) -> Int[Tensor, " tokens"]:
        """The mirrored place."""
        return torch.arange(self.window - 1, -1, -1)


@dataclass(frozen=True)
class LastTokensTask(Task):
    """Say the last few letters at once: the answer is one token that stands for all of them in their order."""

    title = "The last four at once"
    learns = "Each place must bring the last four letters along, and keep apart which was where."
    looks_like = "Several lines below the diagonal. One head can only spread over all four places; several can share."
    jobs = ("look at the last", "look one back", "look two back", "look three back")
    model = MappingProxyType({"d_model": 32, "n_heads": 4, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 600, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 3
    window: int = 12
    last: int = 4

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The letters, then every word of `last` letters."""
        letters = LETTERS[: self.n_letters]
        return Vocabulary((*letters, *("".join(word) for word in itertools.product(letters, repeat=self.last))))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Random letters; the answer reads the last ones as a number in base `n_letters`, oldest first."""
        inputs = torch.randint(self.n_letters, (size, self.window), generator=generator)
        powers = self.n_letters ** torch.arange(self.last - 1, -1, -1)
        numbers = (inputs.unfold(1, self.last, 1) * powers).sum(dim=-1)
        targets = torch.full_like(inputs, NO_TARGET)
        targets[:, self.last - 1 :] = self.n_letters + numbers
        looks = torch.cat([self.looks_back(offset, size) for offset in range(self.last)], dim=1)
        return Batch(inputs, targets, looks)

    def looks_back(self, offset: int, size: int) -> Tensor:
        """The cells so many places back, in the rows that count."""
        places = torch.arange(self.window)
        return cells((places - offset).masked_fill(places < self.last - 1, -1).expand(size, -1), self.window)

    def baselines(self) -> list[Baseline]:
        """Knowing more and more of the letters."""
        known = [
            Baseline(f"knowing {n} of the {self.last} letters", (self.last - n) * math.log(self.n_letters))
            for n in range(1, self.last)
        ]
        return [guessing(self.n_letters**self.last), *known, PERFECT]

    def learnt(self, accuracy: float, job_weights: tuple[float, ...]) -> bool:
        """By the answers alone: the order of the letters can be carried in unequal weights, too."""
        return super().learnt(accuracy, ())


@dataclass(frozen=True)
class NoiseTask(Task):
    """The next of random letters: nothing can be learnt, unless one may look at the answer."""

    title = "Random letters"
    learns = "Nothing: no letter tells the next. Only a head that may look ahead can read the answer off."
    looks_like = "With a mask, no picture. Without one, a line just above the diagonal: the head reads the answer."
    jobs = ("look one place ahead",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "causal": False, "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 400, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 26
    window: int = 16

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The letters."""
        return Vocabulary(tuple(LETTERS[: self.n_letters]))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Random letters; the last one of each row is only an answer, and stands nowhere to be read."""
        drawn = torch.randint(self.n_letters, (size, self.window + 1), generator=generator)
        places = torch.arange(1, self.window + 1)
        looks = cells(places.masked_fill(places == self.window, -1).expand(size, -1), self.window)
        return Batch(drawn[:, :-1], drawn[:, 1:], looks)

    def baselines(self) -> list[Baseline]:
        """Guessing is the best without a look ahead; with it only the last place is left to guess."""
        evenly = guessing(self.n_letters)
        cheating = Baseline("reading every answer that stands there", evenly.loss / self.window)
        return [evenly, cheating]

    @property
    def enough_right(self) -> float:
        """The cheat is complete when the answers that can be read are right: all but the last of each row."""
        return ENOUGH_RIGHT * (self.window - 1) / self.window
