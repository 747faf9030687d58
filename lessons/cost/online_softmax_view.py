"""The softmax block by block: what is known after each block, how it comes about, and that the end is the same."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from jaxtyping import Float
from torch import Tensor

from attention_core.online_softmax import OnlineStep, attend_in_blocks
from lessons.example.example import ExampleTrace, whose_weights
from lessons.kit.head_derivation import HeadDerivation, derive_head
from lessons.kit.matrices import KEYS, feature_axis, single_axis, token_axis
from lessons.screen.arithmetic import power, sum_of, term
from lessons.screen.message import Fixed, ListOf, Magnitude, Message, Percent, Token, message, plural
from lessons.screen.online_softmax import BlockState, OnlineSoftmaxFigure
from lessons.screen.program import Ran
from lessons.screen.screen import Axis, Cells, Matrices, Matrix, Step

BLOCKS = message("blocks")
ROW_KINDS = ("largest", "rescale", "total", "mixed", "output")


@dataclass(frozen=True, eq=False)
class OnlineRow:
    """One query and the keys that it may look at, read in blocks."""

    example: ExampleTrace
    head: int
    query: int
    block: int

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """The positions of the keys that the query may look at; hidden ones are never read."""
        return tuple(self.example.heads.visible[self.head, self.query].nonzero().flatten().tolist())

    @cached_property
    def qkv(self) -> tuple[Tensor, Tensor, Tensor]:
        """The query as a row of its own, and the keys and values that are read."""
        a = self.example.heads.select(self.head)
        return a.q[self.query, None], a.k[list(self.keys)], a.v[list(self.keys)]

    @cached_property
    def steps(self) -> tuple[OnlineStep, ...]:
        """What is known after each block."""
        return tuple(attend_in_blocks(*self.qkv, block=self.block, scale=self.example.scale))

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The scaled scores, in the order in which they are read."""
        return tuple(score for step in self.steps for score in step.masked[0].tolist())

    @property
    def plain(self) -> Float[Tensor, " d_v"]:
        """The output of the plain softmax."""
        return self.example.heads.output[self.head, self.query]

    def before(self, b: int) -> tuple[float, float, list[float]]:
        """The largest score, the sum and the values before a block: nothing before the first."""
        if b == 0:
            return float("-inf"), 0.0, [0.0] * self.plain.shape[0]
        step = self.steps[b - 1]
        return float(step.largest[0]), float(step.total[0]), step.mixed[0].tolist()

    @cached_property
    def rises(self) -> tuple[int, ...]:
        """The blocks after the first that bring a larger score than all before them; by rounding alone none is."""
        return tuple(b for b in range(1, len(self.steps)) if float(self.steps[b].rescale[0]) < 1 - 1e-5)


def online_figures(row: OnlineRow) -> tuple[OnlineSoftmaxFigure, Matrices]:
    """The film, and all its numbers with how each comes about."""
    return passing(row), online_matrices(row)


def passing(row: OnlineRow) -> OnlineSoftmaxFigure:
    """Block after block: the scores so far, e to their differences from the largest, their sum, and the output."""
    outputs = [abs(value) for step in row.steps for value in step.output[0].tolist()]
    return OnlineSoftmaxFigure(
        key="cost_passing",
        name=message("A softmax that reads its keys block by block"),
        query=row.example.names[row.query],
        keys=tuple(row.example.names[key] for key in row.keys),
        numbers=row.scores,
        moments=tuple(known_after(row, b) for b in range(len(row.steps))),
        titles=(
            message("score"),
            message("e to the difference"),
            message("parts of the sum"),
            message("values, mixed"),
        ),
        number_domain=max(3.0, *map(abs, row.scores)),
        output_domain=max(1.0, *outputs),
        notice=tuple(notice_online(row)),
    )


