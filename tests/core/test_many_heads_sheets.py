"""Every cell of the figures of several heads, computed again from the arithmetic that is shown for it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sheets import agree

from lessons.heads_example import HeadsExample, dropped_out, run_heads
from lessons.many_heads_sheets import HeadsArithmetic, dropout_sheets, weight_sheets

few = settings(max_examples=12, deadline=None, derandomize=True)
SIZES = st.sampled_from([(6, 3), (5, 1), (7, 7), (10, 2), (16, 4)])


@st.composite
def heads_examples(draw):
    (d_model, n_heads), n = draw(SIZES), draw(st.sampled_from([1, 3, 5]))
    return HeadsExample(
        tokens=tuple("abcde"[:n]), ids=tuple(range(n)), d_model=d_model, n_heads=n_heads, bias=draw(st.booleans()),
        dropout=draw(st.sampled_from([0.0, 0.3, 0.9])), seed=draw(st.integers(0, 99)), causal=draw(st.booleans()),
        scaling=draw(st.booleans()),
    )  # fmt: skip


@given(heads_examples(), st.data())
@few
def test_the_whole_way_through_the_heads(example, data):
    trace = run_heads(example)
    arithmetic, every = HeadsArithmetic.of(trace), tuple(range(example.d_model))
    tensors = {key: getattr(trace, key) for key in ("x", "q", "k", "v", "concatenated", "output")}
    tensors["w_o"] = trace.module.W_o.weight.detach().T
    for key, tensor in tensors.items():
        agree(arithmetic.sheet(key, "", every), tensor, data)
    head = data.draw(st.integers(0, example.n_heads - 1))
    own = every[head * trace.d_head : (head + 1) * trace.d_head]
    for role, tensor in (
        ("q", trace.heads.q),
        ("k", trace.heads.k),
        ("v", trace.heads.v),
        ("heads", trace.heads.output),
    ):
        agree(arithmetic.sheet(f"{role}.{head}", "", own), tensor[head], data)
    agree(weight_sheets(trace)[f"map.{head}"], trace.heads.weights[head], data)
    says = [line.says for line in arithmetic.lines("output", 0, 0)]
    assert len(says) == example.d_model + 1 and ("bias" in says[-1]) == example.bias


@given(heads_examples(), st.data())
@few
def test_what_dropout_does_to_a_weight_and_to_the_sum_of_its_row(example, data):
    trace = run_heads(example)
    dropped, head = dropped_out(trace), data.draw(st.integers(0, example.n_heads - 1))
    tensors = {}
    for mode, heads in (("rest", trace.heads), ("training", dropped)):
        tensors[f"{mode}.{head}"] = heads.weights[head]
        tensors[f"sum_{mode}"] = heads.weights[head].sum(dim=-1, keepdim=True)
    sheets = dropout_sheets(trace, dropped, head)
    assert list(sheets) == list(tensors)
    for key, tensor in tensors.items():
        agree(sheets[key], tensor, data)


def test_only_the_shown_features_of_a_head_can_be_chosen_and_they_are_the_right_ones():
    trace = run_heads(HeadsExample(d_model=6, n_heads=3))
    sheet = HeadsArithmetic.of(trace).sheet("q", "Q", (0, 2, 5))
    assert sheet.columns == ("feature 1", "feature 3", "feature 6")
    (line,) = sheet.lines(4, 2)
    assert line.value == float(trace.q[4, 5]) and "feature 2 of head 3" in line.says and "column 6 of W_q" in line.says


@pytest.mark.parametrize("source", ["planted", "wide"])
def test_wide_heads_are_followed_one_sum_at_a_time(source):
    trace = run_heads(HeadsExample(source=source))
    arithmetic = HeadsArithmetic.of(trace)
    lines = list(weight_sheets(trace)["map.1"].lines(4, 2))
    assert lines[-1].value == pytest.approx(float(trace.heads.weights[1, 4, 2])) and len(lines) < 16
    (line,) = arithmetic.lines("output", 3, 5)
    assert line.value == pytest.approx(float(trace.output[3, 5])) and line.text.count(" + ") == trace.example.d_model


def test_drawn_queries_and_keys_are_said_to_be_drawn():
    trace = run_heads(HeadsExample(source="drawn"))
    lines = list(weight_sheets(trace)["map.1"].lines(3, 1))
    assert lines[0].says.endswith("a drawn number") and not any("X" in line.says for line in lines)
    assert lines[-1].value == pytest.approx(float(trace.heads.weights[1, 3, 1]))
