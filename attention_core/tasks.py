"""What there is to learn: the data, and what a loss on them means."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Int
from torch import Tensor

from attention_core.model import MAX_CONTEXT
from attention_core.tokens import Vocabulary, tokenize

MAX_VOCABULARY = 128


@dataclass(frozen=True)
class Batch:
    """Windows of a text, and for each place the character that really comes next."""

    inputs: Int[Tensor, "batch tokens"]
    targets: Int[Tensor, "batch tokens"]


@dataclass(frozen=True)
class Baseline:
    """A loss that means something: what one reaches knowing only so much."""

    name: str
    loss: float  # nats per character


@dataclass(frozen=True)
class CharacterTask:
    """Predict the next character of a text, from windows of it.

    Raises ValueError when there is nothing to learn from the text: fewer characters than
    one window and its answer, a single distinct one, or too many distinct ones.
    """

    text: str
    window: int = 8

    def __post_init__(self):
        if not 1 <= self.window <= MAX_CONTEXT:
            raise ValueError(f"a window goes from 1 to {MAX_CONTEXT} characters, but got {self.window}")
        n, distinct = len(self.tokens), len(self.vocabulary)
        if n < self.window + 1:
            raise ValueError(
                f"the text has {n} characters, but a window of {self.window} and the character after it "
                f"need at least {self.window + 1}; type a longer text or choose a shorter window"
            )
        if distinct < 2:
            raise ValueError(
                f"the text repeats a single character, {self.tokens[0]!r}, so there is nothing to predict; "
                "use at least two different ones"
            )
        if distinct > MAX_VOCABULARY:
            raise ValueError(
                f"the text has {distinct} different characters and this small model chooses among at most "
                f"{MAX_VOCABULARY}; use a text with fewer"
            )

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The characters of the text, in order."""
        return tuple(tokenize(self.text, "characters"))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The different characters, in alphabetical order."""
        return Vocabulary.in_alphabetical_order(self.tokens)

    @cached_property
    def windows(self) -> Int[Tensor, "windows places"]:
        """Every window of the text together with the one character after it."""
        return torch.tensor(self.vocabulary.encode(self.tokens)).unfold(0, self.window + 1, 1)

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """`size` windows, each drawn from all of them with equal chance."""
        starts = torch.randint(len(self.windows), (size,), generator=generator)
        drawn = self.windows[starts]
        return Batch(drawn[:, :-1], drawn[:, 1:])

    def baselines(self) -> list[Baseline]:
        """Losses on these windows of guesses that know nothing, the letters, and everything visible."""
        rows = self.windows.tolist()
        answers = [(place, row) for row in rows for place in range(1, len(row))]
        return [
            Baseline("guessing evenly", math.log(len(self.vocabulary))),
            Baseline("knowing how often each letter comes", conditional_entropy(("", row[i]) for i, row in answers)),
            Baseline("knowing the letter before", conditional_entropy((row[i - 1], row[i]) for i, row in answers)),
            Baseline(
                "knowing all that is visible", conditional_entropy((tuple(row[:i]), row[i]) for i, row in answers)
            ),
        ]


def conditional_entropy(pairs: Iterable[tuple[Hashable, Hashable]]) -> float:
    """Mean of −ln p(outcome | context) over all observed (context, outcome) pairs, in nats.

    p is how often the outcome follows the context: no guess that knows only the context does better.
    """
    pairs = list(pairs)
    together, contexts = Counter(pairs), Counter(context for context, _ in pairs)
    return sum(n * math.log(contexts[context] / n) for (context, _), n in together.items()) / len(pairs)
