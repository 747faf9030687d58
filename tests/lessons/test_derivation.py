"""Every line of the derivation of a head's numbers, computed again from what it shows."""

import math
import re

import pytest
from arithmetic_checks import evaluate, evaluates
from hypothesis import given
from hypothesis import strategies as st
from overview_cells import KEYS, matrices_of, tensor_of
from strategies import EXAMPLES

from lessons.example.example import Example, run_example
from lessons.screen import Step, equation, message, render
from lessons.trace.lines import digits
from words import speaking


def steps_of(example, key, row, column, head=0):
    return matrices_of(example, head)[key].derive(row, column)


def before_colon(steps):
    return [render(step.meaning).split(":")[0] for step in steps]


@given(EXAMPLES, st.data())
def test_every_line_can_be_computed_again_and_the_last_is_the_cell(example, data):
    trace = run_example(example)
    head = data.draw(st.integers(0, trace.example.n_heads - 1))
    matrices = matrices_of(example, head)
    assert set(matrices) == set(KEYS)
    for key, matrix in matrices.items():
        tensor = tensor_of(trace, head, key)
        row, column = (data.draw(st.integers(0, size - 1)) for size in matrix.values.shape)
        steps = matrix.derive(row, column)
        whole = matrix.values.shape == tensor.shape  # of many features a few are shown
        found = pytest.approx(float((tensor if whole else matrix.values)[row, column]), rel=1e-4, abs=1e-6)
        assert steps[-1].value == found and float(matrix.values[row, column]) == found
        for step in steps:
            assert evaluates(step), step
            line = equation(step)
            assert render(step.meaning) and "-" not in line and "nan" not in line
            assert re.search(r"[·÷+−] ?−", line) is None, "negative factors in parentheses"


@given(EXAMPLES, st.data())
def test_masked_cells_say_so_and_are_exactly_nothing(example, data):
    trace, matrices = run_example(example), matrices_of(example)
    row, column = (data.draw(st.integers(0, len(trace.tokens) - 1)) for _ in "ij")
    for key, nothing in (("masked", -math.inf), ("weights", 0.0)):
        steps = matrices[key].derive(row, column)
        hidden = not trace.heads.visible[0, row, column]
        assert any(": masked, " in render(step.meaning) for step in steps) == hidden
        assert matrices[key].sees(row, column) != hidden
        if hidden:
            assert steps[-1].value == nothing == evaluate(steps[-1].text.rpartition("= ")[2])


def test_a_weight_is_followed_down_to_x_and_w():
    assert before_colon(steps_of(Example(), "weights", 2, 1)) == [
        "query of “starts”, feature 1",
        "query of “starts”, feature 2",
        "key of “journey”, feature 1",
        "key of “journey”, feature 2",
        "score of “journey” for “starts”",
        "scaled score of “journey” for “starts”",
        "key of “Your”, feature 1",
        "key of “Your”, feature 2",
        "score of “Your” for “starts”",
        "scaled score of “Your” for “starts”",
        "key of “starts”, feature 1",
        "key of “starts”, feature 2",
        "score of “starts” for “starts”",
        "scaled score of “starts” for “starts”",
        "the largest score that “starts” may look at",
        "sum over all keys that “starts” may look at",
        "weight that “starts” puts on “journey”",
    ]


def test_an_output_needs_the_weights_of_its_row_and_its_column_of_values():
    steps = steps_of(Example(), "output", 1, 0)
    assert before_colon(steps)[-5:] == [
        "weight that “journey” puts on “Your”",
        "weight that “journey” puts on “journey”",
        "value of “Your”, feature 1",
        "value of “journey”, feature 1",
        "output of “journey”, feature 1",
    ]
    weights = [step.value for step in steps if render(step.meaning).startswith("weight that")]
    assert sum(weights) == pytest.approx(1)


def test_arithmetic_reads_like_that_of_a_textbook():
    query, *_, score, scaled = steps_of(Example(), "scaled", 0, 0)
    assert equation(query) == "0.43·0.33669 + 0.15·0.23446 + 0.89·(−1.1229) ≈ −0.8194"
    assert equation(scaled) == "(−1.2618) ÷ √2 ≈ −0.8922"
    undivided = steps_of(Example(scaling=False), "scaled", 0, 0)[-1]
    assert equation(undivided) == "−1.262" and undivided.value == score.value


def test_a_head_has_columns_of_w_of_its_own():
    example = Example(n_heads=3, d_k=2)
    trace = run_example(example)
    (step,) = steps_of(example, "q", 0, 1, head=2)
    assert step.value == pytest.approx(float(trace.x[0] @ trace.W_q[:, 5]), rel=1e-5)


def test_an_entry_of_x_and_of_the_transposed_keys_are_shown_as_they_are():
    assert [equation(step) for step in steps_of(Example(), "x", 0, 2)] == ["0.89"]
    key, turned = steps_of(Example(), "k_transposed", 1, 3)
    assert render(key.meaning).startswith("key of “with”, feature 2")
    assert render(turned.meaning).startswith("feature 2 of the key of “with”")
    assert key.value == turned.value and equation(turned) == digits(turned.value)


def test_tokens_that_come_twice_are_told_apart():
    score = steps_of(Example(source="sentence", text="no no"), "scores", 1, 0)[-1]
    assert "score of “no” (1) for “no” (2)" in render(score.meaning)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.43, "0.43"),
        (-1.12286, "−1.123"),
        (12.0, "12"),
        (123.45678, "123.5"),
        (0.00123456, "0.001235"),
        (1.5e-7, "1.5·10^(−7)"),
        (-2e53, "−2·10^(53)"),
        (1.23456e-7, "1.235·10^(−7)"),
        (4.99999, "5.000"),
        (5.0, "5"),
        (0.24999, "0.2500"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (100.0, "100"),
    ],
)
def test_numbers_have_digits_enough_to_compute_with(value, text):
    assert digits(value) == text
    assert evaluate(text) == pytest.approx(value, rel=1e-3)


def test_a_line_is_written_as_the_readers_language_writes_numbers():
    step = Step(message(""), "0.5·2 + the other 3: 0.25 ≈ not a number", math.nan)
    assert equation(step) == "0.5·2 + the other 3: 0.25 ≈ not a number"
    with speaking("de"):
        assert equation(step).startswith("0,5·2 + ") and "0,25 ≈ keine Zahl" in equation(step)
