"""Who may look at whom? Questions about an example, its head without a mask, and with the mask on the screen."""

from torch import Generator

from attention_core.attention import AttentionTrace, softmax_rows
from lessons.example.example import ExampleTrace
from lessons.kit.questions import CLEAR_LEAD, Asked, among, among_counts, among_numbers, asks_about, below, one_of
from lessons.screen.message import Number, say
from lessons.screen.screen import Card


def hidden_weight(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """What is hidden gets exactly nothing."""
    had_some = ~masked.visible & (free.weights >= CLEAR_LEAD)  # else it reads the same with the mask and without
    query = one_of(had_some.any(dim=-1), random)
    key = one_of(had_some[query], random)
    a, b = example.names[query], example.names[key]
    before = Number(float(free.weights[query, key]))
    zero_score = Number(float(softmax_rows(free.scaled[query].where(masked.visible[query], 0.0)[None])[0, key]))
    return asks_about("weights", (query, key), among(
        say("The mask hides {key} from {query}. How much weight does {query} put on {key}?", query=a, key=b),
        Card(say("None: exactly 0."),
             say("Its score is −∞ before the softmax, and exp(−∞) is exactly 0. Without the mask it was {before}.",
                 before=before), say("a hidden key has no part in the sum")),
        Card(say("A little."),
             say("A hidden score of 0 would give it {weight}, as exp(0) = 1. A hidden score is −∞.",
                 weight=zero_score), say("softmax gives something to every single key")),
        Card(say("As much as without the mask."),
             say("That was {before}. The mask comes before the softmax, so the visible keys share the whole.",
                 before=before), say("only the output leaves it out")),
        Card(say("A negative weight."),
             say("Its score is −∞, and exp makes it 0, down from {before}: no weight is ever negative.",
                 before=before), say("the mask pulls it far below 0"))))  # fmt: skip


def visible_weight(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """The mask changes also the weights of what stays visible: a row sums to 1."""
    query = one_of(~masked.visible.all(dim=-1) & (masked.visible.sum(dim=-1) > 1), random)
    key = one_of(masked.visible[query], random)
    a, b = example.names[query], example.names[key]
    before, after = float(free.weights[query, key]), float(masked.weights[query, key])
    hidden = float(free.weights[query].where(~masked.visible[query], 0.0).sum())
    n_visible = int(masked.visible[query].sum())
    return asks_about("weights", (query, key), among_numbers(
        lambda shown: say("Without the mask, {query} puts the weight {before} on {key}, which stays visible. What is "
                          "it with the mask?", query=a, key=b, before=shown(before)),
        (after, say("The softmax divides by a smaller sum, so each visible weight grows by the same factor."),
                say("all visible weights grow by the same factor")),
        (before, say("The score stays, but the share does not: fewer keys share the whole now."),
                 say("its score stays, and so does its weight")),
        (before + hidden, say("It does not get all that the hidden keys had: they leave it to all visible ones."),
                          say("it takes over all the weight of the hidden keys")),
        (before + hidden / n_visible, say("It is not dealt out evenly: each weight grows by the same factor."),
                                      say("the weight of the hidden keys is dealt out evenly")),
        (before * (1 - hidden), say("That multiplies by what is left. The weight is divided by it."),
                                say("all visible weights shrink by the same factor")),
        (1 / n_visible, say("Equal shares need equal scores. The mask leaves visible scores as they are."),
                        say("every visible key gets the same share"))))  # fmt: skip


def late_zeros(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """Zeroing after the softmax is not a mask."""
    query = one_of(~masked.visible.all(dim=-1), random)
    kept = float(free.weights[query].where(masked.visible[query], 0.0).sum())
    n = len(example.tokens)
    return among_numbers(
        say("Someone takes the softmax over all {n} keys first and only then writes 0 where the mask hides. What does "
            "the row of {query} sum to?", n=n, query=example.names[query]),
        (kept, say("The hidden keys have taken their share already. A mask must come before the softmax."),
               say("what the visible keys had, added up")),
        (1.0, say("Only if the mask comes first: then the visible keys share the whole."),
              say("a row of weights is always one whole")),
        (1 - kept, say("That is the share of the hidden keys, which was thrown away."),
                   say("what the hidden keys had, added up")),
        (int(masked.visible[query].sum()) / n, say("That counts keys. Their shares are not equal."),
                                               say("the visible keys, out of all keys")),
        (float(free.weights[query].where(masked.visible[query], 0.0).max()),
         say("That is one weight alone. Add up all that stay."),
         say("the maximum that one visible key had")))  # fmt: skip


def how_many_visible(example: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """Count along the row. Always possible."""
    n = len(example.tokens)
    query = below(n, random)
    visible, seen_by = int(masked.visible[query].sum()), int(masked.visible[:, query].sum())
    token = example.names[query]
    return among_counts(
        say("{query} is token {position} of {n}. How many keys may it look at under this mask?",
            query=token, position=query + 1, n=n),
        (visible, say("Its row has that many visible cells."), say("the visible cells of its row")),
        (seen_by, say("That many queries may look at {token}: its column.", token=token),
                  say("the visible cells of its column")),
        (n - visible, say("That many are hidden from it."), say("the hidden cells of its row")),
        (visible - 1, say("That is one less than its row has."), say("the visible cells of its row, less one")),
        (visible + 1, say("That is one more than its row has."),
                      say("the visible cells of its row, and one more")))  # fmt: skip


QUESTIONS = (hidden_weight, visible_weight, late_zeros, how_many_visible)
