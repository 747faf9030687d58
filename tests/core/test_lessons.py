"""What single lessons compute, against loops and hand-made cases; their captions against the tensors."""

import re

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.example.example import Example, projection_of, run_example
from lessons.one_head.dot_product.loops_and_numpy import compare_references
from lessons.screen import shape_table

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
def test_loops_and_numpy_agree_with_pytorch(example):
    trace = run_example(example)
    difference = compare_references(trace.heads.select(0), trace.scale)
    assert 0 <= difference.loops < 1e-4 and 0 <= difference.numpy < 1e-4


def test_the_shapes_are_those_of_the_annotations():
    table = shape_table(run_example(Example(d_k=5, d_v=3)).heads.select(0))
    assert table[0] == {"tensor": "q", "axes": "*batch queries d_k", "shape": "6 × 5"}
    assert [row["tensor"] for row in table] == ["q", "k", "v", "scores", "scaled", "masked", "weights", "output"]
    assert table[-1]["shape"] == "6 × 3"
