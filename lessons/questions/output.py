"""Questions of the lesson output: what comes out?"""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import attend
from attention_core.masks import causal_mask
from lessons.captions import name, number
from lessons.example import ExampleTrace
from lessons.questions.old_base import (
    CLEAR_LEAD,
    Choice,
    Maker,
    Question,
    among,
    among_numbers,
    among_tokens,
    below,
    row_with_a_choice,
    shape,
    two_of,
    weights_if,
)


def output_cell(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A mixture by the weights of the row."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    feature, weights = below(attention.v.shape[-1], random), attention.weights
    values, winner = attention.v[:, feature], int(weights[i].argmax())
    free = weights_if(trace, head, causal=False)[i]
    return among_numbers(
        lambda shown: f"What is number {feature + 1} in the output of {name(trace.tokens, i)}?",
        (float(weights[i] @ values), "Each value times its weight in the row, all added up."),
        (
            float(values[winner]),
            f"That is the value of {name(trace.tokens, winner)} alone. The others are mixed in, too.",
        ),
        (float(weights[:, i] @ values), "That takes the weights down the column. The row asks, so it does the mixing."),
        (float(free @ values), "That forgets the mask: hidden values must not be mixed in."),
        (float(values[attention.visible[i]].mean()), "That is the plain average. Each value counts by its weight."),
        (float(values[i]), "That is its own value, before attention mixed anything."),
    )


def shape_of_output(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A row for each token that asks, with the features of a value."""
    n, d_v = len(trace.tokens), trace.example.d_v
    return among(
        f"In one head the weights are {shape(n, n)} and V is {shape(n, d_v)}. What is the shape of its output?",
        Choice(shape(n, d_v), "A row for each token that asks, with the features of a value."),
        Choice(shape(n, n), "That is the shape of the weights. Mixing values gives vectors like values."),
        Choice(shape(1, d_v), "Every token asks for itself, so every token has a row in the output."),
        Choice(shape(d_v, n), "That is the output turned on its side. Tokens are rows."),
    )


def largest_contribution(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """A big weight is not a big influence."""
    attention = trace.heads.select(head)
    i = row_with_a_choice(attention, random)
    if i is None:
        return None
    asker, lengths = name(trace.tokens, i), attention.v.norm(dim=-1)
    parts = attention.weights[i] * lengths
    heaviest, longest = int(attention.weights[i].argmax()), int(lengths.argmax())
    return among_tokens(
        f"The output of {asker} adds up weight × value for every token. Which of these terms is the longest vector?",
        trace,
        parts,
        "What counts is the weight times the length of the value.",
        [
            (heaviest, "It has the largest weight, but a shorter value. A big weight is not a big influence."),
            (longest, "It has the longest value, but too small a weight in this row."),
        ],
        lambda p: f"The term of {name(trace.tokens, p)} has length {number(float(parts[p]))}; one is longer.",
    )


def tokens_shuffled(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Without a mask, attention does not know the order; the causal mask brings some in."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    i, j = pair
    before, after, causal = trace.heads.select(head).output, swapped(trace, head, i, j), trace.example.causal
    change, to_other = (float((after[j] - before[place]).abs().max()) for place in (i, j))
    if to_other < CLEAR_LEAD or (change < CLEAR_LEAD if causal else change > 1e-3):
        return None
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    why_same = "Without a mask the same queries meet the same keys and mix the same values: only rows change places."
    why_new = "From its new place it may look at other tokens. The mask makes the order count."
    same = Choice("It keeps its numbers.", why_new if causal else why_same)
    new = Choice(f"It gets other numbers, and not those of {b}.", why_new if causal else why_same)
    other = Choice(f"It takes on the numbers of {b}.", "Its query goes with it, so it does not become the other token.")
    prompt = (
        f"The causal mask is {'on' if causal else 'off'}. {a} and {b} change places, and each brings its query, key "
        f"and value along. What happens to the output of {a}?"
    )
    return among(prompt, *((new, same, other) if causal else (same, new, other)))


def swapped(trace: ExampleTrace, head: int, i: int, j: int) -> Float[Tensor, "tokens d_v"]:
    """The output of this head when two tokens change places."""
    attention = trace.heads.select(head)
    order = list(range(len(trace.tokens)))
    order[i], order[j] = j, i
    mask = causal_mask(len(order)) if trace.example.causal else None
    return attend(attention.q[order], attention.k[order], attention.v[order], mask, scale=trace.scale).output


def values_doubled(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The output follows the values in step; the weights do not know them. Always possible."""
    i = below(len(trace.tokens), random)
    return among(
        f"Every value is doubled; queries and keys stay. What happens to the output of {name(trace.tokens, i)}?",
        Choice("It doubles.", "The weights stay, and twice each value makes twice the mixture."),
        Choice("It stays as it is.", "The weights stay and sum to 1, but what they mix is twice as large."),
        Choice(
            "It becomes 4 times as large.",
            "That would need doubled weights, too. They come from queries and keys alone.",
        ),
    )


QUESTIONS: tuple[Maker, ...] = (output_cell, shape_of_output, largest_contribution, tokens_shuffled, values_doubled)
