"""The lessons on one head: what is drawn can be followed, and links restore it."""

import inspect
import math
import re

import pytest
import torch
from visiting import chart, charts, follow, open_page, texts

from attention_core.one_head.attention import attend
from attention_core.one_head.masks import causal_mask, padding_mask, sliding_window_mask
from attention_core.one_head.reference import attend_with_loops, attend_with_numpy
from attention_ui.session.mask_codes import mask_code
from lessons.example.example import Example, first_query, run_example
from lessons.one_head.dot_product.lesson import attend_without_weights, notice_ways
from lessons.one_head.dot_product.loops_and_numpy import compare_references, loops_beside_matrices
from lessons.one_head.softmax.lesson import change_all_scores, compute_rows
from lessons.screen import magnitude, render


def open_lesson(lesson, **query):
    return open_page(f"one_head/{lesson}", **query)


def cells(at):
    """The cells of the one figure of matrices on the page."""
    rows = next(tables["cells"] for _, tables, _ in charts(at) if "cells" in tables)
    return {r["cell_tag"].strip("|"): r for r in rows if r["cell_tag"]}


FOLLOWED = [
    ("dot_product", {}),
    ("dot_product", {"view": "all", "causal": "false"}),
    ("dot_product", {"view": "equal"}),
    ("scores", {"heads": 2, "head": 2}),
    ("mask", {"mask": "window", "width": 3}),
    ("mask", {"mask": "padding", "real": 2, "masking": "difference"}),
    ("mask", {"mask": "none", "masking": "late", "heads": 2, "head": 2}),
    ("mask", {"masking": "blind"}),
    ("output", {"asks": 4}),
    ("output", {"of": "all"}),
    ("output", {"of": "parts"}),
]


@pytest.mark.parametrize(("lesson", "query"), FOLLOWED)
def test_each_matrix_of_the_figure_is_followed_to_the_number_that_is_drawn(lesson, query):
    at = open_lesson(lesson, **query)
    drawn = cells(at)
    last_of = {key.split()[0]: key for key in drawn}
    for matrix, key in last_of.items():
        row, column = map(int, key.split()[1].split(","))
        equation = follow(at, matrix, row, column)[-1]
        value = drawn[key]["v"]
        result = re.split(" [=≈] ", equation)[-1].replace("−", "-")
        if drawn[key]["kind"] == "masked":
            assert result in ("0", "-∞"), key
        elif math.isnan(value):
            assert result == "not a number"
        else:
            mantissa, _, exponent = result.partition("·10^(")
            shown = float(mantissa) * 10 ** int(exponent.strip(")") or 0) if exponent else float(mantissa)
            assert shown == pytest.approx(value, rel=2e-3, abs=1e-4), key


def test_the_difference_is_after_minus_before():
    at = open_lesson("mask", mask="causal", masking="difference")
    drawn = cells(at)
    for i in range(6):
        for j in range(6):
            with_mask = drawn[f"with {i},{j}"]["v"] or 0.0
            assert drawn[f"difference {i},{j}"]["v"] == pytest.approx(
                with_mask - drawn[f"without {i},{j}"]["v"], abs=1e-6
            )


def test_a_row_that_sees_nothing_is_shown_as_numbers():
    at = open_lesson("mask", masking="blind", example="sentence", text="a b c d e")
    drawn = cells(at)
    assert [drawn[f"nan 0,{j}"]["text"] for j in range(5)] == ["nan"] * 5
    assert [drawn[f"even 0,{j}"]["text"] for j in range(5)] == ["0.20"] * 5
    assert drawn["infinity 0,0"]["kind"] == "masked" and drawn["number 0,0"]["v"] == -1e9
    assert any("−1e9 makes each 0.20" in line for line in texts(at))


