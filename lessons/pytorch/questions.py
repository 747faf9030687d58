"""Questions of the lesson on PyTorch: is this what PyTorch computes?

Each is about the same heads in our module and in PyTorch's two functions.
"""

import math
from collections.abc import Sequence

import torch

from attention_core.heads import MultiHeadAttention
from attention_core.parity import Parity, largest_absolute
from attention_core.randomness import generator
from lessons.kit.questions import (
    asks_about,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    one_of,
    shaped,
)
from lessons.screen.message import ListOf, Magnitude, Token, message
from lessons.screen.screen import Card, Question

LEAST_DIFFERENCE = 0.01  # of other weights: a smaller one would look like the same


def mask_for_the_module(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """nn.MultiheadAttention blocks where the mask is True."""
    i, n = below(len(who), random), len(who)
    true = int(parity.may_attend[i].sum())
    return asks_about(
        "blocked where True",
        (i,),
        multiple_choice_of_counts(
            message(
                "A boolean mask has {n} entries in the row of {query}, {true} of them True. nn.MultiheadAttention gets "
                "it as attn_mask, just as it is. At how many keys may {query} look?",
                n=n,
                query=who[i],
                true=true,
            ),
            (n - true, message("nn.MultiheadAttention blocks where the mask is True."), message("True blocks a key")),
            (
                true,
                message("That takes True for “keep”, as F.scaled_dot_product_attention does. Here True blocks."),
                message("True keeps a key"),
            ),
            (
                n,
                message("A mask is not ignored: where it is True, this function blocks."),
                message("the mask waits for is_causal=True"),
            ),
            (
                1,
                message(
                    "Nothing lets a token look at itself in any case: where the mask is True, this function blocks."
                ),
                message("a token sees itself, and no more"),
            ),
            (
                0,
                message("A mask that is True somewhere blocks there, not everywhere."),
                message("one True in the row blocks all of it"),
            ),
        ),
    )


def mask_for_the_function(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """F.scaled_dot_product_attention keeps where the mask is True."""
    i, n = below(len(who), random), len(who)
    false = int((~parity.may_attend[i]).sum())
    return asks_about(
        "blocked where False",
        (i,),
        multiple_choice_of_counts(
            message(
                "A boolean mask has {n} entries in the row of {query}, {false} of them False. "
                "F.scaled_dot_product_attention gets it as attn_mask, just as it is. At how many keys may {query} "
                "look?",
                n=n,
                query=who[i],
                false=false,
            ),
            (
                n - false,
                message("F.scaled_dot_product_attention keeps where the mask is True."),
                message("False blocks a key"),
            ),
            (
                false,
                message("That takes True for “block”, as nn.MultiheadAttention does. Here True keeps."),
                message("True blocks a key"),
            ),
            (
                n,
                message("A mask is not ignored: where it is False, this function blocks."),
                message("the mask waits for is_causal=True"),
            ),
            (
                0,
                message("A row that is True somewhere keeps something."),
                message("one False in the row blocks all of it"),
            ),
            (
                1,
                message("A token does not see itself alone: this function keeps where the mask is True."),
                message("a token sees itself, and no more"),
            ),
        ),
    )


def reported_weight(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """What is reported is the average over the heads, and no head need have it."""
    i = one_of(parity.may_attend.sum(dim=-1) > 1, random)
    if parity.per_head is None or len(parity.per_head) == 1:
        return None
    j = one_of(parity.may_attend[i], random)
    weights = parity.per_head[:, i, j].tolist()
    return asks_about(
        "averaged",
        (i, j),
        multiple_choice_of_numbers(
            lambda shown: message(
                "Head by head, {query} puts on {key} the weights {weights}. Which weight does nn.MultiheadAttention "
                "report, unless told otherwise?",
                query=who[i],
                key=who[j],
                weights=ListOf(tuple(map(shown, weights))),
            ),
            (
                float(parity.averaged[i, j]),
                message("The average over the heads. With average_attn_weights=False it reports each head."),
                message("the mean over the heads"),
            ),
            (
                weights[0],
                message("That is the first head alone. The average is reported, which no head need have."),
                message("the weight of the first head"),
            ),
            (
                sum(weights),
                message("That is the sum; rows of it would not sum to 1. The average is reported."),
                message("the sum over the heads"),
            ),
            (
                max(weights),
                message("That is one head alone. The average over all is reported."),
                message("the maximum over the heads"),
            ),
            (
                min(weights),
                message("That is one head alone, and no other has less. The average over all is reported."),
                message("the minimum over the heads"),
            ),
            (
                math.prod(weights),
                message("The heads are averaged, not multiplied."),
                message("the product over the heads"),
            ),
        ),
    )


@beyond_figure
def divided_twice(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """F.scaled_dot_product_attention divides by itself."""
    q, k = parity.trace.heads.q[0], parity.trace.heads.k[0]
    d_head, n = q.shape[-1], len(q)
    if d_head == 1:
        return None
    i, j = below(n, random), below(n, random)
    score, root = float(q[i] @ k[j]), math.sqrt(d_head)
    return asks_about(
        "divided twice",
        (i, j),
        multiple_choice_of_numbers(
            lambda shown: message(
                "In head 1 the score of {key} for {query} is {score}, with {d_head} features. Somebody divides q by "
                "√{d_head}, then calls F.scaled_dot_product_attention without a scale. Which scaled score does it use?",
                key=who[j],
                query=who[i],
                score=shown(score),
                d_head=d_head,
            ),
            (
                score / d_head,
                message("The function divides by √{d_head} as well, so the score is divided twice.", d_head=d_head),
                message("divided in q, and again in the function"),
            ),
            (
                score / root,
                message("That would be right, but the function divides once more, unless it is told a scale."),
                message("divided in q, and that is all"),
            ),
            (
                score,
                message("The function divides, and q was divided before."),
                message("divided in q, multiplied in the function"),
            ),
            (
                score * root,
                message("Nothing here multiplies. The function divides, and q was divided before."),
                message("multiplied, and not divided"),
            ),
            (
                score / d_head / root,
                message("That divides three times: once too often."),
                message("divided in q, then for q and k in the function"),
            ),
        ),
    )


@beyond_figure
def weights_of_its_own(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """The same shape is not the same numbers."""
    if parity.theirs is None:
        return None
    (n, d_model), seed = parity.x.shape, below(1000, random)
    other = MultiHeadAttention.draw(d_model, parity.ours.n_heads, generator=generator(seed))
    gap = largest_absolute(other(parity.x, parity.may_attend)[0] - parity.trace.output)
    if gap < LEAST_DIFFERENCE:
        return None
    return multiple_choice(
        message(
            "A new module draws its weights from seed {seed} and does not copy ours. For the same x its output is "
            "{n}\u00a0×\u00a0{d_model}, like ours. By how much do the two outputs differ?",
            seed=seed,
            n=n,
            d_model=d_model,
        ),
        Card(
            message("by up to {difference}", difference=Magnitude(gap)),
            message("The same shape says nothing about the numbers: other weights give others."),
            message("other weights make other outputs"),
        ),
        Card(
            message("by up to {difference}", difference=Magnitude(max(parity.module_difference, 1e-8))),
            message("That is how close it comes with our weights copied. The same shape alone proves nothing."),
            message("only rounding tells them apart"),
        ),
        Card(
            message("not at all"),
            message("The same formula with other weights gives other numbers."),
            message("the same formula makes the same output"),
        ),
    )


@beyond_figure
def shape_of_packed_weights(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """Three projections on top of each other, each stored transposed. Always possible."""
    d_model = 2 + below(63, random)
    return multiple_choice(
        message(
            "nn.MultiheadAttention keeps W_q, W_k and W_v in one matrix, in_proj_weight, stored as nn.Linear stores "
            "one. With {d_model} features of a token, what is its shape?",
            d_model=d_model,
        ),
        Card(
            shaped(3 * d_model, d_model),
            message("Three projections one below the other, a row for each result: it is used as x @ W.T."),
            message("three matrices, one below the other"),
        ),
        Card(
            shaped(d_model, 3 * d_model),
            message("That is how x @ W would want it. nn.Linear stores W transposed."),
            message("three matrices, one beside the other"),
        ),
        Card(
            shaped(d_model, d_model),
            message("That is one projection. There are three in it."),
            message("one matrix, used three times"),
        ),
    )


QUESTIONS = (
    mask_for_the_module,
    mask_for_the_function,
    reported_weight,
    divided_twice,
    weights_of_its_own,
    shape_of_packed_weights,
)
