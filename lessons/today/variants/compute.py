"""One head as it is, and the same head with one thing changed that today's models change: a function for each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import torch
from jaxtyping import Float

from attention_core.base.arrays import Array, namespace, row_sum
from attention_core.one_head.attention import (
    AttentionTrace,
    Mask,
    Number,
    attend,
    cap_scores,
    combine_masks,
    mask_scores,
    softmax_with_sink,
)
from attention_core.one_head.distances import alibi_slopes, distances, with_global_tokens, within_window
from attention_core.one_head.head import one_head, project, rotate_both
from attention_core.one_head.heads import mean_of_groups, share_heads, split_heads
from attention_core.text.embeddings import rotate
from lessons.example.example import ExampleTrace, as_stored, projection_of, run_example
from lessons.example.second_sentence import followed_by
from lessons.screen import ListOf, Message, Numeral, message
from lessons.trace.computation import Computation, taken_by
from lessons.trace.head import HEAD_SENTENCES, head_inputs, head_names
from lessons.trace.lines import digits
from lessons.trace.story import Names

Variant = Literal["window", "sink", "cap", "alibi", "rotary", "grouped", "cross"]
HEADS_OF_SLOPES = 8  # ALiBi's slopes for so many heads: with one or two they would be too flat to see


@dataclass(frozen=True, eq=False)
class Changed:
    """A head as it is, and with one thing changed."""

    plain: AttentionTrace
    changed: AttentionTrace


@dataclass(frozen=True, eq=False)
class WithSink(Changed):
    """With a sink, and what this collects of each row."""

    collected: Float[Array, "queries 1"]


@dataclass(frozen=True, eq=False)
class Turned(Changed):
    """With rotary positions, and the queries and keys that they turn."""

    q: Float[Array, "queries d_k"]
    k: Float[Array, "keys d_k"]


def add_window(x, W_q, W_k, W_v, may_attend, scale, reach: int, **others) -> Changed:
    """A query sees only so many positions on either side, and the first token; this sees all that its mask shows."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    near = within_window(distances(len(q), len(k)), reach, reach)
    near = namespace(q).asarray(with_global_tokens(near, torch.arange(len(q)) == 0))
    plain = attend(q, k, v, may_attend, scale=scale)
    return Changed(plain, attend(q, k, v, combine_masks(may_attend, near), scale=scale))


def add_sink(x, W_q, W_k, W_v, may_attend, scale, sink: Number, **others) -> WithSink:
    """One more score in each softmax, whose value is nothing: what it collects is missing in the row."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    plain = attend(q, k, v, may_attend, scale=scale)
    changed = attend(q, k, v, may_attend, scale=scale, sink=sink)
    return WithSink(plain, changed, 1 - row_sum(changed.weights))


def add_cap(x, W_q, W_k, W_v, may_attend, scale, cap: Number, **others) -> Changed:
    """No score goes beyond the cap."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    plain = attend(q, k, v, may_attend, scale=scale)
    return Changed(plain, attend(q, k, v, may_attend, scale=scale, soft_cap=cap))


def add_biases(x, W_q, W_k, W_v, may_attend, scale, slope: Number, **others) -> Changed:
    """ALiBi: each step between query and key takes the slope off the score."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    steps = namespace(q).asarray(distances(len(q), len(k)).abs(), dtype=q.dtype)
    plain = attend(q, k, v, may_attend, scale=scale)
    return Changed(plain, attend(q, k, v, mask_scores(-slope * steps, may_attend), scale=scale))


def turn_by_position(x, W_q, W_k, W_v, may_attend, scale, **others) -> Turned:
    """Queries and keys turned by their positions, in place of positions that the head was given otherwise."""
    plain = one_head(x, W_q, W_k, W_v, may_attend, scale, **others)
    q, k, v = project(x, W_q, W_k, W_v)
    return Turned(plain, attend(rotate(q), rotate(k), v, may_attend, scale=scale), q, k)


def share_in_group(x, W_q, W_k, W_v, may_attend, scale, n_heads: int, positions=None, rotary=None) -> Changed:
    """Neighbouring heads share keys and values: the means of their own, as a model that was trained without begins."""
    q, k, v = (split_heads(part, n_heads) for part in project(x, W_q, W_k, W_v, positions))
    q, k = rotate_both(q, k, rotary)
    plain = attend(q, k, v, may_attend, scale=scale)
    k, v = (share_heads(mean_of_groups(part, n_heads), n_heads) for part in (k, v))
    return Changed(plain, attend(q, k, v, may_attend, scale=scale))


def share_among_more(
    q: Float[Array, "heads queries d_k"],
    k: Float[Array, "sets keys d_k"],
    v: Float[Array, "sets keys d_v"],
    may_attend: Mask | None,
    scale: Number,
) -> Changed:
    """Heads that share keys and values in several sets as it is; then all of them share the mean of the sets."""
    together = (mean_of_groups(sets, len(sets)) for sets in (k, v))
    (k, v), (one_k, one_v) = ([share_heads(sets, len(q)) for sets in both] for both in ((k, v), together))
    return Changed(attend(q, k, v, may_attend, scale=scale), attend(q, one_k, one_v, may_attend, scale=scale))


def ask_another(x, W_q, W_k, W_v, may_attend, scale, cut: int, **others) -> Changed:
    """All tokens as one text; then cross-attention: those from the cut on ask, and look only at those before it."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    return Changed(attend(q, k, v, may_attend, scale=scale), attend(q[cut:], k[:cut], v[:cut], scale=scale))


