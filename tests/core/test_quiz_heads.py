"""Exactly one choice is right: each kind of question about several heads is answered again, in plain Python."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.randomness import generator
from lessons.captions import name
from lessons.heads_example import HEADS_PRESETS, HeadsExample, HeadsTrace, divisors, run_heads
from lessons.questions import OWN_QUESTIONS, ask
from lessons.questions import heads as quiz

NAME = r"(“[^”]*”(?: \(\d+\))?)"
SENTENCES = [("one",), ("no", "no"), ("a", "b", "a", "c", "d"), tuple("abcdefghijkl")]


@st.composite
def examples(draw):
    d_model, tokens = draw(st.integers(1, 16)), draw(st.sampled_from(SENTENCES))
    return HeadsExample(
        source=draw(st.sampled_from([*HEADS_PRESETS, *["sentence"] * 10])),
        tokens=tokens,
        ids=tuple(sorted(set(tokens)).index(token) for token in tokens),
        d_model=d_model,
        n_heads=draw(st.sampled_from(divisors(d_model))),
        bias=draw(st.booleans()),
        dropout=draw(st.sampled_from([0.0, 0.1, 0.25, 0.9])),
        seed=draw(st.integers(0, 10_000)),
        causal=draw(st.booleans()),
        scaling=draw(st.booleans()),
    )


def place(trace, label):
    return [name(trace.tokens, p) for p in range(len(trace.tokens))].index(label)


def is_number(text, value):
    digits = len(text.split(".")[1])
    return abs(float(text.replace("−", "-")) - value) <= 0.5 * 10**-digits + 1e-5


def sizes(text):
    return tuple(int(size) for size in text.split(" × "))


# What is right, recomputed: each takes the trace, the head, the text of a choice and what the prompt says.


def right_split(trace, head, text, n, d_model, h):
    q = np.zeros((int(n), int(d_model)))
    assert q.shape == tuple(trace.x.shape) and int(h) == trace.n_heads
    return sizes(text) == np.stack(np.split(q, int(h), axis=1)).shape


def right_more(trace, head, text, h, shown, other):
    d = trace.x.shape[-1]
    total = 4 * d * d + 4 * d * trace.example.bias
    assert (int(h), int(shown.replace(",", ""))) == (trace.n_heads, total)
    assert d % int(other) == 0 and int(other) != trace.n_heads
    return int(text.replace(",", "")) == total


def right_cost(trace, head, text, h, d_head, d_model):
    assert int(h) * int(d_head) == int(d_model) == trace.x.shape[-1]
    return int(text.replace(",", "")) == sum(int(d_head) * int(d_head) for _ in range(int(h)) for _ in "qkv")


def right_notices(trace, head, text, feature):
    changed = trace.x.clone()
    changed[:, int(feature) - 1] += 1
    mask = trace.heads.visible[0]
    with torch.no_grad():
        before, after = (trace.module(x, mask, scale=trace.scale)[1].heads.output for x in (trace.x, changed))
    notice = [not torch.allclose(a, b, atol=1e-5) for a, b in zip(before, after, strict=True)]
    only = re.fullmatch(r"Head (\d+) only\.", text)
    said = {"All heads.": [True] * trace.n_heads, "No head.": [False] * trace.n_heads}
    return notice == (said[text] if not only else [h + 1 == int(only[1]) for h in range(trace.n_heads)])


def right_home(trace, head, text, d_model, h, feature):
    numbered = np.split(np.arange(1, int(d_model) + 1), int(h))
    found = re.fullmatch(r"Feature (\d+) of head (\d+)\.", text)
    if not found:
        return all(int(feature) in part for part in numbered)
    spot, which = int(found[1]) - 1, int(found[2]) - 1
    return which < int(h) and spot < len(numbered[which]) and numbered[which][spot] == int(feature)


def right_dropout(trace, head, text, p, key, shown, query):
    i, j = place(trace, query), place(trace, key)
    assert is_number(p, trace.example.dropout) and is_number(shown, float(trace.heads.weights[head, i, j]))
    keep = [m != j for m in range(len(trace.tokens))]
    row = trace.heads.weights[head, i].double().numpy()
    return is_number(text, float(row[keep].sum() / (1 - trace.example.dropout)))


def right_divisor(trace, head, text, d_model, h):
    attention = trace.heads
    assert (int(d_model), int(h)) == (trace.x.shape[-1], trace.n_heads)
    ratio = attention.scores[0].flatten()[0] / attention.scaled[0].flatten()[0]
    return math.isclose(float(ratio), math.sqrt(int(text.removeprefix("√"))), rel_tol=1e-4)


def right_weights(trace, head, text, h, n):
    assert (int(h), int(n)) == (trace.n_heads, len(trace.tokens))
    return sizes(text) == tuple(trace.heads.weights.shape)


KINDS = {
    "shape_after_split": (r"Q is (\d+) × (\d+), and it is split among (\d+) heads?\. .*features\?", right_split),
    "more_heads": (
        r"With (\d+) heads? this module has ([\d,]+) parameters\. How many has it with (\d+) heads?, .*",
        right_more,
    ),
    "cost_of_slices": (
        r"Suppose each of the (\d+) heads read only its own (\d+) of the (\d+) features\. .*",
        right_cost,
    ),
    "who_notices": (r"Add 1 to feature (\d+) of every row of X\. .*", right_notices),
    "where_a_feature_lives": (
        r"Q has (\d+) features and is split among (\d+) heads\. Where is feature (\d+), counted from 1\?",
        right_home,
    ),
    "row_after_dropout": (
        rf"In training, with dropout (\S+), only the weight of {NAME}, (\S+), is dropped from the row of {NAME}\. .*",
        right_dropout,
    ),
    "divided_by": (r"d_model is (\d+), and there are (\d+) heads\. By what .*", right_divisor),
    "shape_of_all_weights": (
        r"There (?:is|are) (\d+) (?:head|sentence)s?, and (\d+) tokens?(?: in each)?\. .*",
        right_weights,
    ),
}


def check(question, kind, trace, head):
    pattern, is_right = KINDS[kind]
    found = re.fullmatch(pattern, question.prompt)
    assert found, question.prompt
    shown = [choice.text for choice in question.choices]
    assert [is_right(trace, head, text, *found.groups()) for text in shown] == [
        spot == question.right for spot in range(len(shown))
    ], question
    assert 2 <= len(set(shown)) == len(shown) <= 4
    assert all(choice.text.strip() and choice.answer_to_it.strip() for choice in question.choices)


def kind_of(question):
    return next(kind for kind, (pattern, _) in KINDS.items() if re.fullmatch(pattern, question.prompt))


def test_every_kind_is_proved():
    assert [maker.__name__ for maker in quiz.QUESTIONS] == list(KINDS)
    assert OWN_QUESTIONS["heads"] is quiz.QUESTIONS


@given(examples(), st.integers(0, 1000))
def test_exactly_one_choice_is_right_in_every_kind_of_question(example, seed):
    trace, random = run_heads(example), generator(seed)
    for head in range(trace.n_heads):
        for maker in quiz.QUESTIONS:
            question = maker(trace, head, random)
            assert question is None or check(question, maker.__name__, trace, head) is None
        assert quiz.QUESTIONS[-1](trace, head, random) is not None, "the last kind is always possible"


@given(example=examples(), seed=st.integers(0, 2**31 - 1))
def test_asking_always_gives_a_question_and_the_same_one_again(example, seed):
    trace = run_heads(example)
    question = ask("heads", trace, trace.n_heads - 1, seed)
    check(question, kind_of(question), trace, trace.n_heads - 1)
    assert ask("heads", run_heads(example), trace.n_heads - 1, seed) == question


def test_all_kinds_come_up_and_the_right_choice_stands_anywhere():
    trace = run_heads(HeadsExample(d_model=12, n_heads=3))
    questions = [ask("heads", trace, 1, seed) for seed in range(150)]
    assert {kind_of(question) for question in questions} == set(KINDS)
    assert {question.right for question in questions} == {0, 1, 2, 3}


def wrong_answers(maker):
    traces = [run_heads(HeadsExample(d_model=12, n_heads=3, seed=seed)) for seed in range(4)]
    questions = [maker(trace, 0, generator(seed)) for trace in traces for seed in range(10)]
    return [c.answer_to_it for q in questions if q for i, c in enumerate(q.choices) if i != q.right]


@pytest.mark.parametrize(
    ("maker", "mended"),
    [
        (quiz.cost_of_slices, "Heads are not slices"),
        (quiz.who_notices, "They are slices of Q, K and V"),
        (quiz.more_heads, "the part is smaller with more heads"),
        (quiz.shape_after_split, "No head gets the whole query"),
        (quiz.shape_after_split, "before the axes are swapped"),
        (quiz.where_a_feature_lives, "deals them out like cards"),
        (quiz.row_after_dropout, "nobody shares out the whole again"),
        (quiz.divided_by, "No head sees a query 12 wide"),
        (quiz.shape_of_all_weights, "without the axis of the heads"),
    ],
)
def test_every_misconception_is_met(maker, mended):
    assert any(mended in answer for answer in wrong_answers(maker))


def test_where_nothing_is_projected_only_what_is_there_is_asked():
    trace = run_heads(HeadsExample(source="drawn"))
    assert not isinstance(trace, HeadsTrace)
    kinds = {kind_of(ask("heads", trace, 1, seed)) for seed in range(40)}
    assert kinds == {"row_after_dropout", "shape_of_all_weights"}
