"""The weights of several heads: all of them small and one large, and what dropout does to them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from lessons.formatting import digits, factor
from lessons.heads_derivation import ManyHeadsDerivation
from lessons.heads_example import HeadsTrace, SideBySide, dropped_out
from lessons.heads_notices import notice_difference, notice_dropout, was_dropped
from lessons.heads_way import heads_figure
from lessons.matrices import KEYS, QUERIES, single_axis, token_axis
from lessons.screen import Cells, Matrices, Matrix, Step
from lessons.sentence import Sentence, Token, say

HEATMAPS_IN_A_BAND = 4
SMALL_WIDTH, LARGE_WIDTH = 585, 325  # pixels


def attend_figures(trace: SideBySide, derivation: ManyHeadsDerivation, chosen: int) -> tuple[Matrices, ...]:
    """A small heatmap for each head, where there are several, and one of them large."""
    notice, large = notice_difference(trace), large_heatmap(trace, derivation, chosen)
    one = heads_figure(
        trace, notice, key="head_figure", name=say("One head"), bands=((large,),), first=large.key, width=LARGE_WIDTH,
        numbered=True,
    )  # fmt: skip
    if trace.n_heads == 1:
        return (one,)
    heatmaps = small_heatmaps(trace, derivation, chosen)
    starts = range(0, len(heatmaps), HEATMAPS_IN_A_BAND)
    every = heads_figure(
        trace, notice, key="heads_figure", name=say("The weights of all heads"), first=large.key, width=SMALL_WIDTH,
        bands=tuple(heatmaps[start : start + HEATMAPS_IN_A_BAND] for start in starts), numbered=False,
        hint=say("Rows are queries, columns are keys. Click a heatmap to see it large."),
    )  # fmt: skip
    return every, replace(one, notice=(), weights=None, beside=True)


def small_heatmaps(trace: SideBySide, derivation: ManyHeadsDerivation, chosen: int) -> tuple[Matrix, ...]:
    """The weights of every head. Pointing at one lights the same query and key in all."""

    @cache
    def same_pair(i: int, j: int) -> tuple[Cells, ...]:
        return tuple(Cells(f"map.{head}", i, j) for head in range(trace.n_heads))

    def heatmap(head: int) -> Matrix:
        own, weights = derivation.head(head), trace.heads.weights[head].tolist()

        def step(i: int, j: int) -> Step:
            return Step(pair_in(trace, head, own.names[i], own.names[j], own.visible[i][j]), digits(weights[i][j]),
                        weights[i][j])  # fmt: skip

        def before(i: int, j: int) -> Iterator[Step]:
            yield from own.before("weights", i, j)
            yield own.step("weights", i, j)

        title = called(trace, head)
        return Matrix(
            key=f"map.{head}", title=say("{which} ▸", which=title) if head == chosen else title,
            values=trace.heads.weights[head], rows=replace(token_axis(trace.tokens, QUERIES), named=False),
            columns=replace(token_axis(trace.tokens, KEYS), named=False), scale="weight", colour="weight",
            visible=own.visible, step=step, before=before, sources=same_pair,
        )  # fmt: skip

    return tuple(map(heatmap, range(trace.n_heads)))


def large_heatmap(trace: SideBySide, derivation: ManyHeadsDerivation, head: int) -> Matrix:
    """The weights of one head, with their numbers. Pointing at one lights its row."""
    own, key, which = derivation.head(head), f"map.{head}", called(trace, head)

    def step(i: int, j: int) -> Step:
        line = own.step("weights", i, j)
        return line._replace(meaning=say("{which}: {says}", which=which, says=line.meaning))

    return Matrix(
        key=key, title=say("{which}: weights", which=which), values=trace.heads.weights[head],
        rows=token_axis(trace.tokens, QUERIES), columns=token_axis(trace.tokens, KEYS), scale="weight",
        colour="weight", visible=own.visible, step=step, before=lambda i, j: own.before("weights", i, j),
        sources=lambda i, j: (Cells(key, row=i),),
    )  # fmt: skip


def called(trace: SideBySide, number: int) -> Sentence:
    """A head, or a sentence of a batch, as it is counted from 1."""
    if isinstance(trace, HeadsTrace):
        return say("head {number}", number=number + 1)
    return say("sentence {number}", number=number + 1)


def pair_in(trace: SideBySide, number: int, query: Token, key: Token, visible: bool) -> Sentence:
    """A query and a key in one head, or in one sentence of a batch."""
    about = {"number": number + 1, "query": query, "key": key}
    if isinstance(trace, HeadsTrace):
        if visible:
            return say("head {number}: weight that {query} puts on {key}", **about)
        return say("head {number}: {key} is masked for {query}", **about)
    if visible:
        return say("sentence {number}: weight that {query} puts on {key}", **about)
    return say("sentence {number}: {key} is masked for {query}", **about)


# Dropout.


def dropout_figure(trace: SideBySide, derivation: ManyHeadsDerivation, head: int) -> Matrices:
    """The weights of one head outside training and in training, each with the sums of its rows."""
    dropped = dropped_out(trace)
    kept = 1 - trace.example.dropout
    rest, training = trace.heads.weights[head].tolist(), dropped.weights[head].tolist()
    own = derivation.head(head)

    def in_training(i: int, j: int) -> Step:
        if not own.visible[i][j]:
            return own.step("weights", i, j)
        if rest[i][j] and not training[i][j]:
            return Step(say("dropped in training: times 0"), f"{factor(rest[i][j])}·0", 0.0)
        says = say("kept in training: divided by the share that is kept, {kept}", kept=digits(kept))
        return Step(says, f"{factor(rest[i][j])} ÷ {digits(kept)}", training[i][j])

    def at_rest(i: int, j: int) -> Iterator[Step]:
        yield from own.before("weights", i, j)
        if own.visible[i][j]:
            yield own.step("weights", i, j)

    rows, columns = token_axis(trace.tokens, QUERIES), token_axis(trace.tokens, KEYS)
    look = {"rows": rows, "columns": columns, "scale": "weight", "colour": "weight", "visible": own.visible}
    before = Matrix(
        key=f"rest.{head}", title=say("outside training"), values=trace.heads.weights[head],
        step=lambda i, j: own.step("weights", i, j), before=lambda i, j: own.before("weights", i, j),
        sources=lambda i, j: (Cells(f"training.{head}", i, j),), **look,
    )  # fmt: skip
    after = Matrix(
        key=f"training.{head}", title=say("in training"), values=dropped.weights[head], step=in_training,
        before=at_rest, marked=was_dropped(trace, dropped, head),
        sources=lambda i, j: (Cells(f"rest.{head}", i, j),), **look,
    )  # fmt: skip
    sums = (
        row_sums(own.names, before, "sum_rest", say("row sum")),
        row_sums(own.names, after, "sum_training", say("new row sum")),
    )
    notice = notice_dropout(trace, dropped, head)
    return heads_figure(trace, notice, bands=((before, sums[0], after, sums[1]),), first=after.key)


def row_sums(queries: tuple[Token, ...], weights: Matrix, key: str, title: Sentence) -> Matrix:
    """The sum of each row of these weights."""
    values = weights.values.tolist()

    def step(i: int, j: int) -> Step:
        says = say("sum of the row of {query}", query=queries[i])
        return Step(says, " + ".join(map(factor, values[i])), sum(values[i]))

    return Matrix(
        key=key, title=title, values=weights.values.sum(dim=-1, keepdim=True), rows=weights.rows,
        columns=single_axis("sum"), scale="weight", step=step, sources=lambda i, j: (Cells(weights.key, row=i),),
    )  # fmt: skip
