"""What is counted of a variant: parameters, and what a cache keeps."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.one_head.attention import Number
from lessons.screen import Integer, Message, Step, Table, message, plural
from lessons.today.variants.compute import VariedHead
from lessons.trace.computation import Computation
from lessons.trace.story import Names

LONG_TEXT = 4096  # tokens
One = Float[Array, ""]

VARIANT_NAMES: dict[str, Message] = {
    "window": message("window plus a global token"),
    "sink": message("sink"),
    "cap": message("soft cap"),
    "alibi": message("ALiBi"),
    "rotary": message("rotary positions"),
    "grouped": message("grouped queries"),
    "cross": message("cross-attention"),
}


@dataclass(frozen=True, eq=False)
class Cache:
    """How many numbers a cache keeps: of one token in one set of keys and values, then in all, and of all tokens."""

    in_one_set: One
    in_all_sets: One
    numbers: One


def count_cached(n_tokens: Number, kv_heads: Number, d_k: Number, d_v: Number) -> Cache:
    """A key and a value of each token, in each set that heads have of their own."""
    in_one_set = d_k + d_v
    in_all_sets = kv_heads * in_one_set
    return Cache(in_one_set, in_all_sets, n_tokens * in_all_sets)


def derive_number(varied: VariedHead, number: str, *place: Any) -> Iterable[Step]:
    """All lines that lead to a number that a question is about: of the changed head, or one of those counted here."""
    if number == "cached":
        return compute_cache(varied, *place).follow("numbers").derive()
    return varied.computation.follow(f"changed.{number}").derive(*place)


def compute_cache(varied: VariedHead, n_tokens: int, changed: bool = True) -> Computation:
    """What the cache keeps after so many tokens."""
    sets = varied.kv_heads if changed else varied.trace.kv_heads
    kept, d_k, d_v = tokens_kept(varied, n_tokens, changed), varied.plain.q.shape[-1], varied.plain.v.shape[-1]
    sentences = {
        "in_one_set": message("numbers for one token in one set: a key and a value"),
        "in_all_sets": message("times the sets of keys and values: {sets}", sets=sets),
        "numbers": message("times the tokens that are kept: {kept}", kept=kept),
    }
    inputs = {"n_tokens": kept, "kv_heads": sets, "d_k": d_k, "d_v": d_v}
    return Computation(count_cached, {name: float(size) for name, size in inputs.items()}, Names(sentences, {}))


def weights_in(varied: VariedHead, changed: bool) -> int:
    """How many numbers W_q, W_k and W_v of all heads have, and the sinks."""
    d_model, d_k, d_v = varied.trace.x.shape[-1], varied.plain.q.shape[-1], varied.plain.v.shape[-1]
    n_heads = varied.trace.example.n_heads
    kv_heads = varied.kv_heads if changed else varied.trace.kv_heads
    sinks = n_heads if changed and varied.kind == "sink" else 0
    return d_model * (n_heads * d_k + kv_heads * (d_k + d_v)) + sinks


def tokens_kept(varied: VariedHead, n_tokens: int, changed: bool) -> int:
    """Of how many tokens keys and values must be kept for the newest of so many, itself among them."""
    if changed and varied.kind == "window":
        return min(n_tokens, int(varied.amount) + 2)  # itself and the first token besides
    if changed and varied.cut:
        return varied.cut
    return n_tokens


def numbers_kept(varied: VariedHead, n_tokens: int, changed: bool = True) -> int:
    """How many numbers the cache keeps after so many tokens."""
    return int(compute_cache(varied, n_tokens, changed).result.numbers)


def row_without_sharing(varied: VariedHead, n_tokens: int) -> tuple[Message | Integer, ...]:
    """What the layer would cost if each head had keys and values of its own."""
    n_heads, d_model = varied.trace.example.n_heads, varied.trace.x.shape[-1]
    d_k, d_v = varied.plain.q.shape[-1], varied.plain.v.shape[-1]
    kept = (int(count_cached(n, n_heads, d_k, d_v).numbers) for n in (n_tokens, LONG_TEXT))
    return (message("no head shares"), Integer(d_model * n_heads * (2 * d_k + d_v)), *map(Integer, kept))


def costs_table(varied: VariedHead) -> Table:
    """A row for the head as it is and one for the variant."""
    n = len(varied.plain.q)
    rows: list[tuple[Message | Integer, ...]] = [
        (
            name,
            Integer(weights_in(varied, changed)),
            Integer(numbers_kept(varied, n, changed)),
            Integer(numbers_kept(varied, LONG_TEXT, changed)),
        )
        for name, changed in ((message("unchanged"), False), (VARIANT_NAMES[varied.kind], True))
    ]
    if varied.kind == "grouped" and varied.shared_before:
        rows.append(row_without_sharing(varied, n))
    return Table(
        key="variant_costs",
        name=message("Parameters and cache"),
        width=560,
        cells=tuple(rows),
        notice=(
            message(
                "Parameters: the entries of W_q, W_k and W_v, and the sinks. The cache: keys and values of all "
                "heads of this layer."
            ),
        ),
        columns=(
            message("all heads of the layer"),
            message("parameters"),
            plural("cached after {count} token", "cached after {count} tokens", n),
            message("after {count}", count=Integer(LONG_TEXT)),
        ),
    )
