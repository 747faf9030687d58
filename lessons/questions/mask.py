"""Who may look at whom? Questions about an example, its head without a mask, and with the mask on the screen."""

from torch import Generator

from attention_core.attention import AttentionTrace, softmax_rows
from lessons.example import ExampleTrace
from lessons.questions.base import Asked, among, among_counts, among_numbers, below, one_of
from lessons.screen import Card
from lessons.sentence import Number, say


def hidden_weight(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """What is hidden gets exactly nothing."""
    query = one_of(~masked.visible.all(dim=-1), random)
    key = one_of(~masked.visible[query], random)
    a, b = example.names[query], example.names[key]
    before = Number(float(free.weights[query, key]))
    zero_score = Number(float(softmax_rows(free.scaled[query].where(masked.visible[query], 0.0)[None])[0, key]))
    return among(
        say("The mask hides {key} from {query}. How much weight does {query} put on {key}?", query=a, key=b),
        Card(say("None: exactly 0."),
             say("Its score is −∞ before the softmax, and exp(−∞) is exactly 0. Without the mask it was {before}.",
                 before=before)),
        Card(say("A little, as softmax gives every key something."),
             say("A hidden score of 0 would give it {weight}, as exp(0) = 1. A hidden score is −∞.",
                 weight=zero_score)),
        Card(say("As much as without the mask; only the output leaves it out."),
             say("That was {before}. The mask comes before the softmax, so the visible keys share the whole.",
                 before=before)),
        Card(say("A negative weight."),
             say("Its score is −∞, and exp makes it 0, down from {before}: no weight is ever negative.",
                 before=before)))  # fmt: skip


def visible_weight(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """The mask changes also the weights of what stays visible: a row sums to 1."""
    query = one_of(~masked.visible.all(dim=-1) & (masked.visible.sum(dim=-1) > 1), random)
    key = one_of(masked.visible[query], random)
    a, b = example.names[query], example.names[key]
    before, after = float(free.weights[query, key]), float(masked.weights[query, key])
    hidden = float(free.weights[query].where(~masked.visible[query], 0.0).sum())
    n_visible = int(masked.visible[query].sum())
    return among_numbers(
        lambda shown: say("Without the mask, {query} puts the weight {before} on {key}, which stays visible. What is "
                          "it with the mask?", query=a, key=b, before=shown(before)),
        (after, say("The softmax divides by a smaller sum, so each visible weight grows by the same factor.")),
        (before, say("The score stays, but the share does not: fewer keys share the whole now.")),
        (before + hidden, say("It does not get all that the hidden keys had: they leave it to all visible ones.")),
        (before + hidden / n_visible, say("It is not dealt out evenly: each weight grows by the same factor.")),
        (before * (1 - hidden), say("That multiplies by what is left. The weight is divided by it.")),
        (1 / n_visible, say("Equal shares need equal scores. The mask leaves visible scores as they are.")),
    )  # fmt: skip


def late_zeros(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """Zeroing after the softmax is not a mask."""
    query = one_of(~masked.visible.all(dim=-1), random)
    kept = float(free.weights[query].where(masked.visible[query], 0.0).sum())
    n = len(example.tokens)
    return among_numbers(
        say("Someone takes the softmax over all {n} keys first and only then writes 0 where the mask hides. What does "
            "the row of {query} sum to?", n=n, query=example.names[query]),
        (kept, say("The hidden keys have taken their share already. A mask must come before the softmax.")),
        (1.0, say("Only if the mask comes first: then the visible keys share the whole.")),
        (1 - kept, say("That is the share of the hidden keys, which was thrown away.")),
        (int(masked.visible[query].sum()) / n, say("That counts keys. Their shares are not equal.")),
        (float(free.weights[query].where(masked.visible[query], 0.0).max()),
         say("That is one weight alone. Add up all that stay.")))  # fmt: skip


def how_many_visible(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """Count along the row. Always possible."""
    n = len(example.tokens)
    query = below(n, random)
    visible, seen_by = int(masked.visible[query].sum()), int(masked.visible[:, query].sum())
    token = example.names[query]
    return among_counts(
        say("{query} is token {position} of {n}. How many keys may it look at under this mask?",
            query=token, position=query + 1, n=n),
        (visible, say("Its row has that many visible cells.")),
        (seen_by, say("That many queries may look at {token}: its column.", token=token)),
        (n - visible, say("That many are hidden from it.")),
        (visible - 1, say("Count every visible cell of its row.")),
        (visible + 1, say("One of these is hidden from it, or there is none.")))  # fmt: skip


QUESTIONS = (hidden_weight, visible_weight, late_zeros, how_many_visible)
