"""What is summed on the way back: over the queries that looked at a key, and over the places of a word."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from attention_core.base.arrays import Array
from attention_core.learning.backward import loss_backward, model_backward, table_backward
from attention_core.learning.steps import predict
from attention_core.learning.tasks import Batch
from attention_core.text.embeddings import one_hot
from lessons.learning.backward.gradients_view import forward_matrix, gradient_matrix, sentence_and_answer
from lessons.learning.backward.one_prediction import (
    PRONOUN_WORDS,
    WORD_TOKENS,
    Prediction,
    sentence_with_pronoun,
    whose_gradients,
    word_of,
)
from lessons.learning.backward.way_back import WayBack, go_back
from lessons.screen import Figure, Matrices, Matrix, Message, Token, message, plural
from lessons.shared.matrices import QUERIES, feature_axis, single_axis, token_axis, traced_matrix
from lessons.trace.computation import Computation
from lessons.trace.story import Names

MOST_LOOKED_THROUGH = 200  # sentences, until one shares a word


@dataclass(frozen=True, eq=False)
class ValueBack:
    """A sentence forwards and back, and what each query adds to the gradient of one value."""

    way: WayBack
    added: Float[Array, "queries d_v"]
    d_value: Float[Array, " d_v"]


def sum_over_queries(key: int, **sentence: Array) -> ValueBack:
    """Go back through a `sentence`: each query hands its d_output on to the value, as much as its weight on the key."""
    way = go_back(**sentence)
    added = way.attention.weights[:, [key]] * way.d_output
    return ValueBack(way, added, added.sum(axis=0))


def compute_value(correction: Prediction, key: int) -> Computation:
    """For the value at this position, with every position asked."""
    everywhere = correction.everywhere
    name = everywhere.names[key]
    names = everywhere.called(
        **{
            "added": message("what {query} adds: its weight on {key} · d_output, feature {feature}", key=name),
            "added hidden": message("{key} is masked for {query}, so {query} adds nothing", key=name),
            "d_value": message("d_v of {key}, feature {feature}: summed over the queries, weight · d_output", key=name),
        }
    )
    return everywhere.compute(sum_over_queries, names, key=key)


def sums_figures(correction: Prediction, number: int, key: int) -> Iterator[Figure]:
    """The mask, one value, one word: `correction` is that of one sentence, `key` the position of the value."""
    everywhere = correction.everywhere
    yield Matrices(
        key="mask_back",
        name=message("Weights and the gradients of the scores, with every position asked"),
        bands=((forward_matrix(everywhere, "weights"), gradient_matrix(everywhere, "scores")),),
        first="d_scores",
        heading=sentence_and_answer(correction),
        notice=tuple(notice_mask(everywhere)),
        weights=whose_gradients(correction.learner),
        width=560,
    )
    computation = compute_value(correction, key)
    yield Matrices(
        key="value_back",
        name=message("What each query adds to the gradient of one value"),
        first="d_v",
        beside=True,
        bands=((added_by_queries(everywhere, computation, key),), (value_gradient(everywhere, computation, key),)),
        notice=tuple(notice_value(everywhere, key)),
        width=440,
    )
    yield word_figure(correction, number)


def notice_mask(everywhere: Prediction) -> Iterator[Message]:
    """What the mask does on the way back."""
    yield message(
        "Here the model is asked for the next word at all {count} positions; the loss is the mean.",
        count=len(everywhere.asked),
    )
    hidden = int((~everywhere.way.attention.visible).sum())
    if hidden:
        yield message("The {count} masked scores get a gradient of exactly 0, as their weight is 0.", count=hidden)


def added_by_queries(everywhere: Prediction, computation: Computation, key: int) -> Matrix:
    """A row for each query: its weight on the key, times its d_output."""
    shape = computation.result.added.shape
    return traced_matrix(
        computation,
        "added",
        message("weight · d_output"),
        everywhere.tokens,
        rows=token_axis(everywhere.tokens, QUERIES),
        columns=feature_axis(shape[1]),
        scale="gradient",
        colour="v",
        visible=np.broadcast_to(everywhere.way.attention.visible[:, [key]], shape),
    )


def value_gradient(everywhere: Prediction, computation: Computation, key: int) -> Matrix:
    """The sum over all queries: the gradient of the value."""
    return traced_matrix(
        computation,
        "d_value",
        message("sum: d_v of {key}", key=everywhere.names[key]),
        everywhere.tokens,
        key="d_v",
        take=lambda sums: sums[None],
        rows=single_axis(everywhere.tokens[key], named=True),
        scale="gradient",
        colour="v",
    )


def notice_value(everywhere: Prediction, key: int) -> Iterator[Message]:
    """How many queries have a part in it."""
    looked = everywhere.way.attention.visible[:, key].nonzero()[0].tolist()
    name = everywhere.names[key]
    yield plural(
        "One query may look at {key}, so one row makes its d_v.",
        "{count} queries may look at {key}: what they add sums to its d_v.",
        len(looked),
        key=name,
    )


# One word, several places.


@lru_cache(maxsize=128)
def sentence_that_shares(number: int) -> int:
    """The number of the next sentence that has a word in common with this one."""
    words = set(sentence_with_pronoun(number).inputs[0].tolist())
    later = range(number + 1, number + MOST_LOOKED_THROUGH)
    return next(n for n in later if words & set(sentence_with_pronoun(n).inputs[0].tolist()))


def two_sentences(correction: Prediction, number: int) -> Batch:
    """This sentence and one that shares a word with it, as one batch."""
    both = correction.batch, sentence_with_pronoun(sentence_that_shares(number))
    inputs, targets = (np.concatenate([getattr(one, name) for one in both]) for name in ("inputs", "targets"))
    return Batch(inputs, targets)


@dataclass(frozen=True, eq=False)
class TableBack:
    """What the embedding table gets back from the sentences that read it."""

    d_x: Float[Array, "which tokens d_model"]
    d_table: Float[Array, "vocabulary d_model"]


def sum_readings(
    ids: Int[Array, "which tokens"],
    table: Float[Array, "vocabulary d_model"],
    d_x: Float[Array, "which tokens d_model"],
) -> TableBack:
    """Each row of the table gets the gradients of all places that read it."""
    return TableBack(d_x, table_backward(one_hot(ids, len(table), table), table, d_x))


def word_figure(correction: Prediction, number: int) -> Matrices:
    """The gradient of the row of the embedding table that both sentences read."""
    model, batch = correction.learner.model, two_sentences(correction, number)
    trace, loss = predict(model, batch)
    d_x, _ = model_backward(model, trace, loss_backward(loss))
    first, second = batch.inputs.tolist()
    shared = next(i for i in first if i in second)
    word = word_of(shared)
    names = Names(
        {
            "d_x": message("d_x of {word} in sentence {which}", word=word),
            "d_table": message("the row of {word} was read twice, so both are added"),
        },
        {"vocabulary": WORD_TOKENS},
    )
    computation = Computation(sum_readings, {"ids": batch.inputs, "table": model.token_table, "d_x": d_x}, names)

    def one_row(key: str, path: str, title: Message, *place: int) -> tuple[Matrix]:
        look: dict[str, Any] = {"rows": single_axis(word.text, named=True), "columns": feature_axis(d_x.shape[-1])}
        return (
            traced_matrix(
                computation, path, title, (), key=key, take=lambda a: a[place][None], scale="gradient", **look
            ),
        )

    parts = [
        one_row(f"part_{which}", "d_x", message("sentence {which}", which=which + 1), which, sentence.index(shared))
        for which, sentence in enumerate((first, second))
    ]
    return Matrices(
        key="word_back",
        name=message("The gradient of one row of the embedding table"),
        heading=message("A word twice"),
        bands=(*parts, one_row("row", "d_table", message("table row"), shared)),
        first="row",
        notice=tuple(notice_word(correction, batch, word)),
    )


def notice_word(correction: Prediction, pair: Batch, word: Token) -> Iterator[Message]:
    """No word comes twice in a sentence of this task, so a batch has to show it."""
    other = " ".join(PRONOUN_WORDS[i] for i in pair.inputs[1].tolist())
    yield message(
        "No word repeats in “{sentence}”, so take two sentences at once: the second is “{other}”.",
        sentence=" ".join(correction.tokens),
        other=other,
    )
    yield message(
        "Both read the same row of the embedding table for {word}: it gets the sum of both gradients, each half as "
        "large as before, because the loss is the mean of two.",
        word=word,
    )
