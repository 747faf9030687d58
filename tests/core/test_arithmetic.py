import math
import re

import pytest
from hypothesis import given
from strategies import SIZES_CHOSEN

from lessons.captions import name
from lessons.example import Example, run_example
from lessons.old_arithmetic import MATRICES, MOST_TERMS, Explainer, products

ROUNDING = 0.005 + 1e-6  # of a number shown with two digits


def explained(example):
    """The trace of an example, its last head, and what explains the cells of that head."""
    trace, head = run_example(example), example.n_heads - 1
    return trace, head, Explainer.of(trace, head)


def value(text):
    return float(text.replace("−", "-"))


def tensor_of(trace, head, matrix):
    if matrix == "x":
        return trace.x
    return trace.heads.k[head].mT if matrix == "k_transposed" else getattr(trace.heads, matrix)[head]


def check_sum(line, true):
    """Whether “a·b + c·d = e” is right: e is the cell, and the terms sum to e but for what rounding can do."""
    terms, result = re.search(r"([−\d.]+·[−\d.]+.*) = ([−\d.]+)$", line).groups()
    assert abs(value(result) - true) <= ROUNDING + 1e-6 * abs(true)
    terms = terms.split(" + ")
    assert len(terms) <= MOST_TERMS
    if terms[-1] == "…":
        return False
    total, error = 0.0, ROUNDING
    for term in terms:
        a, b = map(value, term.split("·"))
        total += a * b
        error += ROUNDING * (abs(a) + abs(b) + ROUNDING)
    assert abs(total - true) <= error + 1e-4 * abs(true)
    return True


def cells(tensor):
    return [(i, j) for i in range(tensor.shape[0]) for j in range(tensor.shape[1])]


@given(SIZES_CHOSEN)
def test_every_cell_of_every_matrix_has_a_line_with_a_true_minus_sign(chosen):
    trace, head, explainer = explained(chosen)
    for matrix in MATRICES:
        for i, j in cells(tensor_of(trace, head, matrix)):
            line = explainer.explain(matrix, i, j)
            assert line and "\n" not in line
            assert "-" not in line and "nan" not in line and "inf" not in line


@given(SIZES_CHOSEN)
def test_vectors_and_keys_are_shown_as_they_are(chosen):
    trace, head, explainer = explained(chosen)
    for matrix in ("x", "k_transposed"):
        tensor = tensor_of(trace, head, matrix)
        for i, j in cells(tensor):
            line = explainer.explain(matrix, i, j)
            token, feature = (i, j) if matrix == "x" else (j, i)
            assert line.startswith(f"{matrix[0]} of {name(trace.tokens, token)}, feature {feature + 1} = ")
            assert abs(value(line.rsplit(" = ")[-1]) - float(tensor[i, j])) <= ROUNDING


@given(SIZES_CHOSEN)
def test_queries_keys_and_values_are_sums_of_products(chosen):
    trace, head, explainer = explained(chosen)
    for matrix in ("q", "k", "v"):
        tensor = tensor_of(trace, head, matrix)
        for i, j in cells(tensor):
            line = explainer.explain(matrix, i, j)
            assert line.startswith(f"{matrix} of {name(trace.tokens, i)}, feature {j + 1} = ")
            assert check_sum(line, float(tensor[i, j])) == (trace.x.shape[1] <= MOST_TERMS)


@given(SIZES_CHOSEN)
def test_scores_are_sums_of_products(chosen):
    trace, head, explainer = explained(chosen)
    scores = trace.heads.scores[head]
    for i, j in cells(scores):
        line = explainer.explain("scores", i, j)
        assert line.startswith(f"{name(trace.tokens, i)} → {name(trace.tokens, j)}: q · k = ")
        assert check_sum(line, float(scores[i, j]))