@pytest.mark.parametrize(
    ("query", "mask"),
    [
        ({"mask": "window", "width": 3}, sliding_window_mask(6, 3)),
        ({"mask": "padding", "real": 4}, padding_mask(6, 4)),
        ({"mask": "hand", "drawn": "20-30-8-3c-3e-1"}, None),
    ],
)
def test_a_link_restores_the_mask(query, mask):
    at = open_lesson("mask", **query)
    rows = [[cells(at)[f"with {i},{j}"]["kind"] != "masked" for j in range(6)] for i in range(6)]
    assert rows == mask.tolist() if mask is not None else mask_code(rows) == query["drawn"]


def test_the_address_says_what_was_chosen_and_nothing_of_defaults():
    at = open_lesson("mask", mask="window")
    assert "width" not in at.query_params
    at.slider(key="width").set_value(4).run()
    assert at.query_params["width"] == "4"
    at.slider(key="width").set_value(2).run()
    assert "width" not in at.query_params
    at = open_lesson("softmax", asks=3)
    assert at.selectbox(key="asks").value == 3
    at.selectbox(key="asks").set_value(1 + first_query(run_example(Example()))).run()
    assert "asks" not in at.query_params


def test_a_token_that_is_not_there_gives_way_to_the_last_and_says_so():
    at = open_lesson("softmax", asks=9)
    assert at.selectbox(key="asks").value == 6
    assert any("asks goes from 1 to 6; 6 is used." in line for line in texts(at))
    at = open_lesson("softmax", asks=99)
    assert any("asks goes from 1 to 12" in line for line in texts(at))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("4-6-7", "a mask has a row for each token, 6 in all, but the code describes 3"),
        ("20-30-0-3c-3e-3f", "query 3 has no key to look at"),
        ("<b>", "one number for each row"),
        ("ff-30-38-3c-3e-3f", "more keys than there are tokens, 6"),
    ],
)
def test_a_mask_that_cannot_be_used_is_refused_and_kept(code, says):
    at = open_lesson("mask", mask="hand", drawn=code)
    assert any(says in line and "The causal mask is used instead" in line for line in texts(at))
    assert at.text_input(key="drawn").value == code
    hidden = {key for key, row in cells(at).items() if row["kind"] == "masked"}
    assert hidden == {f"with {i},{j}" for i in range(6) for j in range(6) if j > i}


def test_weights_are_those_of_the_drawn_mask():
    at = open_lesson("mask", mask="hand", drawn=mask_code(causal_mask(6).mT.tolist()), masking="late")
    trace = run_example(Example())
    a = trace.heads.select(0)
    free = attend(a.q, a.k, a.v, scale=trace.scale)
    sums = (free.weights * causal_mask(6).mT).sum(dim=-1)
    assert [cells(at)[f"sums {i},0"]["v"] for i in range(6)] == pytest.approx(sums.tolist())


@pytest.mark.parametrize("way", ["torch", "loops", "numpy"])
def test_the_code_panel_shows_the_way_of_the_link_and_that_all_ran(way):
    at = open_lesson("softmax", code=way)
    source = {"torch": change_all_scores, "loops": attend_with_loops, "numpy": attend_with_numpy}[way]
    shown = [code.value for code in at.code if code.language == "python"]
    assert shown[0].startswith(inspect.getsource(source).rstrip())
    assert all(source.__name__ in line for line in shown[1:])
    trace = run_example(Example())
    attention = compute_rows(trace, 0, first_query(trace), 1.0).result.head  # the last places depend on who computes it
    difference = compare_references(attention, trace.scale)
    (line,) = (line for line in texts(at) if line.startswith("All three ways were run"))
    assert magnitude(difference.loops) in line and magnitude(difference.numpy) in line
    assert any(r"\sum" in formula.value for formula in at.latex)


