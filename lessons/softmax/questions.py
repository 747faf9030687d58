"""How do scores become weights? Questions about a head, the query on the screen (i), and the temperature."""

import math

from torch import Generator

from attention_core.attention import softmax_rows
from lessons.example.example import ExampleTrace
from lessons.kit.questions import (
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
    weights_if,
)
from lessons.screen.message import Fixed, message
from lessons.screen.screen import Card


def most_looked_at(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """The largest weight stands in the row, among what the mask leaves."""
    attention, names = example.heads.select(head), example.names
    weights = weights_if(example, head, temperature=heat)
    check_shared(weights[i])
    row, column, best = weights[i], int(weights[:, i].argmax()), int(attention.scores[i].argmax())
    down = message(
        "That is read down the column: no token puts more weight on {query}. Rows are queries.", query=names[i]
    )
    hidden = [] if attention.visible[i, best] else [(best, message("No score is larger, but the mask hides it."))]
    return multiple_choice_of_tokens(
        message("On which key does {query} put its largest weight?", query=names[i]),
        names,
        row,
        message("Softmax keeps the order: the largest visible score in the row gets the largest weight."),
        [
            *hidden,
            *([(column, down)] if has_clear_lead(weights[:, i]) else []),
            (i, message("A token need not prefer itself: its query need not match its own key.")),
        ],
        lambda p: message(
            "{key} gets {weight} from {query}; another key gets more.",
            key=names[p],
            query=names[i],
            weight=Fixed(float(row[p])),
        ),
    )


def weight_cell(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """One weight among what one gets by forgetting a step."""
    attention, scaling = example.heads.select(head), example.example.scaling
    weights = weights_if(example, head, temperature=heat)
    check_shared(weights[i])
    j = one_of(attention.visible[i], random)
    a, b = example.names[i], example.names[j]
    row = attention.masked[i][attention.visible[i]]
    share = float(attention.masked[i, j] / row.sum()) if (row > 0).all() else math.nan
    other_scale = float(weights_if(example, head, scaling=not scaling, temperature=heat)[i, j])
    switched = (
        message("That is the weight with scaling, which is off here."),
        message("the softmax of scores divided by √d_k"),
    )
    if scaling:
        switched = (
            message("That is the weight without scaling. The scores are divided by √d_k first."),
            message("the softmax of scores not divided by √d_k"),
        )
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
            (
                float(weights[i, j]),
                message("e to its score, divided by the sum of e to each visible score in the row."),
                message("the softmax over its visible keys"),
            ),
            (
                float(weights[j, i]),
                message("That is what {key} puts on {query}. Rows are queries, columns keys.", query=a, key=b),
                message("the weight of the query in the row of the key"),
            ),
            (other_scale, *switched),
            (
                float(weights_if(example, head, causal=False, temperature=heat)[i, j]),
                message("The mask hides some keys, and hidden keys get no weight."),
                message("the softmax over all keys"),
            ),
            (
                share,
                message("That is its part of the sum of the scores. Softmax raises e to each score first."),
                message("the score, as a part of the sum of scores"),
            ),
            (
                1 / len(row),
                message("Equal weights need equal scores, and these differ."),
                message("every visible key gets the same share"),
            ),
        ),
    )


