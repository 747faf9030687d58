"""What is summed on the way back: over the queries that looked at a key, and over the places of a word."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from attention_core.tasks import Batch
from lessons.backward.derivation import ChainRule, chain_rule
from lessons.backward.gradients_view import forward_matrix, gradient_matrix, sentence_and_answer
from lessons.backward.one_prediction import (
    PRONOUN_WORDS,
    Prediction,
    correct,
    next_words,
    sentence_with_pronoun,
    whose_gradients,
)
from lessons.kit.matrices import QUERIES, feature_axis, single_axis, token_axis
from lessons.screen.arithmetic import term
from lessons.screen.format import argmax_ties, magnitude
from lessons.screen.message import ListOf, Magnitude, Message, Token, message, plural
from lessons.screen.screen import Cells, Figure, Matrices, Matrix, Step

MOST_LOOKED_THROUGH = 200  # sentences, until one shares a word


def sums_figures(correction: Prediction, number: int, key: int) -> Iterator[Figure]:
    """The mask, one value, one word: `correction` is that of one sentence, `key` the position of the value."""
    everywhere = asked_everywhere(correction)
    rule = chain_rule(everywhere)
    yield Matrices(
        key="mask_back",
        name=message("Weights and the gradients of the scores, with every position asked"),
        bands=((forward_matrix(everywhere, "weights"), gradient_matrix(everywhere, rule, "d_scores")),),
        first="d_scores",
        heading=sentence_and_answer(correction),
        notice=tuple(notice_mask(everywhere)),
        weights=whose_gradients(correction.learner),
        height=300,
        width=560,
    )
    yield Matrices(
        key="value_back",
        name=message("What each query adds to the gradient of one value"),
        first="d_v",
        beside=True,
        bands=((added_by_queries(everywhere, rule, key),), (value_gradient(everywhere, rule, key),)),
        notice=tuple(notice_value(everywhere, key)),
        numbered=True,
        height=300,
        width=440,
    )
    yield word_figure(correction, number)


def asked_everywhere(correction: Prediction) -> Prediction:
    """The same model and sentence, with the next word as the answer at every position."""
    return correct(correction.learner, next_words(correction.batch))


def notice_mask(everywhere: Prediction) -> Iterator[Message]:
    """What the mask does on the way back."""
    yield message(
        "Here the model is asked for the next word at all {count} positions, as language models are; the loss is "
        "the mean.",
        count=len(everywhere.asked),
    )
    hidden = int((~everywhere.attention.visible).sum())
    if hidden:
        yield message(
            "The {count} masked scores get a gradient of exactly 0: their weight is 0, and the gradient of a "
            "score has the weight as a factor.",
            count=hidden,
        )
    else:
        yield message("The mask is off, so every score gets a gradient, those of later words among them.")


def added_by_queries(everywhere: Prediction, rule: ChainRule, key: int) -> Matrix:
    """A row for each query: its weight on the key, times its d_output."""
    weights, d_output = (np.array(everywhere.numbers[name]) for name in ("weights", "d_output"))
    values = weights[:, key, None] * d_output
    visible = [[rule.visible[i][key]] * values.shape[1] for i in range(len(values))]

    def step(i: int, c: int) -> Step:
        about = {"query": everywhere.names[i], "key": everywhere.names[key]}
        if not rule.visible[i][key]:
            return Step(message("{key} is masked for {query}, so {query} adds nothing", **about), term(0), 0.0)
        says = message("what {query} adds: its weight on {key} · d_output, feature {feature}", feature=c + 1, **about)
        return Step(says, term(float(weights[i, key])) * float(d_output[i, c]), float(values[i, c]))

    def before(i: int, c: int) -> Iterator[Step]:
        return rule.before("d_output", i, c) if rule.visible[i][key] else iter(())

    return Matrix(
        key="added",
        title=message("weight · d_output"),
        values=values,
        scale="gradient",
        colour="v",
        visible=visible,
        rows=token_axis(everywhere.tokens, QUERIES),
        columns=feature_axis(values.shape[1]),
        step=step,
        before=before,
        sources=lambda i, c: (Cells("d_v", 0, c),),
    )


def value_gradient(everywhere: Prediction, rule: ChainRule, key: int) -> Matrix:
    """The sum over all queries: the gradient of the value."""
    values = np.array(everywhere.numbers["d_v"][key])[None]
    return Matrix(
        key="d_v",
        title=message("sum: d_v of {key}", key=everywhere.names[key]),
        values=values,
        scale="gradient",
        colour="v",
        rows=single_axis(everywhere.tokens[key], named=True),
        columns=feature_axis(values.shape[1]),
        step=lambda _, c: rule.step("d_v", key, c),
        before=lambda _, c: rule.before("d_v", key, c),
        sources=lambda _, c: (Cells("added", column=c),),
    )


def notice_value(everywhere: Prediction, key: int) -> Iterator[Message]:
    """How many queries have a part in it, and whose is the largest."""
    looked = everywhere.attention.visible[:, key].nonzero()[0].tolist()
    name = everywhere.names[key]
    yield plural(
        "One query may look at {key}, so one row makes its d_v.",
        "{count} queries may look at {key}: what they add is summed to its d_v.",
        len(looked),
        key=name,
    )
    weights, d_output = (np.array(everywhere.numbers[each]) for each in ("weights", "d_output"))
    lengths = weights[:, key] * np.linalg.norm(d_output, axis=-1)
    longest = [i for (i,) in argmax_ties(lengths, magnitude)]
    if len(looked) > 1:
        yield plural(
            "{queries} adds the longest row, of length {length}.",
            "{queries} add the longest rows, of length {length}.",
            len(longest),
            queries=ListOf(tuple(everywhere.names[i] for i in longest)),
            length=Magnitude(float(lengths.max())),
        )


# One word, several places.


@lru_cache(maxsize=128)
def sentence_that_shares(number: int) -> int:
    """The number of the next sentence that has a word in common with this one."""
    words = set(sentence_with_pronoun(number).inputs[0].tolist())
    later = range(number + 1, number + MOST_LOOKED_THROUGH)
    return next(n for n in later if words & set(sentence_with_pronoun(n).inputs[0].tolist()))


def two_sentences(correction: Prediction, number: int) -> Prediction:
    """This sentence and one that shares a word with it, as one batch."""
    both = correction.batch, sentence_with_pronoun(sentence_that_shares(number))
    inputs, targets = (np.concatenate([getattr(one, name) for one in both]) for name in ("inputs", "targets"))
    return correct(correction.learner, Batch(inputs, targets))


def word_figure(correction: Prediction, number: int) -> Matrices:
    """The gradient of the row of the embedding table that both sentences read."""
    pair = two_sentences(correction, number)
    first, second = (row.tolist() for row in pair.batch.inputs)
    shared = next(i for i in first if i in second)
    places = first.index(shared), second.index(shared)
    d_x = pair.gradients.layers[0].d_x
    parts = [d_x[which, place].tolist() for which, place in enumerate(places)]
    whole = pair.gradients.d_token_table[shared].tolist()
    word = Token(PRONOUN_WORDS[shared], shared)

    def part(which: int) -> Matrix:
        says = message("d_x of {word} in sentence {which}", word=word, which=which + 1)
        return one_row(
            f"part_{which}",
            message("sentence {which}", which=which + 1),
            parts[which],
            lambda _, c: Step(says, term(parts[which][c]), parts[which][c]),
        )

    def total(_: int, c: int) -> Step:
        arithmetic = term(parts[0][c]) + parts[1][c]
        return Step(message("the row of {word} was read twice, so both are added", word=word), arithmetic, whole[c])

    def one_row(key: str, title: Message, values: list[float], step) -> Matrix:
        return Matrix(
            key=key,
            title=title,
            values=np.array(values)[None],
            rows=single_axis(word.text, named=True),
            columns=feature_axis(len(values)),
            scale="gradient",
            step=step,
        )

    return Matrices(
        key="word_back",
        name=message("The gradient of one row of the embedding table"),
        heading=message("A word twice"),
        bands=((part(0),), (part(1),), (one_row("row", message("table row"), whole, total),)),
        first="row",
        notice=tuple(notice_word(correction, pair, word)),
        numbered=True,
        height=240,
    )


def notice_word(correction: Prediction, pair: Prediction, word: Token) -> Iterator[Message]:
    """No word comes twice in a sentence of this task, so a batch has to show it."""
    other = " ".join(PRONOUN_WORDS[i] for i in pair.batch.inputs[1].tolist())
    yield message(
        "No word repeats in “{sentence}”. So take two sentences at once, as training takes {batch}: the second "
        "is “{other}”.",
        sentence=" ".join(correction.tokens),
        other=other,
        batch=correction.learner.settings.batch_size,
    )
    yield message(
        "{word} stands in both, and both read the same row of the embedding table: the row gets the sum of both "
        "gradients. Each is half as large as alone, because the loss is the mean of two.",
        word=word,
    )