def known_after(row: OnlineRow, b: int) -> BlockState:
    """What is known after a block, and what it says on each line."""
    step, names = row.steps[b], row.example.names
    largest, total = float(step.largest[0]), float(step.total[0])
    powers = [math.exp(score - largest) for score in row.scores[: step.end]]
    says = tuple(
        message(
            "{key}: score {score}, e to the difference {power}, {share} of the sum so far",
            key=names[row.keys[j]],
            score=Fixed(row.scores[j]),
            power=Magnitude(power),
            share=Percent(power / total),
        )
        for j, power in enumerate(powers)
    )
    output = tuple(step.output[0].tolist())
    features = tuple(
        message("output so far, feature {feature}: {value}", feature=c + 1, value=Fixed(value, 4))
        for c, value in enumerate(output)
    )
    rescaled = message("all before × {factor}", factor=Magnitude(float(step.rescale[0])))
    first = message("from the largest so far")
    lines = (
        message("largest so far {largest}", largest=Fixed(largest)),
        rescaled if b else first,
        message("sum so far {total}", total=Fixed(total)),
        plural("output if {count} key were all", "output if {count} keys were all", step.end),
    )
    return BlockState(step.begin, step.end, largest, tuple(powers), total, output, says, features, lines)


def notice_online(row: OnlineRow) -> Iterator[Message]:
    """When what was summed is rescaled, and that the end is that of the plain softmax."""
    if len(row.steps) == 1:
        yield message(
            "One block holds all the keys that {query} may look at, so nothing is left to rescale.",
            query=row.example.names[row.query],
        )
    elif not row.rises:
        yield message("No block after the first brings a larger score, so what was summed is never rescaled.")
    else:
        by = tuple(Magnitude(float(row.steps[b].rescale[0])) for b in row.rises)
        yield plural(
            "Block {blocks} brings a larger score than all before it: what was summed so far is multiplied by {by}, e "
            "to the difference of the two maxima.",
            "Blocks {blocks} each bring a larger score than all before them: what was summed so far is multiplied by "
            "{by} in turn, each e to the difference of two maxima.",
            len(by),
            blocks=ListOf(tuple(b + 1 for b in row.rises)),
            by=ListOf(by),
        )
    difference = float((row.steps[-1].output[0] - row.plain).abs().max())
    if difference == 0:
        yield message("After the last block the output is that of the plain softmax, to the last digit.")
    else:
        yield message(
            "After the last block the output is that of the plain softmax; by rounding, features differ by up "
            "to {difference}.",
            difference=Magnitude(difference),
        )


def online_matrices(row: OnlineRow) -> Matrices:
    """A line for each block: the running maximum, what rescales, the running sum, the values so far, and divided."""
    way, head = OnlineDerivation(row), derive_head(row.example, row.head)
    blocks = Axis(BLOCKS, tuple(str(b + 1) for b in range(len(row.steps))), named=True)
    tokens = [name.text for name in row.example.names]
    query, n_features = single_axis(tokens[row.query], named=True), row.plain.shape[0]
    titles = {
        "largest": message("largest m"),
        "rescale": message("rescaled by"),
        "total": message("sum ℓ"),
        "mixed": message("values so far"),
        "output": message("÷ ℓ"),
    }

    def lines(key: str) -> Matrix:
        values = row_values(row, key)
        features = key in ("mixed", "output")
        return Matrix(
            key=key,
            title=titles[key],
            values=values,
            rows=blocks,
            colour="v" if features else "ink",
            columns=feature_axis(n_features) if features else single_axis(titles[key]),
            step=partial(way.step, key),
            before=partial(way.before, key),
            sources=partial(way.sources, key),
        )

    scores = Matrix(
        key="scores",
        title=message("scaled scores"),
        values=row.example.heads.masked[row.head, row.query, None, row.keys],
        rows=query,
        columns=token_axis(tuple(tokens[key] for key in row.keys), KEYS),
        given=True,
        step=lambda i, j: head.step("masked", row.query, row.keys[j]),
        before=lambda i, j: head.before("masked", row.query, row.keys[j]),
    )
    plain = Matrix(
        key="plain",
        title=message("output of the plain softmax"),
        values=row.plain[None],
        rows=query,
        colour="v",
        columns=feature_axis(n_features),
        step=lambda i, j: head.step("output", row.query, j),
        before=lambda i, j: head.before("output", row.query, j),
        sources=lambda i, j: (Cells("output", len(row.steps) - 1, j), Cells("scores")),
    )
    return Matrices(
        key="cost_online_figure",
        name=message("What is known after each block"),
        heading=message("Every number of it"),
        bands=((scores,), tuple(map(lines, ROW_KINDS)), (None, None, None, None, plain)),
        first="output",
        weights=whose_weights(row.example),
    )


