"""What the screens beside PyTorch compute, and how the numbers come about that are asked for there."""

from dataclasses import dataclass, replace

from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.base.arrays import Array, namespace
from attention_core.measured.parity import Parity, compare_with_pytorch
from attention_core.one_head.attention import Number, dot_product_scores, mask_scores, scale_scores, softmax_rows
from attention_core.one_head.heads import linear
from lessons.model.heads.compute import inputs_of_module, many_heads
from lessons.model.heads.example import HeadsTrace, scale_of_heads
from lessons.screen import Step, message, names
from lessons.trace.computation import Computation
from lessons.trace.head import HEAD_SENTENCES
from lessons.trace.story import Names


@dataclass(frozen=True, eq=False)
class Beside:
    """Our heads with the mask of this page, and the same in PyTorch's functions."""

    ours: HeadsTrace
    parity: Parity


def beside_pytorch(trace: HeadsTrace, may_attend: Bool[Tensor, "tokens tokens"]) -> Beside:
    """Our heads beside PyTorch's. Both divide by √d_head, as nn.MultiheadAttention does, whatever the scaling."""
    inputs = inputs_of_module(trace.module, trace.x, may_attend, scale_of_heads(trace.d_head), trace.added)
    ours = replace(trace, computation=Computation(many_heads, inputs, trace.computation.names))
    return Beside(ours, compare_with_pytorch(trace.x, may_attend, trace.module, trace.added))


@dataclass(frozen=True, eq=False)
class ReportedWeights:
    """The weights of each head, and what is reported unless asked otherwise: their average."""

    each: Float[Array, "heads queries keys"]
    average: Float[Array, "queries keys"]


def average_over_heads(
    per_head: Float[Array, "heads queries keys"], may_attend: Bool[Array, "queries keys"]
) -> ReportedWeights:
    """The mean over the heads, where a query may look at a key."""
    xp, average = namespace(per_head), per_head.sum(axis=0) / len(per_head)
    return ReportedWeights(xp.where(may_attend, per_head, 0.0), xp.where(may_attend, average, 0.0))


@dataclass(frozen=True, eq=False)
class Meaning:
    """Scores of which a mask hides some, and the weights that follow."""

    masked: Float[Array, "queries keys"]
    weights: Float[Array, "queries keys"]


@dataclass(frozen=True, eq=False)
class BothMeanings:
    """One head, where True in a mask blocks a key, and where it keeps it."""

    q: Float[Array, "queries d_k"]
    k: Float[Array, "keys d_k"]
    scores: Float[Array, "queries keys"]
    scaled: Float[Array, "queries keys"]
    blocked: Meaning
    kept: Meaning


def weigh_in_both_meanings(
    x, W_q, W_k, mask: Bool[Array, "queries keys"], scale, b_q=None, b_k=None, positions=None
) -> BothMeanings:
    """The weights of one head: nn.MultiheadAttention blocks where True, scaled_dot_product_attention keeps there."""
    source = x if positions is None else x + positions
    q, k = linear(source, W_q, b_q), linear(source, W_k, b_k)
    scores = dot_product_scores(q, k)
    scaled = scale_scores(scores, scale)
    blocked, kept = mask_scores(scaled, ~mask), mask_scores(scaled, mask)
    meanings = (Meaning(masked, softmax_rows(masked)) for masked in (blocked, kept))
    return BothMeanings(q, k, scores, scaled, *meanings)


@dataclass(frozen=True, eq=False)
class KeysLeft:
    """Of a row of a mask: the entries that block, and the keys that are left to look at."""

    blocked: Float[Array, ""]
    left: Float[Array, ""]


def count_keys_left(blocking: Float[Array, " keys"]) -> KeysLeft:
    """`blocking` is 1 where an entry blocks a key, and 0 elsewhere."""
    blocked = blocking.sum(axis=-1)
    return KeysLeft(blocked, blocking.shape[-1] - blocked)


