"""How do scores become weights? Questions about a head, the query on the screen (i), and the temperature."""

import math

from torch import Generator

from attention_core.attention import softmax_rows
from lessons.example.example import ExampleTrace
from lessons.kit.questions import (
    CLEAR_LEAD,
    Asked,
    among,
    among_numbers,
    among_tokens,
    asks_about,
    below,
    beyond_figure,
    check_choice,
    has_clear_lead,
    one_of,
    weights_if,
)
from lessons.screen.message import Number, say
from lessons.screen.screen import Card


def most_looked_at(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """The largest weight stands in the row, among what the mask leaves."""
    attention, names = example.heads.select(head), example.names
    check_choice(attention, i)
    weights = weights_if(example, head, temperature=heat)
    row, column, best = weights[i], int(weights[:, i].argmax()), int(attention.scores[i].argmax())
    down = say("That is read down the column: no token puts more weight on {query}. Rows are queries.", query=names[i])
    hidden = [] if attention.visible[i, best] else [(best, say("No score is larger, but the mask hides it."))]
    return among_tokens(
        say("On which key does {query} put its largest weight?", query=names[i]),
        names, row,
        say("Softmax keeps the order: the largest visible score in the row gets the largest weight."),
        [*hidden,
         *([(column, down)] if has_clear_lead(weights[:, i]) else []),
         (i, say("A token need not prefer itself: its query need not match its own key."))],
        lambda p: say("{key} gets {weight} from {query}; another key gets more.",
                      key=names[p], query=names[i], weight=Number(float(row[p]))))  # fmt: skip


def weight_cell(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """One weight among what one gets by forgetting a step."""
    attention, scaling = example.heads.select(head), example.example.scaling
    check_choice(attention, i)
    j = one_of(attention.visible[i], random)
    a, b = example.names[i], example.names[j]
    weights = weights_if(example, head, temperature=heat)
    row = attention.masked[i][attention.visible[i]]
    share = float(attention.masked[i, j] / row.sum()) if (row > 0).all() else math.nan
    other_scale = float(weights_if(example, head, scaling=not scaling, temperature=heat)[i, j])
    switched = (say("That is the weight with scaling, which is off here."),
                say("the softmax of scores divided by √d_k"))  # fmt: skip
    if scaling:
        switched = (say("That is the weight without scaling. The scores are divided by √d_k first."),
                    say("the softmax of scores not divided by √d_k"))  # fmt: skip
    return asks_about("weights", (i, j), among_numbers(
        say("What weight does {query} put on {key} at temperature {temperature}?",
            query=a, key=b, temperature=Number(heat, 1)),
        (float(weights[i, j]), say("Its exp, divided by the sum of the exps of all visible scores in the row."),
                               say("the softmax over its visible keys")),
        (float(weights[j, i]), say("That is what {key} puts on {query}. Rows are queries, columns keys.",
                                   query=a, key=b), say("the weight of the query in the row of the key")),
        (other_scale, *switched),
        (float(weights_if(example, head, causal=False, temperature=heat)[i, j]),
         say("That forgets the mask: hidden keys get no weight."), say("the softmax over all keys")),
        (share, say("That is its part of the sum of the scores. Softmax takes exp of each score first."),
                say("the score, as a part of the sum of scores")),
        (1 / len(row), say("Equal weights need equal scores, and these differ."),
                       say("every visible key gets the same share"))))  # fmt: skip


def scores_doubled(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """Softmax sees differences, and doubling doubles them."""
    attention = example.heads.select(head)
    check_choice(attention, i)
    j = one_of(attention.visible[i], random)
    row = attention.masked[[i]] / heat
    now, then, halved = (float(softmax_rows(row * times)[0, j]) for times in (1, 2, 0.5))
    return among_numbers(
        lambda shown: say("{query} puts the weight {now} on {key}. All scores in the row are doubled just before the "
                          "softmax. What is the weight now?",
                          query=example.names[i], key=example.names[j], now=shown(now)),
        (then, say("Softmax sees differences between scores, and all of them have doubled."),
               say("the differences between the scores double")),
        (now, say("The differences between the scores have doubled, so the weights do not stay."),
              say("the differences between the scores stay")),
        (2 * now if now <= 0.5 else math.nan, say("If all weights doubled, the row would sum to 2."),
                                              say("the weight doubles, as its score has done")),
        (halved, say("That is what halved scores give: differences shrink, and the row becomes flatter."),
                 say("the differences between the scores halve")))  # fmt: skip


@beyond_figure
def column_sum(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """Rows sum to 1; columns need not."""
    if len(example.tokens) < 2:
        return None
    j = below(len(example.tokens), random)
    column = weights_if(example, head, temperature=heat)[:, j]
    return among_numbers(
        say("At temperature {temperature}, add up the weights that all tokens put on {key}, down its column. What is "
            "the sum?", temperature=Number(heat, 1), key=example.names[j]),
        (float(column.sum()), say("What a key gets from all queries together has no fixed sum."),
                              say("what each query gives it, added up")),
        (1.0, say("Rows sum to 1: each query shares out one whole. What a key gets need not."),
              say("weights on one key make one whole")),
        (float(column.mean()), say("That is the average of the column, not its sum."),
                               say("what each query gives it, averaged")),
        (float(column.max()), say("That is one weight alone. Add up the whole column."),
                              say("the maximum that one query gives it")),
        (float(len(column)), say("That would need every token to put all its weight on this key."),
                             say("every query gives it all its weight")))  # fmt: skip


def all_scores_change(example: ExampleTrace, head: int, i: int, heat: float, random: Generator) -> Asked:
    """A constant added to a whole row changes no weight, a factor does. Always possible."""
    attention, number = example.heads.select(head), 2 + below(8, random)
    multiply = below(2, random)
    row = attention.masked[[i]] / heat
    weights, times = softmax_rows(row)[0], softmax_rows(row * number)[0]
    between = (weights > CLEAR_LEAD) & (weights < 1 - CLEAR_LEAD)  # so that it could grow and could shrink
    j = int(weights.argmax()) if multiply else one_of(between if between.any() else attention.visible[i], random)
    before, after = Number(float(weights[j])), Number(float(times[j]))
    stays, grows, shrinks = say("It stays as it is."), say("It grows."), say("It shrinks.")
    if multiply and times[j] - weights[j] > CLEAR_LEAD:
        change = say("Multiply every score in the row by {number}", number=number)
        cards = (
            Card(grows, say("To {after}: all differences grow, so keys with less weight lose and this one gains.",
                            after=after), say("its score changes, and its weight with it")),
            Card(stays, say("That is so when a constant is added. Multiplied scores have larger differences."),
                        say("all scores change in the same way")),
            Card(shrinks, say("The row would become flatter if the scores were divided."),
                          say("the sum it is divided by changes")))  # fmt: skip
    else:
        change = say("Add {number} to every score in the row", number=number)
        cards = (
            Card(stays, say("It is {before} again: every exp is multiplied by e^{number}, and so is their sum.",
                            before=before, number=number), say("all scores change in the same way")),
            Card(grows, say("All the exps grow by the same factor, and their sum with them: the weight stays."),
                        say("its score changes, and its weight with it")),
            Card(shrinks, say("Softmax sees the differences between scores, and these have not changed."),
                          say("the sum it is divided by changes")))  # fmt: skip
    return among(
        say("{query} puts the weight {weight} on {key}. {change}, just before the softmax. What happens to this "
            "weight?", query=example.names[i], key=example.names[j], weight=before, change=change),
        *cards)  # fmt: skip


QUESTIONS = (most_looked_at, weight_cell, scores_doubled, column_sum, all_scores_change)
