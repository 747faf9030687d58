"""Measurements of heads: how much they differ, which features and tokens they can see, what each adds to the output."""

import functools
from dataclasses import dataclass, replace
from itertools import combinations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.base.arrays import Array, namespace
from attention_core.base.randomness import generator
from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.distances import with_global_tokens
from attention_core.one_head.heads import Heads, MultiHeadAttention
from attention_core.one_head.masks import causal_mask, full_mask

# How different heads are.


def total_variation(a: Float[Tensor, "*batch keys"], b: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch"]:
    """Compute ½ Σ |a − b|: 0 where two rows of weights are equal, 1 where they have no key in common.

    It is the share of its weight that one row would have to move to become the other.
    """
    return (a - b).abs().sum(dim=-1) / 2


@dataclass(frozen=True, eq=False)
class HeadDifference:
    """Total variation between the rows of two heads, for all pairs of heads and all queries with a choice of keys.

    `pairs` and `queries` are counted from 0.
    """

    pairs: tuple[tuple[int, int], ...]
    queries: tuple[int, ...]
    distances: Float[Tensor, "pairs queries"]

    @property
    def mean(self) -> float:
        """The mean distance over all pairs of heads and all queries."""
        return float(self.distances.mean())


def head_difference(heads: AttentionTrace) -> HeadDifference | None:
    """Measure how much the heads differ. Returns None with a single head, and where no query sees more than one key."""
    n_visible = heads.visible.sum(dim=-1)[0]
    queries = (n_visible > 1).nonzero()[:, 0]
    pairs = tuple(combinations(range(heads.weights.shape[0]), 2))
    if not pairs or not len(queries):
        return None
    weights = heads.weights[:, queries]
    return HeadDifference(
        pairs=pairs,
        queries=tuple(queries.tolist()),
        distances=torch.stack([total_variation(weights[a], weights[b]) for a, b in pairs]),
    )


# Which features a head can see: measured, by adding 1 to them.


def head_reach(
    module: Heads,
    x: Float[Tensor, "tokens d_model"],
    features: list[int],
    may_attend: Bool[Tensor, "tokens tokens"] | None,
    scale: float,
    positions: Float[Tensor, "tokens d_model"] | None = None,
) -> Float[Tensor, "heads features"]:
    """Measure the largest change in the output of each head when 1 is added to one of the features of every token.

    `positions` are added to the input of queries and keys.
    """
    d_model = x.shape[-1]
    nudges = torch.cat([torch.zeros(1, d_model), torch.eye(d_model)[features]])  # the first leaves x as it is
    outputs = module(x + nudges[:, None], may_attend, scale=scale, positions=positions)[1].heads.output
    return (outputs[1:] - outputs[0]).abs().amax(dim=(-1, -2)).T


def outside_slice(reach: Float[Array, "heads features"], features: list[int], d_head: int) -> Float[Array, " heads"]:
    """Return, for each head, the largest change by a feature outside its slice of X; 0 where there is none."""
    xp = namespace(reach)
    own = [[feature // d_head == head for feature in features] for head in range(len(reach))]
    return xp.amax(xp.where(xp.asarray(own), 0.0, reach), axis=-1)


# Which tokens reach a query through windows: measured, by gradients.


@functools.lru_cache(maxsize=64)
def tokens_that_reach(
    reach: int, n_layers: int, causal: bool, with_global: bool, n_tokens: int = 41, d_model: int = 8
) -> int:
    """Count the tokens that change the output of one token when they change: those whose gradient is not 0.

    The model is an untrained stack of attention alone, with residual connections. The one token is the last or, without
    a causal mask, the one in the middle.
    """
    random = generator(0, "reach")
    with torch.inference_mode(False), torch.enable_grad():
        x = first = torch.randn(n_tokens, d_model, generator=random).requires_grad_()
        # a global token lies outside the window, so a mask takes the place of the window where there is one
        window = None if with_global else (reach, reach)
        near = full_mask(n_tokens).triu(-reach).tril(reach)
        may_attend = with_global_tokens(near, torch.arange(n_tokens) == 0) if with_global else full_mask(n_tokens)
        may_attend = may_attend & causal_mask(n_tokens) if causal else may_attend
        for _ in range(n_layers):
            heads = MultiHeadAttention.draw(d_model, 2, generator=random)
            x = x + replace(heads, window=window)(x, may_attend)[0]
        (gradient,) = torch.autograd.grad(x[-1 if causal else n_tokens // 2].sum(), [first])
    return int((gradient != 0).any(dim=-1).sum())


# What each head adds.


def head_contributions(
    found: Float[Tensor, "heads tokens d_v"], W_o: Float[Tensor, "all_d_v d_model"]
) -> Float[Tensor, "heads tokens d_model"]:
    """Compute what each head adds to the output: its own output, times its rows of W_o.

    With the bias of W_o the contributions sum to the output of all heads.
    """
    return found @ W_o.reshape(found.shape[0], found.shape[-1], -1)
