"""What does it cost? Questions about the sizes of a layer."""

from dataclasses import replace

import torch
from torch import Generator

from lessons.cost_counted import COST_STEPS
from lessons.costs import LayerSizes, cached_numbers, multiplications
from lessons.questions.base import Asked, among, among_counts, below, beyond_figure
from lessons.screen import Card
from lessons.sentence import Count, say

FEWEST_ASKED, MORE_ASKED = 3, 60  # tokens


def busiest_step(sizes: LayerSizes, random: Generator) -> Asked:
    """Widths and the number of tokens decide together. None where two steps tie."""
    counts = multiplications(sizes)
    first, second, *_ = sorted(counts.values(), reverse=True)
    if first == second:
        return None
    cards = [
        Card(COST_STEPS[step],
             say("{step} takes {count} multiplications, more than any other step.", step=COST_STEPS[step],
                 count=Count(count)) if count == first else
             say("{step} takes {count} multiplications, and another step takes more.", step=COST_STEPS[step],
                 count=Count(count)))
        for step, count in sorted(counts.items(), key=lambda item: -item[1])]  # fmt: skip
    return among(say("With n = {tokens} tokens and d_model = {features}, which step takes the most multiplications?",
                     tokens=Count(sizes.tokens), features=Count(sizes.d_model)), *cards)  # fmt: skip


@beyond_figure
def score_products(sizes: LayerSizes, random: Generator) -> Asked:
    """A dot product for each pair of tokens, in each head."""
    n, h, d_k = asked_tokens(random), sizes.n_heads, sizes.d_k
    return among_counts(
        say("The same layer with n = {tokens} tokens: how many multiplications does Q Kᵀ take, with h = {heads} and "
            "d_k = {d_k}?", tokens=n, heads=h, d_k=d_k),
        (h * n * n * d_k, say("Each of the n·n pairs takes a dot product of d_k products, in each head.")),
        (h * n * n, say("That counts the scores. Each of them is a dot product of d_k products.")),
        (h * n * d_k, say("That is one key for each query. Every query meets every key, n·n pairs.")),
        (2 * h * n * n * d_k, say("That counts the additions as well.")),
        (h * n * n * d_k * d_k, say("A query and a key have d_k features each, but these meet one to one.")),
        (h * n * n * n * d_k, say("That has one n too many: a score belongs to a pair of tokens.")))  # fmt: skip


@beyond_figure
def longer_text(sizes: LayerSizes, random: Generator) -> Asked:
    """Twice as many tokens are four times as many pairs."""
    n, times = asked_tokens(random), 2 + below(3, random)
    before = multiplications(replace(sizes, tokens=n))["scores"]
    return among_counts(
        say("With {tokens} tokens, Q Kᵀ takes {count} multiplications. How many are they with {times} times as many "
            "tokens?", tokens=n, count=Count(before), times=times),
        (before * times * times, say("Both the queries and the keys become more, so the pairs grow with the square.")),
        (before * times, say("That lets only the queries become more; the keys do, too.")),
        (before * (times * times - 1), say("That is what is added to those that there were.")),
        (before * times**3, say("That is the third power: a pair has two tokens, not three.")),
        (before * times * times * 2, say("The pairs grow with the square, and nothing else doubles.")))  # fmt: skip


@beyond_figure
def cache_of(sizes: LayerSizes, random: Generator) -> Asked:
    """A key and a value for each token and key/value head."""
    n, h, g, d_k, d_v = asked_tokens(random), sizes.n_heads, sizes.n_kv_heads, sizes.d_k, sizes.d_v
    kept = cached_numbers(replace(sizes, tokens=n))
    return among_counts(
        say("A cache keeps what later tokens need of the earlier ones. How many numbers are that in this layer after "
            "{tokens} tokens, with g = {heads}, d_k = {d_k} and d_v = {d_v}?", tokens=n, heads=g, d_k=d_k, d_v=d_v),
        (kept, say("A key and a value for each token and each key/value head.")),
        (n * g * d_k, say("Those are the keys alone. The values are needed as well.")),
        (d_k * g + d_v * g, say("That is one token. Every old one keeps its own key and value.")),
        (n * (h * d_k + g * (d_k + d_v)), say("Old queries are never asked again, so they need not be kept.")),
        (kept + h * n * n, say("Scores and weights of old queries are not needed again.")))  # fmt: skip


def asked_tokens(random: Generator) -> int:
    """A random number of tokens."""
    return FEWEST_ASKED + int(torch.randint(MORE_ASKED, (), generator=random))


QUESTIONS = (score_products, longer_text, cache_of, busiest_step)
