"""Questions of the lesson mask: who may look at whom?"""

import torch

from attention_core.attention import softmax_rows
from lessons.captions import name
from lessons.example import ExampleTrace
from lessons.questions.base import Choice, Maker, Question, among, among_numbers, below, two_of, weights_if


def hidden_weight(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """What is hidden gets exactly nothing."""
    pair = two_of(len(trace.tokens), random)
    if pair is None:
        return None
    i, j = sorted(pair)
    weights, free = weights_if(trace, head, causal=True), float(weights_if(trace, head, causal=False)[i, j])
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    row = trace.heads.select(head).scores[i] * trace.scale
    zero_score = float(softmax_rows(torch.where(torch.arange(len(row)) <= i, row, 0.0)[None])[0, j])
    return among_numbers(
        lambda shown: f"With the causal mask, which weight does {a} give to {b}, which comes later?",
        (float(weights[i, j]), "Its score is −∞ before the softmax, and exp(−∞) is exactly 0."),
        (free, f"That is the weight without the mask. {a} may not look ahead."),
        (float(weights[j, i]), f"That is what {b} gives to {a}: looking back is allowed. Rows ask, columns answer."),
        (zero_score, "That is what a hidden score of 0 would give, as exp(0) = 1. A hidden score is −∞."),
    )


def mask_switched(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """The mask changes also the weights of what stays visible: a row sums to 1."""
    causal, n = trace.example.causal, len(trace.tokens)
    if n < 2:
        return None
    i = below(n - 1, random)  # the last token sees everything either way
    j = below(i + 1, random)
    now, then = (weights_if(trace, head, causal=mask) for mask in (causal, not causal))
    a, b = name(trace.tokens, i), name(trace.tokens, j)
    return among_numbers(
        lambda shown: (
            f"{'With' if causal else 'Without'} the causal mask, {a} gives the weight {shown(float(now[i, j]))} "
            f"to {b}. What is it {'without' if causal else 'with'} the mask?"
        ),
        (float(then[i, j]), "A row sums to 1, so whoever comes in or drops out changes the shares of all others."),
        (float(now[i, j]), "The score stays, but the share does not: the row is shared among other tokens now."),
        (float(then[j, i]), f"That is what {b} gives to {a}. The row is the one that asks."),
        (1 / (n if causal else i + 1), "Equal shares need equal scores. The mask leaves visible scores as they are."),
    )


def zeros_after_softmax(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Zeroing after the softmax is not a mask."""
    n = len(trace.tokens)
    if n < 2:
        return None
    i = below(n - 1, random)
    row = weights_if(trace, head, causal=False)[i]
    kept = float(row[: i + 1].sum())
    return among_numbers(
        lambda shown: (
            f"Somebody takes the softmax over all {n} tokens first, and only then writes 0 where the causal mask "
            f"hides. What does the row of {name(trace.tokens, i)} sum to?"
        ),
        (kept, "The hidden tokens have taken their share already. A mask must come before the softmax."),
        (1.0, "Only if the mask comes first: then the visible tokens share the whole."),
        (1 - kept, "That is the share of the hidden tokens, which was thrown away."),
        ((i + 1) / n, "That counts tokens. Their shares are not equal."),
    )


def how_many_visible(trace: ExampleTrace, head: int, random: torch.Generator) -> Question | None:
    """Oneself and what came before. Always possible."""
    n = len(trace.tokens)
    i = below(n, random)
    token, causal = name(trace.tokens, i), trace.example.causal
    back = Choice(str(i + 1), "That would be so with the causal mask, which is switched off here.")
    right = Choice(str(n), "Without a mask every token may look at every token, itself included.")
    itself = Choice(str(n - 1), "It may look at itself, too.")
    if causal:
        right = Choice(str(i + 1), "It may look at itself and at what came before.")
        back = Choice(str(n), "That would be so without the mask. The causal mask hides what comes later.")
        itself = Choice(str(i), "It may look at itself, too.")
    around = Choice(str(n - i), f"That is how many may look at {token} under the mask: its column. Rows ask.")
    where = f"The causal mask is {'on' if causal else 'off'}, and {token} is token {i + 1} of {n}."
    return among(f"{where} How many tokens may it look at?", right, itself, back, *([around] if causal else []))


QUESTIONS: tuple[Maker, ...] = (hidden_weight, mask_switched, zeros_after_softmax, how_many_visible)
