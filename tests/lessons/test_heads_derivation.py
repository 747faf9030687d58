"""Every cell of several heads, computed again from the arithmetic that is shown for it."""

import pytest
from arithmetic_checks import evaluates
from hypothesis import given
from hypothesis import strategies as st

from lessons.heads.derivation import derive_heads
from lessons.heads.example import HeadsExample, run_heads
from lessons.screen.format import render
from lessons.screen.message import message

SIZES = st.sampled_from([(6, 3), (5, 1), (7, 7), (10, 2), (16, 4)])


@st.composite
def heads_examples(draw):
    (d_model, n_heads), n = draw(SIZES), draw(st.sampled_from([1, 3, 5]))
    return HeadsExample(
        tokens=tuple("abcde"[:n]),
        ids=tuple(range(n)),
        d_model=d_model,
        n_heads=n_heads,
        bias=draw(st.booleans()),
        dropout=draw(st.sampled_from([0.0, 0.3, 0.9])),
        seed=draw(st.integers(0, 99)),
        causal=draw(st.booleans()),
        scaling=draw(st.booleans()),
    )


def follow(derivation, tensor, i, j, value):
    """All lines that lead to a cell; each gives what it says, and the last the number that is drawn."""
    steps = [*derivation.before(tensor, i, j), derivation.step(tensor, i, j)]
    assert all(map(evaluates, steps))
    assert steps[-1].value == pytest.approx(float(value), rel=1e-4, abs=1e-6)
    return steps


@given(heads_examples(), st.data())
def test_the_whole_way_through_the_heads(example, data):
    trace = run_heads(example)
    derivation = derive_heads(trace)
    tensors = {key: getattr(trace, key) for key in ("x", "q", "k", "v", "concatenated", "output")}
    for key, tensor in (tensors | {"w_o": trace.module.W_o}).items():
        i, j = (data.draw(st.integers(0, size - 1)) for size in tensor.shape)
        follow(derivation, key, i, j, tensor[i, j])
    head, i, j = (data.draw(st.integers(0, size - 1)) for size in trace.heads.weights.shape)
    follow(derivation.head(head), "weights", i, j, trace.heads.weights[head, i, j])
    steps = follow(derivation, "output", 0, 0, trace.output[0, 0])
    assert len(steps) == example.d_model + 1 + (example.d_model > 8)
    assert any("bias" in render(step.meaning) for step in steps[example.d_model :]) == example.bias


def test_a_matrix_of_a_few_features_follows_those_and_says_where_they_live():
    trace = run_heads(HeadsExample(d_model=6, n_heads=3))
    features = [0, 2, 5]
    matrix = derive_heads(trace).matrix("q", message("Q"), trace.q[:, features], features)
    assert matrix.columns.labels == ("1", "3", "6")
    (step,) = matrix.derive(4, 2)
    assert step.value == pytest.approx(float(trace.q[4, 5]))
    assert "feature 2 of head 3: its row of X · column 6 of W_q" in render(step.meaning)
    w_o = derive_heads(trace).matrix("w_o", message("W_o"), trace.module.W_o[features][:, features], features)
    (step,) = w_o.derive(1, 2)
    assert step.value == pytest.approx(trace.module.W_o[2, 5].item())


@pytest.mark.parametrize("source", ["planted", "wide"])
def test_wide_heads_are_followed_one_sum_at_a_time(source):
    trace = run_heads(HeadsExample(source=source))
    derivation = derive_heads(trace)
    assert len(follow(derivation.head(1), "weights", 4, 2, trace.heads.weights[1, 4, 2])) < 16
    sum_, result = follow(derivation, "output", 3, 5, trace.output[3, 5])
    assert len(sum_.arithmetic.parts) == trace.example.d_model + 1 and not result.arithmetic.parts
    assert sum_.value == result.value


def test_drawn_queries_and_keys_are_said_to_be_drawn():
    trace = run_heads(HeadsExample(source="drawn"))
    steps = follow(derive_heads(trace).head(1), "weights", 3, 1, trace.heads.weights[1, 3, 1])
    assert render(steps[0].meaning).endswith("a drawn number")
    assert not any("X" in render(step.meaning) for step in steps)