@dataclass(frozen=True, eq=False)
class ScaledTwice:
    """Scores whose queries were divided before a function divides once more."""

    scores: Float[Array, "queries keys"]
    once: Float[Array, "queries keys"]
    twice: Float[Array, "queries keys"]


def scale_twice(q: Float[Array, "queries d_k"], k: Float[Array, "keys d_k"], scale: Number) -> ScaledTwice:
    """What becomes of the scores if the queries are divided by hand, and then by scaled_dot_product_attention."""
    scores = dot_product_scores(q, k)
    once = scale_scores(scores, scale)
    return ScaledTwice(scores, once, scale_scores(once, scale))


BLIND = message("weight of {key}: every key is hidden from {query}, and 0 ÷ 0 has no value")
SENTENCES = {
    **HEAD_SENTENCES,
    "mask": message("the mask for {query} → {key}: 1 is True"),
    "weights undefined": BLIND,
    "per_head": message("weight in head {head}"),
    "each hidden": HEAD_SENTENCES["weights hidden"],
    "average": message("average weight that {query} puts on {key}"),
    "average hidden": message("average weight that {query} puts on {key}: masked in every head"),
}


def names_of_page(beside: Beside) -> Names:
    """What a reader calls the numbers of a head."""
    return Names(SENTENCES, dict.fromkeys(("tokens", "queries", "keys"), names(beside.ours.tokens)))


def compute_average(beside: Beside) -> Computation:
    """The weights that nn.MultiheadAttention reports of each head, and their average."""
    inputs = {"per_head": beside.parity.per_head, "may_attend": beside.parity.may_attend}
    return Computation(average_over_heads, inputs, names_of_page(beside))


def compute_meanings(beside: Beside) -> Computation:
    """The weights of head 1 in both meanings of the mask."""
    inputs, d_k = beside.ours.computation.inputs, beside.ours.d_head
    maps = {name: inputs[name][..., :d_k] for name in ("W_q", "W_k", "b_q", "b_k") if name in inputs}
    others = {name: inputs[name] for name in ("x", "scale", "positions") if name in inputs}
    given = {**others, **maps, "mask": beside.parity.may_attend}
    return Computation(weigh_in_both_meanings, given, names_of_page(beside))


def derive_beside_pytorch(beside: Beside, number: str, query: int, *key: int) -> list[Step]:
    """All lines that lead to a number that a question is about."""
    if number == "averaged":
        return compute_average(beside).follow("average").derive(query, *key)
    if number == "divided twice":
        return compute_scaled_twice(beside).follow("twice").derive(query, *key)
    return compute_keys_left(beside, query).follow("left").derive()


def compute_scaled_twice(beside: Beside) -> Computation:
    """The scores of head 1, divided and divided again."""
    ours, d_k = beside.ours, beside.ours.d_head
    sentences = {
        "once": message("score of {key} for {query} where q was divided by {divisor}", divisor=f"√{d_k}"),
        "twice": message(
            "the scaled score of {key} for {query}: the function divides by {divisor} once more", divisor=f"√{d_k}"
        ),
    }
    names_here = names_of_page(beside)
    inputs = {"q": ours.heads.q[0], "k": ours.heads.k[0], "scale": ours.scale}
    return Computation(scale_twice, inputs, replace(names_here, sentences={**names_here.sentences, **sentences}))


def compute_keys_left(beside: Beside, query: int) -> Computation:
    """At how many keys a query may look, where True in its row of the mask blocks."""
    who = names(beside.ours.tokens)[query]
    sentences = {
        "blocked": message("entries of the mask in the row of {query} that are True: each blocks a key", query=who),
        "left": message("keys that {query} may look at: those that are not blocked", query=who),
    }
    blocking = beside.parity.may_attend[query].float()
    return Computation(count_keys_left, {"blocking": blocking}, Names(sentences, {}))
