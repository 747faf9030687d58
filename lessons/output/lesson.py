"""What comes out?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace, mix_values
from lessons.example.example import ExampleTrace, whose_weights
from lessons.kit.attention_notices import notice_mix
from lessons.kit.formulas import stage_formula
from lessons.kit.head_derivation import HeadDerivation, derive_head
from lessons.kit.matrices import KEYS, head_matrix, single_axis, token_axis
from lessons.kit.questions import question_picker
from lessons.kit.weighted_sum import View, column_of_pairs, weighted_sum
from lessons.output.questions import QUESTIONS
from lessons.screen.arithmetic import sum_of, term
from lessons.screen.format import distinguishable, percent
from lessons.screen.message import Magnitude, Message, Percent, message
from lessons.screen.program import Ran
from lessons.screen.screen import Code, Matrices, Matrix, Screen, Step

HEADING = message("What comes out?")
OPENING = message(
    "Each query receives the values it looked at, mixed by their weights. A large weight on a short value still adds "
    "little."
)

GIVEN = ("query", "k", "score", "weight", "v")


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page; the query counts from 0."""

    view: Literal["one", "all", "parts"]
    query: int


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """The weighted sum of the values: of one query, of all, or how much each key contributes to it."""
    attention, derivation = example.heads.select(head), derive_head(example, head)
    view = {"one": one_query, "all": all_queries, "parts": shares_of_keys}[choices.view]
    notice, first, bands = view(example, attention, derivation, choices.query)
    figure = Matrices(
        key="output_figure",
        name=message("The weighted sum of the values"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_weights(example),
        numbered=True,
        height=480,
    )
    return Screen(
        formula=stage_formula("output", example),
        figures=(figure,),
        code=Code((mix_values,), attention, example.scale, partial(ran_mix, attention)),
        ask=question_picker("output", QUESTIONS, example.example.seed, example, head, choices.query),
        derive=derivation.derive,
    )


def ran_mix(attention: AttentionTrace) -> Ran:
    """The weights and the values, and their mixture."""
    return Ran(
        {"weights": attention.weights, "v": attention.v},
        ("output = mix_values(weights, v)",),
        {"output": attention.output},
    )


def one_query(example: ExampleTrace, attention: AttentionTrace, derivation: HeadDerivation, query: int) -> View:
    """One query's weighted sum, key by key."""
    bands = weighted_sum(derivation, attention, query, given=GIVEN)
    return notice_mix(example.names, attention, query), "weight", bands


def all_queries(example: ExampleTrace, attention: AttentionTrace, derivation: HeadDerivation, query: int) -> View:
    """The weights and the outputs of all queries."""
    matrices = (
        head_matrix(derivation, "weights", message("weights"), attention.weights, given=True),
        head_matrix(derivation, "output", message("output"), attention.output),
    )
    return notice_mix(example.names, attention, query), "weights", (matrices,)


@dataclass(frozen=True, eq=False)
class Contributions:
    """For one query: the lengths of the values, of weight × value, and the share of each key in their sum."""

    value_lengths: Float[Tensor, " keys"]
    lengths: Float[Tensor, " keys"]
    shares: Float[Tensor, " keys"]


def contributions(attention: AttentionTrace, query: int) -> Contributions:
    """Weight × length of the value, as a share of all; nothing where all values are zero."""
    value_lengths = attention.v.norm(dim=-1)
    lengths = attention.weights[query] * value_lengths
    total = lengths.sum()
    return Contributions(value_lengths, lengths, lengths / total if total > 0 else torch.zeros_like(lengths))


def shares_of_keys(example: ExampleTrace, attention: AttentionTrace, derivation: HeadDerivation, query: int) -> View:
    """Weights beside contributions: a large weight on a short value adds little."""
    parts, rows = contributions(attention, query), token_axis(example.tokens, KEYS)
    lengths = parts.value_lengths.tolist()
    weight = column_of_pairs(derivation, attention, query, "weight", GIVEN)

    def length(i: int, j: int) -> Step:
        squares = sum_of(term(v) ** 2 for v in derivation.numbers["v"][i])
        return Step(message("length of the value of {key}", key=example.names[i]), squares**0.5, lengths[i])

    matrices = (
        replace(weight, sources=lambda i, j: ()),
        Matrix(
            key="length",
            title=message("length of the value"),
            values=parts.value_lengths[:, None],
            rows=rows,
            columns=single_axis(message("length")),
            colour="v",
            step=length,
            before=lambda i, j: (derivation.feature("v", i, c) for c in range(attention.v.shape[1])),
        ),
        Matrix(
            key="share",
            title=message("share of weight × length"),
            values=parts.shares[:, None],
            rows=rows,
            columns=single_axis(message("share")),
            scale="weight",
            colour="v",
            visible=weight.visible,
            step=lambda i, j: share_of(derivation, parts, query, i),
            before=lambda i, j: before_share(derivation, parts, query, i),
        ),
    )
    return notice_contribution(example, attention, parts, query), "weight", (matrices,)


def share_of(derivation: HeadDerivation, parts: Contributions, query: int, key: int) -> Step:
    """The part of one key in the sum of all weight × length."""
    name, share, total = derivation.names[key], float(parts.shares[key]), float(parts.lengths.sum())
    if not derivation.visible[query][key]:
        return Step(message("masked: {key} has no share", key=name), term(share), share)
    if total == 0:
        return Step(message("share of {key}: every value is zero, so nothing is added", key=name), term(share), share)
    return Step(message("share of {key}", key=name), term(float(parts.lengths[key])) / total, share)


def before_share(derivation: HeadDerivation, parts: Contributions, query: int, key: int) -> Iterator[Step]:
    """Weight × length of each key that the query may look at, and their sum."""
    visible, lengths = derivation.visible[query], parts.lengths.tolist()
    if not visible[key]:
        return
    for j, weight in enumerate(derivation.numbers["weights"][query]):
        if visible[j]:
            arithmetic = term(weight) * float(parts.value_lengths[j])
            yield Step(message("weight · length of {key}", key=derivation.names[j]), arithmetic, lengths[j])
    added = [length for length, seen in zip(lengths, visible, strict=True) if seen]
    yield Step(message("sum of these"), sum_of(added), float(parts.lengths.sum()))


def notice_contribution(example: ExampleTrace, attention: AttentionTrace, parts: Contributions, query: int) -> Message:
    """A key whose share is not what its weight says; or how little shares and weights differ."""
    weights, visible = attention.weights[query], attention.visible[query]
    gaps, mean = (parts.shares - weights).abs(), float(parts.lengths.sum())
    if mean == 0:
        return message("Every value that {query} receives is zero, so nothing is added up.", query=example.names[query])
    if int(visible.sum()) == 1:
        return message(
            "{query} can look only at itself: weight and share are both the whole.", query=example.names[query]
        )
    key = int(gaps.argmax())
    weight, share, length = (float(one[key]) for one in (weights, parts.shares, parts.value_lengths))
    if percent(weight) != percent(share):
        at, average = distinguishable(length, mean)
        said = {"weight": Percent(weight), "share": Percent(share), "length": at, "mean": average}
        if share > weight:
            return message(
                "A weight is not a contribution: {key} has {weight} of the weight but {share} of what is added "
                "up. Its value has length {length}, more than the weighted mean of {mean}.",
                key=example.names[key],
                **said,
            )
        return message(
            "A weight is not a contribution: {key} has {weight} of the weight but only {share} of what is added "
            "up. Its value has length {length}, less than the weighted mean of {mean}.",
            key=example.names[key],
            **said,
        )
    low, high = (float(one) for one in parts.value_lengths[visible].aminmax())
    if math.isclose(low, high, rel_tol=1e-6):
        return message(
            "Each share equals its weight, as all these values have length {length}.", length=Magnitude(high)
        )
    low, high = distinguishable(low, high)
    return message(
        "No share differs from its weight by more than {gap}. The lengths of the values run from {low} to {high}.",
        gap=Magnitude(float(gaps.max())),
        low=low,
        high=high,
    )
