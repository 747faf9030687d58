"""The lesson on softmax says only what its scores say, at every temperature. Computed again in NumPy."""

import math

import numpy as np
import pytest
import torch
from screens import AS_GOOD, JUDGE, Ranked, by_largest, by_text, by_thought, chosen

from attention_core.one_head.attention import attend
from lessons.example.example import Example, run_example
from lessons.one_head.softmax.lesson import FACTOR, SHIFT, Choices, RowSoftmax, notice_changes, screen, softmax_row
from lessons.screen import percent, render_all


def cases(trace):
    for temperature in (0.1, 0.7, 1.0, 5.0):
        yield Choices(len(trace.tokens) - 1, temperature)
    yield Choices(0, 2.3)


def weights_of(case, *, scaling=None, causal=None, times=1.0, plus=0.0, heat=None):
    """All rows, from the scores, over the visible keys alone."""
    example = case.trace.example
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
    return weights_of(case, **how)[query, : query + 1 if case.trace.example.causal else None]


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
    seen = slice(0, query + 1) if case.trace.example.causal else slice(None)
    scores = case.attention.scores[query, seen].double().numpy() / case.choices.temperature
    scores = scores * (case.trace.example.d_k**-0.5 if case.trace.example.scaling else 1.0)
    power = np.exp(scores[key] - scores.max())
    return {"key": key, "score": scores[key], "power": power, "weight": visible_weights(case)[key]}


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
    moved = abs(after - before)
    assert moved[key] == pytest.approx(max(moved), abs=2e-5)
    assert all(moved[:key] < max(moved) - 1e-6), "of those that move alike the first"
    return {"times": 3, "key": key, "before": before[key], "after": after[key]}


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


def at_temperature(case, sentence):
    tokens = {name: sentence.arguments[name].position for name in ("query", "key") if name in sentence.arguments}
    return {"temperature": case.choices.temperature} | tokens


MOST = "On which key does {query} put its largest weight?"
CELL = "What weight does {query} put on {key} at temperature {temperature}?"
COLUMN = (
    "At temperature {temperature}, add up the weights that all tokens put on {key}, down its column. What is the sum?"
)
CHANGE = "{query} puts the weight {weight} on {key}. {change}, just before the softmax. What happens to this weight?"
GROWN = "Every lower score falls further behind this one, so this weight grows."
AGAIN = "Every power of e becomes e^{number} times as large, and so does their sum."
RAISED = (
    "{query} puts the weight {now} on {key}. Just before the softmax, 1 is added to this one score. What is the weight "
    "now?"
)
ABOVE = "In a row, one score is {above} larger than another. How many times as large is its weight?"


def concept(case, sentence):
    return chosen(case, sentence) | {"concept": True}


ORACLE = {
    "score ÷ {temperature}": at_temperature,
    "minus largest": concept,
    "÷ temperature {temperature}": at_temperature,
    "from the largest: same weights": concept,
    "{key}: score {score}, e to the difference {power}, weight {weight}": portion,
    "all scores + {number}": lambda case, sentence: {"number": SHIFT},
    "all scores × {number}": lambda case, sentence: {"number": FACTOR},
    "{query} may look at only one key, so its weight is 1.": lambda case, s: (
        {"query": case.choices.query} if visible_weights(case).tolist() == [1.0] else {}
    ),
    "At temperature {temperature}, the largest weight, {share}, goes to {keys}.": largest,
    "The weight is spread as widely as if {effective} of the {count} keys had equal shares.": entropy,
    "Add {shift} to every score and no weight changes: softmax sees only differences.": added,
    "Multiply every score by {times} and the weight of {key} goes from {before} to {after}.": multiplied,
    MOST: concept,
    CELL: at_temperature,
    RAISED: weight_now,
    ABOVE: lambda case, sentence: {"above": round(2 * sentence.arguments["above"].value) / 2},
    COLUMN: at_temperature,
    CHANGE: weight_and_change,
    "Multiply every score in the row by {number}": chosen,
    "Add {number} to every score in the row": chosen,
    AGAIN: chosen,
    "Softmax keeps the order: the largest visible score gets the largest weight.": concept,
    "{key} gets {weight} from {query}; another key gets more.": another_gets_more,
    "That is what {key} puts on {query}. Rows are queries.": chosen,
}


def answer_most(case, prompt):
    query, weights = prompt.arguments["query"].position, weights_of(case)
    return {
        "Softmax keeps the order: the largest visible score gets the largest weight.": weights[query].argmax(),
        "No other score is larger, but the mask hides this one.": case.attention.scores[query].argmax(),
        "A query need not match its own key.": query,
        "That reads down the column, but the rows are the queries.": weights[:, query].argmax(),
        "{key} gets {weight} from {query}; another key gets more.": ...,
        JUDGE: by_largest(weights[query]),
    }


