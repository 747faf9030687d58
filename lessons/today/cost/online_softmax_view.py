"""The softmax block by block: what is known after each block, how it comes about, and that the end is the same."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from attention_core.base.arrays import Array, namespace, numbers_of
from attention_core.one_head.attention import AttentionTrace
from attention_core.one_head.head import one_head
from attention_core.one_head.online_softmax import OnlineStep, attend_in_blocks
from lessons.example.example import ExampleTrace, whose_weights
from lessons.screen import (
    Axis,
    BlockState,
    Cells,
    Fixed,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    OnlineSoftmaxFigure,
    Percent,
    message,
    plural,
)
from lessons.shared.matrices import KEYS, single_axis, token_axis, traced_matrix
from lessons.trace.computation import Computation
from lessons.trace.head import compute_head, head_names
from lessons.trace.story import Names

BLOCKS = message("blocks")
TITLES = {
    "largest": message("largest m"),
    "rescale": message("rescaled by"),
    "total": message("sum ℓ"),
    "mixed": message("values so far"),
    "output": message("÷ ℓ"),
}
SENTENCES = {
    "masked": message("scaled score of {key} for {query}"),
    "max of masked": message("the largest of these"),
    "exp of masked": message("{key}: e to the difference from the largest so far"),
    "largest": message("no score up to block {block} is larger"),
    "rescale": message("block {block}: e to the difference of the maxima before and after it"),
    "total": message("sum after block {block}: the sum before, rescaled, plus the powers of its scores"),
    "mixed": message(
        "values after block {block}, feature {feature}: those before, rescaled, plus the powers times "
        "the values of the block"
    ),
}
OUTPUT = message("output from the keys up to block {block}, feature {feature}")


@dataclass(frozen=True, eq=False)
class ReadInBlocks:
    """The attention of one query, and the same with its visible keys read in blocks: what is known after each."""

    plain: AttentionTrace
    steps: tuple[OnlineStep, ...]

    def after_each(self, name: str) -> Array:
        """One of the quantities, with a row for each block."""
        rows = [getattr(step, name) for step in self.steps]
        return namespace(rows[0]).concat(rows)

    largest = property(lambda self: self.after_each("largest"))
    rescale = property(lambda self: self.after_each("rescale"))
    total = property(lambda self: self.after_each("total"))
    mixed = property(lambda self: self.after_each("mixed"))
    output = property(lambda self: self.after_each("output"))

    @property
    def scores(self) -> Array:
        """The scaled scores, in the order in which they are read."""
        return namespace(self.steps[0].masked).concat([step.masked for step in self.steps], -1)


def read_in_blocks(x, W_q, W_k, W_v, may_attend, scale, query, block, **others) -> ReadInBlocks:
    """One head, and the row of one query once more, block by block."""
    plain = one_head(x, W_q, W_k, W_v, may_attend, scale, **others)
    seen = numbers_of(plain.visible)[query]
    steps = attend_in_blocks(plain.q[[query]], plain.k[seen], plain.v[seen], block=block, scale=scale)
    return ReadInBlocks(plain, tuple(steps))


@dataclass(frozen=True, eq=False)
class OnlineRow:
    """One query and the keys that it may look at, read in blocks."""

    trace: ExampleTrace
    head: int
    query: int
    block: int

    @cached_property
    def computation(self) -> Computation:
        """The computation that reads the keys block by block."""
        return compute_head(
            read_in_blocks, self.trace, self.head, names_of_blocks(self), query=self.query, block=self.block
        )

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """The positions of the keys that the query may look at; hidden ones are never read."""
        return tuple(self.trace.heads.visible[self.head, self.query].nonzero().flatten().tolist())

    @property
    def steps(self) -> tuple[OnlineStep, ...]:
        """What is known after each block."""
        return self.computation.result.steps

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The scaled scores, in the order in which they are read."""
        return tuple(self.computation.result.scores[0].tolist())

    @cached_property
    def rises(self) -> tuple[int, ...]:
        """The blocks after the first that bring a larger score than all before them; by rounding alone none is."""
        return tuple(b for b in range(1, len(self.steps)) if float(self.steps[b].rescale[0]) < 1 - 1e-5)


def names_of_blocks(row: OnlineRow) -> Names:
    """What a reader calls the numbers after each block, and those of the plain head."""
    names, query = row.trace.names, row.trace.names[row.query]
    sentences, things = {}, {}
    for b, begin in enumerate(range(0, len(row.keys), row.block)):
        for name, sentence in SENTENCES.items():
            step, _, of = name.rpartition(" of ")
            path = f"{step} of steps.{b}.{of}" if step else f"steps.{b}.{of}"
            sentences[path] = sentence._replace(arguments={"block": b + 1})
        things[f"steps.{b}.masked.queries"] = (query,)
        things[f"steps.{b}.masked.keys"] = tuple(names[key] for key in row.keys[begin : begin + row.block])
    usual = head_names(row.trace, **sentences, **{"output so far": OUTPUT})
    return Names(usual.sentences, {**usual.things, **things})