def row_values(row: OnlineRow, key: str) -> Float[Tensor, "blocks columns"]:
    """One of the quantities after each block."""
    return Tensor([getattr(step, key)[0].tolist() for step in row.steps])


@dataclass(frozen=True, eq=False)
class OnlineDerivation:
    """Follows the numbers after each block from those before it and the scores of the block."""

    row: OnlineRow

    @cached_property
    def head(self) -> HeadDerivation:
        return derive_head(self.row.example, self.row.head)

    def step(self, key: str, b: int, column: int) -> Step:
        """The arithmetic of one number after a block."""
        row, step = self.row, self.row.steps[b]
        m, total, mixed = row.before(b)
        rescale, block = float(step.rescale[0]), {"block": b + 1}
        if key == "largest":
            who = row.scores.index(max(row.scores[: step.end]))
            says = message("no score up to block {block} is larger than that of {key}", key=self._name(who), **block)
            return Step(says, term(row.scores[who]), float(step.largest[0]))
        if key == "rescale":
            says = message("block {block}: e to the difference of the maxima before and after it", **block)
            return Step(says, power(m - float(step.largest[0])), rescale)
        if key == "output":
            says = message(
                "output if the keys up to block {block} were all, feature {feature}", feature=column + 1, **block
            )
            quotient = term(float(step.mixed[0, column])) / float(step.total[0])
            return Step(says, quotient, float(step.output[0, column]))
        powers = [power(score - float(step.largest[0])) for score in row.scores[step.begin : step.end]]
        if key == "total":
            says = message("sum after block {block}: the sum before, rescaled, and the powers of its scores", **block)
            return Step(says, sum_of([term(total) * rescale, *powers]), float(step.total[0]))
        values = row.qkv[2][step.begin : step.end, column].tolist()
        terms = [one * value for one, value in zip(powers, values, strict=True)]
        says = message(
            "values after block {block}, feature {feature}: those before, rescaled, and the powers times the "
            "values of the block",
            feature=column + 1,
            **block,
        )
        return Step(says, sum_of([term(mixed[column]) * rescale, *terms]), float(step.mixed[0, column]))

    def before(self, key: str, b: int, column: int) -> Iterator[Step]:
        """All that leads to such a number, from the scores of its block and what was known before it."""
        row, step = self.row, self.row.steps[b]
        if key == "output":
            yield from self.before("mixed", b, column)
            yield self.step("total", b, 0)
            yield self.step("mixed", b, column)
            return
        for j in range(step.begin, step.end):
            yield self.head.step("masked", row.query, row.keys[j])
        if key == "largest":
            return
        yield self.step("largest", b, 0)
        if key == "rescale":
            if b:
                m, after = row.before(b)[0], float(step.largest[0])
                says = message("block {block}: difference of the maxima before and after it", block=b + 1)
                yield Step(says, term(m) - after, m - after)
            return
        yield self.step("rescale", b, 0)
        if key == "mixed":
            yield from (self.head.step("v", row.keys[j], column) for j in range(step.begin, step.end))
        if b:
            yield self.step(key, b - 1, column)

    def sources(self, key: str, b: int, column: int) -> Iterator[Cells]:
        """The cells that a number is made of."""
        if key == "output":
            yield from (Cells("mixed", b, column), Cells("total", b))
            return
        yield from (Cells("scores", 0, j) for j in range(self.row.steps[b].begin, self.row.steps[b].end))
        if key != "largest":
            yield Cells("largest", b)
        if key in ("total", "mixed"):
            yield Cells("rescale", b)
        if b:
            yield Cells("largest" if key == "rescale" else key, b - 1, column)

    def _name(self, j: int) -> Token:
        return self.row.example.names[self.row.keys[j]]


def ran_online(row: OnlineRow) -> Ran:
    """The blocks of one query, and the last output."""
    q, k, v = row.qkv
    return Ran(
        {"q": q, "k": k, "v": v, "block": row.block, "scale": row.example.scale},
        (
            "steps = list(attend_in_blocks(q, k, v, block=block, scale=scale))",
            "largest = torch.cat([step.largest for step in steps])",
            "total = torch.cat([step.total for step in steps])",
            "output = steps[-1].output",
        ),
        {"largest": row_values(row, "largest"), "total": row_values(row, "total"), "output": row.steps[-1].output},
    )
