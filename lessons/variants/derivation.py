"""How the numbers of a head come about where scores are capped or biased, heads share, or a sink collects."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lessons.kit.head_derivation import VECTORS, HeadDerivation, exponential
from lessons.screen.arithmetic import Arithmetic, digits, power, sum_of, term
from lessons.screen.message import ListOf, Message, Numeral, message
from lessons.screen.screen import Step

Adjusted = tuple[Message, Arithmetic]  # what is done to a score, and its arithmetic


@dataclass(frozen=True, eq=False)
class AdjustedDerivation(HeadDerivation):
    """Follows the weights of a head between whose scaled scores and weights something more happens.

    `adjust` writes what becomes of a scaled score; `sink` is the score of attending to nothing.
    """

    adjust: Callable[[float, int, int], Adjusted] | None = None
    sink: float | None = None

    def _stays(self, i: int, j: int) -> Step:
        if self.adjust is None:
            return super()._stays(i, j)
        says, arithmetic = self.adjust(self.numbers["scaled"][i][j], i, j)
        return Step(
            message("{how}, for {query} and {key}", how=says, **self._pair(i, j)),
            arithmetic,
            self.numbers["masked"][i][j],
        )

    def _before_pair(self, tensor: str, i: int, j: int) -> Iterator[Step]:
        if tensor != "weights" or not self.visible[i][j]:
            yield from super()._before_pair(tensor, i, j)
            return
        yield from super()._before_pair("masked", i, j)
        for m in self._seen_by(i):
            if m != j:
                yield self._in_one_go(i, m)
            if self.adjust is not None:
                yield self._stays(i, m)
        masked = self.numbers["masked"][i][j]
        yield Step(
            message("e to the score of {key} for {query}", **self._pair(i, j)), power(masked), exponential(masked)
        )
        yield self._sum(i)

    def _sum(self, i: int) -> Step:
        step = super()._sum(i)
        if self.sink is None:
            return step
        says = message("sum over all keys that {query} may look at, and the sink", query=self.names[i])
        return Step(says, step.arithmetic + power(self.sink), step.value)

    def collected(self, i: int) -> Step:
        """What the sink collects of a row."""
        total = self._total(i)
        return Step(
            message("what the sink collects of {query}: its part of the sum", query=self.names[i]),
            power(self.sink) / total,
            exponential(self.sink) / total,
        )

    def before_collected(self, i: int) -> Iterator[Step]:
        """All lines that lead to it."""
        yield from (self._in_one_go(i, m) for m in self._seen_by(i))
        yield self._sum(i)

    @cached_property
    def _totals(self) -> list[float]:
        extra = 0.0 if self.sink is None else exponential(self.sink)
        rows = zip(self.numbers["masked"], self.visible, strict=True)
        return [extra + sum(exponential(s) for s, seen in zip(*row, strict=True) if seen) for row in rows]


def capped(cap: float, scaled: float, i: int, j: int) -> Adjusted:
    """cap · tanh(score ÷ cap), written with powers of e: for −s it is the negative of that for s."""
    decay = power(term(-2) * abs(scaled) / cap)
    arithmetic = term(-cap if scaled < 0 else cap) * (term(1) - decay) / (term(1) + decay)
    return message("capped: {cap} · tanh(score ÷ {cap})", cap=Numeral(digits(cap))), arithmetic


def biased(slope: float, scaled: float, i: int, j: int) -> Adjusted:
    """The score less the slope for each step between query and key."""
    steps = abs(i - j)
    says = message(
        "with its bias: the slope {slope} times the distance {steps} is taken off",
        slope=Numeral(digits(slope)),
        steps=steps,
    )
    return says, term(scaled) - term(slope) * steps


def mean_feature(
    plain: HeadDerivation,
    own: Mapping[str, Sequence[Sequence[Sequence[float]]]],
    group: Sequence[int],
    vector: str,
    token: int,
    feature: int,
) -> Step:
    """A feature of a key or value that heads share: the mean of what each would have alone. Queries stay."""
    if vector == "q":
        return plain.feature("q", token, feature)
    parts = [rows[token][feature] for rows in own[vector]]
    says = message(
        "{vector} of {token}, feature {feature}: the mean of those of heads {heads}",
        vector=VECTORS[vector],
        token=plain.names[token],
        feature=feature + 1,
        heads=ListOf(tuple(head + 1 for head in group)),
    )
    return Step(says, sum_of(parts) / len(parts), math.fsum(parts) / len(parts))