def test_the_examples_own_scores_are_measured_as_the_random_ones():
    at = open_lesson("scores", d_k=7, causal="false")
    a = run_example(Example(d_k=7, causal=False)).heads.select(0)
    drawn = cells(at)
    for i in range(6):
        for j in range(6):
            assert drawn[f"scores {i},{j}"]["v"] == pytest.approx(float(a.scores[i, j]), abs=1e-5)
            assert drawn[f"scaled {i},{j}"]["v"] == pytest.approx(float(a.scores[i, j]) / math.sqrt(7), abs=1e-5)
    rows = at.dataframe[0].value.to_dict("records")
    for row, scores in zip(rows, (a.scores, a.scores / math.sqrt(7)), strict=True):
        weights = scores.softmax(dim=-1)
        assert float(row["standard deviation of the scores"]) == pytest.approx(
            float(scores.std(correction=0)), abs=1e-3
        )
        assert float(row["largest weight of a row"]) == pytest.approx(
            float(weights.max(dim=-1).values.mean()), abs=1e-3
        )
        jacobians = [torch.diag(w) - torch.outer(w, w) for w in weights]
        norm = sum(float(jacobian.norm()) for jacobian in jacobians) / 6
        assert float(row["norm of the softmax Jacobian"]) == pytest.approx(norm, abs=1e-3)


def test_the_loop_is_run_beside_the_matrices_and_the_difference_stands_there():
    at = open_lesson("dot_product", view="equal", example="sentence", text="one two three", d_model=3)
    beside = loops_beside_matrices(
        attend_without_weights(run_example(Example(source="sentence", text="one two three", d_model=3)).x), 1.0
    )
    assert render(notice_ways(beside)) in texts(at)
    drawn = cells(at)
    for key in ("loops", "matrices", "gap"):
        wanted = getattr(beside, key)
        for i in range(3):
            for j in range(3):
                assert drawn[f"{key} {i},{j}"]["v"] == pytest.approx(float(wanted[i, j]), rel=1e-6, abs=1e-30)
    said = (row["text"] for row in chart(at)[1]["cells"] if row["text"].startswith("in units of "))
    unit, gap = float(next(said).removeprefix("in units of ").replace("−", "-")), float(beside.gap[1, 2])
    shown = float(drawn["gap 1,2"]["text"].replace("−", "-"))
    assert gap and unit * shown == pytest.approx(gap, abs=0.05 * unit)
    assert drawn["gap 1,2"]["say"].startswith("output of “two”, feature 3: by loops"), "columns are features"


@pytest.mark.parametrize(
    ("lesson", "query"),
    [
        ("dot_product", {"edits": "x2,1=0.9"}),
        ("dot_product", {"edits": "x2,1=0.9", "view": "all"}),
        ("scores", {"edits": "k1,2=0.5", "heads": 2}),
        ("mask", {"edits": "q1,2=0.5", "mask": "window"}),
        ("mask", {"edits": "q1,2=0.5", "masking": "difference"}),
        ("mask", {"edits": "x6,2=0.5", "masking": "late"}),
        ("softmax", {"edits": "x6,2=0.5", "asks": 6}),
        ("softmax", {"edits": "k3,1=0.5", "asks": 4}),
        ("output", {"edits": "v1,2=0.5"}),
        ("output", {"edits": "q1,2=0.5", "of": "all"}),
        ("output", {"edits": "v1,2=0.5", "of": "parts"}),
    ],
)
def test_exactly_what_a_change_by_hand_reaches_is_marked(lesson, query):
    after, before = (open_lesson(lesson, **asked) for asked in (query, {**query, "edits": ""}))
    was, now = cells(before), cells(after)
    changed = {key for key in now if now[key]["v"] != was[key]["v"]}
    assert changed and {key for key in now if now[key]["marked"]} == changed
    remark = "Changed: it was"
    assert {key for key in now if remark in now[key]["say"]} == changed
    assert not [key for key in was if remark in was[key]["say"]]


def test_what_is_masked_reads_masked_and_never_a_number():
    drawn = cells(open_lesson("output", asks=2))
    masked = {key for key, row in drawn.items() if row["kind"] == "masked"}
    assert masked == {
        f"{matrix} {i},{j}" for matrix, n in (("weight", 1), ("part", 2)) for i in range(2, 6) for j in range(n)
    }
    assert all("masked" in drawn[key]["say"] and drawn[key]["text"] == "" for key in masked)