def answer_cell(case, prompt):
    query, key = pair_of(prompt)
    seen = case.attention.visible[query]
    scores = case.attention.masked[query][seen].double()
    other = weights_of(case, scaling=not case.trace.example.scaling)[query, key]
    thoughts = {
        "the softmax over its visible keys": weights_of(case)[query, key],
        "the weight of the query in the row of the key": weights_of(case)[key, query],
        "the softmax of scores divided by √d_k": other,
        "the softmax of scores not divided by √d_k": other,
        "the softmax over all keys": weights_of(case, causal=False)[query, key],
        "the score, divided by the sum of the scores": scores[list(np.flatnonzero(seen)).index(key)] / scores.sum(),
        "every visible key gets the same share": 1 / len(scores),
    }
    replies = (
        "e to its score, divided by the sum of e to each visible score in the row.",
        "That is what {key} puts on {query}. Rows are queries.",
        "Keys that the mask hides get no weight.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_raised(case, prompt):
    query, key = pair_of(prompt)
    seen = np.flatnonzero(case.attention.visible[query].numpy())
    logs, place = np.log(weights_of(case)[query][seen]), list(seen).index(key)

    def softmax(scores):
        powers = np.exp(scores - scores.max())
        return powers / powers.sum()

    alone = np.eye(len(seen))[place]
    now = softmax(logs)[place]
    thoughts = {
        "e to its score grows, and the sum by as much": softmax(logs + alone)[place],
        "e to its score grows, and the sum stays the same": now * math.e,
        "softmax ignores an added number": softmax(logs + 1)[place],
        "e to every other score grows instead": softmax(logs - alone)[place],
        "half of the others' weight moves here": now + (1 - now) / 2,
    }
    replies = (
        "e to this score becomes e ≈ 2.72 times as large, and the sum grows by the same amount.",
        "That would hold if 1 were added to every score of the row.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_above(case, prompt):
    above = prompt.arguments["above"].value
    smaller, larger, *_ = (
        weight.item() for weight in torch.softmax(torch.tensor([0.0, above, 0.3], dtype=torch.double), 0)
    )
    thoughts = {
        "e, raised to the difference": larger / smaller,
        "the difference itself": above,
        "1, plus the difference": 1 + above,
        "2, raised to the difference": 2**above,
        "e, raised to minus the difference": smaller / larger,
        "10, raised to the difference": 10**above,
        "e, raised to twice the difference": (larger / smaller) ** 2,
        "the same, as both are shares of one whole": 1.0,
    }
    reply = "e to one score, divided by e to the other, is e to their difference, whatever the other scores."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_column(case, prompt):
    column = weights_of(case)[:, prompt.arguments["key"].position]
    thoughts = {
        "the weights from all queries, added up": column.sum(),
        "the weights on one key sum to 1": 1.0,
        "the weights from all queries, averaged": column.mean(),
        "the maximum weight from one query": column.max(),
        "every query gives it all its weight": len(column),
    }
    replies = (
        "The weights that a key gets from all queries have no fixed sum.",
        "Rows sum to 1, columns need not.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


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
        lost = sum(b - a for at, (b, a) in enumerate(zip(before, after, strict=True)) if at != key)
        assert before[key] == pytest.approx(before.max()) and grown == pytest.approx(lost) and grown > 0
        return {
            GROWN: ...,
            "That would hold if a constant were added.": ...,
            "No other score gains on this one, so its share cannot become smaller.": ...,
            JUDGE: judge,
        }
    return {
        AGAIN: ...,
        "Its power of e grows, but the sum grows by the same factor.": ...,
        "The sum grows, but its power of e grows by the same factor.": ...,
        JUDGE: judge,
    }


ANSWERS = {
    MOST: answer_most,
    RAISED: answer_raised,
    ABOVE: answer_above,
    CELL: answer_cell,
    COLUMN: answer_column,
    CHANGE: answer_change,
}


def said(query=-1, temperature=1.0, **choices):
    trace = run_example(Example(**choices))
    query %= len(trace.tokens)
    figures = screen(trace, 0, Choices(query, temperature)).figures
    return render_all([sentence for figure in figures for sentence in figure.notice])


def test_all_that_is_said_is_about_the_temperature_that_is_shown():
    assert said(temperature=0.1).startswith("At temperature 0.1, the largest weight, 59%, goes to “step”.")
    assert "goes from 59% to 88%" in said(temperature=0.1)
    assert "goes from 21% to 30%" in said(temperature=1.0)


def test_one_key_needs_no_entropy_and_no_zeros_are_said_to_be_changes():
    assert said(0) == "“Your” may look at only one key, so its weight is 1."
    for text in ("no no no", "one two three"):
        assert "0.000" not in said(source="sentence", text=text, causal=False)


def test_keys_that_tie_are_all_named():
    assert "goes to each of “Your”, “with” and “step”" in said(temperature=5.0)


def test_nothing_is_said_of_no_change_where_rounding_moves_weights():
    trace = run_example(Example())
    scores = torch.tensor([1e8, 1e8 - 8, 0.0])
    rows = [
        RowSoftmax((0, 1, 2), s, s - s.max(), (s - s.max()).exp(), (s - s.max()).softmax(dim=-1))
        for s in (scores, scores + 5 + torch.tensor([0.0, 8.0, 0.0]), scores * 2)
    ]
    assert "no weight changes" not in render_all(notice_changes(trace, *rows))


def test_entropy_of_even_and_of_certain_rows():
    even = attend(torch.zeros(3, 2), torch.zeros(5, 2), torch.zeros(5, 7))
    assert softmax_row(even, 0).effective_keys == pytest.approx(5, rel=1e-5)
    certain = attend(torch.full((3, 2), 100.0), torch.eye(5, 2) * 100, torch.zeros(5, 7))
    assert softmax_row(certain, 1).entropy < 1
