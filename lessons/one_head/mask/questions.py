"""Who may look at whom? Questions about an example, its head without a mask, and with the mask on the screen."""

from torch import Generator

from attention_core.one_head.attention import AttentionTrace
from lessons.example.example import ExampleTrace
from lessons.screen import Card, Fixed, message
from lessons.shared.questions import (
    CLEAR_LEAD,
    Asked,
    Kinds,
    asks_about,
    below,
    multiple_choice,
    multiple_choice_of_counts,
    multiple_choice_of_numbers,
    one_of,
    shares_out,
)


def hidden_weight(trace: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """What is hidden gets exactly nothing."""
    had_some = ~masked.visible & (free.weights >= CLEAR_LEAD)  # else it reads the same with the mask and without
    query = one_of(had_some.any(dim=-1), random)
    key = one_of(had_some[query], random)
    a, b = trace.names[query], trace.names[key]
    before = Fixed(float(free.weights[query, key]))
    why = message(
        "Its score is −∞ before the softmax, and exp(−∞) is exactly 0. Without the mask the weight was {before}.",
        before=before,
    )
    return asks_about(
        "weights",
        (query, key),
        multiple_choice(
            message("The mask hides {key} from {query}. How much weight does {query} put on {key}?", query=a, key=b),
            Card(message("None: exactly 0."), why, message("a hidden key is not part of the sum")),
            Card(
                message("A little."),
                message("It gives something to every finite score, but the mask makes this one −∞."),
                message("softmax gives every key something"),
            ),
            Card(
                message("As much as without the mask."),
                message("The mask works on the scores, so the weight is already gone before the output."),
                message("only the output leaves it out"),
            ),
            Card(
                message("A negative weight."),
                message("The mask pulls the score down to −∞. A weight is never below 0."),
                message("the mask pulls it far below 0"),
            ),
        ),
    )


def visible_weight(trace: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """The mask changes also the weights of what stays visible: a row sums to 1."""
    # A weight that is told as 0.00 says nothing about what becomes of it.
    told = masked.visible & (free.weights >= 0.02)
    shared = shares_out(masked.weights) & shares_out(free.weights)
    query = one_of(~masked.visible.all(dim=-1) & shared & told.any(dim=-1), random)
    key = one_of(told[query], random)
    a, b = trace.names[query], trace.names[key]
    before, after = float(free.weights[query, key]), float(masked.weights[query, key])
    hidden = float(free.weights[query].where(~masked.visible[query], 0.0).sum())
    n_visible = int(masked.visible[query].sum())
    why = message("The softmax divides by a smaller sum, so each visible weight grows by the same factor.")
    return asks_about(
        "weights",
        (query, key),
        multiple_choice_of_numbers(
            lambda shown: message(
                "Without the mask, {query} puts the weight {before} on {key}, which stays visible. What is "
                "this weight with the mask?",
                query=a,
                key=b,
                before=shown(before),
            ),
            (after, why, message("all visible weights grow by the same factor")),
            (
                before,
                message("The score does not change, but now fewer keys share the whole."),
                message("its score stays the same, and so does its weight"),
            ),
            (
                before + hidden,
                message("The other visible keys get their share of it, too."),
                message("it takes over all the weight of the hidden keys"),
            ),
            (
                before + hidden / n_visible,
                message("It is shared out in proportion: a larger weight gains more."),
                message("the weight of the hidden keys is shared out evenly"),
            ),
            (
                before * (1 - hidden),
                message("With fewer keys to share the whole, visible weights grow."),
                message("all visible weights shrink by the same factor"),
            ),
            (
                1 / n_visible,
                message("The scores still count: a mask hides keys, it does not level the others."),
                message("every visible key gets the same share"),
            ),
        ),
    )


def late_zeros(trace: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """Zeroing after the softmax is not a mask."""
    query = one_of(~masked.visible.all(dim=-1), random)
    kept = float(free.weights[query].where(masked.visible[query], 0.0).sum())
    n = len(trace.tokens)
    why = message("The hidden keys have already taken their share. A mask must come before the softmax.")
    return multiple_choice_of_numbers(
        message(
            "Someone takes the softmax over all {n} keys first and only then writes 0 wherever the mask "
            "hides a key. What does the row of {query} sum to?",
            n=n,
            query=trace.names[query],
        ),
        (kept, why, message("the visible keys' weights, added up")),
        (
            1.0,
            message("That holds if the mask comes first: then the visible keys share the whole."),
            message("a row of weights always sums to 1"),
        ),
        (
            1 - kept,
            message("That is what was set to 0. The sum is what is left."),
            message("the hidden keys' weights, added up"),
        ),
        (
            int(masked.visible[query].sum()) / n,
            message("That counts keys. What adds up is their weights."),
            message("the share of keys that are visible"),
        ),
        (
            float(free.weights[query].where(masked.visible[query], 0.0).max()),
            message("That is one of the weights that are left, not their sum."),
            message("the maximum weight of a visible key"),
        ),
    )


def how_many_visible(trace: ExampleTrace, free: AttentionTrace, masked: AttentionTrace, random: Generator) -> Asked:
    """Count along the row. Always possible."""
    n = len(trace.tokens)
    query = below(n, random)
    visible, seen_by = int(masked.visible[query].sum()), int(masked.visible[:, query].sum())
    token, why = trace.names[query], message("Count the visible cells of its row.")
    return multiple_choice_of_counts(
        message(
            "{query} is token {position} of {n}. How many keys may it look at under this mask?",
            query=token,
            position=query + 1,
            n=n,
        ),
        (visible, why, message("the visible cells of its row")),
        (
            seen_by,
            message("That is its column: this many queries may look at {token}.", token=token),
            message("the visible cells of its column"),
        ),
        (n - visible, message("Those are the keys that it may not look at."), message("the hidden cells of its row")),
        (
            visible - 1,
            message("That is one too few: every visible cell counts."),
            message("the visible cells of its row, less one"),
        ),
        (
            visible + 1,
            message("That is one too many: a hidden cell does not count."),
            message("the visible cells of its row, and one more"),
        ),
    )


QUESTIONS: Kinds = {
    "look": (how_many_visible,),
    "predict": (
        hidden_weight,
        visible_weight,
    ),
    "generalise": (late_zeros,),
}
