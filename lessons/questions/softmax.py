"""Questions of the lesson softmax: how do scores become weights?"""

import math

import torch

from attention_core.attention import softmax_rows
from lessons.captions import name, number
from lessons.example import ExampleTrace
from lessons.questions.old_base import (
    Choice,
    Maker,
    Question,
    among,
    among_numbers,
    among_tokens,
    below,
    one_of,
    row_with_a_choice,
    weights_if,
)


def most_looked_at(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The largest weight stands in the row, among what the mask leaves."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    asker, row = name(trace.tokens, i), attention.weights[i]
    column, best = int(attention.weights[:, i].argmax()), int(attention.scores[i].argmax())
    hidden = [] if attention.visible[i, best] else [(best, "It would have the largest score, but the mask hides it.")]
    return among_tokens(
        f"Which token does {asker} give its largest weight?",
        trace,
        row,
        "Softmax keeps the order: the largest visible score in the row gets the largest weight.",
        [
            *hidden,
            (column, f"That is read down the column: no token gives {asker} more weight. Rows ask."),
            (i, "A token does not always look at itself most: its query need not fit its own key."),
        ],
        lambda p: f"{name(trace.tokens, p)} gets {number(float(row[p]))} from {asker}; one gets more.",
    )


def weight_cell(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """One weight among what one gets by forgetting a step."""
    attention, example = trace.heads.select(head), trace.example
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    j = one_of(attention.visible[i], random)
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    row = attention.masked[i][attention.visible[i]]
    share = float(attention.masked[i, j] / row.sum()) if (row > 0).all() else math.nan
    other_scale = float(weights_if(trace, head, scaling=not example.scaling)[i, j])
    without = "without scaling. The scores are divided first" if example.scaling else "with scaling, which is off here"
    return among_numbers(
        lambda shown: f"What is the weight that {a} gives to {b}?",
        (float(attention.weights[i, j]), "Its exp, divided by the sum of the exps of all visible scores in the row."),
        (float(attention.weights[j, i]), f"That is what {b} gives to {a}. Rows ask, columns answer."),
        (other_scale, f"That is the weight {without}."),
        (float(weights_if(trace, head, causal=False)[i, j]), "That forgets the mask: hidden tokens take no share."),
        (share, "That is the share of the scores themselves. Softmax takes exp of each score first."),
        (1 / len(row), "Equal shares need equal scores, and these differ."),
    )


def scores_doubled(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Softmax sees differences, and doubling doubles them."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    j = one_of(attention.visible[i], random)
    now = float(attention.weights[i, j])
    then, halved = (float(softmax_rows(attention.masked[[i]] * factor)[0, j]) for factor in (2, 0.5))
    return among_numbers(
        lambda shown: (
            f"{name(trace.tokens, i)} gives {name(trace.tokens, j)} the weight {shown(now)}. All scores in the "
            "row are doubled just before the softmax. What is the weight now?"
        ),
        (then, "All differences in the row have doubled, so the largest weight gains and the smallest loses."),
        (now, "Softmax sees differences between scores, and these have doubled as well."),
        (2 * now if now <= 0.5 else math.nan, "If all weights doubled, the row would sum to 2."),
        (halved, "That is what halved scores give: differences shrink, and the row becomes flatter."),
    )


def column_sum(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Rows sum to 1; columns need not."""
    n = len(trace.tokens)
    if n < 2:
        return None
    j = below(n, random)
    column = trace.heads.select(head).weights[:, j]
    return among_numbers(
        lambda shown: (
            f"Add up the weights that all tokens give to {name(trace.tokens, j)}, down its column. What is the sum?"
        ),
        (float(column.sum()), "How much a token is looked at, by everybody together, has no fixed sum."),
        (1.0, "Rows sum to 1: each token gives away one whole. What a token gets need not."),
        (float(column.mean()), "That is the average of the column, not its sum."),
        (float(column.max()), "That is only the largest weight in the column."),
    )


def constant_added(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A constant added to a whole row changes no weight. Always possible."""
    attention, constant = trace.heads.select(head), 1 + below(9, random)
    i = below(len(trace.tokens), random)
    j = one_of(attention.visible[i], random)
    weight = number(float(attention.weights[i, j]))
    return among(
        f"{name(trace.tokens, i)} gives {name(trace.tokens, j)} the weight {weight}. Add {constant} to every score in "
        "the row, just before the softmax. What happens to this weight?",
        Choice("It stays as it is.", f"Every exp is multiplied by e^{constant}, and so is their sum: it cancels."),
        Choice("It grows.", "All the exps grow by the same factor, and their sum with them: the share stays."),
        Choice("It shrinks.", "Softmax sees the differences between scores, and these have not changed."),
    )


QUESTIONS: tuple[Maker, ...] = (most_looked_at, weight_cell, scores_doubled, column_sum, constant_added)
