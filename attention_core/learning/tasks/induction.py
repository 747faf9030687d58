"""Induction: a random sequence that repeats itself; what came after this letter the last time?"""

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
class InductionTask(Task):
    """Different random letters, repeated again and again. Only positions whose answer can be known count."""

    key = "induction"
    roles = ("previous", "after_match")
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "n_layers": 2, "positions": "qk", "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.005, "steps": 600, "batch_size": 16, "weight_decay": 0.0})

    n_letters: int = 24
    window: int = 24
    shortest: int = 6
    longest: int = 12

    def __post_init__(self):
        if not 1 <= self.shortest <= self.longest <= min(self.n_letters, self.window):
            raise TechnicalError(
                "a period goes from 1 to {most}, the shortest first, but got {shortest} to {longest}",
                most=min(self.n_letters, self.window),
                shortest=self.shortest,
                longest=self.longest,
            )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The first letters of the alphabet."""
        return Vocabulary(tuple("abcdefghijklmnopqrstuvwxyz"[: self.n_letters]))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Draw sequences with a random period each; a position counts from the second appearance of its letter on."""
        letters = shuffles(size, self.n_letters, generator)[:, : self.longest]
        periods = torch.randint(self.shortest, self.longest + 1, (size, 1), generator=generator)
        positions = torch.arange(self.window + 1)
        sequence = letters.gather(1, positions % periods)
        counts = positions[:-1] >= periods
        targets = sequence[:, 1:].masked_fill(~counts, NO_TARGET)
        return Batch(
            sequence[:, :-1], targets, lambda: torch.cat([self.previous(periods), self.after_match(periods)], dim=1)
        )

    def previous(self, periods: Int[Tensor, "batch 1"]) -> Bool[Tensor, "batch 1 queries keys"]:
        """Return the role of attending one position back in the first round and at the first letter of the second.

        Later ones are left out: a head that answers finds what it needs in the first round.
        """
        positions = torch.arange(self.window)
        return attention_to((positions - 1).masked_fill(positions > periods, -1), self.window)

    def after_match(self, periods: Int[Tensor, "batch 1"]) -> Bool[Tensor, "batch 1 queries keys"]:
        """Return the role of attending to every position just after an earlier appearance of the query's letter."""
        positions = torch.arange(self.window)
        behind = (positions[:, None] + 1 - positions) % periods[..., None] == 0
        earlier = (positions <= positions[:, None]) & (positions > 0)
        return (behind & earlier & (positions[:, None] >= periods[..., None]))[:, None]

    def baselines(self) -> list[Baseline]:
        """Return the losses of guessing any letter, of guessing one of an average round, and of knowing the answer."""
        rounds = range(self.shortest, self.longest + 1)
        return [guessing(self.n_letters), known_letters(rounds, self.window), PERFECT]


def known_letters(rounds: range, window: int) -> Baseline:
    """Compute the loss of knowing which letters came, but not which comes next: the mean of ln(period).

    Each period has the weight of the positions that count with it.
    """
    weights = {period: window - period for period in rounds}
    loss = sum(weight * float(torch.tensor(float(p)).log()) for p, weight in weights.items()) / sum(weights.values())
    return Baseline("letters_present", loss)
