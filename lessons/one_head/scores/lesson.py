"""Why divide by √d_k?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from attention_core.base.traced import Written
from attention_core.measured.measures import (
    D_K_MEASURED,
    MEASURES,
    RowMeasures,
    ScaleMeasures,
    measure_head,
    measure_scaling,
)
from attention_core.one_head.attention import AttentionTrace, attend, scale_scores
from attention_core.one_head.head import project
from lessons.example.example import ExampleTrace, whose_weights
from lessons.one_head.scores.questions import QUESTIONS
from lessons.screen import (
    Curves,
    Fixed,
    Line,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    OneOf,
    Percent,
    Screen,
    Table,
    message,
    numbers,
    percent,
)
from lessons.shared.formulas import stage_formula
from lessons.shared.matrices import traced_matrix
from lessons.shared.questions import question_picker
from lessons.trace.computation import Computation
from lessons.trace.head import compute_head

OWN_EXAMPLE = "language"
TOPIC = message("Scores and √d_k")
POINT = message(
    "Scores are dot products of queries and keys; the more features, d_k, the wider they spread, so we divide by √d_k."
)

MEASURED_KEYS, MEASURED_DRAWS = 16, 200
MEASURE_TITLES = {
    "std": message("standard deviation of the scores"),
    "largest": message("largest weight of a row"),
    "entropy": message("entropy of a row (nats)"),
    "jacobian": message("norm of the softmax Jacobian"),
}
UNDIVIDED, DIVIDED = message("undivided"), message("÷ √d_k")


D_K = OneOf(
    "measured_d_k",
    message("$d_k$ · features of the random queries and keys"),
    numbers(D_K_MEASURED),
    64,
    look="slider",
)


@dataclass(frozen=True)
class Choices:
    """The d_k that is marked in the curves; the rest is the running example."""

    d_k: D_K.type = D_K.begin


@dataclass(frozen=True, eq=False)
class Division:
    """One head whose scores stay as they are, and the same head with its scores divided by √d_k."""

    plain: AttentionTrace
    divided: AttentionTrace


def divide_scores(x, W_q, W_k, W_v, may_attend, scale, **others) -> Division:
    """Attention without the division by √d_k and with it."""
    q, k, v = project(x, W_q, W_k, W_v, **others)
    return Division(attend(q, k, v, may_attend, scale=1.0), attend(q, k, v, may_attend, scale=scale))


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """What the division does: measured over d_k on random vectors, and on the running example."""
    d_k = trace.example.d_k
    scale = Written(1 / math.sqrt(d_k), f"1 ÷ √{d_k}")
    computation = compute_head(divide_scores, trace, head, scale=scale)
    plain, divided = computation.result.plain, computation.result.divided
    seed = trace.example.seed
    measured = measure_scaling(MEASURED_KEYS, MEASURED_DRAWS, seed)
    curves = measured_curves(measured, choices.d_k)
    table = measures_table(measure_head(plain), measure_head(divided))
    return Screen(
        formula=stage_formula("scaled", trace),
        figures=(*division_figures(trace, computation), *curves, table),
        code=computation.code(("plain.weights", "divided.weights"), scale_scores, measure_scaling, attention=divided),
        ask=question_picker("scores", QUESTIONS, trace.example.seed, trace, plain, divided),
        derive=lambda tensor, *place: computation.follow(f"divided.{tensor}").derive(*place),
    )


def measured_curves(measured: tuple[ScaleMeasures, ...], d_k: int) -> Iterator[Curves]:
    """Each measure over d_k, with the division and without; two in a row."""
    plain, divided = (next(m for m in measured if m.d_k == d_k and m.divided is way) for way in (False, True))
    notice = notice_measured(plain, divided)
    for measure in MEASURES:
        lines = tuple(
            Line(
                key="divided" if way else "plain",
                name=DIVIDED if way else UNDIVIDED,
                points=True,
                colour="ink" if way else "muted",
                style="line" if way else "dashed",
                x=tuple(m.d_k for m in measured if m.divided is way),
                y=tuple(getattr(m, measure) for m in measured if m.divided is way),
            )
            for way in (False, True)
        )
        yield Curves(
            key=f"curve_{measure}",
            name=message("A measure against d_k"),
            notice=notice,
            lines=lines,
            x=message("d_k"),
            y=MEASURE_TITLES[measure],
            above=True,
            logarithmic=True,
            chosen=d_k,
            beside=measure != MEASURES[0],
            width=440,
            height=230,
        )


def notice_measured(plain: ScaleMeasures, divided: ScaleMeasures) -> tuple[Message, ...]:
    """What the division does at one d_k."""
    drawn = message(
        "Measured on {draws} random queries, each with {keys} random keys.", draws=MEASURED_DRAWS, keys=MEASURED_KEYS
    )
    before, after = ({"std": Fixed(m.std), "largest": Percent(m.largest)} for m in (plain, divided))
    return (
        message(
            "At d_k = {d_k} the scores have a standard deviation of {std}, and the largest weight of a row is "
            "{largest} on average.",
            d_k=plain.d_k,
            **before,
        ),
        message("After division by √{d_k}, they are {std} and {largest}.", d_k=plain.d_k, **after),
        drawn,
    )


def division_figures(trace: ExampleTrace, computation: Computation) -> Iterator[Matrices]:
    """The running example without the division and with it, whatever its switch says."""
    plain, divided = computation.result.plain, computation.result.divided

    def pairs(path: str, key: str, title: Message, **look: Any) -> Matrix:
        return traced_matrix(
            computation, path, title, trace.tokens, key=key, visible=plain.visible, computed=True, **look
        )

    scores = (
        pairs("plain.masked", "scores", message("scores")),
        pairs("divided.masked", "scaled", message("÷ √d_k")),
    )
    weights = (
        pairs("plain.weights", "plain", message("softmax of the scores")),
        pairs("divided.weights", "divided", message("softmax after ÷ √d_k"), began=plain.weights),
    )
    yield Matrices(
        key="scores_figure",
        name=message("Scores with and without the division"),
        weights=whose_weights(trace),
        first="scaled",
        bands=(scores,),
    )
    yield Matrices(
        key="divided_figure",
        name=message("Weights with and without the division"),
        notice=(notice_own(plain, divided),),
        first="divided",
        bands=(weights,),
    )


def notice_own(plain: AttentionTrace, divided: AttentionTrace) -> Message:
    """What the division does to the scores and weights of the running example."""
    before, after, d_k = measure_head(plain), measure_head(divided), plain.q.shape[-1]
    if plain.visible.numel() == 1 or before.std < 1e-6:
        return message("Here all scores are equal, so the weights are equal shares, with or without the division.")
    said = {"d_k": d_k, "std": Magnitude(before.std), "divided": Magnitude(after.std)}
    if percent(before.largest) == percent(after.largest):
        return message(
            "Here, with d_k = {d_k}, the division takes the standard deviation of the scores from {std} to {divided}.",
            **said,
        )
    return message(
        "Here, with d_k = {d_k}, the division takes the standard deviation of the scores from {std} to {divided}, and "
        "the largest weight of a row, on average, from {largest} to {divided_largest}.",
        **said,
        largest=Percent(before.largest),
        divided_largest=Percent(after.largest),
    )


def measures_table(plain: RowMeasures, divided: RowMeasures) -> Table:
    """The four measures of the running example."""
    rows = ((UNDIVIDED, plain), (DIVIDED, divided))
    return Table(
        key="scores_table",
        name=message("The measures of the running example"),
        columns=(message("scores"), *(MEASURE_TITLES[measure] for measure in MEASURES)),
        cells=tuple((name, *(Fixed(getattr(one, measure), 3) for measure in MEASURES)) for name, one in rows),
    )
