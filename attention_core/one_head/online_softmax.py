"""Attention block of keys by block of keys: only the scores of one block at a time, and the same output.

For each row of scores s, with m the largest so far, ℓ = Σ exp(s − m) and o = Σ exp(s − m) v over all keys so far:

    m' = max(m, largest of the block),   ℓ' = ℓ exp(m − m') + Σ exp(s − m'),   o' = o exp(m − m') + Σ exp(s − m') v

After the last block o / ℓ is the output of `attend`. Milakov and Gimelshein 2018, https://arxiv.org/abs/1805.02867; Dao
et al. 2022 (FlashAttention), https://arxiv.org/abs/2205.14135, which does this without leaving the fast memory.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from jaxtyping import Float

from attention_core.base.arrays import Array, namespace, row_max, row_sum
from attention_core.base.inputs import check_inputs, check_whole
from attention_core.one_head.attention import (
    Mask,
    cap_scores,
    dot_product_scores,
    mask_scores,
    mix_values,
    scale_scores,
)


@dataclass(slots=True, eq=False)
class OnlineStep:
    """The state after one block of keys, from `begin` to `end` − 1: its scores, and the sums over all keys so far."""

    begin: int
    end: int
    masked: Float[Array, "*batch queries keys"]  # of the block
    largest: Float[Array, "*batch queries 1"]  # m', the running maximum
    rescale: Float[Array, "*batch queries 1"]  # exp(m − m'), the factor for the sums so far
    total: Float[Array, "*batch queries 1"]  # ℓ', the running sum
    mixed: Float[Array, "*batch queries d_v"]  # o', the values so far, not yet divided

    @property
    def output(self) -> Float[Array, "*batch queries d_v"]:
        """The output if no further key came: zeros for a query that has seen no key."""
        return self.mixed / (self.total + (self.total == 0))


def attend_in_blocks(
    q: Float[Array, "*batch queries d_k"],
    k: Float[Array, "*batch keys d_k"],
    v: Float[Array, "*batch keys d_v"],
    may_attend: Mask | None = None,
    *,
    block: int,
    scale: float | None = None,
    soft_cap: float | None = None,
    sink: Float[Array, "*heads"] | float | None = None,
) -> Iterator[OnlineStep]:
    """Yield the steps of `attend` with `block` keys at a time; the `output` of the last is that of `attend`.

    Raises InputError as `attend` does, and when a block has no key.
    """
    check_whole("block", block, least=1)
    check_inputs(q, k, v, may_attend, scale, soft_cap, sink)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    largest, total, mixed = before_any_key(q, v, sink)
    for begin in range(0, k.shape[-2], block):
        here = slice(begin, begin + block)
        scaled = scale_scores(dot_product_scores(q, k[..., here, :]), scale)
        mask = None if may_attend is None else may_attend[..., here]
        masked = mask_scores(cap_scores(scaled, soft_cap), mask)
        step = take_block(masked, v[..., here, :], largest, total, mixed, begin)
        largest, total, mixed = step.largest, step.total, step.mixed
        yield step


def before_any_key(q: Array, v: Array, sink: Array | float | None) -> tuple[Array, Array, Array]:
    """Return the initial m, ℓ and o of each query. A sink counts as a key already seen, with a value of zeros."""
    xp, rows = namespace(q), q.shape[:-1]
    start = xp.asarray(-math.inf if sink is None else sink, dtype=q.dtype)[..., None, None]
    largest = xp.broadcast_to(start, (*rows, 1))
    return largest, xp.exp(largest - finite(largest)), xp.zeros((*rows, v.shape[-1]), dtype=q.dtype)


def take_block(masked: Array, v: Array, largest: Array, total: Array, mixed: Array, begin: int) -> OnlineStep:
    """Add one block: rescale the sums so far to the new maximum, then add the terms of the block."""
    xp = namespace(masked)
    new_largest = xp.maximum(largest, row_max(masked))
    rescale = xp.exp(largest - finite(new_largest))
    exponentials = xp.exp(masked - finite(new_largest))
    new_total = total * rescale + row_sum(exponentials)
    new_mixed = mixed * rescale + mix_values(exponentials, v)
    return OnlineStep(begin, begin + v.shape[-2], masked, new_largest, rescale, new_total, new_mixed)


def finite(largest: Array) -> Array:
    """Return the maximum to subtract, 0 where no key was seen yet: −∞ − (−∞) is not a number."""
    xp = namespace(largest)
    return xp.where(largest > -math.inf, largest, xp.zeros((), dtype=largest.dtype))
