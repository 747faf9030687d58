"""Who may look at whom?"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.base.arrays import Array, namespace, row_sum
from attention_core.one_head.attention import AttentionTrace, attend, mask_scores, softmax_rows
from attention_core.one_head.head import project
from lessons.example.example import ExampleTrace, whose_weights
from lessons.one_head.mask.questions import QUESTIONS
from lessons.screen import (
    Fixed,
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
from lessons.shared.matrices import KEYS, single_axis, token_axis, traced_matrix
from lessons.shared.questions import question_picker
from lessons.shared.shared_choices import MASK
from lessons.shared.weighted_sum import View
from lessons.trace.computation import Computation
from lessons.trace.head import compute_head, head_names

OWN_EXAMPLE = "language"
TOPIC = message("The causal mask")
POINT = message(
    "The causal mask hides later tokens from each token: their weights are 0, and the others still sum to 1."
)

LARGE_NEGATIVE = -1e9
ROUNDING = 1e-6  # of a sum of weights
VIEW = OneOf(
    "masking",
    message("Step"),
    {
        "change": message("without and with"),
        "difference": message("difference"),
        "late": message("before and after the softmax"),
        "blind": message("a row that sees nothing"),
    },
    look="steps",
)


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page; the rest is the running example.

    A screen is found again by its choices: by this very mask, for tensors are told apart as objects.
    """

    may_attend: Annotated[Bool[Tensor, "queries keys"], MASK]
    view: VIEW.type = VIEW.begin


@dataclass(frozen=True, eq=False)
class Masking:
    """One head without a mask and with it."""

    free: AttentionTrace
    masked: AttentionTrace
    difference: Float[Array, "queries keys"]


@dataclass(frozen=True, eq=False)
class LateMask:
    """Weights that are set to 0 after the softmax, and what is left in each row."""

    free: AttentionTrace
    masked: AttentionTrace
    late: Float[Array, "queries keys"]
    sums: Float[Array, "queries 1"]


@dataclass(frozen=True, eq=False)
class BlindQuery:
    """A query that may look at nothing, hidden in two ways."""

    free: AttentionTrace
    masked: AttentionTrace
    infinity: Float[Array, "1 keys"]
    nan: Float[Array, "1 keys"]
    large: Float[Array, "1 keys"]
    even: Float[Array, "1 keys"]


def without_and_with(x, W_q, W_k, W_v, may_attend, scale, **others) -> Masking:
    """One head without a mask and with it, and the difference."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    free = attend(q, k, v, scale=scale)
    masked = attend(q, k, v, may_attend, scale=scale)
    return Masking(free, masked, masked.weights - free.weights)


def zeroed_late(x, W_q, W_k, W_v, may_attend, scale, **others) -> LateMask:
    """The classical mistake: the mask comes after the softmax."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    free = attend(q, k, v, scale=scale)
    masked = attend(q, k, v, may_attend, scale=scale)
    late = namespace(free.weights).where(may_attend, free.weights, 0.0)
    return LateMask(free, masked, late, row_sum(late))


