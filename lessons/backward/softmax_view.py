"""The softmax backwards: one row of weights, which gradient each score gets, and what large scores do to it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from attention_core.attention import softmax_rows
from attention_core.backward import softmax_backward
from lessons.backward.derivation import ChainRule, chain_rule
from lessons.backward.one_prediction import Prediction, whose_gradients
from lessons.kit.matrices import single_axis, token_axis
from lessons.screen.arithmetic import power, sum_of_products, term
from lessons.screen.format import argmax_ties, magnitude
from lessons.screen.message import Fixed, ListOf, Magnitude, Message, Percent, Token, message, plural
from lessons.screen.screen import Cells, Curves, Figure, Line, Matrices, Matrix, Step

# What the row of scores is multiplied by; all of them exact in single precision, in which curves are drawn.
SIZES_OF_SCORES = (0.125, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20)
NEARLY_CERTAIN = 0.99  # of the weight of a row
ROWS_BACK = ("sized", "weights", "d_weights", "less_mean", "d_sized")


@dataclass(frozen=True, eq=False)
class RowBackward:
    """One row of scores times `size`, and the gradient of each; the gradients of the weights stay as they are."""

    names: tuple[Token, ...]  # of the visible keys
    scaled: Float[np.ndarray, " keys"]
    d_weights: Float[np.ndarray, " keys"]
    size: float

    @cached_property
    def sized(self) -> Float[np.ndarray, " keys"]:
        """What the softmax reads."""
        return self.scaled * self.size

    @cached_property
    def weights(self) -> Float[np.ndarray, " keys"]:
        """What it makes of that."""
        return softmax_rows(self.sized[None])[0]

    @cached_property
    def mean(self) -> float:
        """The mean of the gradients of the weights, each counted by its weight."""
        return float(self.weights @ self.d_weights)

    @cached_property
    def less_mean(self) -> Float[np.ndarray, " keys"]:
        """How far each gradient lies above the mean."""
        return self.d_weights - self.mean

    @cached_property
    def d_sized(self) -> Float[np.ndarray, " keys"]:
        """The gradient of what the softmax reads."""
        return softmax_backward(self.weights[None], self.d_weights[None])[0]

    @property
    def largest(self) -> float:
        """The largest of these gradients, whatever its sign."""
        return float(np.abs(self.d_sized).max())


def row_backward(correction: Prediction, size: float) -> RowBackward:
    """The row of the query that was asked."""
    asked, attention = correction.asked[-1], correction.attention
    seen = attention.visible[asked].nonzero()[0].tolist()
    d_weights = np.array(correction.numbers["d_weights"][asked])[seen]
    return RowBackward(tuple(correction.names[j] for j in seen), attention.scaled[asked][seen], d_weights, size)


def softmax_figures(correction: Prediction, size: float) -> Iterator[Figure]:
    """The row step by step; then the largest gradient and the largest weight over the size of the scores."""
    row, rule = row_backward(correction, size), chain_rule(correction)
    yield Matrices(
        key="softmax_back",
        name=message("The softmax backwards, for one row"),
        first="d_sized",
        numbered=True,
        height=330,
        bands=tuple(row_lines(correction, row, rule)),
        notice=tuple(notice_row_back(row)),
        weights=whose_gradients(correction.learner),
    )
    rows = [row_backward(correction, times) for times in measured_sizes()]
    notice = tuple(notice_sizes(correction, row))
    curves = (
        ("gradient_over_size", message("largest |d_scaled|"), [one.largest for one in rows], False, "ink"),
        ("weight_over_size", message("largest weight"), [float(one.weights.max()) for one in rows], True, "weight"),
    )
    for place, (key, title, values, percent, colour) in enumerate(curves):
        yield Curves(
            key=key,
            name=message("A measure over the size of the scores"),
            notice=notice,
            x=message("scores times"),
            y=title,
            lines=(Line(key=key, name=title, x=[one.size for one in rows], y=values, colour=colour),),
            above=True,
            logarithmic=True,
            percent=percent,
            chosen=size,
            beside=place > 0,
            width=480,
            height=220,
        )


def measured_sizes() -> list[float]:
    """Those that can be chosen, and others between them, from the smallest to the largest."""
    between = np.geomspace(SIZES_OF_SCORES[0], SIZES_OF_SCORES[-1], 80).astype(np.float32)
    return sorted({*map(float, between), *map(float, SIZES_OF_SCORES)})


def row_lines(correction: Prediction, row: RowBackward, rule: ChainRule) -> Iterator[tuple[Matrix]]:
    """Scores, weights, gradients of the weights, these less their mean, and gradients of the scores."""
    asked = correction.asked[-1]
    axis = single_axis(correction.tokens[asked], named=True)
    columns = token_axis(tuple(name.text for name in row.names), message("keys"))
    looks = {
        "sized": {"title": message("score × {size}", size=size_as_written(row.size)), "given": True},
        "weights": {"title": message("weight"), "scale": "weight", "colour": "weight", "given": True},
        "d_weights": {"title": message("d_weight"), "scale": "gradient", "colour": "weight", "given": True},
        "less_mean": {"title": message("less mean"), "scale": "gradient"},
        "d_sized": {"title": message("d_scaled"), "scale": "gradient"},
    }
    way = RowWayBack(row, rule, asked, correction)
    for key in ROWS_BACK:
        look = way.followed(key) | looks[key]
        yield (Matrix(key=key, values=getattr(row, key)[None], rows=axis, columns=columns, **look),)


def size_as_written(size: float) -> Fixed:
    """A whole number, or one with three decimals."""
    return Fixed(size, 0 if float(size).is_integer() else 3)


@dataclass(frozen=True, eq=False)
class RowWayBack:
    """How each number of the row comes about."""

    row: RowBackward
    rule: ChainRule
    asked: int
    correction: Prediction

    def followed(self, key: str) -> dict[str, object]:
        """Step, what comes before it, and its sources, as a `Matrix` takes them."""

        def before(_: int, j: int) -> Iterator[Step]:
            return self.before(key, j)

        def sources(_: int, j: int) -> Iterable[Cells]:
            return (*(Cells(other, 0, j) for other in ROWS_BACK), *self.whole_rows(key))

        return {"step": lambda _, j: self.step(key, j), "before": before, "sources": sources}

    def whole_rows(self, key: str) -> tuple[Cells, ...]:
        """The rows that all of one number is made of: the sum of the softmax, and the mean."""
        rows = {"weights": ("sized",), "less_mean": ("weights", "d_weights"), "d_sized": ("weights", "d_weights")}
        return tuple(Cells(other, row=0) for other in rows.get(key, ()))

    def step(self, key: str, j: int) -> Step:
        """The arithmetic of one number."""
        row, name = self.row, self.row.names[j]
        if key == "d_weights":
            return self.rule.step("d_weights", self.asked, self.correction.names.index(name))
        if key == "sized":
            arithmetic = term(float(row.scaled[j])) * row.size
            return Step(message("scaled score of {key}, times the size", key=name), arithmetic, float(row.sized[j]))
        if key == "weights":
            total = float(np.exp(row.sized).sum())
            return Step(
                message("weight of {key}: its part of the sum", key=name),
                power(float(row.sized[j])) / total,
                float(row.weights[j]),
            )
        less = term(float(row.d_weights[j])) - row.mean
        if key == "less_mean":
            return Step(message("d_weight of {key}, less the mean", key=name), less, float(row.less_mean[j]))
        return Step(
            message("weight of {key} · (d_weight − mean)", key=name),
            term(float(row.weights[j])) * less,
            float(row.d_sized[j]),
        )

    def before(self, key: str, j: int) -> Iterator[Step]:
        """What leads to it."""
        if key == "d_weights":
            yield from self.rule.before("d_weights", self.asked, self.correction.names.index(self.row.names[j]))
        elif key == "weights":
            yield self.step("sized", j)
        elif key in ("less_mean", "d_sized"):
            yield from (self.step("weights", m) for m in range(len(self.row.names)))
            yield from (self.step("d_weights", m) for m in range(len(self.row.names)))
            yield self.mean()

    def mean(self) -> Step:
        """The weighted mean."""
        arithmetic = sum_of_products(self.row.weights.tolist(), self.row.d_weights.tolist())
        return Step(message("mean: each d_weight counted by its weight"), arithmetic, self.row.mean)


def notice_row_back(row: RowBackward) -> Iterator[Message]:
    """Which scores go up: those whose d_weight lies below the mean."""
    up = ListOf(tuple(name for name, d in zip(row.names, row.d_sized.tolist(), strict=True) if d < 0))
    yield message(
        "The d_weights of the row have the mean {mean}, each counted by its weight. Only what differs from that "
        "mean moves a score.",
        mean=Magnitude(row.mean),
    )
    if up.items and any(row.d_sized > 0):
        yield plural(
            "Below the mean is {keys}: a step raises its score. The others go down.",
            "Below the mean are {keys}: a step raises their scores. The others go down.",
            len(up.items),
            keys=up,
        )
    most = [j for (j,) in argmax_ties(np.abs(row.d_sized), magnitude)]
    yield plural(
        "The largest gradient is that of {keys}: {value} without its sign.",
        "The largest gradients are those of {keys}: {value} without the sign.",
        len(most),
        keys=ListOf(tuple(row.names[j] for j in most)),
        value=Magnitude(row.largest),
    )


def notice_sizes(correction: Prediction, row: RowBackward) -> Iterator[Message]:
    """How much gradient is left where one key has nearly all the weight; and what √d_k has to do with it."""
    one, last = row_backward(correction, 1), row_backward(correction, SIZES_OF_SCORES[-1])
    yield message(
        "With scores times {size}, the largest weight is {share} and the largest gradient {value}.",
        size=size_as_written(row.size),
        share=Percent(float(row.weights.max())),
        value=Magnitude(row.largest),
    )
    rows = (row_backward(correction, size) for size in measured_sizes())
    first = next((row for row in rows if row.weights.max() >= NEARLY_CERTAIN), None)
    nearly = Percent(NEARLY_CERTAIN)
    if first is None:
        yield message("Even times {size} no weight reaches {nearly}.", size=size_as_written(last.size), nearly=nearly)
    elif first.size > 1 and first.largest < one.largest / 2:
        yield message(
            "At the scores' own size the largest gradient is {now}. From times {size} on one weight is {nearly} or "
            "more, and the largest gradient there is {then}: a row that is certain hardly learns.",
            now=Magnitude(one.largest),
            size=Fixed(first.size),
            nearly=nearly,
            then=Magnitude(first.largest),
        )
    else:
        yield message(
            "From times {size} on one weight is {nearly} or more, and there the largest gradient is {then}.",
            size=Fixed(first.size),
            nearly=nearly,
            then=Magnitude(first.largest),
        )
    d_k = correction.learner.settings.model.query_features
    if correction.divisor is None:
        yield message(
            "Scaling is off: divided by √{d_k}, these scores would be {factor} times as large.",
            d_k=d_k,
            factor=Fixed(d_k**-0.5),
        )
    else:
        yield message(
            "Without the division by √{d_k} these scores would be {factor} times as large; with d_k = 64 it "
            "would be 8 times.",
            d_k=d_k,
            factor=Fixed(d_k**0.5),
        )
