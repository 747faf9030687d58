"""Masks and biases that know only how far a key is from its query: windows, global tokens, ALiBi.

All start from `distances`, so one rule says where queries stand among the keys. Masks combine with `&` and `|`;
`mask_scores(biases, mask)` joins biases with a mask, and `attend` takes what comes out.
"""

from jaxtyping import Bool, Float, Int

from attention_core.base.arrays import Array, namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_whole, is_boolean

OPEN = -1  # a side of a window that ends nowhere, as ONNX and FlashAttention write it


def distances(n_queries: int, n_keys: int, past: int = 0, like: Array | None = None) -> Int[Array, "queries keys"]:
    """Position of the key less position of the query: below 0 what came before, above 0 what comes after.

    `past` keys came before the first query, as those of a cache; without, both count from 0 however many there are.
    So says ONNX's operator Attention, too: https://onnx.ai/onnx/operators/onnx__Attention.html
    Below 0, it says how many of the queries came before the first key. Raises InputError for a number of queries or
    keys that is not whole or below 0. Library is `like`'s; left out, torch's.
    """
    check_whole("n_queries", n_queries, least=0)
    check_whole("n_keys", n_keys, least=0)
    check_whole("past", past, least=-n_queries)
    xp = namespace(like)
    return xp.arange(n_keys) - (past + xp.arange(n_queries))[:, None]


def within_window(
    distance: Int[Array, "queries keys"], left: int | None = None, right: int | None = None
) -> Bool[Array, "queries keys"]:
    """Each query may look `left` positions back and `right` ahead; None, or −1, is as far as there are keys.

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
    """Global tokens look at all, and all look at them. Beltagy et al. 2020, section 3.1.

    `& causal_mask(n)` keeps the future hidden. With the first few tokens global this is the mask of StreamingLLM, whose
    authors call those tokens attention sinks. Xiao et al. 2023, https://arxiv.org/abs/2309.17453
    """
    if not (is_boolean(may_attend) and is_boolean(is_global)):
        raise TechnicalError("both masks are boolean: a float mask is joined with others by mask_scores")
    return may_attend | is_global[:, None] | is_global


def alibi_slopes(n_heads: int) -> Float[Array, " heads"]:
    """How steeply each head's bias falls: 2^(−8/n), 2^(−16/n), … for n heads.

    Where n is no power of two, those of the next smaller one are followed by every other one of twice as many.
    Raises InputError unless there is a head.
    """
    check_whole("n_heads", n_heads, least=1)
    xp = namespace(None)
    whole = 2 ** (n_heads.bit_length() - 1)  # the largest power of two up to n_heads
    slopes = 2.0 ** (-8 * xp.arange(1, whole + 1) / whole)
    between = 2.0 ** (-4 * xp.arange(1, 2 * whole, 2) / whole)
    return xp.concat([slopes, between])[:n_heads]


def alibi_biases(distance: Int[Array, "queries keys"], n_heads: int) -> Float[Array, "heads queries keys"]:
    """Attention with linear biases: each step between query and key takes a head's slope off the scaled score.

    Press et al. 2021, https://arxiv.org/abs/2108.12409
    """
    return -alibi_slopes(n_heads)[:, None, None] * distance.abs()
