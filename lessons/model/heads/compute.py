"""Several heads at once: how they are computed, and what a reader calls every number on the way."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.model.weights import count_weights, named_weights
from attention_core.one_head.attention import AttentionTrace, Mask, Number, attend
from attention_core.one_head.head import rotate_both
from attention_core.one_head.heads import MultiHeadAttention, keep_weights, linear, merge_heads, split_heads
from attention_core.text.embeddings import Rotary
from lessons.screen import Message, Token, message
from lessons.trace.head import HEAD_SENTENCES, TURNED, WITH_POSITIONS
from lessons.trace.story import Names


class Parts(NamedTuple):
    """The queries, keys and values of each head."""

    q: Float[Array, "heads queries d_k"]
    k: Float[Array, "heads keys d_k"]
    v: Float[Array, "heads keys d_v"]


@dataclass(frozen=True, eq=False)
class SplitHeads:
    """Queries, keys and values of all heads side by side, and split."""

    q: Float[Array, "queries d_all_k"]
    k: Float[Array, "keys d_all_k"]
    v: Float[Array, "keys d_all_v"]
    parts: Parts


@dataclass(frozen=True, eq=False)
class JoinedHeads:
    """What each head computes; the same with some weights dropped, as in training; and what W_o makes of it.

    Outside training nothing is dropped. Without W_o there is no output.
    """

    heads: AttentionTrace
    dropped: AttentionTrace
    concatenated: Float[Array, "queries d_all_v"]
    output: Float[Array, "tokens d_model"] | None


@dataclass(frozen=True, eq=False)
class ManyHeads(SplitHeads, JoinedHeads):
    """The whole way through several heads."""


def project_and_split(x, W_q, W_k, W_v, n_heads: int, b_q=None, b_k=None, b_v=None, positions=None) -> SplitHeads:
    """Every head projects all features: one product for all, whose features the heads share out among them.

    Positions are added to what queries and keys are made of, not to what values are.
    """
    source = x if positions is None else x + positions
    q, k, v = linear(source, W_q, b_q), linear(source, W_k, b_k), linear(x, W_v, b_v)
    return SplitHeads(q, k, v, Parts(*(split_heads(whole, n_heads) for whole in (q, k, v))))


def attend_and_join(
    q: Float[Array, "heads queries d_k"],
    k: Float[Array, "heads keys d_k"],
    v: Float[Array, "heads keys d_v"],
    may_attend: Mask | None,
    scale: Number,
    W_o: Float[Array, "d_all_v d_model"] | None = None,
    b_o: Float[Array, " d_model"] | None = None,
    kept: Float[Array, "heads queries keys"] | None = None,
    p: Number = 0.0,
) -> JoinedHeads:
    """All heads attend at once, each on its own; then what they found stands side by side, and W_o mixes it.

    In training weights that are not `kept` are dropped, each with probability p.
    """
    heads = attend(q, k, v, may_attend, scale=scale)
    dropped = heads if kept is None else keep_weights(heads, kept, p)
    concatenated = merge_heads(dropped.output)
    return JoinedHeads(heads, dropped, concatenated, None if W_o is None else linear(concatenated, W_o, b_o))


def many_heads(
    x,
    W_q,
    W_k,
    W_v,
    W_o,
    n_heads: int,
    may_attend: Mask | None,
    scale: Number,
    b_q=None,
    b_k=None,
    b_v=None,
    b_o=None,
    positions=None,
    rotary: Rotary | None = None,
    kept=None,
    p: Number = 0.0,
) -> ManyHeads:
    """Multi-head attention from X to its output. Rotary positions turn the queries and keys of each head."""
    split = project_and_split(x, W_q, W_k, W_v, n_heads, b_q, b_k, b_v, positions)
    q, k, v = split.parts
    q, k = rotate_both(q, k, rotary)
    joined = attend_and_join(q, k, v, may_attend, scale, W_o, b_o, kept, p)
    return ManyHeads(**vars(split), **vars(joined))


# What went in, and what it is called.

MOST_WRITTEN = 5000  # numbers of a module that a program holds


def too_wide(module: MultiHeadAttention) -> bool:
    """True for a module of too many numbers to be written."""
    return count_weights(module) > MOST_WRITTEN


def inputs_of_module(
    module: MultiHeadAttention,
    x: Float[Array, "tokens d_model"],
    may_attend: Mask | None,
    scale: Number,
    positions: Float[Array, "tokens d_model"] | None,
) -> dict[str, Any]:
    """What `many_heads` is given."""
    inputs = {
        "x": x,
        **dict(named_weights(module)),
        "n_heads": module.n_heads,
        "may_attend": may_attend,
        "scale": scale,
    }
    others = {"positions": positions, "rotary": module.rotary}
    return inputs | {name: value for name, value in others.items() if value is not None}


PROJECTED = {name: HEAD_SENTENCES[name] for name in ("q", "k", "v")} | {
    "output": message("output of {token}, feature {feature}: its concatenated row · its column of W_o")
}
SENTENCES = {
    "x": HEAD_SENTENCES["x"],
    "+ of x": message("x of {token} with its position, feature {feature}"),
    "W_o": message("W_o, row {row}, column {column}: an entry of W_o"),
    "sum": message("sum of the row of {query}"),
}
OF_EACH_HEAD = {name: says for name, says in HEAD_SENTENCES.items() if name not in PROJECTED | SENTENCES} | {
    "heads.q": TURNED["q"],
    "heads.k": TURNED["k"],
    "heads.output": HEAD_SENTENCES["output"],
    "dropped.output": HEAD_SENTENCES["output"],
    "dropped.weights": message(
        "weight that {query} puts on {key} in training: dropped, or divided by the share that is kept"
    ),
    "dropped.weights hidden": HEAD_SENTENCES["weights hidden"],
}


def names_of_heads(
    tokens: Sequence[Token], inputs: Collection[str], n_heads: int, d_k: int, d_v: int, noun: str = "head"
) -> Names:
    """What a reader calls the numbers of several heads: a feature of all heads side by side is one of its head.

    How queries, keys, values and the output were made follows from the names of the `inputs`.
    """
    projected = PROJECTED | (WITH_POSITIONS if "positions" in inputs else {})
    biased = {name: says for name, says in projected.items() if f"b_{name[0]}" in inputs}
    projected |= {name: message("{says}, plus the bias", says=says) for name, says in biased.items()}
    each = {"head": message("head {head}: {says}"), "sentence": message("sentence {head}: {says}")}[noun]
    of_head = {name: each._replace(arguments={"says": says}) for name, says in OF_EACH_HEAD.items()}
    features = {"d_all_k": features_of_heads(n_heads, d_k), "d_all_v": features_of_heads(n_heads, d_v)}
    things = dict.fromkeys(("tokens", "queries", "keys"), tokens)
    return Names(of_head | projected | SENTENCES, things | features)


def features_of_heads(n_heads: int, width: int) -> list[Message]:
    """The features of all heads, side by side."""
    return [
        message("{feature} of head {head}", feature=feature + 1, head=head + 1)
        for head in range(n_heads)
        for feature in range(width)
    ]
