"""The softmax backwards: one row of weights, which gradient each score gets, and what large scores do to it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from attention_core.base.arrays import Array, numbers_of, row_products
from attention_core.one_head.attention import Number, softmax_rows
from lessons.learning.backward.one_prediction import Prediction, whose_gradients
from lessons.learning.backward.way_back import WayBack, go_back
from lessons.screen import (
    Colour,
    Curves,
    Figure,
    Fixed,
    Line,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    Percent,
    Token,
    message,
    plural,
)
from lessons.shared.matrices import KEYS, single_axis, token_axis, traced_matrix
from lessons.trace.computation import Computation

# What the row of scores is multiplied by; all of them exact in single precision, in which curves are drawn.
SIZES_OF_SCORES = (0.125, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20)
NEARLY_CERTAIN = 0.99  # of the weight of a row
ROUNDING = 1e-14  # of the largest d_weight: what double precision leaves of a difference that is 0


@dataclass(frozen=True, eq=False)
class RowBack:
    """A row of scores, its weights, and the gradients of both."""

    sized: Float[Array, " visible"]  # what the softmax reads
    weights: Float[Array, " visible"]
    d_weights: Float[Array, " visible"]
    mean: Float[Array, ""]  # of the gradients of the weights, each counted by its weight
    less_mean: Float[Array, " visible"]
    d_sized: Float[Array, " visible"]

    @property
    def directions(self) -> Float[Array, " visible"]:
        """Where a step moves each score: 1 up, −1 down, 0 where it has no weight, or the mean but for rounding."""
        apart = abs(self.less_mean) > ROUNDING * abs(self.d_weights).max()
        return np.where(apart & (self.d_sized != 0), -np.sign(self.less_mean), 0)

    @property
    def largest(self) -> float:
        """The largest of these gradients, whatever its sign."""
        return float(abs(self.d_sized).max())


@dataclass(frozen=True, eq=False)
class SizedRow:
    """A sentence forwards and back, and one of its rows at another size."""

    way: WayBack
    row: RowBack


def softmax_and_back(scaled: Float[Array, " visible"], d_weights: Float[Array, " visible"], size: Number) -> RowBack:
    """One row of scores times `size` through the softmax and back; the gradients of the weights stay as they are."""
    sized = scaled * size
    weights = softmax_rows(sized[None])[0]
    mean = row_products(weights, d_weights)
    less_mean = d_weights - mean
    return RowBack(sized, weights, d_weights, mean, less_mean, weights * less_mean)


def resize_scores(query: int, size: Number, **sentence: Array) -> SizedRow:
    """Go back through a `sentence`, and once more through the softmax of one query with its scores times `size`."""
    way = go_back(**sentence)
    visible = numbers_of(way.attention.visible)[query]
    scaled, d_weights = way.attention.scaled[query][visible], way.d_weights[query][visible]
    return SizedRow(way, softmax_and_back(scaled, d_weights, size))


ROW_SENTENCES = {
    "sized": message("scaled score of {key}, times the size"),
    "max of sized": message("the largest of these"),
    "sum of sized": message("sum over all visible keys"),
    "row.weights": message("weight of {key}: its part of the sum"),
    "mean": message("mean of the d_weights, weighted by the weights"),
    "less_mean": message("d_weight of {key}, less the mean"),
    "d_sized": message("weight of {key} · (d_weight − mean)"),
}


def compute_row(correction: Prediction, size: float) -> Computation:
    """The row of the query that was asked."""
    names, seen = correction.called(**ROW_SENTENCES), visible_keys(correction)
    names = replace(names, things={**names.things, "visible": seen})
    return correction.compute(resize_scores, names, query=correction.asked[-1], size=float(size))


def visible_keys(correction: Prediction) -> tuple[Token, ...]:
    """The keys that the query may look at."""
    visible = correction.way.attention.visible[correction.asked[-1]].tolist()
    return tuple(name for name, seen in zip(correction.names, visible, strict=True) if seen)


def row_at(correction: Prediction, size: float) -> RowBack:
    """The row of the query that was asked, with its scores at this size, and its way back."""
    way, query = correction.way, correction.asked[-1]
    visible = way.attention.visible[query]
    return softmax_and_back(way.attention.scaled[query][visible], way.d_weights[query][visible], size)


def softmax_figures(correction: Prediction, size: float) -> Iterator[Figure]:
    """The row step by step; then the largest gradient and the largest weight over the size of the scores."""
    row = row_at(correction, size)
    yield Matrices(
        key="softmax_back",
        name=message("The softmax backwards, for one row"),
        first="d_sized",
        bands=tuple(row_lines(correction, size)),
        notice=tuple(notice_row_back(visible_keys(correction), row)),
        weights=whose_gradients(correction.learner),
    )
    sizes = measured_sizes()
    rows = [row_at(correction, times) for times in sizes]
    notice = tuple(notice_sizes(correction, row, size))
    curves: tuple[tuple[str, Message, list[float], bool, Colour], ...] = (
        ("gradient_over_size", message("largest |d_scaled|"), [one.largest for one in rows], False, "ink"),
        ("weight_over_size", message("largest weight"), [float(one.weights.max()) for one in rows], True, "weight"),
    )
    for place, (key, title, values, percent, colour) in enumerate(curves):
        yield Curves(
            key=key,
            name=message("A measure against the size of the scores"),
            notice=notice,
            x=message("scores times"),
            y=title,
            lines=(Line(key=key, name=title, x=sizes, y=values, colour=colour),),
            above=True,
            logarithmic=True,
            percent=percent,
            chosen=size,
            beside=place > 0,
            width=480,
            height=220,
        )


def measured_sizes() -> list[float]:
    """The sizes that can be chosen, and others between them, from the smallest to the largest."""
    between = np.geomspace(SIZES_OF_SCORES[0], SIZES_OF_SCORES[-1], 80).astype(np.float32)
    return sorted({*map(float, between), *map(float, SIZES_OF_SCORES)})


def row_lines(correction: Prediction, size: float) -> Iterator[tuple[Matrix]]:
    """Scores, weights, gradients of the weights, these less their mean, and gradients of the scores."""
    computation, tokens = compute_row(correction, size), correction.tokens
    axes = {
        "rows": single_axis(tokens[correction.asked[-1]], named=True),
        "columns": token_axis(tuple(name.text for name in visible_keys(correction)), KEYS),
        "take": lambda row: row[None],
        "computed": True,
    }
    of_weights = {"colour": "weight", "given": True}
    looks = {
        "sized": {"title": message("score × {size}", size=size_as_written(size)), "given": True},
        "weights": {"title": message("weight"), "scale": "weight", **of_weights},
        "d_weights": {"title": message("d_weight"), "scale": "gradient", **of_weights},
        "less_mean": {"title": message("less mean"), "scale": "gradient"},
        "d_sized": {"title": message("d_scaled"), "scale": "gradient"},
    }
    for key, look in looks.items():
        yield (traced_matrix(computation, f"row.{key}", tokens=tokens, **axes, **look),)


def size_as_written(size: float) -> Fixed:
    """A whole number, or one with three decimals."""
    return Fixed(size, 0 if float(size).is_integer() else 3)


def notice_row_back(keys: tuple[Token, ...], row: RowBack) -> Iterator[Message]:
    """Which scores go up: those whose d_weight lies below the mean."""
    yield message(
        "The d_weights of the row, weighted by its weights, have the mean {mean}. Only what differs "
        "from that mean moves a score.",
        mean=Magnitude(float(row.mean)),
    )
    up = rising(keys, row)
    if up.items:
        yield plural(
            "{keys} is below the mean: a step raises its score.",
            "{keys} are below the mean: a step raises their scores.",
            len(up.items),
            keys=up,
        )
        yield where_others_go(row)


def rising(keys: tuple[Token, ...], row: RowBack) -> ListOf:
    """The keys whose scores a step raises."""
    return ListOf(tuple(name for name, way in zip(keys, row.directions.tolist(), strict=True) if way > 0))


def where_others_go(row: RowBack) -> Message:
    """What a step does to the scores that it does not raise."""
    return message("The others go down.") if row.directions.all() else message("The others go down or stay.")


def notice_sizes(correction: Prediction, row: RowBack, size: float) -> Iterator[Message]:
    """How much gradient is left where one key has nearly all the weight; and what √d_k has to do with it."""
    yield message(
        "With scores times {size}, the largest weight is {share} and the largest gradient {value}.",
        size=size_as_written(size),
        share=Percent(float(row.weights.max())),
        value=Magnitude(row.largest),
    )
    rows = ((size, row_at(correction, size)) for size in measured_sizes())
    certain, first = next(((size, row) for size, row in rows if row.weights.max() >= NEARLY_CERTAIN), (math.inf, None))
    one = row_at(correction, 1)
    if first is not None and certain > 1 and first.largest < one.largest / 2:
        yield message(
            "Once the scores are {size} times as large, one weight is {nearly} or more, and the largest "
            "gradient goes from {now} to {then}: a row that is certain hardly learns.",
            now=Magnitude(one.largest),
            size=Fixed(certain),
            nearly=Percent(NEARLY_CERTAIN),
            then=Magnitude(first.largest),
        )
    if correction.divisor is not None:
        d_k = correction.learner.settings.model.query_features
        yield message(
            "Without the division by √{d_k} these scores would be {factor} times as large.",
            d_k=d_k,
            factor=Fixed(d_k**0.5),
        )
