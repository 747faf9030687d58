"""The lesson on softmax says only what its scores say, at every temperature. Computed again in NumPy."""

import math

import numpy as np
import pytest
import torch
from screens import AS_GOOD, JUDGE, Ranked, by_largest, by_text, chosen

from attention_core.attention import attend
from lessons.example.example import Example, run_example
from lessons.screen.format import percent, render, render_all
from lessons.softmax.lesson import FACTOR, SHIFT, Choices, RowSoftmax, notice_changes, screen, softmax_row


def cases(example):
    for temperature in (0.1, 0.7, 1.0, 5.0):
        yield Choices(len(example.tokens) - 1, temperature)
    yield Choices(0, 2.3)


def weights_of(case, *, scaling=None, causal=None, times=1.0, plus=0.0, heat=None):
    """All rows, from the scores, over the visible keys alone."""
    example = case.example.example
    scaling = example.scaling if scaling is None else scaling
    causal = example.causal if causal is None else causal
    scores = case.attention.scores.double().numpy() * (example.d_k**-0.5 if scaling else 1.0)
    scores = scores / (case.choices.temperature if heat is None else heat) * times + plus
    weights = np.zeros_like(scores)
    for i, row in enumerate(scores):
        seen = slice(0, i + 1) if causal else slice(None)
        powers = np.exp(row[seen] - row[seen].max())
        weights[i, seen] = powers / powers.sum()
    return weights


def visible_weights(case, **how):
    query = case.choices.query
    return weights_of(case, **how)[query, : query + 1 if case.example.example.causal else None]


def largest(case, sentence):
    row, keys = visible_weights(case), [token.position for token in sentence.arguments["keys"].items]
    return {
        "temperature": case.choices.temperature,
        "share": row.max(),
        "keys": keys,
        "count": len(keys),
        "ranked": Ranked(row.tolist(), keys, percent),
    }


def portion(case, sentence):
    """What a key gets, of the shown row."""
    query, key = case.choices.query, sentence.arguments["key"].position
    seen = slice(0, query + 1) if case.example.example.causal else slice(None)
    scores = case.attention.scores[query, seen].double().numpy() / case.choices.temperature
    scores = scores * (case.example.example.d_k**-0.5 if case.example.example.scaling else 1.0)
    power = np.exp(scores[key] - scores.max())
    return {"key": key, "score": scores[key], "power": power, "weight": visible_weights(case)[key]}


def every_weight(case, sentence):
    row = visible_weights(case)
    assert len(set(map(percent, row))) == 1
    return {"temperature": case.choices.temperature, "share": row.max()}


def entropy(case, sentence):
    row = visible_weights(case)
    nats = -math.fsum(w * math.log(w) for w in row if w > 0)
    assert math.exp(nats) > 1.05 - 1e-4, "with one key there is nothing to share"
    return {"effective": math.exp(nats), "count": len(row)}


def added(case, sentence):
    assert visible_weights(case, plus=SHIFT) == pytest.approx(visible_weights(case), abs=1e-6)
    now, then = (
        softmax_row(case.attention, case.choices.query, case.choices.temperature, plus=c) for c in (0.0, SHIFT)
    )
    assert torch.allclose(now.weights, then.weights, atol=2e-4)
    return {"shift": 5}


def multiplied(case, sentence):
    before, after = visible_weights(case), visible_weights(case, times=FACTOR)
    key = sentence.arguments["key"].position
    assert abs(after - before)[key] == pytest.approx(abs(after - before).max(), abs=1e-5)
    return {"times": 3, "key": key, "before": before[key], "after": after[key]}


def hardly_multiplied(case, sentence):
    return {"times": 3, "change": abs(visible_weights(case) - visible_weights(case, times=FACTOR)).max()}


def not_multiplied(case, sentence):
    assert visible_weights(case, times=FACTOR) == pytest.approx(visible_weights(case), abs=1e-5)
    return {"times": FACTOR}


def pair_of(sentence):
    return (sentence.arguments[name].position for name in ("query", "key"))


def another_gets_more(case, sentence):
    query, key = pair_of(sentence)
    row = weights_of(case)[query]
    assert row[key] < row.max()
    return {"query": query, "key": key, "weight": row[key]}


