"""Tasks whose answer must be found by what the tokens are, not by their positions."""

import math
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.base.errors import TechnicalError
from attention_core.learning.batches import NO_TARGET, Batch
from attention_core.learning.tasks.base import PERFECT, Baseline, Task, attention_to, guessing, shuffles
from attention_core.text.tokens import Vocabulary


@dataclass(frozen=True)
class LookUpTask(Task):
    """A dictionary of pairs such as “b4”, then questions such as “b?”."""

    key = "lookup"
    roles = ("pair",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "positions": "none", "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 300, "batch_size": 64, "weight_decay": 0.0})

    n_letters: int = 6
    n_numbers: int = 6
    pairs: int = 5
    questions: int = 3

    @property
    def window(self) -> int:
        """The number of tokens: the pairs, then the questions."""
        return self.pairs + self.questions

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All pairs, all questions, all numbers."""
        letters, numbers = "abcdefghij"[: self.n_letters], [str(n) for n in range(1, self.n_numbers + 1)]
        pairs = tuple(letter + number for letter in letters for number in numbers)
        return Vocabulary((*pairs, *(f"{letter}?" for letter in letters), *numbers))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw pairs with different letters, and questions about some of them in random order."""
        letters = shuffles(size, self.n_letters, generator)[:, : self.pairs]
        numbers = torch.randint(self.n_numbers, (size, self.pairs), generator=generator)
        asked = shuffles(size, self.pairs, generator)[:, : self.questions]
        n_pairs = self.n_letters * self.n_numbers
        inputs = torch.cat([letters * self.n_numbers + numbers, n_pairs + letters.gather(1, asked)], dim=1)
        targets = n_pairs + self.n_letters + numbers.gather(1, asked)
        nothing = torch.full((size, self.pairs), NO_TARGET)
        asked_at = torch.cat([nothing, asked], dim=1)
        return Batch(inputs, torch.cat([nothing, targets], dim=1), lambda: attention_to(asked_at, self.window))

    def baselines(self) -> list[Baseline]:
        """Return the losses of guessing any number, of guessing one of those present, and of knowing the answer."""
        return [guessing(self.n_numbers), among_drawn(self.n_numbers, self.pairs), PERFECT]


@dataclass(frozen=True)
class RecallTask(Task):
    """Letters alternate with numbers; a letter that comes again is a question for the number that followed it."""

    key = "recall"
    roles = ("letter_before", "number")
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "n_layers": 2, "positions": "qk", "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 500, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 6
    n_numbers: int = 6
    pairs: int = 4

    @property
    def window(self) -> int:
        """The number of tokens: two for each pair, and one for each question."""
        return 3 * self.pairs

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The letters and the numbers."""
        return Vocabulary((*"abcdefghij"[: self.n_letters], *(str(n) for n in range(1, self.n_numbers + 1))))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw different letters with random numbers, then the letters again in another order."""
        letters = shuffles(size, self.n_letters, generator)[:, : self.pairs]
        numbers = self.n_letters + torch.randint(self.n_numbers, (size, self.pairs), generator=generator)
        asked = shuffles(size, self.pairs, generator)
        told = torch.stack([letters, numbers], dim=-1).flatten(1)
        nothing = torch.full_like(told, NO_TARGET)
        inputs = torch.cat([told, letters.gather(1, asked)], dim=1)
        targets = torch.cat([nothing, numbers.gather(1, asked)], dim=1)
        return Batch(inputs, targets, lambda: torch.cat([self.letter_before(size), self.number(asked)], dim=1))

    def letter_before(self, size: int) -> Bool[Tensor, "batch 1 queries keys"]:
        """Return the role of attending from each number to the letter before it."""
        positions = torch.arange(self.window)
        is_number = (positions < 2 * self.pairs) & (positions % 2 == 1)
        return attention_to((positions - 1).masked_fill(~is_number, -1).expand(size, -1), self.window)

    def number(self, asked: Int[Tensor, "batch pairs"]) -> Bool[Tensor, "batch 1 queries keys"]:
        """Return the role of attending from each question to the number of its letter."""
        nothing = torch.full((len(asked), 2 * self.pairs), -1)
        return attention_to(torch.cat([nothing, 2 * asked + 1], dim=1), self.window)

    def baselines(self) -> list[Baseline]:
        """Return the losses of guessing any number, of guessing one of those present, and of knowing the answer."""
        return [guessing(self.n_numbers), among_drawn(self.n_numbers, self.pairs), PERFECT]


@dataclass(frozen=True)
class PronounTask(Task):
    """Sentences with three nouns and a pronoun, she, he or it: which noun is meant?"""

    key = "pronoun"
    roles = ("referent",)
    model = MappingProxyType(
        {"d_model": 32, "n_heads": 1, "positions": "none", "layer_norm": True, "embedding_std": 0.1}
    )
    training = MappingProxyType({"learning_rate": 0.01, "steps": 300, "batch_size": 64, "weight_decay": 0.0})

    KINDS = (("queen", "girl", "aunt", "nun"), ("king", "boy", "uncle", "monk"), ("boat", "lamp", "drum", "book"))
    BETWEEN = (
        ("saw", "met", "left", "found"),
        ("near", "behind", "beside", "below"),
        ("because", "while", "before", "when"),
    )
    PRONOUNS = ("she", "he", "it")

    window: int = 7

    def __post_init__(self):
        if self.window != 7:
            raise TechnicalError(
                "a sentence with a pronoun has 7 words here, but window is {window}", window=self.window
            )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of each kind, those that stand between them, and the pronouns."""
        return Vocabulary(tuple(word for group in (*self.KINDS, *self.BETWEEN, self.PRONOUNS) for word in group))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw three nouns of different kinds in random order with words between them, and a pronoun for one."""
        kinds = shuffles(size, 3, generator)
        nouns = 4 * kinds + torch.randint(4, (size, 3), generator=generator)
        between = 12 + 4 * torch.arange(3) + torch.randint(4, (size, 3), generator=generator)
        meant = torch.randint(3, (size, 1), generator=generator)
        sentence = torch.stack([nouns, between], dim=-1).flatten(1)
        inputs = torch.cat([sentence, 24 + kinds.gather(1, meant)], dim=1)
        nothing = torch.full_like(sentence, NO_TARGET)
        targets = torch.cat([nothing, nouns.gather(1, meant)], dim=1)
        meant_at = torch.cat([nothing, 2 * meant], dim=1)
        return Batch(inputs, targets, lambda: attention_to(meant_at, self.window))

    def baselines(self) -> list[Baseline]:
        """Return the losses of guessing any noun, any of its kind, any in the sentence, and of knowing the answer."""
        return [guessing(12), Baseline("kind", math.log(4)), Baseline("sentence", math.log(3)), PERFECT]


@dataclass(frozen=True)
class SortTask(Task):
    """Different numbers, then all of them again in order, each written after the one before it."""

    key = "sort"
    roles = ("next_larger",)
    model = MappingProxyType(
        {"d_model": 32, "n_heads": 1, "positions": "learned", "layer_norm": True, "embedding_std": 0.1}
    )
    training = MappingProxyType({"learning_rate": 0.003, "steps": 500, "batch_size": 32, "weight_decay": 0.0})

    largest: int = 12
    numbers: int = 6

    @property
    def window(self) -> int:
        """The number of tokens: the numbers, an arrow, and the sorted numbers but the last, which is only an answer."""
        return 2 * self.numbers

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The numbers from 1, and the arrow."""
        return Vocabulary((*(str(n) for n in range(1, self.largest + 1)), "→"))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw different numbers in random order, then sort them: the answer is the number that comes next."""
        drawn = shuffles(size, self.largest, generator)[:, : self.numbers]
        written, came_from = drawn.sort(dim=-1)
        arrow = torch.full((size, 1), self.largest)
        nothing = torch.full((size, self.numbers), NO_TARGET)
        inputs = torch.cat([drawn, arrow, written[:, :-1]], dim=1)
        next_at = torch.cat([nothing, came_from], dim=1)
        return Batch(inputs, torch.cat([nothing, written], dim=1), lambda: attention_to(next_at, self.window))

    def baselines(self) -> list[Baseline]:
        """Return the losses of guessing any number, any in the question, any not yet written, and of knowing it."""
        left = sum(math.log(n) for n in range(1, self.numbers + 1)) / self.numbers
        return [
            guessing(self.largest),
            Baseline("numbers", math.log(self.numbers)),
            Baseline("numbers_left", left),
            PERFECT,
        ]


def among_drawn(values: int, drawn: int) -> Baseline:
    """Compute the best loss of knowing which values are present, and how often, but not which one is the answer.

    A value that is present c times costs ln(drawn / c); c is 1 and how many of the others agree with it by chance.
    """
    others, p = drawn - 1, 1 / values
    loss = sum(
        math.comb(others, same) * p**same * (1 - p) ** (others - same) * math.log(drawn / (same + 1))
        for same in range(drawn)
    )
    return Baseline("answers_present", loss)