def scores_doubled(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """Softmax sees differences, and doubling doubles them."""
    attention = example.heads.select(head)
    check_shared(weights_if(example, head, temperature=heat)[i])
    j = one_of(attention.visible[i], random)
    row = attention.masked[[i]] / heat
    now, then, halved = (float(softmax_rows(row * times)[0, j]) for times in (1, 2, 0.5))
    return multiple_choice_of_numbers(
        lambda shown: message(
            "{query} puts the weight {now} on {key}. All scores in the row are doubled just before the "
            "softmax. What is the weight now?",
            query=example.names[i],
            key=example.names[j],
            now=shown(now),
        ),
        (
            then,
            message("Softmax sees differences between scores, and all of them have doubled."),
            message("the differences between the scores double"),
        ),
        (
            now,
            message("The differences between the scores have doubled, so the weights change."),
            message("the differences between the scores stay"),
        ),
        (
            2 * now if now <= 0.5 else math.nan,
            message("If all weights doubled, the row would sum to 2."),
            message("the weight doubles, as its score has done"),
        ),
        (
            halved,
            message("That is what halved scores give: differences shrink, and the row becomes flatter."),
            message("the differences between the scores halve"),
        ),
    )


def left_for_the_others(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """A row is one whole: what one key has, the others have not."""
    attention, weights = example.heads.select(head), weights_if(example, head, temperature=heat)[i]
    check_shared(weights)
    j = one_of(attention.visible[i], random)
    n_visible, now = int(attention.visible[i].sum()), float(weights[j])
    others = weights.clone()
    others[j] = 0.0
    return multiple_choice_of_numbers(
        message(
            "How much weight does {query} leave for all keys but {key}?", query=example.names[i], key=example.names[j]
        ),
        (
            1 - now,
            message("The weights of a row are shares of one whole, so the others have the rest."),
            message("one whole, less the weight of this key"),
        ),
        (
            now,
            message("That is the weight of {key} itself. The others have the rest of 1.", key=example.names[j]),
            message("the weight of this key itself"),
        ),
        (
            1.0,
            message("Then {key} would have none. All keys of the row together have 1.", key=example.names[j]),
            message("one whole for all the others"),
        ),
        (
            float(others.max()),
            message("That is one of the other weights. Add up all of them."),
            message("one of the other weights alone"),
        ),
        (
            1 - 1 / n_visible,
            message("That would be so if all visible keys had equal weights."),
            message("an equal share for each of the others"),
        ),
        (
            0.0,
            message("Softmax has no winner that takes all: e to any score is more than 0."),
            message("the winner takes all of it"),
        ),
    )


@beyond_figure
def one_score_raised(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """Its power grows, and so does the sum that it is a part of."""
    attention, weights = example.heads.select(head), weights_if(example, head, temperature=heat)[i]
    check_shared(weights)
    j = one_of(attention.visible[i], random)
    now = float(weights[j])
    return multiple_choice_of_numbers(
        lambda shown: message(
            "{query} puts the weight {now} on {key}. Just before the softmax, 1 is added to this one score. What is "
            "the weight now?",
            query=example.names[i],
            key=example.names[j],
            now=shown(now),
        ),
        (
            now * math.e / (1 - now + now * math.e),
            message("Its power becomes e ≈ 2.72 times as large, and the sum grows by the same amount."),
            message("its power grows, and the sum by as much"),
        ),
        (
            now * math.e if now * math.e < 1 else math.nan,
            message("Its power is a part of the sum, so the sum grows as well."),
            message("its power grows, and the sum stays"),
        ),
        (
            now,
            message("That would be so if 1 were added to every score of the row."),
            message("softmax sees no added number"),
        ),
        (
            now / (now + (1 - now) * math.e),
            message("That is what adding 1 to all the other scores would give."),
            message("the powers of the others grow instead"),
        ),
        (
            (now + 1) / 2,
            message("The weight is not averaged with 1: e is raised to the score before anything is divided."),
            message("half of what the others have moves here"),
        ),
    )


def one_score_above_another(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """The ratio of two weights is e to the difference of their scores, whatever the rest. Always possible."""
    above = (1 + below(6, random)) / 2
    return multiple_choice_of_numbers(
        message(
            "In some row, one score is {above} above another. How many times as large is its weight?",
            above=Fixed(above, 1),
        ),
        (
            math.exp(above),
            message("e to one score, divided by e to the other, is e to their difference, whatever the other scores."),
            message("e, raised to the difference"),
        ),
        (
            above,
            message("Softmax does not compare scores by their difference itself: e is raised to it."),
            message("the difference itself"),
        ),
        (
            1 + above,
            message("The scores are not added to the weights: e is raised to each of them."),
            message("1, plus the difference"),
        ),
        (
            2**above,
            message("Softmax raises e ≈ 2.72 to the scores, not 2."),
            message("2, raised to the difference"),
        ),
        (
            math.exp(-above),
            message("That is the smaller weight beside the larger one."),
            message("e, raised to minus the difference"),
        ),
        (
            10**above,
            message("Softmax raises e ≈ 2.72 to the scores, not 10."),
            message("10, raised to the difference"),
        ),
        (
            math.exp(2 * above),
            message("That is its square: the difference counts once."),
            message("e, raised to twice the difference"),
        ),
        (
            1.0,
            message("Then both would be equal, and equal weights need equal scores."),
            message("the same, as both are shares of one whole"),
        ),
    )


@beyond_figure
def column_sum(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """Rows sum to 1; columns need not."""
    if len(example.tokens) < 2:
        return None
    j = below(len(example.tokens), random)
    column = weights_if(example, head, temperature=heat)[:, j]
    return multiple_choice_of_numbers(
        message(
            "At temperature {temperature}, add up the weights that all tokens put on {key}, down its column. What is "
            "the sum?",
            temperature=Fixed(heat, 1),
            key=example.names[j],
        ),
        (
            float(column.sum()),
            message("The weights that a key gets from all queries have no fixed sum."),
            message("what each query gives it, added up"),
        ),
        (
            1.0,
            message("Rows sum to 1, since each query shares out one whole. Columns need not."),
            message("weights on one key make one whole"),
        ),
        (
            float(column.mean()),
            message("That is the average of the column, not its sum."),
            message("what each query gives it, averaged"),
        ),
        (
            float(column.max()),
            message("That is only one weight. Add up the whole column."),
            message("the maximum that one query gives it"),
        ),
        (
            float(len(column)),
            message("That would need every token to put all its weight on this key."),
            message("every query gives it all its weight"),
        ),
    )


def all_scores_change(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """A constant added to a whole row changes no weight, a factor does."""
    attention, number = example.heads.select(head), 2 + below(8, random)
    multiply = below(2, random)
    row = attention.masked[[i]] / heat
    weights, times = softmax_rows(row)[0], softmax_rows(row * number)[0]
    check_shared(weights)
    between = (weights > CLEAR_LEAD) & (weights < 1 - CLEAR_LEAD)  # so that it could grow and could shrink
    j = int(weights.argmax()) if multiply else one_of(between, random)
    before, after = Fixed(float(weights[j])), Fixed(float(times[j]))
    stays, grows, shrinks = message("It does not change."), message("It grows."), message("It shrinks.")
    if multiply and times[j] - weights[j] > CLEAR_LEAD:
        change = message("Multiply every score in the row by {number}", number=number)
        cards = (
            Card(
                grows,
                message(
                    "To {after}: all differences grow, so keys with less weight lose and this one gains.", after=after
                ),
                message("its score changes, and its weight with it"),
            ),
            Card(
                stays,
                message("That is true when a constant is added. Multiplied scores have larger differences."),
                message("all scores change in the same way"),
            ),
            Card(
                shrinks,
                message("The row would become flatter if the scores were divided."),
                message("the sum it is divided by changes"),
            ),
        )
    else:
        change = message("Add {number} to every score in the row", number=number)
        cards = (
            Card(
                stays,
                message(
                    "It stays {before}: every power of e becomes e^{number} times as large, and so does their sum.",
                    before=before,
                    number=number,
                ),
                message("all scores change in the same way"),
            ),
            Card(
                grows,
                message("All powers of e grow by the same factor, and so does their sum: the weight does not change."),
                message("its score changes, and its weight with it"),
            ),
            Card(
                shrinks,
                message("Softmax sees the differences between scores, and these have not changed."),
                message("the sum it is divided by changes"),
            ),
        )
    return multiple_choice(
        message(
            "{query} puts the weight {weight} on {key}. {change}, just before the softmax. What happens to this "
            "weight?",
            query=example.names[i],
            key=example.names[j],
            weight=before,
            change=change,
        ),
        *cards,
    )


QUESTIONS: Kinds = {
    "look": (
        most_looked_at,
        left_for_the_others,
    ),
    "predict": (
        one_score_raised,
        all_scores_change,
        weight_cell,
    ),
    "generalise": (
        one_score_above_another,
        scores_doubled,
        column_sum,
    ),
}
