"""Every line of a derivation, computed again from what it shows."""

import math
import re

import pytest
from arithmetic_checks import evaluate, is_right
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import EXAMPLES

from lessons.captions import name
from lessons.example import Example, run_example
from lessons.old_arithmetic import MATRICES, Line, digits, factor, matrix_shape, trace_number


def tensor_of(trace, head, matrix):
    if matrix == "x":
        return trace.x
    return trace.heads.k[head].mT if matrix == "k_transposed" else getattr(trace.heads, matrix)[head]


def lines_of(example, matrix, row, column, head=0):
    return trace_number(run_example(example), head, matrix, row, column)


@given(EXAMPLES, st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_every_line_can_be_computed_again_and_the_last_is_the_cell(example, data):
    trace = run_example(example)
    head = data.draw(st.integers(0, trace.example.n_heads - 1))
    for matrix in MATRICES:
        tensor = tensor_of(trace, head, matrix)
        assert matrix_shape(trace, matrix) == tuple(tensor.shape)
        row, column = (data.draw(st.integers(0, size - 1)) for size in tensor.shape)
        lines = trace_number(trace, head, matrix, row, column)
        assert lines[-1].value == float(tensor[row, column])
        for line in lines:
            assert is_right(line), line
            assert line.says and "-" not in line.text and "nan" not in line.text
            assert re.search(r"[·÷+(]−", line.text.replace("(−", "")) is None, "negative factors stand in parentheses"


@given(EXAMPLES, st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_masked_cells_say_so_and_are_exactly_nothing(example, data):
    trace = run_example(example)
    visible = trace.heads.visible[0]
    row, column = (data.draw(st.integers(0, len(trace.tokens) - 1)) for _ in "ij")
    for matrix, nothing in (("masked", -math.inf), ("weights", 0.0)):
        lines = trace_number(trace, 0, matrix, row, column)
        hidden = not visible[row, column]
        assert any(": masked, " in line.says for line in lines) == hidden
        if hidden:
            assert lines[-1].value == nothing == evaluate(lines[-1].text)


def test_a_weight_is_followed_down_to_x_and_w():
    says = [line.says.split(":")[0] for line in lines_of(Example(), "weights", 2, 1)]
    pairs = [f"“{key}” for “starts”" for key in ("journey", "Your", "starts")]
    assert says == [
        "query of “starts”, feature 1", "query of “starts”, feature 2",
        "key of “journey”, feature 1", "key of “journey”, feature 2",
        f"score of {pairs[0]}", *(f"scaled score of {pair}" for pair in pairs),
        f"e to the scaled score of {pairs[0]}", "sum over all that “starts” may look at", f"weight of {pairs[0]}",
    ]  # fmt: skip


def test_an_output_needs_the_weights_of_its_row_and_its_column_of_values():
    lines = lines_of(Example(), "output", 1, 0)
    says = [line.says.split(":")[0] for line in lines]
    assert says[-5:] == [
        "weight of “Your” for “journey”", "weight of “journey” for “journey”",
        "value of “Your”, feature 1", "value of “journey”, feature 1", "output of “journey”, feature 1",
    ]  # fmt: skip
    assert sum(line.value for line in lines if line.says.startswith("weight of")) == pytest.approx(1)


def test_arithmetic_reads_like_that_of_a_textbook():
    query, *_, score, scaled = lines_of(Example(), "scaled", 0, 0)
    assert query.text == "0.43·0.3367 + 0.15·0.2345 + 0.89·(−1.1229)"
    assert scaled.text == f"{factor(score.value)} ÷ √2"
    assert lines_of(Example(scaling=False), "scaled", 0, 0)[-1].text.endswith(" ÷ 1")


def test_the_column_of_w_is_counted_through_all_heads():
    example = Example(n_heads=3, d_k=2)
    trace = run_example(example)
    (line,) = trace_number(trace, 2, "q", 0, 1)
    assert "column 6 of W_q" in line.says
    assert line.value == pytest.approx(float(trace.x[0] @ trace.W_q[:, 5]), rel=1e-5)


def test_an_entry_of_x_and_of_the_transposed_keys_are_shown_as_they_are():
    assert [line.equation for line in lines_of(Example(), "x", 0, 2)] == ["0.89"]
    key, turned = lines_of(Example(), "k_transposed", 1, 3)
    assert key.says.startswith("key of “with”, feature 2") and turned.says.startswith("Kᵀ, row 2, column 4")
    assert key.value == turned.value and turned.equation == turned.text


def test_tokens_that_come_twice_are_told_apart():
    example = Example(source="sentence", text="no no")
    tokens = run_example(example).tokens
    assert f"score of {name(tokens, 0)} for {name(tokens, 1)}" in lines_of(example, "scores", 1, 0)[-1].says


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (0.43, "0.43"), (-1.12286, "−1.1229"), (12.0, "12"), (123.45678, "123.4568"),
        (0.00123456, "0.001235"), (1.5e-7, "1.500·10^(−7)"), (-2e53, "−2.000·10^(53)"), (math.inf, "∞"),
        (-math.inf, "−∞"), (100.0, "100"),
    ],
)  # fmt: skip
def test_numbers_have_digits_enough_to_compute_with(value, text):
    assert digits(value) == text
    assert evaluate(factor(value)) == pytest.approx(value, rel=1e-3)


def test_a_line_shows_its_result():
    assert Line("", "1 + 2", 3.0).equation == "1 + 2 = 3"


@pytest.mark.parametrize("cell", [("scores", 6, 0), ("scores", 0, -1), ("x", 0, 3), ("W_q", 0, 0)])
def test_a_cell_that_does_not_exist_is_refused(cell):
    with pytest.raises(ValueError, match=r"but got|there is no"):
        lines_of(Example(), *cell)


def test_a_head_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="of head 1"):
        lines_of(Example(), "q", 0, 0, head=1)