def online_figures(row: OnlineRow) -> tuple[OnlineSoftmaxFigure, Matrices]:
    """The film, and all its numbers with how each comes about."""
    return passing(row), online_matrices(row)


def passing(row: OnlineRow) -> OnlineSoftmaxFigure:
    """Block after block: the scores so far, e to their differences from the largest, their sum, and the output."""
    outputs = [abs(value) for step in row.steps for value in step.output[0].tolist()]
    return OnlineSoftmaxFigure(
        key="cost_passing",
        name=message("A softmax that reads its keys block by block"),
        query=row.trace.names[row.query],
        keys=tuple(row.trace.names[key] for key in row.keys),
        numbers=row.scores,
        moments=tuple(known_after(row, b) for b in range(len(row.steps))),
        titles=(
            message("score"),
            message("e to the difference"),
            message("shares of the sum"),
            message("values, mixed"),
        ),
        number_domain=max(3.0, *map(abs, row.scores)),
        output_domain=max(1.0, *outputs),
        notice=tuple(notice_online(row)),
    )


def known_after(row: OnlineRow, b: int) -> BlockState:
    """What is known after a block, and what it says on each line."""
    step, names = row.steps[b], row.trace.names
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
        plural("output from {count} key", "output from {count} keys", step.end),
    )
    return BlockState(step.begin, step.end, largest, tuple(powers), total, output, says, features, lines)


def notice_online(row: OnlineRow) -> Iterator[Message]:
    """When what was summed is rescaled, and that the end is that of the plain softmax."""
    if row.rises:
        by = tuple(Magnitude(float(row.steps[b].rescale[0])) for b in row.rises)
        yield plural(
            "Block {blocks} brings a larger score than all before it: what was summed so far is multiplied by {by}, e "
            "to the difference of the two maxima.",
            "Blocks {blocks} each bring a larger score: what was summed so far is multiplied by {by} in turn, each e "
            "to the difference of two maxima.",
            len(by),
            blocks=ListOf(tuple(b + 1 for b in row.rises)),
            by=ListOf(by),
        )
    difference = float((row.steps[-1].output[0] - row.computation.result.plain.output[row.query]).abs().max())
    yield message(
        "After the last block the output differs from that of the plain softmax by at most {difference}.",
        difference=Magnitude(difference),
    )


def online_matrices(row: OnlineRow) -> Matrices:
    """A line for each block: the running maximum, what rescales, the running sum, the values so far, and divided."""
    tokens, read = row.trace.tokens, row.computation
    blocks = Axis(BLOCKS, tuple(str(b + 1) for b in range(len(row.steps))), named=True)
    query, keys = single_axis(tokens[row.query], named=True), token_axis(tuple(tokens[key] for key in row.keys), KEYS)

    def after_blocks(key: str) -> Matrix:
        look: dict[str, Any] = {"colour": "v"} if key in ("mixed", "output") else {"columns": single_axis(TITLES[key])}
        name: dict[str, Any] = {"name": "output so far", "axes": ("block", "d_v")} if key == "output" else {}
        look["sources"] = partial(lit_by, row, key)
        return traced_matrix(read, key, TITLES[key], tokens, key=key, rows=blocks, **name, **look)

    scores = traced_matrix(read, "scores", message("scaled scores"), tokens, rows=query, columns=keys, given=True)
    plain = traced_matrix(
        read,
        "plain.output",
        message("output of the plain softmax"),
        tokens,
        take=lambda output: output[[row.query]],
        key="plain",
        rows=query,
        sources=lambda i, j: (Cells("output", len(row.steps) - 1, j), Cells("scores")),
    )
    return Matrices(
        key="cost_online_figure",
        name=message("What is known after each block"),
        heading=message("All its numbers"),
        bands=((scores,), tuple(map(after_blocks, TITLES)), (None, None, None, None, plain)),
        first="output",
        weights=whose_weights(row.trace),
    )


def lit_by(row: OnlineRow, key: str, b: int, column: int) -> Iterator[Cells]:
    """What lights up: of the scores those of the block alone, and what was known before it."""
    if key == "output":
        yield from (Cells("mixed", b, column), Cells("total", b))
        return
    yield from (Cells("scores", 0, j) for j in range(row.steps[b].begin, row.steps[b].end))
    if key != "largest":
        yield Cells("largest", b)
    if key in ("total", "mixed"):
        yield Cells("rescale", b)
    if b:
        yield Cells("largest" if key == "rescale" else key, b - 1, column)
