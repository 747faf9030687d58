"""One head of attention, from the rows of X and its three maps to its output.

    q, k, v = X W_q, X W_k, X W_v        head = Attention(q, k, v)

The maps may have axes in front, such as one for several heads: then so has everything that is computed.
"""

from typing import Any

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.one_head.attention import AttentionTrace, Mask, Number, attend
from attention_core.text.embeddings import Rotary, rotate


def project(
    x: Float[Array, "*batch tokens d_model"],
    W_q: Float[Array, "*heads d_model d_k"],
    W_k: Float[Array, "*heads d_model d_k"],
    W_v: Float[Array, "*heads d_model d_v"],
    positions: Float[Array, "tokens d_model"] | None = None,
    rotary: Rotary | None = None,
    turn: Float[Array, "*heads d_k d_k"] | None = None,
    turn_v: Float[Array, "*heads d_v d_v"] | None = None,
) -> tuple[Float[Array, "... queries d_k"], Float[Array, "... keys d_k"], Float[Array, "... keys d_v"]]:
    """Project each row of X to a query, a key and a value: q = x W_q, k = x W_k, v = x W_v.

    `positions` has a row for each token, which is added to x before queries and keys are projected; `rotary` rotates
    queries and keys by their positions. Neither changes the values. `turn` and `turn_v`, which come together, are
    orthogonal matrices that express queries and keys, and values, in another basis. They change neither scores nor
    weights: see `turning`. Raises InputError as `rotate` does.
    """
    source = x if positions is None else x + positions
    q, k, v = source @ W_q, source @ W_k, x @ W_v
    q, k = rotate_both(q, k, rotary)
    if turn is not None:
        q, k, v = q @ turn, k @ turn, v @ turn_v
    return q, k, v


def rotate_both(
    q: Float[Array, "... queries d_k"], k: Float[Array, "... keys d_k"], rotary: Rotary | None, n_past: int = 0
) -> tuple[Float[Array, "... queries d_k"], Float[Array, "... keys d_k"]]:
    """Rotate queries and keys by their positions; where `rotary` is None, both stay as they are.

    The keys are those of all tokens, and the first query comes after `n_past` of them.
    """
    return (q, k) if rotary is None else (rotate(q, n_past, how=rotary), rotate(k, how=rotary))


def one_head(
    x: Float[Array, "*batch tokens d_model"],
    W_q: Float[Array, "*heads d_model d_k"],
    W_k: Float[Array, "*heads d_model d_k"],
    W_v: Float[Array, "*heads d_model d_v"],
    may_attend: Mask | None = None,
    scale: Number | None = None,
    **others: Any,
) -> AttentionTrace:
    """Run one head on the rows of X, and keep every tensor of its attention.

    `may_attend` and `scale` are those of `attend`, `others` those of `project`. Raises InputError as `attend` does.
    """
    q, k, v = project(x, W_q, W_k, W_v, **others)
    return attend(q, k, v, may_attend, scale=scale)
