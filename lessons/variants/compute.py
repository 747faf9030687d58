"""One head as it is, and the same head with one thing changed that today's models change: every tensor of both."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend, mask_scores
from attention_core.distances import alibi_biases, alibi_slopes, distances, with_global_tokens, within_window
from attention_core.heads import share_heads
from lessons.example.example import ExampleTrace, heads_of, run_example
from lessons.example.second_sentence import followed_by, takes_second
from lessons.kit.head_derivation import HeadDerivation, derive_head
from lessons.screen.message import Message, message
from lessons.variants.derivation import Adjusted, AdjustedDerivation, biased, capped, mean_feature

Variant = Literal["window", "sink", "cap", "alibi", "rotary", "grouped", "cross"]
HEADS_OF_SLOPES = 8  # ALiBi's slopes for so many heads: with one or two they would be too flat to see


@dataclass(frozen=True, eq=False)
class VariedHead:
    """A head without the change and with it. `amount` is the reach, the sink's score or the cap, where there is one.

    `bare` has the queries and keys that the change starts from. `kv_heads` have keys and values of their own, and
    `group` are the heads that share them with this one; the running example has `asked_heads`. `cut`
    tokens are the other sentence; 0 where there is none. `impossible` says why nothing could be changed.
    """

    kind: Variant
    amount: float
    example: ExampleTrace
    head: int
    plain: AttentionTrace
    changed: AttentionTrace
    bare: AttentionTrace
    to_plain: HeadDerivation
    to_changed: HeadDerivation
    kv_heads: int
    group: tuple[int, ...]
    asked_heads: int
    cut: int = 0
    impossible: Message | None = None

    @property
    def slope(self) -> float:
        """What ALiBi takes off the score of this head for each step."""
        return float(alibi_slopes(HEADS_OF_SLOPES)[self.head % HEADS_OF_SLOPES])

    @property
    def collected(self) -> Float[Tensor, " queries"]:
        """The share of each query's weight that the sink collects. What is missing in the row is rounded too much."""
        return (self.amount - self.changed.masked.logsumexp(dim=-1)).sigmoid()


def vary(example: ExampleTrace, head: int, kind: Variant, amount: float, second: str = "") -> VariedHead:
    """The head of an example with one thing changed; as it is where that cannot be, which is said.

    In cross-attention the `second` sentence asks the example's own; without one, its second half asks the first.
    """
    asked_heads, cut = example.example.n_heads, 0
    if kind == "cross" and second.strip() and takes_second(example.example):
        example, cut = followed_by(example, second), len(example.tokens)
    if kind == "rotary":
        example = without_turns(example)
    if kind == "grouped" and example.example.n_heads == 1:
        example = run_example(replace(example.example, n_heads=2))  # still one, where a notebook fixes it
    plain = example.heads.select(head)
    same = VariedHead(
        kind=kind,
        amount=amount,
        example=example,
        head=head,
        plain=plain,
        changed=plain,
        bare=plain,
        to_plain=derive_head(example, head),
        to_changed=derive_head(example, head),
        kv_heads=example.example.n_heads,
        group=(head,),
        asked_heads=asked_heads,
        cut=cut,
    )
    return VARIED[kind](same)


def attended(same: VariedHead, may_attend: Tensor | None = None, **options: object) -> AttentionTrace:
    """The head's queries, keys and values with other options; its own mask unless there is another."""
    q, k, v, visible = same.plain.q, same.plain.k, same.plain.v, same.plain.visible
    return attend(q, k, v, visible if may_attend is None else may_attend, scale=same.example.scale, **options)


def with_window(same: VariedHead) -> VariedHead:
    """Only so many positions on either side are seen, and the first token, which all see."""
    n, reach = len(same.plain.q), int(same.amount)
    near = with_global_tokens(within_window(distances(n, n), reach, reach), torch.arange(n) == 0)
    changed = attended(same, near & same.plain.visible)
    return replace(same, changed=changed, to_changed=derive_head(same.example, same.head, changed))


def with_sink(same: VariedHead) -> VariedHead:
    """One more score in each softmax, whose value is nothing."""
    changed = attended(same, sink=same.amount)
    return replace(same, changed=changed, to_changed=adjusted_derivation(same, changed, sink=same.amount))


