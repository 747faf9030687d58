"""Masks and biases that follow from the distance between query and key: windows, global tokens, ALiBi.

Each starts from `distances`, so one rule says where queries stand among the keys. Masks combine with `&` and `|`;
`mask_scores(biases, mask)` joins biases with a mask, and `attend` takes the result.
"""

from jaxtyping import Bool, Float, Int

from attention_core.base.arrays import Array, namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_whole, is_boolean

OPEN = -1  # a side of a window without a limit, as ONNX and FlashAttention write it


def distances(n_queries: int, n_keys: int, past: int = 0, like: Array | None = None) -> Int[Array, "queries keys"]:
    """Compute the position of each key minus that of each query: below 0 for earlier keys, above 0 for later ones.

    `past` is the number of keys before the first query, as in a cache; below 0, it says how many queries come before
    the first key. By default both count from 0 however many there are, as in ONNX's operator Attention:
    https://onnx.ai/onnx/operators/onnx__Attention.html

    The library is that of `like`; without it, torch's. Raises InputError for a number of queries or keys that is not
    whole or below 0, and for a `past` below −n_queries.
    """
    check_whole("n_queries", n_queries, least=0)
    check_whole("n_keys", n_keys, least=0)
    check_whole("past", past, least=-n_queries)
    xp = namespace(like)
    return xp.arange(n_keys) - (past + xp.arange(n_queries))[:, None]


def within_window(
    distance: Int[Array, "queries keys"], left: int | None = None, right: int | None = None
) -> Bool[Array, "queries keys"]:
    """Return a mask that lets each query attend `left` positions back and `right` ahead; None, or −1, is no limit.

    With right = 0 the window is causal. Beltagy et al. 2020 (Longformer), https://arxiv.org/abs/2004.05150; as used by
    Jiang et al. 2023 (Mistral 7B), https://arxiv.org/abs/2310.06825. Raises InputError for any other number below 0.
    """
    for side, tokens in (("left", left), ("right", right)):
        if tokens is not None:
            check_whole(side, tokens, least=OPEN)
    xp = namespace(distance)
    may_attend = xp.ones_like(distance, dtype=xp.bool)
    if left not in (None, OPEN):
        may_attend &= distance >= -left
    if right not in (None, OPEN):
        may_attend &= distance <= right
    return may_attend


def with_global_tokens(
    may_attend: Bool[Array, "tokens tokens"], is_global: Bool[Array, " tokens"]
) -> Bool[Array, "tokens tokens"]:
    """Let global tokens attend to all tokens, and all tokens to them. Raises InputError for a float mask.

    Beltagy et al. 2020, section 3.1. `& causal_mask(n)` keeps the future hidden. With the first few tokens global this
    is the mask of StreamingLLM, whose authors call those tokens attention sinks. Xiao et al. 2023,
    https://arxiv.org/abs/2309.17453
    """
    if not (is_boolean(may_attend) and is_boolean(is_global)):
        raise TechnicalError("both masks are boolean: a float mask is joined with others by mask_scores")
    return may_attend | is_global[:, None] | is_global


def alibi_slopes(n_heads: int) -> Float[Array, " heads"]:
    """Return the slope of each head's bias: 2^(−8/n), 2^(−16/n), … for n heads.

    Where n is no power of two, the slopes for the next smaller power of two come first, then every other slope for
    twice that power. Raises InputError unless there is a head.
    """
    check_whole("n_heads", n_heads, least=1)
    xp = namespace(None)
    whole = 2 ** (n_heads.bit_length() - 1)  # the largest power of two up to n_heads
    slopes = 2.0 ** (-8 * xp.arange(1, whole + 1) / whole)
    between = 2.0 ** (-4 * xp.arange(1, 2 * whole, 2) / whole)
    return xp.concat([slopes, between])[:n_heads]


def alibi_biases(distance: Int[Array, "queries keys"], n_heads: int) -> Float[Array, "heads queries keys"]:
    """Return ALiBi's biases: each step between query and key takes the slope of the head off the scaled score.

    Attention with linear biases: Press et al. 2021, https://arxiv.org/abs/2108.12409
    """
    return -alibi_slopes(n_heads)[:, None, None] * distance.abs()