def hidden_in_two_ways(x, W_q, W_k, W_v, may_attend, nothing, scale, **others) -> BlindQuery:
    """The last query, which may look at `nothing`: its scores become −∞, or a large negative number."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    free = attend(q, k, v, scale=scale)
    masked = attend(q, k, v, may_attend, scale=scale)
    infinity = mask_scores(free.scaled[-1:], nothing)
    large = namespace(free.scaled).where(nothing, free.scaled[-1:], LARGE_NEGATIVE)
    return BlindQuery(free, masked, infinity, softmax_rows(infinity), large, softmax_rows(large))


COMPUTE = {"late": zeroed_late, "blind": hidden_in_two_ways}
SENTENCES = {
    "difference": message("weight of {key} for {query}: with the mask − without"),
    "late": message("weight of {key} for {query}: visible, so it stays"),
    "late hidden": message("weight of {key} for {query}: hidden only after the softmax, so it is set to 0"),
    "sums": message("sum of what is left in the row of {query}"),
    "infinity hidden": message("score of {key}: hidden"),
    "large": message("score of {key}: hidden"),
    "nan": message("weight of {key}: 0 ÷ 0 has no value"),
    "max of infinity": message("the largest of the hidden scores"),
    "sum of infinity": message("sum over all keys"),
    "max of large": message("the largest of the hidden scores"),
    "sum of large": message("sum over all keys"),
    "even": message("weight of {key}"),
}


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """The weights with and without a mask."""
    others = {"nothing": torch.zeros(1, len(trace.tokens), dtype=torch.bool)} if choices.view == "blind" else {}
    computation = compute_head(
        COMPUTE.get(choices.view, without_and_with),
        trace,
        head,
        head_names(trace, **SENTENCES),
        may_attend=choices.may_attend,
        **others,
    )
    view = {"late": late_view, "blind": blind_view}.get(choices.view, change_view)
    both = computation.result
    notice, first, bands = view(trace, computation, choices)
    figure = Matrices(
        key="mask_figure",
        name=message("Weights with and without a mask"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_weights(trace),
    )
    formula = r"S'_{ij} = -\infty \ \text{ where } i \text{ may not look at } j"
    hidden = int((~both.masked.visible).sum())
    return Screen(
        formula=rf"{formula} \qquad {hidden} \text{{ of }} {both.masked.visible.numel()}",
        figures=(figure,),
        code=computation.code(SHOWN[choices.view], mask_scores, attention=both.masked),
        ask=question_picker("mask", QUESTIONS, trace.example.seed, trace, both.free, both.masked),
        derive=lambda tensor, *place: computation.follow(f"masked.{tensor}").derive(*place),
    )


SHOWN = {
    "change": ("free.weights", "masked.weights"),
    "difference": ("free.weights", "masked.weights", "difference"),
    "late": ("free.weights", "masked.weights", "late", "sums"),
    "blind": ("free.scaled", "infinity", "nan", "large", "even"),
}


def weights_without_and_with(trace: ExampleTrace, computation: Computation) -> tuple[Matrix, Matrix]:
    """The weights without a mask, and what they are with it."""
    both, tokens = computation.result, trace.tokens
    return (
        traced_matrix(computation, "free.weights", message("weights without a mask"), tokens, key="without"),
        traced_matrix(
            computation,
            "masked.weights",
            message("weights with the mask"),
            tokens,
            key="with",
            visible=both.masked.visible,
            began=both.free.weights,
        ),
    )


def change_view(trace: ExampleTrace, computation: Computation, choices: Choices) -> View:
    """Without and with the mask, and perhaps the difference."""
    both, band = computation.result, weights_without_and_with(trace, computation)
    if choices.view == "difference":
        axes: dict[str, Any] = {"rows": band[1].rows, "columns": band[1].columns}
        band += (traced_matrix(computation, "difference", message("difference"), trace.tokens, scale="change", **axes),)
    return notice_change(trace, both.free, both.masked), "with", (band,)


def notice_change(trace: ExampleTrace, free: AttentionTrace, masked: AttentionTrace) -> Message:
    """The visible weight that grew most: what is hidden is shared out among the rest."""
    growth = (masked.weights - free.weights).where(masked.visible, -math.inf)
    if masked.visible.all():
        return message("This mask hides nothing, so no weight changes.")
    query, key = divmod(int(growth.argmax()), growth.shape[-1])
    before, after = float(free.weights[query, key]), float(masked.weights[query, key])
    if percent(before) == percent(after):
        return message("No visible weight grows by more than {most}.", most=Magnitude(float(growth.max())))
    return message(
        "{query} may no longer see some keys, and their weight goes to the rest: its weight on {key} grows from "
        "{before} to {after}.",
        query=trace.names[query],
        key=trace.names[key],
        before=Percent(before),
        after=Percent(after),
    )


def late_view(trace: ExampleTrace, computation: Computation, choices: Choices) -> View:
    """The classical mistake: weights set to 0 after the softmax, where they should never have been computed."""
    _, masked = weights_without_and_with(trace, computation)
    look = {"rows": masked.rows, "scale": "weight"}
    late = traced_matrix(
        computation,
        "late",
        message("zeroed after the softmax"),
        trace.tokens,
        columns=masked.columns,
        colour="weight",
        **look,
    )
    sums = traced_matrix(
        computation, "sums", message("row sum"), trace.tokens, columns=single_axis(message("sum")), **look
    )
    found = computation.result
    return notice_late(trace, found.late, found.masked), "late", ((masked, late, sums),)


def notice_late(trace: ExampleTrace, late: Float[Tensor, "queries keys"], masked: AttentionTrace) -> Message:
    """The row that loses most."""
    if masked.visible.all():
        return message("This mask hides no key, so it makes no difference when it is applied.")
    sums = late.sum(dim=-1)
    if float(sums.min()) > 1 - ROUNDING:
        return message(
            "The keys that this mask hides had no weight, so it makes no difference when the mask is applied."
        )
    left, _ = distinguishable(float(sums.min()), 1.0)
    return message(
        "Zeroed after the softmax, the row of {query} sums to only {left}, not to 1: the softmax had already "
        "given the rest to hidden keys.",
        query=trace.names[int(sums.argmin())],
        left=left,
    )


def blind_view(trace: ExampleTrace, computation: Computation, choices: Choices) -> View:
    """A query that may see nothing, hidden in the two usual ways: with −∞, and with a large negative number."""
    query = len(trace.tokens) - 1
    axes = {"rows": single_axis(trace.tokens[query]), "columns": token_axis(trace.tokens, KEYS)}
    weights = {"scale": "weight", "colour": "weight"}

    def row(path: str, title: Message, **look: Any) -> tuple[Matrix]:
        return (traced_matrix(computation, path, title, trace.tokens, **axes, **look),)

    bands = (
        row("free.scaled", message("scores"), key="scores", take=lambda a: a[-1:]),
        row("infinity", message("hidden with −∞"), visible=[[False] * len(trace.tokens)]),
        row("nan", message("softmax of −∞"), **weights),
        row("large", message("hidden with −1e9"), key="number"),
        row("even", message("softmax of −1e9"), **weights),
    )
    return notice_blind(computation.result.even[0]), "even", bands


def notice_blind(even: Float[Tensor, " keys"]) -> Message:
    """What the two ways give: no number at all, or equal weights that look like an answer."""
    return message(
        "For a query that may see nothing, −∞ makes each weight 0 ÷ 0, not a number; −1e9 makes each "
        "{even}, and nothing warns you.",
        even=Fixed(float(even[0])),
    )
