"""The weights of several heads: all of them small and one large, and what dropout does to them."""

from dataclasses import replace
from functools import cache, partial

from lessons.example.trained_layer import Job
from lessons.heads.derivation import ManyHeadsDerivation
from lessons.heads.example import HeadsTrace, SideBySide, dropped_out
from lessons.heads.notices import notice_difference, notice_dropout, was_dropped
from lessons.heads.tensors_view import heads_figure
from lessons.kit.matrices import KEYS, QUERIES, head_matrix, single_axis, token_axis
from lessons.screen.arithmetic import digits, sum_of, term
from lessons.screen.format import render
from lessons.screen.message import ListOf, Message, Numeral, Percent, Token, message
from lessons.screen.screen import Cells, Matrices, Matrix, Step

HEATMAPS_IN_A_BAND = 4
SMALL_WIDTH, LARGE_WIDTH = 585, 325  # pixels


def attend_figures(trace: SideBySide, derivation: ManyHeadsDerivation, chosen: int) -> tuple[Matrices, ...]:
    """A small heatmap for each head, where there are several, and one of them large."""
    notice, large = (*names_of_heads(trace), *notice_difference(trace)), large_heatmap(trace, derivation, chosen)
    one = heads_figure(
        trace,
        notice,
        key="head_figure",
        name=message("One head"),
        bands=((large,),),
        first=large.key,
        width=LARGE_WIDTH,
        numbered=True,
    )
    if trace.n_heads == 1:
        return (one,)
    heatmaps = small_heatmaps(trace, derivation, chosen)
    starts = range(0, len(heatmaps), HEATMAPS_IN_A_BAND)
    every = heads_figure(
        trace,
        notice,
        key="heads_figure",
        name=message("The weights of all heads"),
        first=large.key,
        width=SMALL_WIDTH,
        bands=tuple(heatmaps[start : start + HEATMAPS_IN_A_BAND] for start in starts),
        numbered=False,
        hint=message("Rows are queries, columns are keys. Click a heatmap to see it large."),
    )
    return every, replace(one, notice=(), weights=None, beside=True)


def names_of_heads(trace: SideBySide) -> tuple[Message, ...]:
    """The names that the heads of a trained model have earned, measured; nothing where they are random."""
    if trace.trained is None:
        return ()
    jobs = tuple(map(trace.trained.job, range(trace.n_heads)))
    first = next((job.texts for job in jobs if job.done), jobs[0].texts)
    groups: dict[str, list[tuple[int, Job]]] = {}
    for number, job in enumerate(jobs, 1):
        groups.setdefault(render(job.texts if job.done else first), []).append((number, job))
    return tuple(
        message("Measured on {texts}: {heads}.", texts=texts, heads=ListOf(tuple(name_of_job(*one) for one in several)))
        for texts, several in groups.items()
    )


def name_of_job(number: int, job: Job) -> Message:
    """The name that a head has earned by what it does best, or that it has none."""
    if not job.done:
        return message("head {number}: no name earned", number=number)
    return message(
        "head {number}: {name}, {share} of its weight", number=number, name=job.name, share=Percent(job.share)
    )


def small_heatmaps(trace: SideBySide, derivation: ManyHeadsDerivation, chosen: int) -> tuple[Matrix, ...]:
    """The weights of every head. Pointing at one lights the same query and key in all."""
    rows, columns = (replace(token_axis(trace.tokens, name), named=False) for name in (QUERIES, KEYS))

    @cache
    def same_pair(i: int, j: int) -> tuple[Cells, ...]:
        return tuple(Cells(f"map.{head}", i, j) for head in range(trace.n_heads))

    def heatmap(head: int) -> Matrix:
        own, which = derivation.head(head), called(trace, head)

        def step(i: int, j: int) -> Step:
            pair = {"which": which, "query": own.names[i], "key": own.names[j]}
            says = message("{which}: weight that {query} puts on {key}", **pair)
            if not own.visible[i][j]:
                says = message("{which}: {key} is masked for {query}", **pair)
            return Step(says, term(own.numbers["weights"][i][j]), own.numbers["weights"][i][j])

        return head_matrix(
            own,
            "weights",
            message("{which} ▸", which=which) if head == chosen else which,
            trace.heads.weights[head],
            key=f"map.{head}",
            rows=rows,
            columns=columns,
            step=step,
            before=partial(own.derive, "weights"),
            sources=same_pair,
        )

    return tuple(map(heatmap, range(trace.n_heads)))