def weight_now(case, sentence):
    query, key = pair_of(sentence)
    return {"query": query, "key": key, "now": weights_of(case)[query, key]}


def weight_and_change(case, sentence):
    query, key = pair_of(sentence)
    return {"query": query, "key": key, "weight": weights_of(case)[query, key], "change": ...}


def some_weight(case, said, factors):
    """The prompt is not known here, so it must be the weight of some cell when the scores are multiplied."""
    several = [weights_of(case, times=times) for times in factors]
    return min((w for weights in several for w in weights.flatten()), key=lambda weight: abs(weight - said.value))


def at_temperature(case, sentence):
    tokens = {name: sentence.arguments[name].position for name in ("query", "key") if name in sentence.arguments}
    return {"temperature": case.choices.temperature} | tokens


MOST = "On which key does {query} put its largest weight?"
CELL = "What weight does {query} put on {key} at temperature {temperature}?"
DOUBLED = (
    "{query} puts the weight {now} on {key}. All scores in the row are doubled just before the softmax. "
    "What is the weight now?"
)
COLUMN = (
    "At temperature {temperature}, add up the weights that all tokens put on {key}, down its column. What is the sum?"
)
CHANGE = "{query} puts the weight {weight} on {key}. {change}, just before the softmax. What happens to this weight?"
GROWN = "To {after}: all differences grow, so keys with less weight lose and this one gains."
AGAIN = "It stays {before}: every power of e becomes e^{number} times as large, and so does their sum."
LEFT = "How much weight does {query} leave for all keys but {key}?"
RAISED = (
    "{query} puts the weight {now} on {key}. Just before the softmax, 1 is added to this one score. What is the weight "
    "now?"
)
ABOVE = "In some row, one score is {above} above another. How many times as large is its weight?"


def concept(case, sentence):
    return chosen(case, sentence) | {"concept": True}


ORACLE = {
    "score ÷ {temperature}": at_temperature,
    "minus largest": concept,
    "÷ temperature {temperature}": at_temperature,
    "from the largest: same weights": concept,
    "{key}: score {score}, e to the difference {power}, weight {weight}": portion,
    "if all + {number}": lambda case, sentence: {"number": SHIFT},
    "if all × {number}": lambda case, sentence: {"number": FACTOR},
    "{query} may look at only one key, so its weight is 1 at every temperature, whatever the score.": lambda case, s: (
        {"query": case.choices.query} if visible_weights(case).tolist() == [1.0] else {}
    ),
    "At temperature {temperature}, every weight is {share}.": every_weight,
    "At temperature {temperature}, the largest weight, {share}, goes to {keys}.": largest,
    "The weight is spread as widely as if {effective} of the {count} keys had equal shares.": entropy,
    "Add {shift} to every score and no weight changes: softmax sees only differences.": added,
    "Multiply every score by {times} and these weights do not change either.": not_multiplied,
    "Multiply every score by {times} and no weight changes by more than {change}.": hardly_multiplied,
    "Multiply every score by {times} and the weight of {key} goes from {before} to {after}.": multiplied,
    MOST: concept,
    CELL: at_temperature,
    DOUBLED: weight_now,
    RAISED: weight_now,
    LEFT: chosen,
    ABOVE: lambda case, sentence: {"above": round(2 * sentence.arguments["above"].value) / 2},
    "That is the weight of {key} itself. The others have the rest of 1.": chosen,
    "Then {key} would have none. All keys of the row together have 1.": chosen,
    COLUMN: at_temperature,
    CHANGE: weight_and_change,
    "Multiply every score in the row by {number}": chosen,
    "Add {number} to every score in the row": chosen,
    GROWN: lambda case, sentence: {"after": some_weight(case, sentence.arguments["after"], range(2, 10))},
    AGAIN: lambda case, sentence: {
        "before": some_weight(case, sentence.arguments["before"], [1]),
        "number": sentence.arguments["number"],
    },
    "Softmax keeps the order: the largest visible score in the row gets the largest weight.": concept,
    "That is read down the column: no token puts more weight on {query}. Rows are queries.": chosen,
    "{key} gets {weight} from {query}; another key gets more.": another_gets_more,
    "That is what {key} puts on {query}. Rows are queries, columns keys.": chosen,
}


