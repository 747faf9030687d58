"""What does it cost? Questions about the sizes of a layer, and about a row that is read in blocks."""

import math
from dataclasses import replace

import torch
from torch import Generator

from attention_core.measured.costs import CostStep, LayerSizes, cached_numbers, multiplications
from lessons.screen import Card, Integer, message, plural
from lessons.shared.questions import (
    Asked,
    Kinds,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    one_of,
    told,
)
from lessons.today.cost.counted_view import COST_STEPS
from lessons.today.cost.online_softmax_view import OnlineRow

MOST_EXPONENT = 80.0
FEWEST_ASKED, MORE_ASKED = 3, 60  # tokens


def busiest_step(sizes: LayerSizes, random: Generator) -> Asked:
    """Widths and the number of tokens decide together. None where two steps tie."""
    multiplied = multiplications(sizes)
    counts: dict[CostStep, int] = {step: getattr(multiplied, step) for step in COST_STEPS}
    first, second, *_ = sorted(counts.values(), reverse=True)
    if first == second:
        return None
    cards = [
        Card(
            COST_STEPS[step],
            plural(
                "{step} takes {n} multiplication.",
                "{step} takes {n} multiplications.",
                count,
                step=COST_STEPS[step],
                n=Integer(count),
            ),
        )
        for step, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    return multiple_choice(
        message(
            "With n = {tokens} and d_model = {features}, which step takes the most multiplications?",
            tokens=Integer(sizes.tokens),
            features=Integer(sizes.d_model),
        ),
        *cards,
    )


@beyond_figure
def score_products(sizes: LayerSizes, random: Generator) -> Asked:
    """A dot product for each pair of tokens, in each head."""
    n, h, d_k = asked_tokens(random), sizes.n_heads, sizes.d_k
    return multiple_choice_of_counts(
        message(
            "The same layer with n = {tokens} tokens: how many multiplications does Q Kᵀ take, with h = {heads} and "
            "d_k = {d_k}?",
            tokens=n,
            heads=h,
            d_k=d_k,
        ),
        *told(
            message("Each of the n·n pairs takes a dot product of d_k products, in each head."),
            (h * n * n * d_k, message("d_k products for each pair of tokens, in each head")),
            (
                h * n * n,
                message("one product for each pair of tokens, in each head"),
                message("A pair takes a product for each of the d_k features."),
            ),
            (
                h * n * d_k,
                message("d_k products for each token, in each head"),
                message("Each token meets all tokens, not just one."),
            ),
            (
                2 * h * n * n * d_k,
                message("d_k products and sums for each pair, in each head"),
                message("Only multiplications count here, not additions."),
            ),
            (
                h * n * n * d_k * d_k,
                message("d_k·d_k products for each pair of tokens, in each head"),
                message("Features meet in pairs: feature 1 with feature 1, and so on."),
            ),
            (
                h * n * n * n * d_k,
                message("d_k products for every three tokens, in each head"),
                message("A score is about two tokens, not three."),
            ),
        ),
    )


@beyond_figure
def longer_text(sizes: LayerSizes, random: Generator) -> Asked:
    """Twice as many tokens are four times as many pairs."""
    n, times = asked_tokens(random), 2 + below(3, random)
    before = multiplications(replace(sizes, tokens=n)).scores
    return multiple_choice_of_counts(
        message(
            "With {tokens} tokens, Q Kᵀ takes {count} multiplications. How many does it take with {times} times as "
            "many tokens?",
            tokens=n,
            count=Integer(before),
            times=times,
        ),
        *told(
            message("More queries meet more keys, so the number of pairs grows with the square."),
            (before * times * times, message("more queries and more keys")),
            (
                before * times,
                message("more queries, and the same keys"),
                message("There are more keys as well, and each query meets all of them."),
            ),
            (
                before * (times * times - 1),
                message("only the new pairs"),
                message("The old pairs are computed as well."),
            ),
            (
                before * times**3,
                message("more queries, more keys, and more for each pair"),
                message("A pair still takes d_k products, however long the text is."),
            ),
            (
                before * times * times * 2,
                message("more queries and more keys, each of them twice"),
                message("Each pair of a query and a key counts once."),
            ),
        ),
    )


@beyond_figure
def cache_of(sizes: LayerSizes, random: Generator) -> Asked:
    """A key and a value for each token and key/value head."""
    n, h, g, d_k, d_v = asked_tokens(random), sizes.n_heads, sizes.n_kv_heads, sizes.d_k, sizes.d_v
    kept = cached_numbers(replace(sizes, tokens=n))
    return multiple_choice_of_counts(
        message(
            "How many numbers does the cache of this layer hold after {tokens} tokens (key/value heads: {heads}, d_k = "
            "{d_k}, d_v = {d_v})?",
            tokens=n,
            heads=g,
            d_k=d_k,
            d_v=d_v,
        ),
        *told(
            message(
                "A key and a value for each token and key/value head. Later tokens need no earlier query or score."
            ),
            (kept, message("keys and values of all tokens")),
            (n * g * d_k, message("keys of all tokens"), message("The values are kept as well.")),
            (
                d_k * g + d_v * g,
                message("keys and values of a single token"),
                message("That is one token. All of them are kept."),
            ),
            (
                n * (h * d_k + g * (d_k + d_v)),
                message("queries, keys and values of all tokens"),
                message("A query is used once and then not needed any more."),
            ),
            (
                kept + h * n * n,
                message("keys, values and scores of all tokens"),
                message("Scores are used at once and not kept."),
            ),
        ),
    )


def what_rescales(row: OnlineRow, random: Generator) -> Asked:
    """e to the difference of the maxima: not their quotient, not the other way round."""
    b = one_of(torch.tensor([place in row.rises for place in range(len(row.steps))]), random)
    before, after = (float(step.largest[0]) for step in row.steps[b - 1 : b + 1])
    factors = (
        (
            math.exp(before - after),
            message("Each power was e^(s − m) and must become e^(s − m'), which is e^(m − m') times as large."),
        ),
        (
            math.exp(min(after - before, MOST_EXPONENT)),
            message("That is the other way round: against a larger maximum every power becomes smaller."),
        ),
        (1.0, message("The powers so far were taken against the old maximum, so they must change.")),
        (after - before, message("Powers of e are rescaled by a power of e, not by a difference.")),
        (
            before / after if after else math.nan,
            message("Powers of e are rescaled by a power of e, not by a quotient."),
        ),
        (0.0, message("Nothing is thrown away: the earlier blocks still count.")),
    )
    return multiple_choice_of_numbers(
        lambda shown: message(
            "Block {block} raises the largest score from {before} to {after}. By what factor is everything summed so "
            "far multiplied?",
            block=b + 1,
            before=shown(before),
            after=shown(after),
        ),
        *factors,
    )


@beyond_figure
def scores_held(row: OnlineRow, random: Generator) -> Asked:
    """A block at a time, whatever the length."""
    size = 2 + below(7, random)
    n = size * (3 + below(20, random))
    return multiple_choice_of_counts(
        message(
            "{tokens} keys are read in blocks of {block}. How many scores of a query are held at once?",
            tokens=n,
            block=size,
        ),
        (
            size,
            message("Those of one block. Of all earlier blocks, only a maximum, a sum and one row of values are kept."),
        ),
        (n, message("The row of scores is never whole: each block is read, added up and dropped.")),
        (n // size, message("That is the number of blocks.")),
        (1, message("A block is read as a whole, not key by key.")),
        (n * n, message("That would be the scores of as many queries as there are keys. This is one query.")),
        (n - size, message("The other blocks leave no scores behind, only a maximum, a sum and one row of values.")),
    )


def asked_tokens(random: Generator) -> int:
    """A random number of tokens."""
    return FEWEST_ASKED + int(torch.randint(MORE_ASKED, (), generator=random))


BLOCK_QUESTIONS: Kinds = {
    "predict": (what_rescales,),
    "generalise": (scores_held,),
}
QUESTIONS: Kinds = {
    "look": (busiest_step,),
    "generalise": (
        longer_text,
        score_products,
        cache_of,
    ),
}
