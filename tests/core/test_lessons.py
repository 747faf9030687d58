"""What single lessons compute, against loops and hand-made cases; their captions against the tensors."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core.attention import attend
from attention_core.reference import compare_references
from lessons.captions import number
from lessons.example import Example, projection_of, run_example
from lessons.shapes import shape_table
from lessons.single_lessons import (
    asymmetry,
    asymmetry_caption,
    shift_caption,
    softmax_caption,
    softmax_row,
)

examples = st.builds(
    Example,
    source=st.just("sentence"),
    text=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=7).map(" ".join),
    d_model=st.sampled_from([2, 5, 11]),
    d_k=st.sampled_from([1, 3, 7]),
    d_v=st.sampled_from([2, 5]),
    n_heads=st.sampled_from([1, 3]),
    seed=st.integers(0, 10_000),
    causal=st.booleans(),
    scaling=st.booleans(),
)
many = settings(max_examples=40, deadline=None, derandomize=True)


def number_after(sentence, words):
    return float(re.search(rf"{words} ?(−?\d+\.\d+)", sentence).group(1).replace("−", "-"))


@many
@given(examples, st.data())
def test_each_heads_map_makes_its_queries_keys_and_values(example, data):
    trace = run_example(example)
    head = data.draw(st.integers(0, example.n_heads - 1))
    for role in "qkv":
        made = trace.x @ projection_of(trace, role, head)
        torch.testing.assert_close(made, getattr(trace.heads.select(head), role))


@many
@given(examples)
def test_the_mirror_sentence_says_the_true_differences(example):
    trace = run_example(example)
    scores = trace.heads.select(0).scores
    assert asymmetry(trace.x @ trace.x.mT) < 1e-5
    sentence = asymmetry_caption(trace, 0)
    assert f"by up to {number(float((scores - scores.mT).abs().max()))}." in sentence


@many
@given(examples, st.floats(0.2, 5), st.floats(-50, 50))
def test_one_row_of_softmax_step_by_step(example, factor, shift):
    attention = run_example(example).heads.select(0)
    query = len(attention.q) - 1
    row = softmax_row(attention, query, factor=factor, shift=shift)
    scores = [float(attention.scaled[query, j]) * factor + shift for j in row.keys]
    powers = [math.exp(s - max(scores)) for s in scores]
    for j, power in enumerate(powers):
        assert math.isclose(row.weights[j], power / sum(powers), abs_tol=2e-4)
    plain = softmax_row(attention, query)
    assert torch.allclose(plain.weights, attention.weights[query][attention.visible[query]], atol=1e-6)
    assert 1 - 1e-4 <= row.effective_keys <= len(row.keys) + 1e-3


def test_entropy_of_even_and_of_certain_rows():
    even = attend(torch.zeros(3, 2), torch.zeros(5, 2), torch.zeros(5, 7))
    assert softmax_row(even, 0).effective_keys == pytest.approx(5, rel=1e-5)
    certain = attend(torch.full((3, 2), 100.0), torch.eye(5, 2) * 100, torch.zeros(5, 7))
    assert softmax_row(certain, 1).entropy < 1


@many
@given(examples)
def test_adding_changes_nothing_and_multiplying_does(example):
    trace = run_example(example)
    attention, query = trace.heads.select(0), len(trace.tokens) - 1
    row = softmax_row(attention, query)
    added, doubled = softmax_row(attention, query, shift=5.0), softmax_row(attention, query, factor=2.0)
    sentence = shift_caption(row, added, doubled, 5.0, 2.0)
    assert number_after(sentence, "more than") < 0.001
    told = number_after(sentence, "a weight changes by")
    assert told == pytest.approx(float((doubled.weights - row.weights).abs().max()), abs=6e-4)
    assert softmax_caption(trace.tokens, row)


@many
@given(examples)
def test_loops_and_numpy_agree_with_pytorch(example):
    trace = run_example(example)
    difference = compare_references(trace.heads.select(0), trace.scale)
    assert 0 <= difference.loops < 1e-4 and 0 <= difference.numpy < 1e-4


def test_the_shapes_are_those_of_the_annotations():
    table = shape_table(run_example(Example(d_k=5, d_v=3)).heads.select(0))
    assert table[0] == {"tensor": "q", "axes": "*batch queries d_k", "shape": "6 × 5"}
    assert [row["tensor"] for row in table] == ["q", "k", "v", "scores", "scaled", "masked", "weights", "output"]
    assert table[-1]["shape"] == "6 × 3"