def with_cap(same: VariedHead) -> VariedHead:
    """No score beyond the cap."""
    changed = attended(same, soft_cap=same.amount)
    return replace(same, changed=changed, to_changed=adjusted_derivation(same, changed, partial(capped, same.amount)))


def with_alibi(same: VariedHead) -> VariedHead:
    """Each step between query and key takes something off the score."""
    n = len(same.plain.q)
    biases = alibi_biases(distances(n, n), HEADS_OF_SLOPES)[same.head % HEADS_OF_SLOPES]
    changed = attended(same, mask_scores(biases, same.plain.visible))
    return replace(same, changed=changed, to_changed=adjusted_derivation(same, changed, partial(biased, same.slope)))


def with_rotary(same: VariedHead) -> VariedHead:
    """Queries and keys turned by their positions, in place of positions that the head was given otherwise."""
    d_k = same.plain.q.shape[-1]
    if d_k % 2:
        why = message(
            "Rotary positions turn pairs of features, so d_k must be even, but it is {d_k}. Choose an even d_k "
            "in the sidebar.",
            d_k=d_k,
        )
        return replace(same, impossible=why)
    bare = replace(same.example, added=None)
    turned = replace(bare, rotary=True)
    heads = heads_of(turned.example, turned)
    changed, turned = heads.select(same.head), replace(turned, heads=heads)
    return replace(
        same,
        changed=changed,
        to_changed=derive_head(turned, same.head, changed),
        bare=heads_of(bare.example, bare).select(same.head),
    )


def with_groups(same: VariedHead) -> VariedHead:
    """Neighbouring heads share keys and values: the means of their own, as a model that was trained without begins."""
    heads, n_heads = same.example.heads, same.kv_heads
    if n_heads == 1:
        return replace(
            same,
            impossible=message(
                "One head has nobody to share with, and this notebook has no other: take other weights in the sidebar."
            ),
        )
    size = next(size for size in range(2, n_heads + 1) if n_heads % size == 0)
    k, v = (share_heads(mean_of_groups(x, size), n_heads) for x in (heads.k, heads.v))
    changed = attend(heads.q, k, v, heads.visible, scale=same.example.scale).select(same.head)
    group = tuple(range(same.head // size * size, (same.head // size + 1) * size))
    own = {"k": heads.k[list(group)].tolist(), "v": heads.v[list(group)].tolist()}
    base = derive_head(same.example, same.head, changed)
    made = partial(mean_feature, same.to_plain, own, group)
    return replace(same, changed=changed, kv_heads=n_heads // size, group=group, to_changed=replace(base, made=made))


def with_cross(same: VariedHead) -> VariedHead:
    """The second sentence asks, the first is all that there is to look at; halves of one where there is no second."""
    n = len(same.plain.q)
    if n == 1:
        return replace(same, impossible=message("One token cannot be cut into two sentences: take a longer one."))
    cut = same.cut or n // 2
    changed = attended(same, (torch.arange(n) < cut).expand(n, n))
    return replace(same, changed=changed, to_changed=derive_head(same.example, same.head, changed), cut=cut)


VARIED: dict[Variant, Callable[[VariedHead], VariedHead]] = {
    "window": with_window,
    "sink": with_sink,
    "cap": with_cap,
    "alibi": with_alibi,
    "rotary": with_rotary,
    "grouped": with_groups,
    "cross": with_cross,
}


def without_turns(example: ExampleTrace) -> ExampleTrace:
    """The same example without rotary positions, where it has them."""
    if not example.rotary:
        return example
    bare = replace(example, rotary=False)
    return replace(bare, heads=heads_of(bare.example, bare))


def mean_of_groups(x: Float[Tensor, "heads tokens d"], size: int) -> Float[Tensor, "groups tokens d"]:
    """The mean of the keys or values of neighbouring heads, so many at a time: Ainslie et al. 2023, section 2.1."""
    return x.unflatten(0, (-1, size)).mean(dim=1)


def adjusted_derivation(
    same: VariedHead,
    changed: AttentionTrace,
    adjust: Callable[[float, int, int], Adjusted] | None = None,
    sink: float | None = None,
) -> AdjustedDerivation:
    """The derivation of a head whose scores are adjusted after scaling, or whose softmax has a sink."""
    base = derive_head(same.example, same.head, changed)
    return AdjustedDerivation(**vars(base), adjust=adjust, sink=sink)
