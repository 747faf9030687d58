"""Questions of the lesson scores: why divide by √d_k?"""

import math

import torch

from lessons.captions import name, number
from lessons.example import ExampleTrace
from lessons.questions.old_base import (
    Maker,
    Question,
    among_numbers,
    among_tokens,
    below,
    row_with_a_choice,
    weights_if,
)


def best_match(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Rows ask, columns answer."""
    i = below(len(trace.tokens), random)
    asker, scores = name(trace.tokens, i), trace.heads.select(head).scores
    column = int(scores[:, i].argmax())
    return among_tokens(
        f"Before any mask: which key fits the query of {asker} best, with the largest score?",
        trace,
        scores[i],
        "It has the largest number in the row of the query.",
        [
            (column, f"That is read down the column: its query fits the key of {asker} best. Rows ask."),
            (i, "A query need not fit the key of its own token: the two come from different weights."),
        ],
        lambda p: f"The score of {asker} with {name(trace.tokens, p)} is {number(float(scores[i, p]))}; one is larger.",
    )


def scaled_score(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """By √d_k, not by d_k; divided, not multiplied."""
    n, d_k = len(trace.tokens), trace.example.d_k
    i, j = below(n, random), below(n, random)
    score, root = float(trace.heads.select(head).scores[i, j]), math.sqrt(d_k)
    return among_numbers(
        lambda shown: (
            f"The score of {name(trace.tokens, i)} with {name(trace.tokens, j)} is {shown(score)}, and d_k is "
            f"{d_k}. What is the scaled score?"
        ),
        (score / root, f"The score divided by √{d_k} = {number(root)}."),
        (score, "That is the score before scaling: it still has to be divided."),
        (score / d_k, f"That is divided by d_k = {d_k}. The spread of the scores grows with its root, √{d_k}."),
        (score * root, f"That is multiplied by √{d_k}. Scaling takes the spread out, so it divides."),
    )


def scaling_switched(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Scaling changes scores, and weights follow through the softmax."""
    attention, root = trace.heads.select(head), math.sqrt(trace.example.d_k)
    i = row_with_a_choice(attention, random)
    if i is None or trace.example.d_k == 1:
        return None
    scaling = trace.example.scaling
    now, then = float(attention.weights[i].max()), float(weights_if(trace, head, scaling=not scaling)[i].max())
    naive = now * root if scaling else now / root
    return among_numbers(
        lambda shown: (
            f"{'With' if scaling else 'Without'} scaling, the largest weight in the row of "
            f"{name(trace.tokens, i)} is {shown(now)}. What is it {'without' if scaling else 'with'} scaling?"
        ),
        (then, "Scores further apart make a sharper row, scores closer together a flatter one."),
        (now, "Scaling moves the scores apart or together, and softmax sees every difference."),
        (
            naive if naive <= 1 else math.nan,
            f"The scores change by √{trace.example.d_k}; weights do not follow in step.",
        ),
        (
            1 / int(attention.visible[i].sum()),
            "Equal shares need equal scores, and scaling makes no two scores equal.",
        ),
    )


def spread_of_scores(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The division is not there to make rows softer: it keeps the spread the same. Always possible."""
    d_k = trace.example.d_k
    more = 4 * d_k
    root = math.sqrt(more)
    return among_numbers(
        lambda shown: (
            f"Let all features of q and k be independent, with mean 0 and standard deviation 1. With d_k = {d_k}, "
            f"q · k ÷ √{d_k} has standard deviation 1. What is it for d_k = {more}, divided by √{more}?"
        ),
        (math.sqrt(more) / root, "q · k spreads by √d_k, and the division takes just that away, whatever d_k is."),
        (
            math.sqrt(d_k) / root,
            "The division does not make it softer and softer: q · k itself spreads more as d_k grows.",
        ),
        (math.sqrt(more) / math.sqrt(d_k), f"That is divided by √{d_k} as before. Divide by the root of the new d_k."),
        (math.sqrt(more), f"That is the spread of q · k itself, before the division by √{more}."),
    )


QUESTIONS: tuple[Maker, ...] = (best_match, scaled_score, scaling_switched, spread_of_scores)
