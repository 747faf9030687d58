"""What does a head of attention do? One sentence, and where each of its tokens looks."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attention_core.base.randomness import generator
from attention_core.learning.tasks import Task
from attention_core.one_head.attention import AttentionTrace, attend
from attention_core.one_head.head import one_head
from lessons.example.example import Example, ExampleTrace, first_query, run_afresh, whose_weights
from lessons.screen import Message, Percent, RibbonMoment, RibbonRow, Ribbons, Screen, Token, message
from lessons.shared.attention_notices import largest, notice_row
from lessons.shared.edit_notices import edit_remarks
from lessons.trace.head import compute_head

TOPIC = message("One attention head")
POINT = message(
    "Every token shares out one whole among the tokens it may look at: these shares are its attention weights."
)

NEARLY_EVEN = 0.15  # of the even share is the most by which a weight of a nearly even row may differ from it
MOST_MOMENTS = 31
SENTENCES_DRAWN = 512  # to see which tokens stand where a task asks


@dataclass(frozen=True)
class Choices:
    """The token that asks, counted from 0; that of `first_query` where it is None."""

    query: int | None = None


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """Where one token looks, at every moment of the training where there was one."""
    attention, last = trace.heads.select(head), len(trace.tokens) - 1
    query = first_query(trace, head) if choices.query is None else min(choices.query, last)
    moments = ribbon_moments(trace, head)
    trained = trace.trained
    does = () if trained is None else (trained.does(head),)
    figure = Ribbons(
        key="ribbons",
        name=message("Where each token of the sentence looks"),
        tokens=trace.names,
        query=query,
        moments=moments,
        notice=(moments[-1].rows[query].says, *does),
    )
    return Screen(
        headline=where_it_looks(trace.names, attention, query),
        lead=does if trained is not None and trained.untrained else (*does, whose_weights(trace)),
        figures=(figure,),
        remarks=edit_remarks(trace, head),
        code=compute_head(one_head, trace, head).code(("weights", "output"), attend, attention=attention),
    )


def where_it_looks(names: Sequence[Token], attention: AttentionTrace, query: int) -> Message:
    """The headline: which keys one query looks at, all where its weights are nearly even."""
    weights, visible = attention.weights[query], attention.visible[query]
    most, keys, share = largest(names, weights, visible)
    choices, asked = int(visible.sum()), names[query]
    if choices == 1:
        return message(
            "{query} has nowhere else to look: all of its weight goes to {key}.", query=asked, key=names[most[0]]
        )
    if len(most) == choices:
        return message(
            "To read {query}, this head looks equally at {count} tokens: {share} of its weight goes to each.",
            query=asked,
            count=choices,
            share=share,
        )
    if nearly_even(attention, query):
        return message(
            "To read {query}, this head looks almost equally at {count} tokens: between {low} and {high} of "
            "its weight goes to each.",
            query=asked,
            count=choices,
            low=Percent(float(weights[visible].min())),
            high=share,
        )
    if len(most) > 1:
        return message(
            "To read {query}, this head looks most at {keys}: {share} of its weight goes to each.",
            query=asked,
            keys=keys,
            share=share,
        )
    said = {"query": asked, "key": names[most[0]], "share": share}
    if share.value > 0.5:
        return message("To read {query}, this head looks at {key}: {share} of its weight goes there.", **said)
    return message("To read {query}, this head looks most at {key}: {share} of its weight goes there.", **said)


def nearly_even(attention: AttentionTrace, query: int) -> bool:
    """Whether no weight of the row differs much from the share that each key would have of an even one."""
    seen = attention.weights[query][attention.visible[query]]
    return bool(((seen * len(seen) - 1).abs() <= NEARLY_EVEN).all())


def what_row_says(names: Sequence[Token], attention: AttentionTrace, query: int) -> Message:
    """What there is to notice in a row. Of one that is nearly even: between what its weights are."""
    weights, visible = attention.weights[query], attention.visible[query]
    most, _, share = largest(names, weights, visible)
    choices = int(visible.sum())
    if len(most) == choices or not nearly_even(attention, query):
        return notice_row(names, attention, query)
    return message(
        "{query} looks almost equally at {count} tokens: each gets between {low} and {high} of its weight.",
        query=names[query],
        count=choices,
        low=Percent(float(weights[visible].min())),
        high=share,
    )


def ribbon_moments(trace: ExampleTrace, head: int) -> tuple[RibbonMoment, ...]:
    """The head at the moments of its training so far, the present one last; that alone where there was none."""
    now = trace.example
    before = now.given_by.earlier(now)
    step = max(1, math.ceil(len(before) / (MOST_MOMENTS - 1)))
    shown = (*before[::step], now.updates)
    return tuple(ribbon_moment(replace(now, updates=updates), head) for updates in shown)


@functools.lru_cache(maxsize=256)
def ribbon_moment(example: Example, head: int) -> RibbonMoment:
    """One head of an example: what each of its queries looks at."""
    trace = run_afresh(example)
    attention = trace.heads.select(head)
    rows = (ribbon_row(trace.names, attention, query) for query in range(len(trace.tokens)))
    return RibbonMoment(tuple(rows), how_good(trace))


def ribbon_row(names: Sequence[Token], attention: AttentionTrace, query: int) -> RibbonRow:
    """What one query looks at."""
    weights, visible = attention.weights[query], attention.visible[query]
    leads = () if nearly_even(attention, query) and int(visible.sum()) > 1 else largest(names, weights, visible)[0]
    return RibbonRow(
        tuple(weights.tolist()), tuple(visible.tolist()), tuple(leads), what_row_says(names, attention, query)
    )


def how_good(trace: ExampleTrace) -> Message:
    """How good the model is by now; whose weights they are where it is not one that is being trained."""
    return (trace.trained and trace.trained.so_far) or whose_weights(trace)


def words_that_fit(trace: ExampleTrace) -> tuple[str, ...]:
    """The tokens that may stand in the place of the one that asks: of the model's task; none where it has no task."""
    source = trace.example.given_by
    if source.asking and source.task:
        return source.asking
    return () if source.task is None else last_tokens(source.task)


def place_to_change(trace: ExampleTrace) -> int:
    """Where such a token stands: the first that asks, where its source is about any; else the last."""
    source = trace.example.given_by
    return first_query(trace) if source.asking and source.task else len(trace.tokens) - 1


@functools.lru_cache(maxsize=32)
def last_tokens(task: Task) -> tuple[str, ...]:
    """The tokens that stand last in some of many sentences of a task, in the order of its vocabulary."""
    last = task.batch(SENTENCES_DRAWN, generator(0, "last tokens")).inputs[:, -1]
    return tuple(task.vocabulary.tokens[token] for token in sorted(set(last.tolist())))


def sentence_with(trace: ExampleTrace, word: str) -> str:
    """The text of the same sentence with another word in that place."""
    place = place_to_change(trace)
    return trace.example.given_by.joined((*trace.tokens[:place], word, *trace.tokens[place + 1 :]))
