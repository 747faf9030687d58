"""The product that a formula or a reason names gives the numbers beside it, by plain loops."""

import math
import re

import pytest
import torch

from lessons.example.example import Example, learnt_example, projection_of, run_example
from lessons.one_head.projections.lesson import Choices, screen
from lessons.one_head.projections.questions import QUESTIONS
from lessons.screen import render, render_all
from lessons.shared.formulas import letters_of, made_of, stage_formula

EXAMPLES = {
    "random": Example(d_k=3, d_v=5, d_model=7, seed=11, source="sentence", text="one two three"),
    "several heads": Example(d_model=6, d_k=2, d_v=2, n_heads=3, source="sentence", seed=5, text="a b a c"),
    "small head": learnt_example("pronouns", updates=40),
    "real head": Example(source="language"),
    "real head, as it is stored": Example(source="language", turned=False),
}


def row_times(row, matrix):
    return [math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*matrix, strict=True)]


def turned_by_position(row, position, rotary):
    """RoPE in plain Python: neighbours are a pair, and each pair is turned by an angle of its own."""
    found = []
    for pair in range(len(row) // 2):
        angle = position * rotary.base ** (-2 * pair / len(row))
        one, other = row[2 * pair : 2 * pair + 2]
        found += [one * math.cos(angle) - other * math.sin(angle), one * math.sin(angle) + other * math.cos(angle)]
    return found


def as_said(formula, trace, role, head):
    """What a formula such as `R(X W_q)\\,T` says, row by row."""
    rest = formula
    rows = [row.double().tolist() for row in trace.x]
    said = re.fullmatch(r"(R\()?(\(X \+ P\)|X) W_([qkv])(\))?(\\,T(_v)?)?", rest)
    assert said is not None and said[3] == role and bool(said[1]) == bool(said[4]), formula
    if said[2] != "X":
        rows = [[a + b for a, b in zip(x, p, strict=True)] for x, p in zip(rows, trace.added.tolist(), strict=True)]
    rows = [row_times(row, projection_of(trace, role, head).tolist()) for row in rows]
    if said[1]:
        rows = [turned_by_position(row, position, trace.rotary) for position, row in enumerate(rows)]
    if said[5]:
        turn = trace.turn_v if said[6] else trace.turn
        rows = [row_times(row, turn[head].tolist()) for row in rows]
    return torch.tensor(rows)


@pytest.mark.parametrize("role", ["q", "k", "v"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_formula_above_queries_keys_and_values_gives_them(name, role):
    trace = run_example(EXAMPLES[name])
    formula = made_of(trace, role)
    assert formula in stage_formula("qkv", trace)
    for head in range(trace.heads.q.shape[0]):
        shown = getattr(trace.heads.select(head), role)
        size = float(shown.abs().max())
        assert float((as_said(formula, trace, role, head) - shown).abs().max()) < 1e-4 * size
    letters = render_all(letters_of(trace))
    for letter in ("P", "R", "T"):
        stands = any(letter in re.sub(r"[A-Z]_", "", made_of(trace, r)) for r in "qkv")
        assert bool(re.search(rf"\b{letter} (has|turns)", letters)) == stands


def test_a_real_head_is_not_said_to_be_x_times_its_map():
    trace = run_example(EXAMPLES["real head"])
    assert made_of(trace, "q") == r"R(X W_q)\,T" and made_of(trace, "v") == r"X W_v\,T_v"
    assert float((trace.x @ projection_of(trace, "q", 8) - trace.heads.q[8]).abs().max()) > 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_where_a_reason_names_a_product_the_right_number_is_that_product(name):
    trace = run_example(EXAMPLES[name])
    entry = next(maker for maker in QUESTIONS["predict"] if maker.__name__ == "entry_of_query")
    for seed in range(34):
        found = entry(trace, 0, torch.Generator().manual_seed(seed))
        if found is None:
            assert made_of(trace, "q") != "X W_q" or name == "small head"
            continue
        assert made_of(trace, "q") == "X W_q"
        prompt = found.prompt.arguments
        row = trace.x[prompt["token"].position].tolist()
        expected = row_times(row, projection_of(trace, "q", 0).tolist())[prompt["feature"] - 1]
        right = found.cards[found.right]
        assert render(right.reason) == "its row of X, times a column of W_q"
        assert float(right.text.arguments["number"].value) == pytest.approx(expected, abs=6e-3)


@pytest.mark.parametrize("role", ["q", "k", "v"])
def test_questions_ask_for_features_that_are_drawn(role):
    trace = run_example(EXAMPLES["real head"])
    shown = screen(trace, 8, Choices(role=role))
    (matrix,) = [each for each in shown.figures[0].matrices if each.key == role]
    drawn = set(matrix.columns.labels)
    asked = [shown.ask(number).prompt for number in range(60)]
    features = {str(one.arguments["feature"]) for one in asked if one.template.startswith("Find feature")}
    assert features and features <= drawn
