"""Who may look at whom?"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend, mask_scores, softmax_rows
from lessons.example.example import ExampleTrace, whose_weights
from lessons.kit.head_derivation import HeadDerivation, derive_head
from lessons.kit.matrices import KEYS, head_matrix, single_axis, token_axis
from lessons.kit.questions import question_picker
from lessons.kit.weighted_sum import View
from lessons.mask.questions import QUESTIONS
from lessons.screen.arithmetic import power, sum_of, term
from lessons.screen.format import argmax_ties, distinguishable, number, percent
from lessons.screen.message import Fixed, ListOf, Magnitude, Message, Percent, message
from lessons.screen.program import Ran
from lessons.screen.screen import Code, Matrices, Matrix, Screen, Step

HEADING = message("Who may look at whom?")
OPENING = message(
    "A mask hides keys from queries. It is applied before the softmax, so the remaining weights still sum to 1."
)

LARGE_NEGATIVE = -1e9
ALMOST_NO_WEIGHT = 0.01  # of a row
ROUNDING_OF_A_SUM = 1e-6  # of a sum of weights


@dataclass(frozen=True, eq=False)
class Choices:
    """What the learner chose on this page; the rest is the running example."""

    may_attend: Bool[Tensor, "queries keys"]
    view: Literal["change", "difference", "late", "blind"] = "change"


@dataclass(frozen=True, eq=False)
class Masking:
    """One head without a mask and with it, on the same queries and keys, and how both come about."""

    free: AttentionTrace
    masked: AttentionTrace
    to_free: HeadDerivation
    to_masked: HeadDerivation


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """The weights with and without a mask."""
    a = example.heads.select(head)
    free = attend(a.q, a.k, a.v, scale=example.scale)
    masked = attend(a.q, a.k, a.v, choices.may_attend, scale=example.scale)
    both = Masking(free, masked, derive_head(example, head, free), derive_head(example, head, masked))
    view = {"late": late_view, "blind": blind_view}.get(choices.view, change_view)
    hidden = int((~masked.visible).sum())
    notice, first, bands = view(example, both, choices)
    figure = Matrices(
        key="mask_figure",
        name=message("Weights with and without a mask"),
        notice=(notice,),
        first=first,
        bands=bands,
        weights=whose_weights(example),
        height=440,
    )
    formula = r"S'_{ij} = -\infty \ \text{ where } i \text{ may not look at } j"
    return Screen(
        formula=rf"{formula} \qquad {hidden} \text{{ of }} {masked.visible.numel()}",
        figures=(figure,),
        code=Code((mask_scores,), masked, example.scale, partial(ran_mask, free, masked, choices.view)),
        ask=question_picker("mask", QUESTIONS, example.example.seed, example, free, masked),
        derive=both.to_masked.derive,
    )


def weights_without_and_with(both: Masking) -> tuple[Matrix, Matrix]:
    """The weights without a mask, and what they are with it."""
    without, masked = message("weights without a mask"), message("weights with the mask")
    free = both.free.weights
    return (
        head_matrix(both.to_free, "weights", without, free, key="without", visible=None),
        head_matrix(both.to_masked, "weights", masked, both.masked.weights, key="with", began=free),
    )


def ran_mask(free: AttentionTrace, masked: AttentionTrace, view: str) -> Ran:
    """Scores without a mask, and what the mask makes of them; or the two mistakes that a view is about."""
    values, uses = {"scaled": free.scaled, "may_attend": masked.visible}, (softmax_rows,)
    lines = ("free = softmax_rows(scaled)", "weights = softmax_rows(mask_scores(scaled, may_attend))")
    shows = {"free": free.weights, "weights": masked.weights}
    if view == "late":
        lines += ("late = torch.where(may_attend, free, 0.0)", "sums = late.sum(dim=-1)")
        late = free.weights.where(masked.visible, 0.0)
        return Ran(values, lines, {**shows, "late": late, "sums": late.sum(dim=-1)}, uses)
    if view == "blind":
        last, large = free.scaled[-1], torch.full_like(free.scaled[-1], LARGE_NEGATIVE)
        ways = {"infinity": "-torch.inf", "large": LARGE_NEGATIVE}
        lines = tuple(
            f"{name} = torch.full_like(scaled[-1], {hidden}).softmax(dim=-1)" for name, hidden in ways.items()
        )
        shown = {"scaled[-1]": last, "infinity": last * math.nan, "large": large.softmax(dim=-1)}
        return Ran({"scaled": free.scaled}, lines, shown)
    return Ran(values, lines, shows, uses)


def change_view(example: ExampleTrace, both: Masking, choices: Choices) -> View:
    """Without and with the mask, and perhaps the difference."""
    band = weights_without_and_with(both)
    if choices.view == "difference":
        band = (*band, difference(*band))
    return notice_change(example, both.free, both.masked), "with", (band,)


def difference(without: Matrix, masked: Matrix) -> Matrix:
    """What the mask adds to each weight."""
    before, after = without.values.tolist(), masked.values.tolist()

    def step(i: int, j: int) -> Step:
        arithmetic = term(after[i][j]) - before[i][j]
        return Step(message("with the mask − without"), arithmetic, after[i][j] - before[i][j])

    return Matrix(
        key="difference",
        title=message("difference"),
        values=masked.values - without.values,
        rows=masked.rows,
        columns=masked.columns,
        step=step,
        scale="change",
        before=lambda i, j: (*without.derive(i, j), *masked.derive(i, j)),
    )


def notice_change(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace) -> Message:
    """The visible weight that grew most: what is hidden is shared out among the rest."""
    growth = (masked.weights - free.weights).where(masked.visible, -math.inf)
    if masked.visible.all():
        return message("This mask hides nothing, so every weight stays as it is.")
    grown = argmax_ties(growth, percent)
    query, key = grown[0]
    before, after = float(free.weights[query, key]), float(masked.weights[query, key])
    if percent(before) == percent(after):
        most, kept = Magnitude(float(growth.max())), free.weights.where(masked.visible, 0.0).sum(dim=-1).min()
        if kept < 1 - ALMOST_NO_WEIGHT:
            return message(
                "What is hidden is shared out among the visible keys, and no visible weight grows by more than {most}.",
                most=most,
            )
        return message(
            "What this mask hides had almost no weight: no visible weight grows by more than {most}.", most=most
        )
    if len(grown) > 1:
        pairs = ListOf(
            tuple(message("{key} for {query}", key=example.names[j], query=example.names[i]) for i, j in grown)
        )
        return message(
            "What is hidden is shared out among the visible keys. The weights of {pairs} grow most, by {growth} each.",
            pairs=pairs,
            growth=Percent(after - before),
        )
    return message(
        "{query} loses the keys that it may no longer see, and their weight goes to the rest: its weight on "
        "{key} grows from {before} to {after}, more than on any other.",
        query=example.names[query],
        key=example.names[key],
        before=Percent(before),
        after=Percent(after),
    )


def late_view(example: ExampleTrace, both: Masking, choices: Choices) -> View:
    """The classical mistake: weights set to 0 after the softmax, where they should never have been computed."""
    late = both.free.weights.where(choices.may_attend, 0.0)
    without, masked = weights_without_and_with(both)
    zeroed, sums, before = late.tolist(), late.sum(dim=-1).tolist(), both.free.weights.tolist()

    def stays(i: int, j: int) -> Step:
        if both.masked.visible[i, j]:
            return Step(message("visible, so it stays"), term(before[i][j]) * 1, zeroed[i][j])
        return Step(message("hidden only after the softmax: set to 0"), term(before[i][j]) * 0, zeroed[i][j])

    def total(i: int, j: int) -> Step:
        says = message("sum of what is left in the row of {query}", query=example.names[i])
        return Step(says, sum_of(zeroed[i]), sums[i])

    title = message("zeroed after the softmax")
    matrix = replace(without, key="late", title=title, values=late, step=stays, before=without.derive)
    row_sums = Matrix(
        key="sums",
        title=message("row sum"),
        values=late.sum(dim=-1, keepdim=True),
        rows=masked.rows,
        columns=single_axis(message("sum")),
        scale="weight",
        step=total,
    )
    return notice_late(example, late, both.masked), "late", ((masked, matrix, row_sums),)


def notice_late(example: ExampleTrace, late: Float[Tensor, "queries keys"], masked: AttentionTrace) -> Message:
    """The row that loses most."""
    if masked.visible.all():
        return message("This mask hides nothing, so it makes no difference when it comes.")
    sums = late.sum(dim=-1)
    if float(sums.min()) > 1 - ROUNDING_OF_A_SUM:
        return message("What this mask hides had no weight to be seen, so it makes no difference when it comes.")
    left, _ = distinguishable(float(sums.min()), 1.0)
    lost = argmax_ties(-sums, lambda sum_: number(sum_, left.decimals))
    rows = ListOf(tuple(example.names[query] for (query,) in lost))
    if len(lost) > 1:
        return message(
            "Zeroed after the softmax, the rows of {rows} sum to {left} each instead of 1.", rows=rows, left=left
        )
    return message(
        "Zeroed after the softmax, the row of {query} sums to only {left}, not to 1: its weights were shares of "
        "a whole that it may not see.",
        query=example.names[lost[0][0]],
        left=left,
    )


def blind_view(example: ExampleTrace, both: Masking, choices: Choices) -> View:
    """A query that may see nothing, hidden in the two usual ways: with −∞, and with a large negative number."""
    query = len(example.tokens) - 1
    scores = both.free.scaled[query]
    infinity, large = (torch.full_like(scores, hidden) for hidden in (-math.inf, LARGE_NEGATIVE))
    nan, even = infinity.softmax(dim=-1), large.softmax(dim=-1)
    steps = blind_steps(example, nan.tolist(), even.tolist())
    axes = {"rows": single_axis(example.tokens[query]), "columns": token_axis(example.tokens, KEYS)}

    def row(key: str, title: Message, values: Tensor, **look: object) -> tuple[Matrix]:
        steps_of = {"step": lambda i, j: steps[key](j)[-1], "before": lambda i, j: steps[key](j)[:-1]}
        return (Matrix(key=key, title=title, values=values[None], **(axes | steps_of | look)),)

    weights = {"scale": "weight", "colour": "weight"}
    bands = (
        row(
            "scores",
            message("scores"),
            scores,
            step=lambda i, j: both.to_free.step("scaled", query, j),
            before=lambda i, j: both.to_free.before("scaled", query, j),
        ),
        row("infinity", message("hidden with −∞"), infinity, visible=[[False] * len(scores)]),
        row("nan", message("softmax of −∞"), nan, **weights),
        row("number", message("hidden with −1e9"), large),
        row("even", message("softmax of −1e9"), even, **weights),
    )
    return notice_blind(even), "even", bands


def blind_steps(example: ExampleTrace, nan: list[float], even: list[float]) -> dict[str, Callable[[int], list[Step]]]:
    """How each number of the two ways comes about, for one key."""
    n, names, large = len(example.tokens), example.names, term(LARGE_NEGATIVE)

    def hidden(value: float) -> Callable[[int], list[Step]]:
        return lambda j: [Step(message("score of {key}: hidden", key=names[j]), term(value), value)]

    return {
        "infinity": hidden(-math.inf),
        "number": hidden(LARGE_NEGATIVE),
        "nan": lambda j: [
            Step(message("e to a hidden score"), power(-math.inf), 0.0),
            Step(message("sum over all keys"), sum_of([power(-math.inf)] * n), 0.0),
            Step(message("weight of {key}: 0 ÷ 0 has no value", key=names[j]), term(0) / 0, nan[j]),
        ],
        "even": lambda j: [
            Step(message("score of {key} minus the largest", key=names[j]), large - large, 0.0),
            Step(message("sum of e to that over all keys"), sum_of([power(0.0)] * n), float(n)),
            Step(message("weight of {key}", key=names[j]), power(0.0) / n, even[j]),
        ],
    }


def notice_blind(even: Float[Tensor, " keys"]) -> Message:
    """What the two ways give: no number at all, or equal weights that look like an answer."""
    return message(
        "A query that may see nothing: with −∞ each weight is 0 ÷ 0, not a number; with −1e9 each is {even}, "
        "and nothing warns you. Attention Lab refuses such a mask.",
        even=Fixed(float(even[0])),
    )
