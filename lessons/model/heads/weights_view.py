"""The weights of several heads: all of them small and one large, and what dropout does to them."""

from dataclasses import replace
from functools import cache
from typing import Any

from attention_core.base.arrays import row_sum
from lessons.example.source import Job
from lessons.model.heads.example import SideBySide
from lessons.model.heads.notices import notice_difference, notice_dropout, was_dropped
from lessons.model.heads.tensors_view import heads_figure
from lessons.screen import Cells, ListOf, Matrices, Matrix, Message, Percent, message, render
from lessons.shared.matrices import KEYS, QUERIES, single_axis, token_axis, traced_matrix
from lessons.trace.computation import Computation

HEATMAPS_IN_A_BAND = 2
WIDTH_OF_ALL, WIDTH_OF_ONE = 300, 610  # pixels


def attend_figures(trace: SideBySide, chosen: int) -> tuple[Matrices, ...]:
    """A small heatmap for each head, where there are several, and one of them large."""
    notice, large = (*notice_names(trace), *notice_difference(trace)), large_heatmap(trace, chosen)
    one = heads_figure(
        trace,
        notice,
        key="head_figure",
        name=message("One head"),
        bands=((large,),),
        first=large.key,
        width=WIDTH_OF_ONE,
    )
    if trace.n_heads == 1:
        return (one,)
    heatmaps = small_heatmaps(trace, chosen)
    starts = range(0, len(heatmaps), HEATMAPS_IN_A_BAND)
    every = heads_figure(
        trace,
        notice,
        key="heads_figure",
        name=message("The weights of all heads"),
        first=large.key,
        width=WIDTH_OF_ALL,
        bands=tuple(heatmaps[start : start + HEATMAPS_IN_A_BAND] for start in starts),
        numbered=False,
        hint=message("Rows are queries, columns are keys. Click a heatmap to see it large."),
    )
    return every, replace(one, notice=(), weights=None, beside=True)


def notice_names(trace: SideBySide) -> tuple[Message, ...]:
    """The names that the heads of a trained model have earned; nothing where they were not measured."""
    jobs = () if trace.trained is None else tuple(filter(None, map(trace.trained.job, range(trace.n_heads))))
    if not jobs:
        return ()
    first = next((job.texts for job in jobs if job.done), jobs[0].texts)
    groups: dict[str, tuple[Message, list[tuple[int, Job]]]] = {}
    for number, job in enumerate(jobs, 1):
        texts = job.texts if job.done else first
        groups.setdefault(render(texts), (texts, []))[1].append((number, job))
    return tuple(
        message("Measured on {texts}: {heads}.", texts=texts, heads=ListOf(tuple(name_of_job(*one) for one in several)))
        for texts, several in groups.values()
    )


def name_of_job(number: int, job: Job) -> Message:
    """The name that a head has earned by what it does best, or that it has none."""
    if not job.done:
        return message("head {number}: no name", number=number)
    return message(
        "head {number}: {name}, on average {share} of its weight",
        number=number,
        name=job.name,
        share=Percent(job.share),
    )


def small_heatmaps(trace: SideBySide, chosen: int) -> tuple[Matrix, ...]:
    """The weights of every head. Pointing at one lights the same query and key in all."""
    rows, columns = (replace(token_axis(trace.tokens, name), named=False) for name in (QUERIES, KEYS))

    same_pair = cache(lambda i, j: tuple(Cells(f"map.{head}", i, j) for head in range(trace.n_heads)))

    def heatmap(head: int) -> Matrix:
        which = called(trace, head)
        title = message("{which} ▸", which=which) if head == chosen else which
        return weights_of(
            trace, trace.computation, head, title, f"map.{head}", rows=rows, columns=columns, sources=same_pair
        )

    return tuple(map(heatmap, range(trace.n_heads)))


def large_heatmap(trace: SideBySide, head: int) -> Matrix:
    """The weights of one head, with their numbers. Pointing at one lights its row."""
    key, title = f"map.{head}", message("{which}: weights", which=called(trace, head))
    return weights_of(trace, trace.computation, head, title, key, sources=lambda i, j: (Cells(key, row=i),))


def weights_of(
    trace: SideBySide,
    computation: Computation,
    head: int,
    title: Message,
    key: str,
    path: str = "heads.weights",
    **look: Any,
) -> Matrix:
    """The weights of one head, outside training or in it."""
    return traced_matrix(
        computation,
        path,
        title,
        trace.tokens,
        take=lambda weights: weights[head],
        key=key,
        visible=trace.heads.visible[head],
        **look,
    )


def called(trace: SideBySide, number: int) -> Message:
    """A head, or a sentence of a batch, as it is counted from 1."""
    if trace.module is not None:
        return message("head {number}", number=number + 1)
    return message("sentence {number}", number=number + 1)


# Dropout.


def dropout_figure(trace: SideBySide, computation: Computation, head: int) -> Matrices:
    """The weights of one head outside training and in training, each with the sums of its rows."""
    dropped = computation.result.dropped

    def sums(path: str, key: str, title: Message) -> Matrix:
        return traced_matrix(
            computation,
            path,
            title,
            trace.tokens,
            key=key,
            take=lambda weights: row_sum(weights[head]),
            name="sum",
            axes=("queries", ""),
            rows=token_axis(trace.tokens, QUERIES),
            columns=single_axis(message("sum")),
            scale="weight",
        )

    def weights(path: str, key: str, title: Message, **look: Any) -> Matrix:
        return weights_of(trace, computation, head, title, key, path, **look)

    rest, training = f"rest.{head}", f"training.{head}"
    marked = was_dropped(trace, dropped, head)
    becomes = lambda i, j: (Cells(training, i, j),)  # noqa: E731
    band = (
        weights("heads.weights", rest, message("outside training"), sources=becomes),
        sums("heads.weights", "sum_rest", message("row sum")),
        weights("dropped.weights", training, message("in training"), marked=marked),
        sums("dropped.weights", "sum_training", message("new row sum")),
    )
    return heads_figure(trace, notice_dropout(trace, dropped, head), bands=(band,), first=training)