def answer_most(case, prompt):
    query, weights = prompt.arguments["query"].position, weights_of(case)
    return {
        "Softmax keeps the order: the largest visible score in the row gets the largest weight.": weights[
            query
        ].argmax(),
        "No score is larger, but the mask hides it.": case.attention.scores[query].argmax(),
        "That is read down the column: no token puts more weight on {query}. Rows are queries.": weights[
            :, query
        ].argmax(),
        "A token need not prefer itself: its query need not match its own key.": query,
        "{key} gets {weight} from {query}; another key gets more.": ...,
        JUDGE: by_largest(weights[query]),
    }


def answer_cell(case, prompt):
    query, key = pair_of(prompt)
    seen = case.attention.visible[query]
    scores = case.attention.masked[query][seen].double()
    other = weights_of(case, scaling=not case.example.example.scaling)[query, key]
    return {
        "e to its score, divided by the sum of e to each visible score in the row.": weights_of(case)[query, key],
        "That is what {key} puts on {query}. Rows are queries, columns keys.": weights_of(case)[key, query],
        "That is the weight without scaling. The scores are divided by √d_k first.": other,
        "That is the weight with scaling, which is off here.": other,
        "The mask hides some keys, and hidden keys get no weight.": weights_of(case, causal=False)[query, key],
        "That is its part of the sum of the scores. Softmax raises e to each score first.": float(
            case.attention.masked[query, key] / scores.sum()
        ),
        "Equal weights need equal scores, and these differ.": 1 / len(scores),
    }


def answer_doubled(case, prompt):
    query, key = pair_of(prompt)
    now, then, halved = (weights_of(case, times=times)[query, key] for times in (1, 2, 0.5))
    return {
        "Softmax sees differences between scores, and all of them have doubled.": then,
        "The differences between the scores have doubled, so the weights change.": now,
        "If all weights doubled, the row would sum to 2.": 2 * now,
        "That is what halved scores give: differences shrink, and the row becomes flatter.": halved,
    }


def answer_left(case, prompt):
    query, key = pair_of(prompt)
    row = weights_of(case)[query]
    others = np.delete(row, key)
    assert row.max() <= 0.9, "nothing is asked about a row that is as good as decided"
    return {
        "The weights of a row are shares of one whole, so the others have the rest.": others.sum(),
        "That is the weight of {key} itself. The others have the rest of 1.": row[key],
        "Then {key} would have none. All keys of the row together have 1.": 1.0,
        "That is one of the other weights. Add up all of them.": others.max(),
        "That would be so if all visible keys had equal weights.": 1 - 1 / int(case.attention.visible[query].sum()),
        "Softmax has no winner that takes all: e to any score is more than 0.": 0.0,
    }


def answer_raised(case, prompt):
    query, key = pair_of(prompt)
    seen = np.flatnonzero(case.attention.visible[query].numpy())
    logs, place = np.log(weights_of(case)[query][seen]), list(seen).index(key)

    def softmax(scores):
        powers = np.exp(scores - scores.max())
        return powers / powers.sum()

    alone = np.eye(len(seen))[place]
    now = softmax(logs)[place]
    return {
        "Its power becomes e ≈ 2.72 times as large, and the sum grows by the same amount.": softmax(logs + alone)[
            place
        ],
        "Its power is a part of the sum, so the sum grows as well.": math.e * now,
        "That would be so if 1 were added to every score of the row.": softmax(logs + 1)[place],
        "That is what adding 1 to all the other scores would give.": softmax(logs + 1 - alone)[place],
        "The weight is not averaged with 1: e is raised to the score before anything is divided.": (1 + now) / 2,
    }


def answer_above(case, prompt):
    above = prompt.arguments["above"].value
    smaller, larger, *_ = (
        weight.item() for weight in torch.softmax(torch.tensor([0.0, above, 0.3], dtype=torch.double), 0)
    )
    return {
        "e to one score, divided by e to the other, is e to their difference, whatever the other scores.": larger
        / smaller,
        "Softmax does not compare scores by their difference itself: e is raised to it.": above,
        "The scores are not added to the weights: e is raised to each of them.": above + 1,
        "Softmax raises e ≈ 2.72 to the scores, not 2.": 2**above,
        "That is the smaller weight beside the larger one.": smaller / larger,
        "Softmax raises e ≈ 2.72 to the scores, not 10.": 10**above,
        "That is its square: the difference counts once.": (larger / smaller) ** 2,
        "Then both would be equal, and equal weights need equal scores.": 1.0,
    }


