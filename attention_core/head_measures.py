"""Measured, not told: how much heads differ, and what each adds to the output."""

from dataclasses import dataclass
from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace

# How different heads are.


def total_variation(a: Float[Tensor, "*batch keys"], b: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch"]:
    """½ Σ |a − b|: 0 where two rows of weights are the same, 1 where they have no key in common.

    It is the share of its weight that one row would have to move to become the other.
    """
    return (a - b).abs().sum(dim=-1) / 2


@dataclass(frozen=True, eq=False)
class HeadDifference:
    """Total variation between the rows of two heads, for all pairs of heads and all queries with a choice of keys.

    `pairs` and `queries` are counted from 0. `from_uniform` is the mean distance of a row from uniform attention.
    """

    pairs: tuple[tuple[int, int], ...]
    queries: tuple[int, ...]
    distances: Float[Tensor, "pairs queries"]
    from_uniform: float

    @property
    def mean(self) -> float:
        """Over all pairs and queries."""
        return float(self.distances.mean())


def head_difference(heads: AttentionTrace) -> HeadDifference | None:
    """How much the heads differ. None with a single head, and where no query sees more than one key."""
    n_visible = heads.visible.sum(dim=-1)[0]
    queries = (n_visible > 1).nonzero()[:, 0]
    pairs = tuple(combinations(range(heads.weights.shape[0]), 2))
    if not pairs or not len(queries):
        return None
    weights = heads.weights[:, queries]
    uniform = heads.visible[:, queries] / n_visible[queries, None]
    return HeadDifference(
        pairs=pairs,
        queries=tuple(queries.tolist()),
        distances=torch.stack([total_variation(weights[a], weights[b]) for a, b in pairs]),
        from_uniform=float(total_variation(weights, uniform).mean()),
    )


# What each head adds.


def head_contributions(
    found: Float[Tensor, "heads tokens d_v"], W_o: Float[Tensor, "all_d_v d_model"]
) -> Float[Tensor, "heads tokens d_model"]:
    """What each head adds to the output: what it found, times its rows of W_o. With the bias they sum to the output."""
    return found @ W_o.reshape(found.shape[0], found.shape[-1], -1)
