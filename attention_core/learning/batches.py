"""A batch: sequences to learn from, and the right answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int

from attention_core.base.arrays import Array

NO_TARGET = -100  # the target of a position that does not count in the loss, as PyTorch's cross_entropy has it


@dataclass(frozen=True, eq=False)
class Batch:
    """Sequences, the right answer at each position, and how to find where a perfect head attends.

    A target of NO_TARGET does not count. `target_attention` is True in the cells of queries and keys where a
    perfect head attends. Its axis of roles counts the jobs that heads have in a task: mostly one, but four where the
    last four tokens are to be carried along. A query whose row is False everywhere plays no part in that role.
    """

    inputs: Int[Array, "*runs batch tokens"]
    targets: Int[Array, "*runs batch tokens"]
    find_attention: Callable[[], Bool[Array, "*runs batch roles queries keys"]] | None = None

    @cached_property
    def target_attention(self) -> Bool[Array, "*runs batch roles queries keys"] | None:
        """Where a perfect head attends. It is computed on first use, since training on a batch does not need it."""
        return None if self.find_attention is None else self.find_attention()

    def in_numpy(self) -> "Batch":
        """Return the sequences and the answers as NumPy arrays, without where a perfect head attends."""
        return Batch(np.asarray(self.inputs), np.asarray(self.targets))

    def rows(self, chosen: Array) -> "Batch":
        """Return some of the sequences: those at the indices `chosen`, or those where a boolean `chosen` is True."""
        find = self.find_attention
        return Batch(self.inputs[chosen], self.targets[chosen], None if find is None else lambda: find()[chosen])
