"""Induction: a random sequence that repeats itself; what came after this letter the last time?"""

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.gradients import NO_TARGET
from attention_core.tasks.common import PERFECT, Baseline, Batch, Task, cells, guessing, shuffles
from attention_core.tokens import Vocabulary


@dataclass(frozen=True)
class InductionTask(Task):
    """Different random letters, then the same again and again. Only what can be known counts."""

    title = "Induction"
    learns = "A letter must find what followed it the last time: first each place learns who stood before it."
    looks_like = "Layer 1: one place back. Layer 2: a stripe, one place after the same letter's earlier appearance."
    jobs = ("look one place back", "look behind the earlier appearance")
    model = MappingProxyType({"d_model": 32, "n_heads": 1, "n_layers": 2, "positions": "qk", "embedding_std": 0.3})
    training = MappingProxyType({"learning_rate": 0.005, "steps": 600, "batch_size": 32, "weight_decay": 0.0})

    n_letters: int = 24
    window: int = 24
    shortest: int = 6
    longest: int = 12

    def __post_init__(self):
        if not 1 <= self.shortest <= self.longest <= min(self.n_letters, self.window):
            raise ValueError(
                f"a period goes from 1 to {min(self.n_letters, self.window)}, the shortest first, "
                f"but got {self.shortest} to {self.longest}"
            )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The first letters of the alphabet."""
        return Vocabulary(tuple("abcdefghijklmnopqrstuvwxyz"[: self.n_letters]))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Sequences with a random period each; a place counts from the second appearance of its letter on."""
        letters = shuffles(size, self.n_letters, generator)[:, : self.longest]
        periods = torch.randint(self.shortest, self.longest + 1, (size, 1), generator=generator)
        places = torch.arange(self.window + 1)
        sequence = letters.gather(1, places % periods)
        counts = places[:-1] >= periods
        targets = sequence[:, 1:].masked_fill(~counts, NO_TARGET)
        looks = torch.cat([self.looks_back(periods), self.looks_behind(periods)], dim=1)
        return Batch(sequence[:, :-1], targets, looks)

    def looks_back(self, periods: Int[Tensor, "batch 1"]) -> Bool[Tensor, "batch 1 queries keys"]:
        """Every place of the first round, after the first, at the place before it: the second layer reads only these.

        The last rounds are left out, because no later place needs them.
        """
        places = torch.arange(self.window)
        return cells((places - 1).masked_fill(places > periods, -1), self.window)

    def looks_behind(self, periods: Int[Tensor, "batch 1"]) -> Bool[Tensor, "batch 1 queries keys"]:
        """From where a letter came before on: every place just after an earlier appearance of the same letter."""
        places = torch.arange(self.window)
        behind = (places[:, None] + 1 - places) % periods[..., None] == 0
        earlier = (places <= places[:, None]) & (places > 0)
        return (behind & earlier & (places[:, None] >= periods[..., None]))[:, None]

    def baselines(self) -> list[Baseline]:
        """Any letter, any of those of an average round, or the right one."""
        rounds = range(self.shortest, self.longest + 1)
        return [guessing(self.n_letters), known_letters(rounds, self.window), PERFECT]


def known_letters(rounds: range, window: int) -> Baseline:
    """Knowing which letters came, not which comes next: ln(period), with each period as often as it counts."""
    weights = {period: window - period for period in rounds}
    loss = sum(weight * float(torch.tensor(float(p)).log()) for p, weight in weights.items()) / sum(weights.values())
    return Baseline("knowing which letters there are", loss)
