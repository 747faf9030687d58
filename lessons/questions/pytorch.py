"""Questions of the lesson pytorch: is this what PyTorch computes? They are about the tensors of that lesson."""

import math
from collections.abc import Callable

import torch

from attention_core.heads import MultiHeadAttention
from attention_core.pytorch_parity import Parity, largest_absolute
from attention_core.randomness import generator
from lessons.captions import magnitude, name, number, plural
from lessons.questions.old_base import Choice, Question, among, among_numbers, below, one_of, shape

ParityMaker = Callable[[Parity, int, torch.Generator], Question | None]


def mask_for_the_module(parity: Parity, head: int, random: torch.Generator) -> Question | None:
    """nn.MultiheadAttention blocks where the mask is True."""
    i, n = below(len(parity.tokens), random), len(parity.tokens)
    true = int(parity.may_attend[i].sum())
    return among(
        f"{mask_row(parity, i, true)} It is given to nn.MultiheadAttention as attn_mask, just as it is. At how many "
        "tokens may this one look?",
        Choice(str(n - true), "nn.MultiheadAttention blocks where the mask is True."),
        Choice(str(true), "That takes True for “keep”, as F.scaled_dot_product_attention does. Here True blocks."),
        Choice(str(n), "A mask is not ignored: where it is True, this function blocks."),
        Choice("1", "A token gets no look at itself for free: where the mask is True, this function blocks."),
    )


def mask_for_the_function(parity: Parity, head: int, random: torch.Generator) -> Question | None:
    """F.scaled_dot_product_attention keeps where the mask is True."""
    i, n = below(len(parity.tokens), random), len(parity.tokens)
    true = int(parity.may_attend[i].sum())
    return among(
        f"{mask_row(parity, i, true)} It is given to F.scaled_dot_product_attention as attn_mask, just as it is. At "
        "how many tokens may this one look?",
        Choice(str(true), "F.scaled_dot_product_attention keeps where the mask is True."),
        Choice(str(n - true), "That takes True for “block”, as nn.MultiheadAttention does. Here True keeps."),
        Choice(str(n), "A mask is not ignored: where it is False, this function blocks."),
        Choice("0", "A row that is True somewhere keeps something."),
    )


def mask_row(parity: Parity, query: int, true: int) -> str:
    """What a boolean mask holds in one row."""
    return (
        f"A boolean mask is True at {true} of {len(parity.tokens)} places in the row of {name(parity.tokens, query)}."
    )


def reported_weight(parity: Parity, head: int, random: torch.Generator) -> Question | None:
    """What is reported is the average over the heads, and no head need have it."""
    n_heads = len(parity.per_head)
    i = one_of(parity.may_attend.sum(dim=-1) > 1, random)
    if i is None or n_heads == 1:
        return None
    j = one_of(parity.may_attend[i], random)
    one, rest = float(parity.per_head[0, i, j]), parity.per_head[1:, i, j]
    a, b = name(parity.tokens, i), name(parity.tokens, j)
    return among_numbers(
        lambda shown: (
            f"Of {n_heads} heads, the first lets {a} give {b} the weight {shown(one)}; "
            f"in the {plural('other', n_heads - 1)} it is {', '.join(shown(float(weight)) for weight in rest)}. "
            "Which weight does nn.MultiheadAttention report, unless told otherwise?"
        ),
        (float(parity.averaged[i, j]), "The average over the heads. Ask with average_attn_weights=False for each."),
        (one, "That is the first head alone. What is reported is the average, which no head need have."),
        (one + float(rest.sum()), "That is the sum; rows of it would not sum to 1. The average is reported."),
        (float(parity.per_head[:, i, j].max()), "That is the head that looks hardest. The average is reported."),
    )


def divided_twice(parity: Parity, head: int, random: torch.Generator) -> Question | None:
    """F.scaled_dot_product_attention divides by itself."""
    q, k = parity.trace.heads.q[0], parity.trace.heads.k[0]
    d_head, n = q.shape[-1], len(q)
    if d_head == 1:
        return None
    i, j = below(n, random), below(n, random)
    score, root = float(q[i] @ k[j]), math.sqrt(d_head)
    return among_numbers(
        lambda shown: (
            f"In head 1, the query of {name(parity.tokens, i)} times the key of {name(parity.tokens, j)} is "
            f"{shown(score)}, with {d_head} features. Somebody divides q by √{d_head}, then calls "
            "F.scaled_dot_product_attention without a scale. Which scaled score does it work with?"
        ),
        (score / d_head, f"The function divides by √{d_head} as well, so the score was divided twice."),
        (score / root, "That would be right, but the function divides once more: it does so unless told a scale."),
        (score, "The function divides, and q was divided before."),
        (score * root, "Nothing here multiplies. The function divides, and q was divided before."),
    )


def weights_of_its_own(parity: Parity, head: int, random: torch.Generator) -> Question | None:
    """The same shape is not the same numbers."""
    d_model, seed = parity.x.shape[-1], below(1000, random)
    other = MultiHeadAttention(d_model, parity.ours.n_heads, generator=generator(seed))
    with torch.no_grad():
        gap = largest_absolute(other(parity.x, parity.may_attend)[0] - parity.trace.output)
    if gap < 0.01:
        return None
    return among(
        f"A module is built anew, its weights drawn from seed {seed} and not copied from ours. For the same x its "
        f"output is {shape(*parity.x.shape)}, like ours. How do the numbers compare?",
        Choice(
            f"They differ by up to {number(gap)}.", "The same shapes say nothing of numbers: other weights, others."
        ),
        Choice(
            f"They differ by at most {magnitude(max(parity.module_difference, 1e-8))}.",
            "That is how close it comes with our weights copied. The same shape alone proves nothing.",
        ),
        Choice("They are the same to the last digit.", "The same formula with other weights gives other numbers."),
    )


def shape_of_packed_weights(parity: Parity, head: int, random: torch.Generator) -> Question | None:
    """Three maps on top of each other, each stored transposed. Always possible."""
    d = parity.x.shape[-1]
    return among(
        f"nn.MultiheadAttention keeps W_q, W_k and W_v in one matrix, in_proj_weight, as nn.Linear keeps a map. With "
        f"{d} features of a token, what is its shape?",
        Choice(shape(3 * d, d), "Three maps one below the other, a row for each result: it is used as x @ W.T."),
        Choice(shape(d, 3 * d), "That is how x @ W would want it. nn.Linear stores W transposed."),
        Choice(shape(d, d), "That is one map. There are three in it."),
    )


QUESTIONS: tuple[ParityMaker, ...] = (
    mask_for_the_module,
    mask_for_the_function,
    reported_weight,
    divided_twice,
    weights_of_its_own,
    shape_of_packed_weights,
)
