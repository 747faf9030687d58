"""Questions of the lesson on PyTorch: is this what PyTorch computes?

Each is about the same heads in our module and in PyTorch's two functions.
"""

import math
from collections.abc import Sequence

import torch

from attention_core.measured.parity import Parity, largest_absolute
from lessons.screen import Card, Integer, ListOf, Question, Token, message, plural
from lessons.shared.questions import (
    Kinds,
    asks_about,
    below,
    beyond_figure,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    one_of,
    shaped,
    told,
)

ROUNDING = 1e-4  # of the largest number: what differs by less was only rounded in another way


def how_far_apart(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """The same formula in another order of additions: rounding, and nothing else."""
    if parity.theirs is None:
        return None
    difference, size = parity.module_difference, largest_absolute(parity.trace.output)
    if not 0 < difference < ROUNDING * size:
        return None
    parts = 10 ** math.floor(math.log10(size / difference))
    reply = message(
        "They differ by at most one part in {parts} of the largest number: both add up the same products, but in a "
        "different order.",
        parts=Integer(parts),
    )
    return multiple_choice(
        message("How do PyTorch's numbers differ from ours?"),
        Card(message("Only in the last digits."), reply, message("the same sums, rounded differently")),
        Card(
            message("They do not differ."),
            message("The formula is the same, but another order of additions rounds differently."),
            message("the same formula, so the same digits"),
        ),
        Card(
            message("From the first digits on."),
            message("It is another program, but it adds up the same products."),
            message("another program, so other numbers"),
        ),
    )


def mask_for_the_module(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """nn.MultiheadAttention blocks where the mask is True."""
    i, n = below(len(who), random), len(who)
    true = int(parity.may_attend[i].sum())
    return asks_about(
        "blocked where True",
        (i,),
        multiple_choice_of_counts(
            plural(
                "A boolean mask has {count} entry in the row of {query}, {true} of them True. "
                "nn.MultiheadAttention gets it unchanged as attn_mask. How many keys may {query} look at?",
                "A boolean mask has {count} entries in the row of {query}, {true} of them True. "
                "nn.MultiheadAttention gets it unchanged as attn_mask. How many keys may {query} look at?",
                n,
                query=who[i],
                true=true,
            ),
            *told(
                message("nn.MultiheadAttention blocks where the mask is True."),
                (n - true, message("True blocks a key")),
                (
                    true,
                    message("True keeps a key"),
                    message("That is the rule of F.scaled_dot_product_attention: there True keeps a key."),
                ),
                (
                    n,
                    message("the mask counts only with is_causal=True"),
                    message("A mask given as attn_mask counts without is_causal, too."),
                ),
                (
                    1,
                    message("a token sees itself, and no more"),
                    message("A token sees whatever its row does not block, itself or others."),
                ),
                (
                    0,
                    message("one True in the row blocks all of it"),
                    message("Each True blocks its own key, and no other."),
                ),
            ),
        ),
    )


def reported_weight(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """What is reported is the average over the heads, and no head need have it."""
    i = one_of(parity.may_attend.sum(dim=-1) > 1, random)
    if parity.per_head is None or parity.averaged is None or len(parity.per_head) == 1:
        return None
    j = one_of(parity.may_attend[i], random)
    weights = parity.per_head[:, i, j].tolist()
    return asks_about(
        "averaged",
        (i, j),
        multiple_choice_of_numbers(
            lambda shown: message(
                "In its heads, {query} gives {key} the weights {weights}. Which weight does nn.MultiheadAttention "
                "report by default?",
                query=who[i],
                key=who[j],
                weights=ListOf(tuple(map(shown, weights))),
            ),
            *told(
                message("It reports the average over the heads, which may match no single head."),
                (float(parity.averaged[i, j]), message("the mean over the heads")),
                (
                    weights[0],
                    message("the weight of the first head"),
                    message("That is one head. The report speaks for all of them."),
                ),
                (
                    sum(weights),
                    message("the sum over the heads"),
                    message("The sum is divided by the number of heads."),
                ),
                (
                    max(weights),
                    message("the maximum over the heads"),
                    message("It reports the mean over the heads, not the maximum."),
                ),
                (
                    min(weights),
                    message("the minimum over the heads"),
                    message("It reports the mean over the heads, not the minimum."),
                ),
                (
                    math.prod(weights),
                    message("the product over the heads"),
                    message("The weights are averaged over the heads, not multiplied."),
                ),
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
            *told(
                message("q was divided by √{d_head}, and the function divides by √{d_head} again.", d_head=d_head),
                (score / d_head, message("divided in q, and again in the function")),
                (
                    score / root,
                    message("divided in q, and that is all"),
                    message("Without a scale the function divides on its own."),
                ),
                (
                    score,
                    message("divided in q, multiplied in the function"),
                    message("The function divides. It does not undo the division of q."),
                ),
                (
                    score * root,
                    message("multiplied, and not divided"),
                    message("Both steps divide, and none multiplies."),
                ),
                (
                    score / d_head / root,
                    message("divided in q, then for q and k in the function"),
                    message("The function divides once, for q and k together."),
                ),
            ),
        ),
    )


@beyond_figure
def shape_of_packed_weights(parity: Parity, who: Sequence[Token], random: torch.Generator) -> Question | None:
    """Three projections on top of each other, each stored transposed. Always possible."""
    d_model = 2 + below(63, random)
    reply = message("The three projections lie one below the other, each transposed: nn.Linear computes x @ W.T.")
    return multiple_choice(
        message(
            "nn.MultiheadAttention keeps W_q, W_k and W_v in one matrix, in_proj_weight, stored as nn.Linear "
            "stores its weights. With {d_model} features per token, what is its shape?",
            d_model=d_model,
        ),
        Card(shaped(3 * d_model, d_model), reply, message("three matrices, stacked one below another")),
        Card(
            shaped(d_model, 3 * d_model),
            message("Beside one another they stand in x @ W. nn.Linear stores each transposed."),
            message("three matrices, one beside the other"),
        ),
        Card(
            shaped(d_model, d_model),
            message("Queries, keys and values have a matrix each."),
            message("one matrix, used three times"),
        ),
    )


QUESTIONS: Kinds = {
    "look": (how_far_apart,),
    "predict": (
        reported_weight,
        mask_for_the_module,
    ),
    "generalise": (
        divided_twice,
        shape_of_packed_weights,
    ),
}
