"""Heads that project all features beside heads that only have a slice of them: what each can see, and its cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from attention_core.heads import SlicedHeads
from attention_core.masks import causal_mask
from attention_core.randomness import generator
from lessons.heads.example import HeadsTrace, shown_features
from attention_core.head_measures import head_reach, outside_slice
from lessons.heads.tensors_view import heads_figure
from lessons.kit.matrices import FEATURES, single_axis
from lessons.screen.arithmetic import term
from lessons.screen.message import Integer, Magnitude, Message, message
from lessons.screen.screen import Axis, Cells, Matrices, Matrix, Step


@dataclass(frozen=True, eq=False)
class Reach:
    """For each head, how much its output changes when 1 is added to a feature of every token.

    `features` are those that were changed, counted from 0. `projected_numbers` and `sliced_numbers` say how many
    numbers W_q, W_k and W_v hold together: with as many features in a head, a slice has fewer rows.
    """

    features: list[int]
    d_head: int
    projected: Float[Tensor, "heads features"]
    sliced: Float[Tensor, "heads features"]
    projected_numbers: int
    sliced_numbers: int

    def outside(self, changes: Float[Tensor, "heads features"]) -> Float[Tensor, " heads"]:
        """The largest of the changes by a feature outside the head's own slice."""
        return outside_slice(changes, self.features, self.d_head)


def reach_of_heads(trace: HeadsTrace) -> Reach:
    """Projecting and sliced heads on the same input, and again with each of the shown features changed."""
    d_model, n_heads = trace.x.shape[-1], trace.n_heads
    features = shown_features(d_model, n_heads)
    may_attend = causal_mask(len(trace.tokens)) if trace.example.causal else None
    sliced = SlicedHeads.draw(d_model, n_heads, generator=generator(trace.example.seed))
    numbers = sum(W.numel() for W in (trace.module.W_q, trace.module.W_k, trace.module.W_v))
    return Reach(
        features=features,
        d_head=d_model // n_heads,
        projected=head_reach(trace.module, trace.x, features, may_attend, trace.scale, trace.added),
        sliced=head_reach(sliced, trace.x, features, may_attend, trace.scale),
        projected_numbers=numbers,
        sliced_numbers=numbers // n_heads,
    )


def slices_figure(trace: HeadsTrace) -> Matrices:
    """How much each head changes with each feature, for both kinds of heads."""
    reach = reach_of_heads(trace)
    projected = changes_of(reach, "projected", message("each head projects X"))
    sliced = changes_of(reach, "sliced", message("each head has a slice"))
    notice = notice_reach(reach)
    if trace.trained is not None:
        notice += (message("The heads with a slice are untrained (seed {seed}).", seed=trace.example.seed),)
    return heads_figure(trace, notice, bands=((*projected, *sliced),), first="projected", numbered=True)


def changes_of(reach: Reach, kind: Literal["projected", "sliced"], title: Message) -> tuple[Matrix, Matrix]:
    """The changes of each head by each feature, and the largest by a feature outside its slice."""
    changes = getattr(reach, kind)
    values, largest = changes.tolist(), reach.outside(changes)[:, None]
    rows = Axis(message("heads"), tuple(f"{head + 1}" for head in range(len(values))), named=True)
    columns = Axis(FEATURES, tuple(f"{feature + 1}" for feature in reach.features), named=True)

    def change(i: int, j: int) -> Step:
        says = message(
            "1 is added to feature {feature} of every token: the largest change in the output of head {head}",
            feature=reach.features[j] + 1,
            head=i + 1,
        )
        return Step(says, term(values[i][j]), values[i][j])

    def most(i: int, j: int) -> Step:
        says = message("the largest change in the output of head {head} by a feature outside its slice", head=i + 1)
        return Step(says, term(largest[i, 0].item()), largest[i, 0].item())

    def outside(i: int, j: int) -> Iterator[Step]:
        return (change(i, place) for place, feature in enumerate(reach.features) if feature // reach.d_head != i)

    def both_ways(i: int, j: int) -> tuple[Cells, ...]:
        return Cells("projected", column=j), Cells("sliced", column=j), Cells(f"{kind}_outside", row=i)

    look = {"rows": rows, "scale": "weight", "colour": "v"}
    return (
        Matrix(key=kind, title=title, values=changes, columns=columns, step=change, sources=both_ways, **look),
        Matrix(
            key=f"{kind}_outside",
            title=message("outside"),
            values=largest,
            columns=single_axis(message("outside")),
            step=most,
            before=outside,
            sources=lambda i, j: (Cells(kind, row=i),),
            **look,
        ),
    )


def notice_reach(reach: Reach) -> tuple[Message, ...]:
    """What a sliced head cannot see, and what both kinds cost."""
    cost = message(
        "W_q, W_k and W_v hold {projected} numbers when every head projects all features, and {sliced} when each "
        "head reads only its slice.",
        projected=Integer(reach.projected_numbers),
        sliced=Integer(reach.sliced_numbers),
    )
    if len(reach.projected) == 1:
        return cost, message("With one head the slice is the whole row of X, so the two kinds read the same features.")
    if float(reach.outside(reach.projected).max()) == 0:
        return cost, message(
            "Add 1 to one of these features, outside a head's slice: no output changes, as the heads of "
            "this model are slices, too."
        )
    return cost, message(
        "Add 1 to one of these features, outside a head's slice: the output of a head that projects changes by up to "
        "{projected}, that of a sliced head by exactly 0.",
        projected=Magnitude(float(reach.outside(reach.projected).max())),
    )
