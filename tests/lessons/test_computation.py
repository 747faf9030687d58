"""One head of any example, computed by a function of its own and followed: each line of each number is true."""

import numpy as np
import pytest
from printed_lines import wrong

from attention_core.one_head.attention import attend
from attention_core.one_head.head import one_head
from lessons.example.example import Example, learnt_example, run_example
from lessons.screen import render
from lessons.trace.computation import WRITTEN, Computation, as_written, remembering
from lessons.trace.head import compute_head, head_inputs, head_names

pytestmark = pytest.mark.usefixtures("shapes_taken_for_granted")

TENSORS = ("q", "k", "v", "scores", "scaled", "masked", "weights", "output")
EXAMPLES = (
    Example(),
    Example(source="sentence", text="one", d_model=1, d_k=1, d_v=1),
    Example(source="sentence", text="a b a c d, e", d_model=5, d_k=3, d_v=2, n_heads=2, scaling=False),
    Example(source="sentence", text="the cat sat", causal=False, d_model=7, d_k=2),
    learnt_example("pronouns"),
    learnt_example("previous"),  # with positions
    Example(source="language", text="A dog said: a dog", layer=4),  # rotary, and sums of 64 features
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.source} {example.text}")
def test_one_head_is_that_of_the_example_and_each_of_its_lines_is_true(example):
    trace = run_example(example)
    head = trace.example.n_heads - 1
    computation = compute_head(one_head, trace, head)
    for tensor in TENSORS:
        followed, wanted = computation.follow(tensor), getattr(trace.heads.select(head), tensor)
        np.testing.assert_allclose(followed.values, wanted, rtol=1e-4, atol=1e-5)
        for line, value in zip(followed.lines, np.ravel(followed.array.values).tolist(), strict=True):
            assert wrong(line.text, value) is None, (tensor, line.text, value)
            assert "{" not in render(line.meaning)
    last = np.unravel_index(wanted.numel() - 1, wanted.shape)
    for line in followed.derive(*last):
        assert wrong(line.text, line.value) is None and "{" not in render(line.meaning), line


def test_inputs_are_followed_as_they_are_written_and_a_slice_is_told_as_its_whole():
    trace = run_example(Example())
    computation = compute_head(one_head, trace, 0)
    assert computation.follow("x").step(0, 2).text == "0.89"
    row = computation.follow("scaled", lambda scaled: scaled[[2]])
    assert row.step(0, 1) == computation.follow("scaled").step(2, 1) and "÷ √2" in row.step(0, 1).text


def test_copies_are_told_as_copies_or_as_what_was_computed_and_a_hidden_score_says_why():
    trace = run_example(Example())
    computation = compute_head(one_head, trace, 0)
    copy, computed = (computation.follow("masked", computed=way).step(2, 1) for way in (False, True))
    assert "visible, so it stays" in render(copy.meaning) and "÷" not in copy.text and "÷ √2" in computed.text
    assert "may not look at" in render(computation.follow("masked", computed=True).step(0, 1).meaning)


def test_arithmetic_on_a_result_has_a_name_and_a_story():
    trace = run_example(Example())
    names = head_names(trace)
    computation = Computation(lambda x: attend(x, x, x, scale=1.0), {"x": trace.x}, names)
    parts = computation.follow("", lambda a: a.weights[2][:, None] * a.v, "part", ("keys", "d_v"))
    assert parts.step(1, 0).text.endswith(" ≈ 0.1303") and len(parts.derive(1, 0)) > 2
    assert head_inputs(trace, 0).keys() >= {"x", "W_q", "W_k", "W_v", "scale"}


def test_numbers_of_32_bits_are_computed_with_as_they_are_written():
    random = np.random.default_rng(0)
    usual = random.standard_normal((331, 7)).astype(np.float32)
    any_bits = random.integers(0, 2**32, 4001, dtype=np.uint32).view(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, 0.1, 1e-45, 16777217, 3.4028235e38], np.float32)
    for numbers in (usual, any_bits[np.isfinite(any_bits)], special, usual[:0]):
        read = as_written(numbers)
        assert read.dtype == np.float64 and read.shape == numbers.shape
        expected = np.array([float(str(number)) for number in numbers.ravel()])
        np.testing.assert_array_equal(read.ravel(), expected)
        np.testing.assert_array_equal(np.signbit(read.ravel()), np.signbit(expected))
    assert np.isnan(as_written(np.array([np.nan], np.float32))).all()


def test_equal_numbers_are_written_once_as_long_as_somebody_keeps_them():
    numbers = np.random.default_rng(1).standard_normal((7, 11)).astype(np.float32)
    one, other = (remembering("W", values, ()).values for values in (numbers.T, np.array(numbers.T)))
    assert one is other and not one.flags.writeable
    assert as_written(numbers).shape != as_written(numbers.reshape(11, 7)).shape, "the same bytes in another shape"
    n_written = len(WRITTEN)
    del one, other
    assert len(WRITTEN) < n_written