@given(SIZES_CHOSEN)
def test_scaled_scores_are_quotients(chosen):
    trace, head, explainer = explained(chosen)
    scores, scaled = trace.heads.scores[head], trace.heads.scaled[head]
    divisor = math.sqrt(trace.example.d_k) if trace.example.scaling else 1
    for i, j in cells(scaled):
        line = explainer.explain("scaled", i, j)
        score, by, result = map(value, re.search(r": (.*) ÷ (.*) = (.*)$", line).groups())
        assert abs(score - float(scores[i, j])) <= ROUNDING
        assert abs(by - divisor) <= ROUNDING
        assert abs(result - float(scaled[i, j])) <= ROUNDING
        assert math.isclose(result, score / by, rel_tol=0.01, abs_tol=2 * ROUNDING)


@given(SIZES_CHOSEN)
def test_masked_cells_say_masked_and_the_others_do_not(chosen):
    trace, head, explainer = explained(chosen)
    attention = trace.heads.select(head)
    for i, j in cells(attention.masked):
        for matrix in ("masked", "weights"):
            line = explainer.explain(matrix, i, j)
            assert line.startswith(f"{name(trace.tokens, i)} → {name(trace.tokens, j)}: ")
            assert (": masked." in line) == (not attention.visible[i, j])
        if attention.visible[i, j]:
            shown = value(explainer.explain("masked", i, j).rsplit(" ")[-1])
            assert abs(shown - float(attention.masked[i, j])) <= ROUNDING


@given(SIZES_CHOSEN)
def test_weights_are_one_exponential_over_the_sum_of_those_in_the_row(chosen):
    trace, head, explainer = explained(chosen)
    attention = trace.heads.select(head)
    for i, j in cells(attention.weights):
        if not attention.visible[i, j]:
            continue
        line = explainer.explain("weights", i, j)
        above, below, result = re.search(r": e\^(\S+) ÷ \((.*)\) = (\S+)$", line).groups()
        assert abs(value(result) - float(attention.weights[i, j])) <= 0.0005 + 1e-6
        terms = below.split(" + ")
        seen = int(attention.visible[i].sum())
        assert len(terms) == min(seen, MOST_TERMS)
        assert (terms[-1] == "…") == (seen > MOST_TERMS)
        if seen <= MOST_TERMS:
            exponents = [value(term.removeprefix("e^")) for term in terms]
            expected = 1 / sum(math.exp(e - value(above)) for e in exponents)
            # Each exponent may be off by its rounding, so the quotient by twice that, relatively.
            assert abs(value(result) - expected) <= 0.0005 + 2.1 * ROUNDING * expected


@given(SIZES_CHOSEN)
def test_outputs_are_mixtures_of_what_the_query_may_see(chosen):
    trace, head, explainer = explained(chosen)
    attention = trace.heads.select(head)
    for i, j in cells(attention.output):
        line = explainer.explain("output", i, j)
        assert line.startswith(f"output of {name(trace.tokens, i)}, feature {j + 1} = ")
        seen = int(attention.visible[i].sum())
        assert check_sum(line, float(attention.output[i, j])) == (seen <= MOST_TERMS)
        assert line.count("·") == (seen if seen <= MOST_TERMS else MOST_TERMS - 1)


@pytest.mark.parametrize("head", [0, 1, 2])
def test_the_head_that_is_asked_for_is_explained(head):
    trace = run_example(Example(n_heads=3, d_k=2, d_v=5))
    explainer = Explainer.of(trace, head)
    for matrix in ("q", "k", "v", "output"):
        tensor = tensor_of(trace, head, matrix)
        for i, j in cells(tensor):
            assert check_sum(explainer.explain(matrix, i, j), float(tensor[i, j]))


def test_a_tiny_negative_number_is_shown_without_a_minus():
    assert products([-0.001], [-2.0]) == "0.00·−2.00"


def test_long_sums_are_cut_and_short_ones_are_not():
    eight, nine = [1.0] * 8, [1.0] * 9
    assert products(eight, eight).count("·") == 8 and "…" not in products(eight, eight)
    assert products(nine, nine).count("·") == 7 and products(nine, nine).endswith(" + …")


def test_a_sum_needs_as_many_factors_on_both_sides():
    with pytest.raises(ValueError, match="shorter"):
        products([1.0, 2.0], [1.0])
