"""Which keys one query puts its weight on, in one sentence that is true also where several share it alike."""

import math
from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.one_head.attention import AttentionTrace
from lessons.screen import ListOf, Message, Percent, Token, argmax_ties, message, percent, plural

NEARLY_ALL = 0.995  # of the weight


def largest(
    names: Sequence[Token], weights: Float[Tensor, " keys"], some: Bool[Tensor, " keys"]
) -> tuple[list[int], ListOf, Percent]:
    """Which of some keys have the largest weight, by position and by name, and how large it is."""
    keys = [key for (key,) in argmax_ties(weights.where(some, -math.inf), percent)]
    return keys, ListOf(tuple(names[key] for key in keys)), Percent(float(weights[some].max()))


def notice_row(names: Sequence[Token], attention: AttentionTrace, query: int) -> Message:
    """The key with the largest weight and the one with the next, among those that this query may look at."""
    weights, visible, asked = attention.weights[query], attention.visible[query], names[query]
    most, keys, share = largest(names, weights, visible)
    choices = int(visible.sum())
    if choices == 1:
        key = message("itself") if most[0] == query else names[most[0]]
        return message("{query} may look only at {key}, so all of its weight goes there.", query=asked, key=key)
    if len(most) == choices:
        return message("{query} looks equally at {keys}, {share} each.", query=asked, keys=keys, share=share)
    if len(most) > 1:
        return message("{query} puts the most weight on {keys}, {share} each.", query=asked, keys=keys, share=share)
    if share.value >= NEARLY_ALL:
        return message(
            "{query} looks at {key} and hardly anywhere else: {share} of its weight is there.",
            query=asked,
            key=names[most[0]],
            share=share,
        )
    rest = visible.clone()
    rest[most[0]] = False
    after, others, following = largest(names, weights, rest)
    said = {"query": asked, "key": names[most[0]], "share": share, "others": others, "next": following}
    return plural(
        "{query} looks most at {key} ({share}), then at {others} ({next}).",
        "{query} looks most at {key} ({share}), then at {others} ({next} each).",
        len(after),
        **said,
    )


def notice_mix(names: Sequence[Token], attention: AttentionTrace, query: int) -> Message:
    """What a query receives: a weighted mix of values, and the largest weight in it, which is not a part of the sum.

    The masks here hide nothing but later tokens, so a query always sees its own key.
    """
    count, asked = int(attention.visible[query].sum()), names[query]
    if count == 1:
        return message("{query} receives its own value, unmixed.", query=asked)
    most, keys, share = largest(names, attention.weights[query], attention.visible[query])
    return plural(
        "{query} receives a weighted mix of {values} values, its own included. The largest weight, {share}, is on "
        "{keys}.",
        "{query} receives a weighted mix of {values} values, its own included. The largest weight, {share}, is on "
        "each of {keys}.",
        len(most),
        query=asked,
        values=count,
        share=share,
        keys=keys,
    )
