"""Why divide by √d_k?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from attention_core.attention import AttentionTrace, attend, scale_scores
from attention_core.masks import causal_mask
from attention_core.measures import MEASURES, RowMeasures, ScaleMeasures, measure_head, measure_scaling
from lessons.example.example import ExampleTrace, whose_weights
from lessons.kit.formulas import stage_formula
from lessons.kit.head_derivation import HeadDerivation, derive_head
from lessons.kit.matrices import head_matrix
from lessons.kit.questions import question_picker
from lessons.scores.questions import QUESTIONS
from lessons.screen.format import distinguishable, percent
from lessons.screen.message import Fixed, Magnitude, Message, Percent, message
from lessons.screen.program import Ran
from lessons.screen.screen import Code, Curves, Line, Matrices, Matrix, Screen, Table

HEADING = message("Why divide by the square root of d_k?")
OPENING = message(
    "The more features a query and a key have, the more their dot product varies. See what that does to the softmax, "
    "with the division and without it."
)

MEASURED_KEYS, MEASURED_DRAWS = 16, 200
MEASURE_TITLES = {
    "std": message("standard deviation of the scores"),
    "largest": message("largest weight of a row"),
    "entropy": message("entropy of a row (nats)"),
    "jacobian": message("norm of the softmax Jacobian"),
}
UNDIVIDED, DIVIDED = message("as they are"), message("÷ √d_k")


@dataclass(frozen=True)
class Choices:
    """The d_k that is marked in the curves; the rest is the running example."""

    d_k: int = 64


def screen(example: ExampleTrace, head: int, choices: Choices) -> Screen:
    """What the division does: measured over d_k on random vectors, and on the running example."""
    a = example.heads.select(head)
    mask = causal_mask(len(example.tokens)) if example.example.causal else None
    plain, divided = (attend(a.q, a.k, a.v, mask, scale=scale) for scale in (1.0, 1 / math.sqrt(a.q.shape[-1])))
    seed = example.example.seed
    measured = measure_scaling(MEASURED_KEYS, MEASURED_DRAWS, seed)
    curves = measured_curves(measured, choices.d_k)
    done = derive_head(example, head, divided, f"√{a.q.shape[-1]}")
    figure = division_figure(example, head, plain, divided, done)
    table = measures_table(measure_head(plain), measure_head(divided))
    return Screen(
        formula=stage_formula("scaled", example),
        figures=(figure, *curves, table),
        code=Code(
            (scale_scores, measure_scaling), a, example.scale, partial(ran_scaling, plain, divided, measured, seed)
        ),
        ask=question_picker("scores", QUESTIONS, example.example.seed, example, plain, divided),
        derive=done.derive,
    )


def ran_scaling(plain: AttentionTrace, divided: AttentionTrace, measured: tuple[ScaleMeasures, ...], seed: int) -> Ran:
    """The division of these scores, and what it does to random ones."""
    d_k = plain.q.shape[-1]
    ways = {"plain": False, "divided": True}
    return Ran(
        {"scores": plain.scores, "d_k": d_k, "n_keys": MEASURED_KEYS, "n_draws": MEASURED_DRAWS, "seed": seed},
        (
            "scaled = scale_scores(scores, 1 / math.sqrt(d_k))",
            "measured = measure_scaling(n_keys, n_draws, seed)",
            *(f"{way} = [m.std for m in measured if m.divided is {divides}]" for way, divides in ways.items()),
        ),
        {
            "scaled": divided.scaled,
            **{way: [m.std for m in measured if m.divided is divides] for way, divides in ways.items()},
        },
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
            name=message("A measure over d_k"),
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
    without, with_division = distinguishable(plain.jacobian, divided.jacobian)
    drawn = message(
        "Measured on {draws} random queries, each with {keys} random keys.", draws=MEASURED_DRAWS, keys=MEASURED_KEYS
    )
    before, after = ({"std": Fixed(m.std), "largest": Percent(m.largest)} for m in (plain, divided))
    if plain.d_k == 1:
        return (
            message(
                "At d_k = 1 the division changes nothing, as √1 = 1: the scores have a standard deviation of {std}, "
                "and the largest weight of a row is {largest} on average.",
                **before,
            ),
            drawn,
        )
    return (
        message(
            "At d_k = {d_k} the scores have a standard deviation of {std}, and the largest weight of a row is "
            "{largest} on average.",
            d_k=plain.d_k,
            **before,
        ),
        message("Divided by √{d_k}, they are {std} and {largest}.", d_k=plain.d_k, **after),
        message(
            "The softmax Jacobian has norm {without} without the division and {divided} with it.",
            without=without,
            divided=with_division,
        ),
        drawn,
    )


def division_figure(
    example: ExampleTrace, head: int, plain: AttentionTrace, divided: AttentionTrace, done: HeadDerivation
) -> Matrices:
    """The running example without the division and with it, whatever its switch says."""
    undone = derive_head(example, head, plain, "1")
    band = (
        visible_scores(undone, "scores", message("scores"), plain),
        visible_scores(done, "scaled", message("÷ √d_k"), divided),
        head_matrix(undone, "weights", message("softmax of the scores"), plain.weights, key="plain"),
        head_matrix(
            done, "weights", message("softmax after ÷ √d_k"), divided.weights, key="divided", began=plain.weights
        ),
    )
    return Matrices(
        key="scores_figure",
        name=message("Scores with and without the division"),
        heading=message("The running example"),
        notice=(notice_own(plain, divided),),
        weights=whose_weights(example),
        first="divided",
        bands=(band,),
    )


def visible_scores(derivation: HeadDerivation, tensor: str, title: Message, attention: AttentionTrace) -> Matrix:
    """The scores of what a query may look at."""

    def at(i: int, j: int) -> str:
        return tensor if derivation.visible[i][j] else "masked"

    return head_matrix(
        derivation,
        tensor,
        title,
        attention.masked,
        key=tensor,
        visible=derivation.visible,
        step=lambda i, j: derivation.step(at(i, j), i, j),
        before=lambda i, j: derivation.before(at(i, j), i, j),
    )


def notice_own(plain: AttentionTrace, divided: AttentionTrace) -> Message:
    """What the division does to the scores and weights of the running example."""
    before, after, d_k = measure_head(plain), measure_head(divided), plain.q.shape[-1]
    if plain.visible.numel() == 1:
        return message("A single token has a single score, and its weight is 1 whatever the score is divided by.")
    if before.std < 1e-6:
        return message("Here all scores are equal, so the weights are equal shares, with the division and without.")
    said = {"d_k": d_k, "std": Magnitude(before.std), "largest": Percent(before.largest)}
    if d_k == 1:
        return message(
            "Here d_k = {d_k}, and √1 = 1 changes nothing: the scores have a standard deviation of {std}, and "
            "the largest weight of a row is {largest} on average.",
            **said,
        )
    if percent(before.largest) == percent(after.largest):
        return message(
            "Here, with d_k = {d_k}, the division takes the standard deviation of the scores from {std} to "
            "{divided}. The largest weight of a row stays at about {largest} on average.",
            **said,
            divided=Magnitude(after.std),
        )
    return message(
        "Here, with d_k = {d_k}, the scores have a standard deviation of {std}, and the largest weight of a row "
        "is {largest} on average. After the division they are {divided} and {divided_largest}.",
        **said,
        divided=Magnitude(after.std),
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
