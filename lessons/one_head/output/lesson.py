"""What comes out?"""

from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float

from attention_core.base.arrays import Array, namespace, row_products
from attention_core.one_head.attention import AttentionTrace, mix_values
from attention_core.one_head.head import one_head
from lessons.example.example import ExampleTrace, whose_weights
from lessons.one_head.output.questions import QUESTIONS
from lessons.screen import (
    Magnitude,
    Matrices,
    Matrix,
    Message,
    OneOf,
    Percent,
    Screen,
    distinguishable,
    message,
    percent,
)
from lessons.shared.attention_notices import notice_mix
from lessons.shared.formulas import stage_formula
from lessons.shared.matrices import single_axis, traced_matrix
from lessons.shared.questions import question_picker
from lessons.shared.shared_choices import QUERY
from lessons.shared.weighted_sum import SUM_SENTENCES, View, column_of_pairs, weighted_sum
from lessons.trace.computation import Computation
from lessons.trace.head import compute_head, head_names

OWN_EXAMPLE = "language"
TOPIC = message("The output of a head")
POINT = message("Each query receives a mix of the values: every value times its weight, added up.")

GIVEN = ("query", "k", "score", "weight", "v")
SENTENCES = {
    **SUM_SENTENCES,
    "value_lengths": message("length of the value of {key}"),
    "lengths": message("weight · length of {key}"),
    "shares": message("share of {key}"),
    "shares hidden": message("masked: {key} has no share"),
    "sum of lengths": message("sum of these"),
}


VIEW = OneOf(
    "of",
    message("Step"),
    {"one": message("one query"), "all": message("all queries"), "parts": message("weights beside contributions")},
    look="steps",
)
QUERY_OF_SUM = replace(QUERY, only=("view", ("one", "parts")))


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page; the query counts from 0."""

    view: VIEW.type
    query: QUERY_OF_SUM.type


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """The weighted sum of the values: of one query, of all, or how much each key contributes to it."""
    names = head_names(trace, **SENTENCES)
    computation = compute_head(weigh_values, trace, head, names, query=choices.query)
    view = {"one": one_query, "all": all_queries, "parts": shares_of_keys}[choices.view]
    notice, first, bands = view(trace, computation, choices.query)
    figure = Matrices(
        key="output_figure",
        name=message("The weighted sum of the values"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_weights(trace),
    )
    return Screen(
        formula=stage_formula("output", trace),
        figures=(figure,),
        code=computation.code(("head.weights", "head.v", "head.output"), mix_values, attention=computation.result.head),
        ask=question_picker("output", QUESTIONS, trace.example.seed, trace, head, choices.query),
        derive=lambda tensor, *place: computation.follow(f"head.{tensor}").derive(*place),
    )


def one_query(trace: ExampleTrace, computation: Computation, query: int) -> View:
    """One query's weighted sum, key by key."""
    bands = weighted_sum(trace, computation, query, given=GIVEN, at="head", from_scores=False)
    return notice_mix(trace.names, computation.result.head, query), "weight", bands


def all_queries(trace: ExampleTrace, computation: Computation, query: int) -> View:
    """The weights and the outputs of all queries."""
    attention = computation.result.head
    weights = traced_matrix(
        computation, "head.weights", message("weights"), trace.tokens, given=True, visible=attention.visible
    )
    output = traced_matrix(computation, "head.output", message("output"), trace.tokens)
    return notice_mix(trace.names, attention, query), "weights", ((weights, output),)


@dataclass(frozen=True, eq=False)
class Contributions:
    """For one query: the lengths of the values, of weight × value, and the share of each key in their sum."""

    value_lengths: Float[Array, " keys"]
    lengths: Float[Array, " keys"]
    shares: Float[Array, " keys"]


def contributions(attention: AttentionTrace, query: int) -> Contributions:
    """Weight × length of the value, as a share of all; nothing where all values are zero."""
    value_lengths = namespace(attention.v).sqrt(row_products(attention.v, attention.v))
    lengths = attention.weights[query] * value_lengths
    total = lengths.sum()
    return Contributions(value_lengths, lengths, lengths / (total + (total == 0)))


@dataclass(frozen=True, eq=False)
class WeighedValues:
    """One head, and what each value contributes to the output of one query."""

    head: AttentionTrace
    parts: Contributions


def weigh_values(x, W_q, W_k, W_v, may_attend, scale, query, **others) -> WeighedValues:
    """One head, from X to its output, and the contributions of the keys to one query's."""
    head = one_head(x, W_q, W_k, W_v, may_attend, scale, **others)
    return WeighedValues(head, contributions(head, query))


def shares_of_keys(trace: ExampleTrace, computation: Computation, query: int) -> View:
    """Weights beside contributions: a large weight on a short value adds little."""
    attention, parts = computation.result.head, computation.result.parts
    weight = column_of_pairs(trace, computation, query, "weight", GIVEN, at="head")

    def column(field: str, title: Message, label: Message, **look: Any) -> Matrix:
        return traced_matrix(
            computation,
            f"parts.{field}",
            title,
            trace.tokens,
            take=lambda vector: vector[:, None],
            rows=weight.rows,
            columns=single_axis(label),
            colour="v",
            **look,
        )

    lengths = column("value_lengths", message("length of the value"), message("length"), key="length")
    shares = column(
        "shares",
        message("share of weight × length"),
        message("share"),
        key="share",
        scale="weight",
        visible=weight.visible,
    )
    return notice_contribution(trace, attention, parts, query), "weight", ((weight, lengths, shares),)


def notice_contribution(trace: ExampleTrace, attention: AttentionTrace, parts: Contributions, query: int) -> Message:
    """A key whose share is not what its weight says; or how little shares and weights differ."""
    weights = attention.weights[query]
    gaps, mean = (parts.shares - weights).abs(), float(parts.lengths.sum())
    if mean == 0:
        return message("Every value that {query} receives is zero, so nothing is added up.", query=trace.names[query])
    key = int(gaps.argmax())
    weight, share, length = (float(one[key]) for one in (weights, parts.shares, parts.value_lengths))
    if percent(weight) != percent(share):
        at, average = distinguishable(length, mean)
        said = {"weight": Percent(weight), "share": Percent(share), "length": at, "mean": average}
        return message(
            "A weight is not a contribution: {key} has {weight} of the weight but {share} of what is added "
            "up. Its value has length {length}; the weighted mean of all lengths is {mean}.",
            key=trace.names[key],
            **said,
        )
    return message("No share differs from its weight by more than {gap}.", gap=Magnitude(float(gaps.max())))
