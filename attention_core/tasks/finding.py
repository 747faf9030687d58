"""Tasks whose answer must be found by what the tokens are, not by where they stand."""

import math
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from torch import Tensor

from attention_core.gradients import NO_TARGET
from attention_core.tasks.common import PERFECT, Baseline, Batch, Task, cells, guessing, shuffles
from attention_core.tokens import Vocabulary


@dataclass(frozen=True)
class LookUpTask(Task):
    """A dictionary of pairs such as “b4”, then questions such as “b?”."""

    title = "Look-up"
    learns = "A question must find the pair with its letter, wherever it stands, and hand on the pair's number."
    looks_like = "In the rows of the questions, one full cell each: in the column of the pair that was asked for."
    jobs = ("find the pair",)
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "positions": "none", "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 300, "batch_size": 64, "weight_decay": 0.0})

    n_letters: int = 6
    n_numbers: int = 6
    pairs: int = 5
    questions: int = 3

    @property
    def window(self) -> int:
        """The pairs, then the questions."""
        return self.pairs + self.questions

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All pairs, all questions, all numbers."""
        letters, numbers = "abcdefghij"[: self.n_letters], [str(n) for n in range(1, self.n_numbers + 1)]
        pairs = tuple(letter + number for letter in letters for number in numbers)
        return Vocabulary((*pairs, *(f"{letter}?" for letter in letters), *numbers))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Pairs with different letters, and questions about some of them in random order."""
        letters = shuffles(size, self.n_letters, generator)[:, : self.pairs]
        numbers = torch.randint(self.n_numbers, (size, self.pairs), generator=generator)
        asked = shuffles(size, self.pairs, generator)[:, : self.questions]
        n_pairs = self.n_letters * self.n_numbers
        inputs = torch.cat([letters * self.n_numbers + numbers, n_pairs + letters.gather(1, asked)], dim=1)
        answers = n_pairs + self.n_letters + numbers.gather(1, asked)
        nothing = torch.full((size, self.pairs), NO_TARGET)
        looks = cells(torch.cat([nothing, asked], dim=1), self.window)
        return Batch(inputs, torch.cat([nothing, answers], dim=1), looks)

    def baselines(self) -> list[Baseline]:
        """Any number, or one of those that stand there."""
        return [guessing(self.n_numbers), among_drawn(self.n_numbers, self.pairs), PERFECT]


@dataclass(frozen=True)
class RecallTask(Task):
    """Letters and numbers alternate; a letter that comes again asks for the number that followed it."""

    title = "Associative recall"
    learns = "First each number must learn which letter stood before it; then a letter must find its number."
    looks_like = "Layer 1: a number looks one place back. Layer 2: a question looks at the number of its letter."
    jobs = ("a number looks at the letter before it", "a question looks at its number")
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "n_layers": 2, "positions": "qk", "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.003, "steps": 500, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 6
    n_numbers: int = 6
    pairs: int = 4

    @property
    def window(self) -> int:
        """Each pair takes two places, and each is asked for."""
        return 3 * self.pairs

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The letters and the numbers."""
        return Vocabulary((*"abcdefghij"[: self.n_letters], *(str(n) for n in range(1, self.n_numbers + 1))))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Different letters with random numbers, then the same letters in another order."""
        letters = shuffles(size, self.n_letters, generator)[:, : self.pairs]
        numbers = self.n_letters + torch.randint(self.n_numbers, (size, self.pairs), generator=generator)
        asked = shuffles(size, self.pairs, generator)
        told = torch.stack([letters, numbers], dim=-1).flatten(1)
        nothing = torch.full_like(told, NO_TARGET)
        inputs = torch.cat([told, letters.gather(1, asked)], dim=1)
        targets = torch.cat([nothing, numbers.gather(1, asked)], dim=1)
        return Batch(inputs, targets, torch.cat([self.looks_back(size), self.looks_up(asked)], dim=1))

    def looks_back(self, size: int) -> Tensor:
        """Each number at the letter before it."""
        places = torch.arange(self.window)
        is_number = (places < 2 * self.pairs) & (places % 2 == 1)
        return cells((places - 1).masked_fill(~is_number, -1).expand(size, -1), self.window)

    def looks_up(self, asked: Tensor) -> Tensor:
        """Each question at the number of its letter."""
        nothing = torch.full((len(asked), 2 * self.pairs), -1)
        return cells(torch.cat([nothing, 2 * asked + 1], dim=1), self.window)

    def baselines(self) -> list[Baseline]:
        """Any number, or one of those that stand there."""
        return [guessing(self.n_numbers), among_drawn(self.n_numbers, self.pairs), PERFECT]


