"""Heads that project all features beside heads that only have a slice of them: what each can see, and its cost."""

from dataclasses import dataclass, replace
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from attention_core.base.arrays import Array
from attention_core.base.randomness import generator
from attention_core.measured.head_measures import head_reach, outside_slice
from attention_core.one_head.heads import MultiHeadAttention, SlicedHeads
from lessons.model.heads.compute import too_wide
from lessons.model.heads.example import HeadsTrace, shown_features
from lessons.model.heads.tensors_view import features_drawn, heads_figure
from lessons.screen import Axis, Cells, Code, Integer, Magnitude, Matrices, Matrix, Message, message
from lessons.shared.matrices import single_axis, traced_matrix
from lessons.trace.computation import Computation
from lessons.trace.story import Names


@dataclass(frozen=True, eq=False)
class Reach:
    """For each head, how much its output changes when 1 is added to a feature of every token.

    `features` are those that were changed, counted from 0. The largest of the changes by a feature outside the head's
    own slice of `d_head` stand apart.
    """

    features: list[int]
    d_head: int
    projected: Float[Array, "heads features"]
    sliced: Float[Array, "heads features"]
    projected_outside: Float[Array, " heads"]
    sliced_outside: Float[Array, " heads"]


def reach_of_both(
    module: MultiHeadAttention,
    x: Float[Tensor, "tokens d_model"],
    features: list[int],
    seed: int,
    may_attend: Tensor | None,
    scale: float,
    positions: Tensor | None = None,
) -> Reach:
    """Projecting and sliced heads on the same input, and again with each of the features changed."""
    projected = head_reach(module, x, features, may_attend, scale, positions)
    sliced = reach_of_slices(x, module.n_heads, features, seed, may_attend, scale)
    return outside_slices(features, x.shape[-1] // module.n_heads, projected, sliced)


def reach_of_slices(
    x: Float[Tensor, "tokens d_model"],
    n_heads: int,
    features: list[int],
    seed: int,
    may_attend: Tensor | None,
    scale: float,
) -> Float[Tensor, "heads features"]:
    """Of heads that are drawn, and read only their own slice of X."""
    return head_reach(SlicedHeads.draw(x.shape[-1], n_heads, generator=generator(seed)), x, features, may_attend, scale)


def outside_slices(
    features: list[int],
    d_head: int,
    projected: Float[Array, "heads features"],
    sliced: Float[Array, "heads features"],
) -> Reach:
    """The changes, and the largest that come from outside a head's own slice."""
    outside = (outside_slice(changes, features, d_head) for changes in (projected, sliced))
    return Reach(features, d_head, projected, sliced, *outside)


CHANGE = message(
    "1 is added to feature {feature} of every token: the largest change it causes in the output of head {head}"
)
OUTSIDE = message("the largest change in the output of head {head} caused by a feature outside its slice")
SLICE_SENTENCES = {"projected": CHANGE, "sliced": CHANGE, "projected_outside": OUTSIDE, "sliced_outside": OUTSIDE}


def compute_reach(trace: HeadsTrace) -> Computation:
    """What each head can see, of heads that project and of heads that are sliced."""
    inputs = {name: trace.computation.inputs[name] for name in ("x", "may_attend", "scale")}
    features = shown_features(trace.x.shape[-1], trace.n_heads)
    inputs |= {"module": trace.module, "features": features, "seed": trace.seed}
    return Computation(reach_of_both, inputs | ({} if trace.added is None else {"positions": trace.added}))


def code_of_reach(trace: HeadsTrace, computation: Computation) -> Code:
    """Of heads that are too wide to be written, a program has those alone that are drawn from a seed."""
    if not too_wide(trace.module):
        functions = MultiHeadAttention.project, SlicedHeads.project
        return computation.code(("projected", "sliced"), *functions, attention=trace.heads.select(0), scale=trace.scale)
    names = ("x", "features", "seed", "may_attend", "scale")
    inputs = {name: computation.inputs[name] for name in names} | {"n_heads": trace.n_heads}
    return Computation(reach_of_slices, inputs).code(
        ("",), SlicedHeads.project, attention=trace.heads.select(0), scale=trace.scale
    )


def slices_figure(trace: HeadsTrace, reach: Reach) -> Matrices:
    """How much each head changes with each feature, for both kinds of heads."""
    inputs = {name: getattr(reach, name) for name in ("features", "d_head", "projected", "sliced")}
    computation = Computation(
        outside_slices, inputs, Names(SLICE_SENTENCES, {"features": [feature + 1 for feature in reach.features]})
    )
    projected = changes_of(trace, computation, "projected", message("each head projects X"))
    sliced = changes_of(trace, computation, "sliced", message("each head has a slice"))
    notice = notice_reach(trace, reach)
    if trace.trained is not None:
        notice += (message("The heads with a slice are untrained (seed {seed}).", seed=trace.seed),)
    return heads_figure(trace, notice, bands=((*projected, *sliced),), first="projected")


def changes_of(
    trace: HeadsTrace, computation: Computation, kind: Literal["projected", "sliced"], title: Message
) -> tuple[Matrix, Matrix]:
    """The changes of each head by each feature, and the largest by a feature outside its slice."""
    heads = tuple(f"{head + 1}" for head in range(trace.n_heads))
    look = {"tokens": trace.tokens, "rows": Axis(message("heads"), heads, named=True), "scale": "weight", "colour": "v"}

    def both_ways(i: int, j: int) -> tuple[Cells, ...]:
        return Cells("projected", column=j), Cells("sliced", column=j), Cells(f"{kind}_outside", row=i)

    columns = replace(features_drawn(computation.inputs["features"]), named=True, one=None)
    outside = message("outside its slice")
    return (
        traced_matrix(computation, kind, title, columns=columns, sources=both_ways, **look),
        traced_matrix(
            computation,
            f"{kind}_outside",
            outside,
            take=lambda largest: largest[:, None],
            columns=single_axis(outside),
            **look,
        ),
    )


def notice_reach(trace: HeadsTrace, reach: Reach) -> tuple[Message, ...]:
    """What a sliced head cannot see, and what both kinds cost: with as many features, a slice has fewer rows."""
    numbers = sum(W.numel() for W in (trace.module.W_q, trace.module.W_k, trace.module.W_v))
    cost = message(
        "W_q, W_k and W_v hold {projected} numbers when every head projects all features, {sliced} when each reads "
        "only its slice.",
        projected=Integer(numbers),
        sliced=Integer(numbers // trace.n_heads),
    )
    outside = float(reach.projected_outside.max())
    if trace.n_heads == 1 or outside == 0:
        return (cost,)
    return cost, message(
        "Add 1 to a feature outside a head's slice: the output of a head that projects changes by up to {projected}, "
        "that of a sliced head by exactly 0.",
        projected=Magnitude(outside),
    )


# How many numbers sliced heads have.