def large_heatmap(trace: SideBySide, derivation: ManyHeadsDerivation, head: int) -> Matrix:
    """The weights of one head, with their numbers. Pointing at one lights its row."""
    own, key, which = derivation.head(head), f"map.{head}", called(trace, head)

    def step(i: int, j: int) -> Step:
        line = own.step("weights", i, j)
        return line._replace(meaning=message("{which}: {says}", which=which, says=line.meaning))

    return head_matrix(
        own,
        "weights",
        message("{which}: weights", which=which),
        trace.heads.weights[head],
        key=key,
        step=step,
        sources=lambda i, j: (Cells(key, row=i),),
    )


def called(trace: SideBySide, number: int) -> Message:
    """A head, or a sentence of a batch, as it is counted from 1."""
    if isinstance(trace, HeadsTrace):
        return message("head {number}", number=number + 1)
    return message("sentence {number}", number=number + 1)


# Dropout.


def dropout_figure(trace: SideBySide, derivation: ManyHeadsDerivation, head: int) -> Matrices:
    """The weights of one head outside training and in training, each with the sums of its rows."""
    dropped, own, kept = dropped_out(trace), derivation.head(head), Numeral(digits(1 - trace.example.dropout))
    rest, training = own.numbers["weights"], dropped.weights[head].tolist()

    def in_training(i: int, j: int) -> Step:
        if not own.visible[i][j]:
            return own.step("weights", i, j)
        if rest[i][j] and not training[i][j]:
            return Step(message("dropped in training: times 0"), term(rest[i][j]) * 0, 0.0)
        says = message("kept in training: divided by the share that is kept, {kept}", kept=kept)
        return Step(says, term(rest[i][j]) / (1 - trace.example.dropout), training[i][j])

    before = head_matrix(
        own,
        "weights",
        message("outside training"),
        trace.heads.weights[head],
        key=f"rest.{head}",
        sources=lambda i, j: (Cells(f"training.{head}", i, j),),
    )
    after = head_matrix(
        own,
        "weights",
        message("in training"),
        dropped.weights[head],
        key=f"training.{head}",
        step=in_training,
        before=lambda i, j: before.derive(i, j) if own.visible[i][j] else before.before(i, j),
        marked=was_dropped(trace, dropped, head),
        sources=lambda i, j: (Cells(f"rest.{head}", i, j),),
    )
    band = (
        before,
        row_sums(own.names, before, "sum_rest", message("row sum")),
        after,
        row_sums(own.names, after, "sum_training", message("new row sum")),
    )
    return heads_figure(trace, notice_dropout(trace, dropped, head), bands=(band,), first=after.key)


def row_sums(queries: tuple[Token, ...], weights: Matrix, key: str, title: Message) -> Matrix:
    """The sum of each row of these weights."""
    values = weights.values.tolist()

    def step(i: int, j: int) -> Step:
        says = message("sum of the row of {query}", query=queries[i])
        return Step(says, sum_of(values[i]), sum(values[i]))

    return Matrix(
        key=key,
        title=title,
        values=weights.values.sum(dim=-1, keepdim=True),
        rows=weights.rows,
        columns=single_axis(message("sum")),
        scale="weight",
        step=step,
        sources=lambda i, j: (Cells(weights.key, row=i),),
    )