@dataclass(frozen=True)
class PronounTask(Task):
    """She, he or it: which of the three before is meant?"""

    title = "Pronouns"
    learns = "“she”, “he” and “it” must find the word of their kind among all words before."
    looks_like = "In the last row one full cell: in the column of the word that the pronoun stands for."
    jobs = ("find whom the pronoun means",)
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
            raise ValueError(f"a sentence with a pronoun has 7 words here, but window is {self.window}")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of each kind, those that stand between them, and the pronouns."""
        return Vocabulary(tuple(word for group in (*self.KINDS, *self.BETWEEN, self.PRONOUNS) for word in group))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Three words of different kinds in random order with words between them, and a pronoun for one."""
        kinds = shuffles(size, 3, generator)
        nouns = 4 * kinds + torch.randint(4, (size, 3), generator=generator)
        between = 12 + 4 * torch.arange(3) + torch.randint(4, (size, 3), generator=generator)
        meant = torch.randint(3, (size, 1), generator=generator)
        sentence = torch.stack([nouns, between], dim=-1).flatten(1)
        inputs = torch.cat([sentence, 24 + kinds.gather(1, meant)], dim=1)
        nothing = torch.full_like(sentence, NO_TARGET)
        targets = torch.cat([nothing, nouns.gather(1, meant)], dim=1)
        return Batch(inputs, targets, cells(torch.cat([nothing, 2 * meant], dim=1), self.window))

    def baselines(self) -> list[Baseline]:
        """Any word of the three kinds, any of the right kind, any of the three in the sentence."""
        return [
            guessing(12),
            Baseline("knowing the kind, not the sentence", math.log(4)),
            Baseline("choosing among the three in the sentence", math.log(3)),
            PERFECT,
        ]


@dataclass(frozen=True)
class SortTask(Task):
    """Different numbers, then the same numbers in order, each written after the one before it."""

    title = "Sort"
    learns = "Each number that was written must find the next larger one among the numbers of the question."
    looks_like = "Below the arrow one full cell a row: in the column of the number that must be written next."
    jobs = ("find the next larger number",)
    model = MappingProxyType(
        {"d_model": 32, "n_heads": 1, "positions": "learned", "layer_norm": True, "embedding_std": 0.1}
    )
    training = MappingProxyType({"learning_rate": 0.003, "steps": 500, "batch_size": 32, "weight_decay": 0.0})

    largest: int = 12
    numbers: int = 6

    @property
    def window(self) -> int:
        """The numbers, an arrow, and the sorted numbers except the last, which is only an answer."""
        return 2 * self.numbers

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The numbers from 1, and the arrow."""
        return Vocabulary((*(str(n) for n in range(1, self.largest + 1)), "→"))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Different numbers in random order, and what comes next while they are written in order."""
        drawn = shuffles(size, self.largest, generator)[:, : self.numbers]
        written, came_from = drawn.sort(dim=-1)
        arrow = torch.full((size, 1), self.largest)
        nothing = torch.full((size, self.numbers), NO_TARGET)
        inputs = torch.cat([drawn, arrow, written[:, :-1]], dim=1)
        return Batch(
            inputs, torch.cat([nothing, written], dim=1), cells(torch.cat([nothing, came_from], dim=1), self.window)
        )

    def baselines(self) -> list[Baseline]:
        """Any number; any of those in the question; any of those not yet written."""
        left = sum(math.log(n) for n in range(1, self.numbers + 1)) / self.numbers
        return [
            guessing(self.largest),
            Baseline("knowing which numbers there are", math.log(self.numbers)),
            Baseline("knowing which are not yet written", left),
            PERFECT,
        ]


def among_drawn(values: int, drawn: int) -> Baseline:
    """The best loss that knows which values stand there, and how often each, but not which one is asked for.

    A value that stands there c times costs ln(drawn / c); c is 1 and how many of the others agree with it by chance.
    """
    others, p = drawn - 1, 1 / values
    loss = sum(
        math.comb(others, same) * p**same * (1 - p) ** (others - same) * math.log(drawn / (same + 1))
        for same in range(drawn)
    )
    return Baseline("knowing which answers stand there", loss)
