"""Why divide by √d_k? Questions about an example and one of its heads, its scores as they are and divided by √d_k."""

import math

from torch import Generator

from attention_core.measured.measures import D_K_MEASURED
from attention_core.one_head.attention import AttentionTrace, softmax_rows
from lessons.example.example import ExampleTrace
from lessons.screen import Fixed, message
from lessons.shared.questions import (
    Asked,
    Kinds,
    asks_about,
    below,
    multiple_choice_of_numbers,
    multiple_choice_of_tokens,
    one_of,
    row_with_a_choice,
)


def best_match(trace: ExampleTrace, plain: AttentionTrace, divided: AttentionTrace, random: Generator) -> Asked:
    """Rows are queries, columns are keys."""
    i = row_with_a_choice(divided, random)
    query = trace.names[i]
    keys = plain.visible[i].nonzero()[:, 0].tolist()
    down = int(plain.masked[:, i].argmax())
    beliefs = [
        (
            down,
            message("That reads down the column, but the rows are the queries."),
        ),
        (i, message("A query need not fit the key of its own token.")),
    ]
    return multiple_choice_of_tokens(
        message(
            "{query} may look at {keys} keys. Which of them has the largest score?",
            query=query,
            keys=len(keys),
        ),
        [trace.names[key] for key in keys],
        plain.scores[i][keys],
        message("It has the largest number in the row of {query}.", query=query),
        [(keys.index(position), mend) for position, mend in beliefs if position in keys],
        lambda place: message(
            "The score of {key} for {query} is {score}; another is larger.",
            key=trace.names[keys[place]],
            query=query,
            score=Fixed(float(plain.scores[i, keys[place]])),
        ),
    )


def scaled_score(trace: ExampleTrace, plain: AttentionTrace, divided: AttentionTrace, random: Generator) -> Asked:
    """By √d_k, not by d_k; divided, not multiplied."""
    d_k = plain.q.shape[-1]
    i = below(len(trace.tokens), random)
    j = one_of(plain.visible[i], random)
    score, root, (n, d_model) = float(plain.scores[i, j]), math.sqrt(d_k), trace.x.shape
    by_root = message("The score is divided by √{d_k} ≈ {root}.", d_k=d_k, root=Fixed(root))
    if math.isqrt(d_k) ** 2 == d_k:
        by_root = message("The score is divided by √{d_k} = {root}.", d_k=d_k, root=Fixed(root))
    return asks_about(
        "scaled",
        (i, j),
        multiple_choice_of_numbers(
            lambda shown: message(
                "The query of {query} and the key of {key} have the score {score}, and d_k is {d_k}. What is "
                "the scaled score?",
                key=trace.names[j],
                query=trace.names[i],
                score=shown(score),
                d_k=d_k,
            ),
            (score / root, by_root, message("the score, divided by √d_k")),
            (score, message("That is the score before it is scaled."), message("the score, just as it is")),
            (
                score / d_k,
                message("Divide by √d_k, not by d_k: the standard deviation of the scores grows only with √d_k."),
                message("the score, divided by d_k"),
            ),
            (
                score * root,
                message("Multiplying would make it larger still. The score is divided."),
                message("the score, multiplied by √d_k"),
            ),
            (
                score / math.sqrt(d_model) if d_model != d_k else math.nan,
                message("The score adds up d_k products, so d_k counts, not d_model."),
                message("the score, divided by √d_model"),
            ),
            (
                score / math.sqrt(n),
                message("A score is about two tokens, however many there are."),
                message("the score, divided by the root of the number of tokens"),
            ),
        ),
    )


def divided_weight(trace: ExampleTrace, plain: AttentionTrace, divided: AttentionTrace, random: Generator) -> Asked:
    """Scaling changes scores, and weights follow through the softmax."""
    i = row_with_a_choice(divided, random)
    query, d_k = trace.names[i], plain.q.shape[-1]
    before, after = (float(attention.weights[i].max()) for attention in (plain, divided))
    why = message("The differences between scores become smaller, so the row becomes flatter.")
    by_d_k, multiplied = (float(softmax_rows(plain.masked[[i]] * by).max()) for by in (1 / d_k, math.sqrt(d_k)))
    return asks_about(
        "weights",
        (i, int(divided.weights[i].argmax())),
        multiple_choice_of_numbers(
            lambda shown: message(
                "With unscaled scores, the largest weight of {query} is {weight}. How large is its largest "
                "weight once the scores are divided by √{d_k}?",
                query=query,
                weight=shown(before),
                d_k=d_k,
            ),
            (after, why, message("the softmax of the scores, divided by √d_k")),
            (
                before,
                message("The order stays, but smaller differences bring the weights closer together."),
                message("the order of the keys stays the same, and so does the weight"),
            ),
            (
                before / math.sqrt(d_k),
                message("The scores are divided, not the weights: a row must still sum to 1."),
                message("the weight, divided by √d_k"),
            ),
            (
                multiplied,
                message("Multiplying makes the differences larger and the row sharper."),
                message("the softmax of the scores, multiplied by √d_k"),
            ),
            (
                1 / int(plain.visible[i].sum()),
                message("That would take equal scores. Division makes them smaller, not equal."),
                message("every visible key gets the same share"),
            ),
            (
                by_d_k,
                message("The scores are divided by √d_k, not by d_k."),
                message("the softmax of the scores, divided by d_k"),
            ),
        ),
    )


def score_deviation(trace: ExampleTrace, plain: AttentionTrace, divided: AttentionTrace, random: Generator) -> Asked:
    """A sum of d_k products has the standard deviation √d_k. Always possible."""
    d_k = D_K_MEASURED[1 + below(len(D_K_MEASURED) - 1, random)]
    why = message("q · k is a sum of {d_k} products, each of variance 1, so its variance is {d_k}.", d_k=d_k)
    return multiple_choice_of_numbers(
        message(
            "Features of queries and keys are independent, with mean 0 and standard deviation 1. What is the standard "
            "deviation of the scores q · k for d_k = {d_k}?",
            d_k=d_k,
        ),
        (math.sqrt(d_k), why, message("each product adds 1 to the variance")),
        (
            1.0,
            message("That is the deviation of one product. Their sum spreads more widely."),
            message("products of such features also have standard deviation 1"),
        ),
        (
            float(d_k),
            message("That is the variance. The standard deviation is its square root."),
            message("each product adds 1 to the deviation"),
        ),
        (
            math.sqrt(2 * d_k),
            message("Each product has variance 1, not 2."),
            message("each product adds 2 to the variance"),
        ),
        (
            1 / math.sqrt(d_k),
            message("A score is a sum, not an average, so it spreads more with every product."),
            message("more products average out more"),
        ),
    )


QUESTIONS: Kinds = {
    "look": (best_match,),
    "predict": (
        scaled_score,
        divided_weight,
    ),
    "generalise": (score_deviation,),
}