def answer_column(case, prompt):
    column = weights_of(case)[:, prompt.arguments["key"].position]
    return {
        "The weights that a key gets from all queries have no fixed sum.": column.sum(),
        "Rows sum to 1, since each query shares out one whole. Columns need not.": 1.0,
        "That is the average of the column, not its sum.": column.mean(),
        "That is only one weight. Add up the whole column.": column.max(),
        "That would need every token to put all its weight on this key.": len(column),
    }


def answer_change(case, prompt):
    query, key = pair_of(prompt)
    change, before = prompt.arguments["change"], weights_of(case)[query]
    number = change.arguments["number"]
    multiplied = change.template == "Multiply every score in the row by {number}"
    after = weights_of(case, **{"times" if multiplied else "plus": number})[query]
    grown = after[key] - before[key]
    judge = by_text(
        {"It does not change.": abs(grown) < AS_GOOD, "It grows.": grown > AS_GOOD, "It shrinks.": grown < -AS_GOOD}
    )
    if multiplied:
        assert before[key] == pytest.approx(before.max()) and after[key] > before[key]
        return dict.fromkeys(
            (
                GROWN,
                "That is true when a constant is added. Multiplied scores have larger differences.",
                "The row would become flatter if the scores were divided.",
            )
        ) | {JUDGE: judge}
    return dict.fromkeys(
        (
            AGAIN,
            "All powers of e grow by the same factor, and so does their sum: the weight does not change.",
            "Softmax sees the differences between scores, and these have not changed.",
        )
    ) | {JUDGE: judge}


ANSWERS = {
    MOST: answer_most,
    LEFT: answer_left,
    RAISED: answer_raised,
    ABOVE: answer_above,
    CELL: answer_cell,
    DOUBLED: answer_doubled,
    COLUMN: answer_column,
    CHANGE: answer_change,
}


def said(query=-1, temperature=1.0, **choices):
    example = run_example(Example(**choices))
    query %= len(example.tokens)
    figures = screen(example, 0, Choices(query, temperature)).figures
    return render_all([sentence for figure in figures for sentence in figure.notice])


def test_all_that_is_said_is_about_the_temperature_that_is_shown():
    assert said(temperature=0.1).startswith("At temperature 0.1, the largest weight, 59%, goes to “step”.")
    assert "goes from 59% to 88%" in said(temperature=0.1)
    assert "goes from 21% to 30%" in said(temperature=1.0)


def test_one_key_needs_no_entropy_and_no_zeros_are_said_to_be_changes():
    assert said(0) == "“Your” may look at only one key, so its weight is 1 at every temperature, whatever the score."
    for text in ("no no no", "one two three"):
        assert "0.000" not in said(source="sentence", text=text, causal=False)


def test_keys_that_tie_are_all_named():
    assert "goes to each of “Your”, “with” and “step”" in said(temperature=5.0)


def test_what_rounding_does_to_very_large_scores_is_told():
    example = run_example(Example())
    scores = torch.tensor([1e8, 1e8 - 8, 0.0])
    rows = [
        RowSoftmax((0, 1, 2), s, s - s.max(), (s - s.max()).exp(), (s - s.max()).softmax(dim=-1))
        for s in (scores, scores + 5 + torch.tensor([0.0, 8.0, 0.0]), scores * 2)
    ]
    assert "only by rounding" in render(notice_changes(example, *rows)[0])


def test_entropy_of_even_and_of_certain_rows():
    even = attend(torch.zeros(3, 2), torch.zeros(5, 2), torch.zeros(5, 7))
    assert softmax_row(even, 0).effective_keys == pytest.approx(5, rel=1e-5)
    certain = attend(torch.full((3, 2), 100.0), torch.eye(5, 2) * 100, torch.zeros(5, 7))
    assert softmax_row(certain, 1).entropy < 1