def change_nothing(x, W_q, W_k, W_v, may_attend, scale, **others) -> Changed:
    """The head as it is, twice: where a change cannot be made."""
    trace = one_head(x, W_q, W_k, W_v, may_attend, scale, **others)
    return Changed(trace, trace)


COMPUTE: dict[Variant, Callable[..., Changed]] = {
    "window": add_window,
    "sink": add_sink,
    "cap": add_cap,
    "alibi": add_biases,
    "rotary": turn_by_position,
    "grouped": share_in_group,
    "cross": ask_another,
}
OF_THE_CORE: dict[Variant, tuple[Callable, ...]] = {
    "window": (within_window, with_global_tokens),
    "sink": (softmax_with_sink,),
    "cap": (cap_scores,),
    "alibi": (alibi_slopes, distances),
    "rotary": (rotate,),
    "grouped": (mean_of_groups, share_heads),
    "cross": (attend,),
}


@dataclass(frozen=True, eq=False)
class VariedHead:
    """A head without a change and with it. `amount` is the reach, the sink's score or the cap, where there is one.

    The running example has `asked_heads`. In cross-attention the first `cut` tokens are looked at and the others ask;
    else it is 0.
    """

    kind: Variant
    amount: float
    trace: ExampleTrace
    head: int
    asked_heads: int
    cut: int

    @cached_property
    def computation(self) -> Computation:
        """The head as it is and changed; twice as it is where nothing can be changed."""
        function = change_nothing if self.impossible else COMPUTE[self.kind]
        if function is share_in_group and self.shared_before:
            function = share_among_more
        own = {} if self.impossible else inputs_of_kind(self)
        inputs = head_inputs(self.trace, self.head, **own)
        taken = taken_by(function, inputs)
        return Computation(function, taken, names_of_kind(self))

    @cached_property
    def plain(self) -> AttentionTrace:
        """The head without the change."""
        return self.own(self.computation.result.plain)

    @cached_property
    def changed(self) -> AttentionTrace:
        """The head with the change."""
        return self.own(self.computation.result.changed)

    def own(self, computed: Array | AttentionTrace) -> Any:
        """Of what was computed for a group of heads, this one's."""
        if self.kind != "grouped" or self.impossible:
            return computed
        place = self.head - self.group[0]
        return computed.select(place) if isinstance(computed, AttentionTrace) else computed[place]

    def with_amount(self, amount: float) -> Any:
        """This head with another sink or cap."""
        return replace(self.computation, inputs={**self.computation.inputs, self.kind: amount}).result

    @property
    def group(self) -> tuple[int, ...]:
        """The heads that share keys and values with this one: as few more as can share evenly; else itself."""
        n_heads, before = self.trace.example.n_heads, len(self.set_before)
        if self.kind != "grouped":
            return (self.head,)
        sizes = (size for size in range(2 * before, n_heads + 1, before) if n_heads % size == 0)
        return neighbours(self.head, next(sizes, 1))

    @property
    def set_before(self) -> tuple[int, ...]:
        """The heads that share keys and values with this one in the example as it is."""
        return neighbours(self.head, self.trace.example.n_heads // self.trace.kv_heads)

    @property
    def shared_before(self) -> bool:
        """True where heads share keys and values in the example as it is."""
        return len(self.set_before) > 1

    @property
    def kv_heads(self) -> int:
        """How many heads have keys and values of their own once the change is made."""
        if self.kind != "grouped" or self.impossible:
            return self.trace.kv_heads
        return self.trace.example.n_heads // len(self.group)

    @property
    def slope(self) -> float:
        """What ALiBi takes off the score of this head for each step."""
        return float(alibi_slopes(HEADS_OF_SLOPES)[self.head % HEADS_OF_SLOPES])

    @property
    def impossible(self) -> Message | None:
        """Why nothing can be changed; None where it can."""
        d_k = self.trace.heads.q.shape[-1]
        if self.kind == "rotary" and d_k % 2:
            return message(
                "Rotary positions turn pairs of features. Choose an even d_k in the sidebar, not {d_k}.",
                d_k=d_k,
            )
        if self.kind == "grouped" and len(self.group) == 1 and self.shared_before:
            return message("All heads of this layer already share one set of keys and values.")
        if self.kind == "grouped" and len(self.group) == 1:
            return message("This notebook has one head, so there is no other to share with.")
        if self.kind == "cross" and not self.cut:
            return message("One token cannot make two sentences: take a longer sentence.")
        return None


def vary(trace: ExampleTrace, head: int, kind: Variant, amount: float, second: str = "") -> VariedHead:
    """The head of an example with one thing changed; as it is where that cannot be, which is said.

    In cross-attention the `second` sentence asks the example's own; without one, its second half asks the first.
    """
    asked_heads, cut = trace.example.n_heads, 0
    if kind in ("rotary", "grouped"):
        trace = as_stored(trace)
    if kind == "cross" and second.strip() and trace.example.given_by.takes_text:
        trace, cut = followed_by(trace, second), len(trace.tokens)
    elif kind == "cross":
        cut = len(trace.tokens) // 2
    if kind == "grouped" and asked_heads == 1:
        trace = run_example(replace(trace.example, n_heads=2))  # still one, where a notebook fixes it
    return VariedHead(kind, amount, trace, head, asked_heads, cut)


def neighbours(head: int, size: int) -> tuple[int, ...]:
    """The heads beside a head, itself among them, where so many stand together."""
    return tuple(range(head // size * size, (head // size + 1) * size))


def inputs_of_kind(varied: VariedHead) -> dict[str, Any]:
    """What a variant takes besides one head of the example, or in the place of some of that."""
    match varied.kind:
        case "window":
            return {"reach": int(varied.amount)}
        case "sink" | "cap":
            return {varied.kind: varied.amount}
        case "alibi":
            return {"slope": varied.slope}
        case "cross":
            return {"cut": varied.cut}
        case "grouped" if varied.shared_before:
            heads, sharing = varied.trace.heads, list(varied.group)
            one_each = sharing[:: len(varied.set_before)]
            return {"q": heads.q[sharing], "k": heads.k[one_each], "v": heads.v[one_each]}
        case "grouped":
            maps = {role: [projection_of(varied.trace, role, head) for head in varied.group] for role in "qkv"}
            return {f"W_{role}": torch.cat(W, dim=-1) for role, W in maps.items()} | {"n_heads": len(varied.group)}
    return {}


# What its numbers are called.

SENTENCES: dict[str, dict[str, Message]] = {
    "sink": {
        "max of sink": message("the larger of the sink’s score and the largest of the row"),
        "− of sink": message("score of the sink less the largest score"),
        "sum of weights": message("sum of the row of {query}"),
        "collected": message("share of the weight of {query} that the sink collects: 1 minus the sum of its row"),
    },
    "alibi": {
        "changed.masked": message("score of {key} for {query}, minus the slope times the distance"),
    },
    "rotary": {
        "changed.q": message("query of {query}, feature {feature}, turned by its position"),
        "changed.k": message("key of {key}, feature {feature}, turned by its position"),
    },
}


def names_of_kind(varied: VariedHead) -> Names:
    """What a reader calls the numbers of a variant."""
    tokens, cut, numbers = varied.trace.names, varied.cut, ListOf(tuple(map(varied.trace.called, varied.group)))
    if varied.kind == "grouped" and not varied.impossible:
        each = {
            name: message("head {head}: {says}", says=HEAD_SENTENCES[name])
            for name in HEAD_SENTENCES
            if name not in ("x", "W_q", "W_k", "W_v")
        }
        shared = {
            "changed.k": message("key of {key}, feature {feature}: the mean over heads {heads}", heads=numbers),
            "changed.v": message(
                "value of {key}, feature {feature}: the mean of those of heads {heads}", heads=numbers
            ),
        }
        names = head_names(varied.trace, **each, **shared)
        return replace(names, things={**names.things, "*batch": numbers.items})
    names = head_names(varied.trace, **SENTENCES.get(varied.kind, {}))
    if varied.kind == "cap":
        how = message("capped: {cap} · tanh(score ÷ {cap})", cap=Numeral(digits(varied.amount, 4)))
        capped = message("{how}, for {query} and {key}", how=how)
        return replace(names, sentences={**names.sentences, "changed.masked": capped})
    if varied.kind == "cross":
        return replace(names, things={**names.things, "changed.queries": tokens[cut:], "changed.keys": tokens[:cut]})
    return names
