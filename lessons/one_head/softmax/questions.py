"""How do scores become weights? Questions about a head, the query on the screen (i), and the temperature."""

import math

from torch import Generator

from attention_core.one_head.attention import softmax_rows
from lessons.example.example import ExampleTrace
from lessons.screen import Card, Fixed, message
from lessons.shared.questions import (
    CLEAR_LEAD,
    Asked,
    Kinds,
    asks_about,
    below,
    beyond_figure,
    check_shared,
    has_clear_lead,
    multiple_choice,
    multiple_choice_of_numbers,
    multiple_choice_of_tokens,
    one_of,
    told,
    weights_if,
)


def most_looked_at(trace: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """The largest weight stands in the row, among what the mask leaves."""
    attention, names = trace.heads.select(head), trace.names
    weights = weights_if(trace, head, temperature=heat)
    check_shared(weights[i])
    row, column, best = weights[i], int(weights[:, i].argmax()), int(attention.scores[i].argmax())
    down = message("That reads down the column, but the rows are the queries.")
    hidden = (
        []
        if attention.visible[i, best]
        else [(best, message("No other score is larger, but the mask hides this one."))]
    )
    return multiple_choice_of_tokens(
        message("On which key does {query} put its largest weight?", query=names[i]),
        names,
        row,
        message("Softmax keeps the order: the largest visible score gets the largest weight."),
        [
            *hidden,
            *([(column, down)] if has_clear_lead(weights[:, i]) else []),
            (i, message("A query need not match its own key.")),
        ],
        lambda p: message(
            "{key} gets {weight} from {query}; another key gets more.",
            key=names[p],
            query=names[i],
            weight=Fixed(float(row[p])),
        ),
    )


def weight_cell(trace: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """One weight among what one gets by forgetting a step."""
    attention, scaling = trace.heads.select(head), trace.example.scaling
    weights = weights_if(trace, head, temperature=heat)
    check_shared(weights[i])
    j = one_of(attention.visible[i], random)
    a, b = trace.names[i], trace.names[j]
    row = attention.masked[i][attention.visible[i]]
    share = float(attention.masked[i, j] / row.sum()) if (row > 0).all() else math.nan
    other_scale = float(weights_if(trace, head, scaling=not scaling, temperature=heat)[i, j])
    other = message("the softmax of scores divided by √d_k")
    mistake = message("In this head the scores are not divided before the softmax.")
    if scaling:
        other = message("the softmax of scores not divided by √d_k")
        mistake = message("In this head the scores are divided by √d_k before the softmax.")
    why = message("e to its score, divided by the sum of e to each visible score in the row.")
    return asks_about(
        "weights",
        (i, j),
        multiple_choice_of_numbers(
            message(
                "What weight does {query} put on {key} at temperature {temperature}?",
                query=a,
                key=b,
                temperature=Fixed(heat, 1),
            ),
            (float(weights[i, j]), why, message("the softmax over its visible keys")),
            (
                float(weights[j, i]),
                message("That is what {key} puts on {query}. Rows are queries.", query=a, key=b),
                message("the weight of the query in the row of the key"),
            ),
            (other_scale, mistake, other),
            (
                float(weights_if(trace, head, causal=False, temperature=heat)[i, j]),
                message("Keys that the mask hides get no weight."),
                message("the softmax over all keys"),
            ),
            (
                share,
                message("Softmax shares out powers of e, not the scores themselves."),
                message("the score, divided by the sum of the scores"),
            ),
            (
                1 / len(row),
                message("That would hold if all visible scores were equal."),
                message("every visible key gets the same share"),
            ),
        ),
    )


@beyond_figure
def one_score_raised(trace: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """e to it grows, and so does the sum that it is a part of."""
    attention, weights = trace.heads.select(head), weights_if(trace, head, temperature=heat)[i]
    check_shared(weights)
    j = one_of(attention.visible[i], random)
    now = float(weights[j])
    why = message("e to this score becomes e ≈ 2.72 times as large, and the sum grows by the same amount.")
    return multiple_choice_of_numbers(
        lambda shown: message(
            "{query} puts the weight {now} on {key}. Just before the softmax, 1 is added to this one score. What is "
            "the weight now?",
            query=trace.names[i],
            key=trace.names[j],
            now=shown(now),
        ),
        (now * math.e / (1 - now + now * math.e), why, message("e to its score grows, and the sum by as much")),
        (
            now * math.e if now * math.e < 1 else math.nan,
            message("This power of e is a part of the sum, so the sum grows as well."),
            message("e to its score grows, and the sum stays the same"),
        ),
        (
            now,
            message("That would hold if 1 were added to every score of the row."),
            message("softmax ignores an added number"),
        ),
        (
            now / (now + (1 - now) * math.e),
            message("That would hold if 1 were added to every other score."),
            message("e to every other score grows instead"),
        ),
        (
            (now + 1) / 2,
            message("How much moves follows from powers of e. No fixed part does."),
            message("half of the others' weight moves here"),
        ),
    )


def one_score_above_another(trace: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """The ratio of two weights is e to the difference of their scores, whatever the rest. Always possible."""
    above = (1 + below(6, random)) / 2
    return multiple_choice_of_numbers(
        message(
            "In a row, one score is {above} larger than another. How many times as large is its weight?",
            above=Fixed(above, 1),
        ),
        *told(
            message("e to one score, divided by e to the other, is e to their difference, whatever the other scores."),
            (math.exp(above), message("e, raised to the difference")),
            (
                above,
                message("the difference itself"),
                message("Softmax compares powers of e, not the scores themselves."),
            ),
            (
                1 + above,
                message("1, plus the difference"),
                message("That is near e to the difference only where the difference is tiny."),
            ),
            (2**above, message("2, raised to the difference"), message("Softmax raises e, not 2.")),
            (
                math.exp(-above),
                message("e, raised to minus the difference"),
                message("That is the other way round: how many times as large the smaller weight is."),
            ),
            (10**above, message("10, raised to the difference"), message("Softmax raises e, not 10.")),
            (
                math.exp(2 * above),
                message("e, raised to twice the difference"),
                message("The difference counts once: one power of e divided by the other."),
            ),
            (
                1.0,
                message("the same, as both are shares of one whole"),
                message("They are shares of one whole, but a higher score has a larger share."),
            ),
        ),
    )


@beyond_figure
def column_sum(trace: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """Rows sum to 1; columns need not."""
    if len(trace.tokens) < 2:
        return None
    j = below(len(trace.tokens), random)
    column = weights_if(trace, head, temperature=heat)[:, j]
    why = message("The weights that a key gets from all queries have no fixed sum.")
    return multiple_choice_of_numbers(
        message(
            "At temperature {temperature}, add up the weights that all tokens put on {key}, down its column. What is "
            "the sum?",
            temperature=Fixed(heat, 1),
            key=trace.names[j],
        ),
        (float(column.sum()), why, message("the weights from all queries, added up")),
        (1.0, message("Rows sum to 1, columns need not."), message("the weights on one key sum to 1")),
        (
            float(column.mean()),
            message("That is the average. The sum is asked for."),
            message("the weights from all queries, averaged"),
        ),
        (
            float(column.max()),
            message("That is one weight alone. The others are added to it."),
            message("the maximum weight from one query"),
        ),
        (
            float(len(column)),
            message("Then no query would put any weight on another key."),
            message("every query gives it all its weight"),
        ),
    )


def all_scores_change(trace: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """A constant added to a whole row changes no weight, a factor does."""
    attention, number = trace.heads.select(head), 2 + below(8, random)
    multiply = below(2, random)
    row = attention.masked[[i]] / heat
    weights, times = softmax_rows(row)[0], softmax_rows(row * number)[0]
    check_shared(weights)
    between = (weights > CLEAR_LEAD) & (weights < 1 - CLEAR_LEAD)  # so that it could grow and could shrink
    j = int(weights.argmax()) if multiply else one_of(between, random)
    before = Fixed(float(weights[j]))
    multiply = bool(multiply and times[j] - weights[j] > CLEAR_LEAD)
    stays, grows, shrinks = (
        message("all scores change in the same way"),
        message("its score changes, and its weight with it"),
        message("the sum it is divided by changes"),
    )
    if multiply:
        change = message("Multiply every score in the row by {number}", number=number)
        why = (
            message("That would hold if a constant were added."),
            message("Every lower score falls further behind this one, so this weight grows."),
            message("No other score gains on this one, so its share cannot become smaller."),
        )
    else:
        change = message("Add {number} to every score in the row", number=number)
        why = (
            message("Every power of e becomes e^{number} times as large, and so does their sum.", number=number),
            message("Its power of e grows, but the sum grows by the same factor."),
            message("The sum grows, but its power of e grows by the same factor."),
        )
    cards = (
        Card(message("It does not change."), why[0], stays),
        Card(message("It grows."), why[1], grows),
        Card(message("It shrinks."), why[2], shrinks),
    )
    return multiple_choice(
        message(
            "{query} puts the weight {weight} on {key}. {change}, just before the softmax. What happens to this "
            "weight?",
            query=trace.names[i],
            key=trace.names[j],
            weight=before,
            change=change,
        ),
        *sorted(cards, key=lambda card: card is not cards[multiply]),
    )


QUESTIONS: Kinds = {
    "look": (most_looked_at,),
    "predict": (
        one_score_raised,
        all_scores_change,
        weight_cell,
    ),
    "generalise": (
        one_score_above_another,
        column_sum,
    ),
}
