"""The overview says only what its tensors say, at each of its steps. Computed again from X and W, in NumPy."""

import itertools
import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from edits_oracle import EDITS_ORACLE
from hypothesis import strategies as st
from screens import Ranked, chosen, holds
from strategies import EXAMPLES as PLAIN
from test_output import ORACLE as OUTPUT
from test_output import role, visible, weights_of

from attention_core.one_head.attention import AttentionTrace
from lessons.example.edits import Edit
from lessons.example.example import Example, run_example
from lessons.screen import number, percent, render_all
from lessons.shared.stages import STAGES, notice_x
from lessons.start.overview.matrices_view import Choices, screen
from tests.printed import ABSOLUTE, lead

EXAMPLES = st.builds(
    lambda example, edits: replace(example, edits=edits), PLAIN, st.sampled_from([(), (Edit("W_q", 0, 0, 0.5),)])
)


def cases(trace):
    yield from map(Choices, STAGES)


def scores_of(case):
    return role(case, "q") @ role(case, "k").T


def tokens_told(case, sentence):
    return {"count": len(case.trace.tokens), "d_model": case.trace.x.shape[1]}


def repeated(case, sentence):
    tokens = case.trace.tokens
    first = sentence.arguments["token"].position
    positions = [i + 1 for i, token in enumerate(tokens) if token == tokens[first]]
    assert len(positions) > 1
    x = case.trace.x.double()
    apart = max(float((x[first] - x[i - 1]).abs().max()) for i in positions)
    assert ("the same row" in sentence.template) == (apart < 1e-5 * float(x.abs().max())), "but for rounding"
    return {"token": first, "positions": positions}


def widths(case, sentence):
    return {"count": role(case, "k").shape[1], "d_v": role(case, "v").shape[1]}


def longest_key(case, sentence):
    lengths = [math.hypot(*key) for key in role(case, "k")]
    named = [token.position for token in sentence.arguments["tokens"].items]
    return {"tokens": named, "length": max(lengths), "ranked": Ranked(lengths, named, number)}


def largest_score(case, sentence):
    scores = scores_of(case)
    named = [(p.arguments["query"].position, p.arguments["key"].position) for p in sentence.arguments["pairs"].items]
    flat = [i * len(scores) + j for i, j in named]
    return {"score": scores.max(), "pairs": [...] * len(named), "ranked": Ranked(scores.ravel().tolist(), flat, number)}


def ranges(case, sentence):
    d_k = case.trace.example.d_k
    divided = "d_k" in sentence.arguments
    scores = scores_of(case) / (d_k**0.5 if divided else 1.0)
    return {"low": scores.min(), "high": scores.max()} | ({"d_k": d_k} if divided else {})


def hidden(case, sentence):
    n = len(case.trace.tokens)
    return {"hidden": n * (n - 1) // 2, "total": n * n}


def ends(case, sentence):
    n = len(case.trace.tokens)
    return {"first": 0, "last": n - 1, "n": n}


def row_of(case, sentence):
    """The row, of those that have a choice, in which one key leads by most."""
    query, weights = sentence.arguments["query"].position, weights_of(case)
    with_choice = [i for i in range(len(weights)) if len(visible(case, i)) > 1]
    assert not with_choice or weights[query].max() == pytest.approx(weights[with_choice].max(), rel=1e-4)
    return query, weights[query, visible(case, query)].tolist()


def alike(case, sentence):
    query, row = row_of(case, sentence)
    named = [token.position for token in sentence.arguments["keys"].items]
    return {"query": query, "keys": named, "share": max(row), "ranked": Ranked(row, named, percent)}


def nearly_all(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    _, weights = row_of(case, sentence)
    assert weights[key] == pytest.approx(max(weights)) and weights[key] >= 0.995 - ABSOLUTE
    return {"query": query, "key": key, "share": weights[key]}


def one_leads(case, sentence):
    query, row = row_of(case, sentence)
    key = sentence.arguments["key"].position
    others = [token.position for token in sentence.arguments["others"].items]
    rest = [weight if i != key else -1 for i, weight in enumerate(row)]
    assert lead(others, rest, percent)
    return {
        "query": query,
        "key": key,
        "share": max(row),
        "others": others,
        "next": max(rest),
        "count": len(others),
        "ranked": Ranked(row, [key], percent),
    }


def test_rows_that_rounding_tells_apart_are_the_same_row():
    row, other = torch.tensor([0.7, -1.3, 0.2]), torch.tensor([1.1, 0.4, -0.6])
    for by, says in ((1.0 + 2e-7, ": the same row each time."), (1.001, ", each time with a different row")):
        trace = SimpleNamespace(tokens=("a", "b", "a"), x=torch.stack([row, other, by * row]))
        assert not torch.equal(trace.x[0], trace.x[2])
        assert says in notice_x(trace, None)[-1].template


def every_matrix_has_a_place(case):
    """X, and all that the head computes of it."""
    (figure,) = case.screen.figures
    computed = {field.name for field in fields(AttentionTrace)}
    return {matrix.key for matrix in figure.matrices} == computed | {"x", "k_transposed"}


ORACLE = (
    EDITS_ORACLE
    | {template: oracle for template, oracle in OUTPUT.items() if "receives" in template}
    | {
        "{count} token, a row of size {d_model}.": tokens_told,
        "{token} is at positions {positions}: the same row each time.": repeated,
        "{token} is at positions {positions}, each time with a different row: X holds more than the token.": repeated,
        "Each row of X becomes a query and a key of one feature and a value of {d_v}.": widths,
        "The longest key is that of {tokens}, with length {length}.": longest_key,
        "The largest score is {score}: {pairs}.": largest_score,
        "the query of {query} with the key of {key}": chosen,
        "Scaling is off: the scores run from {low} to {high}.": ranges,
        "The scores run from {low} to {high}.": ranges,
        "Divided by √{d_k}, they run from {low} to {high}.": ranges,
        "The causal mask hides {hidden} of {total} scores.": hidden,
        "{first} sees only itself, {last} sees all {n} tokens.": ends,
        "All matrices of one attention head": holds(every_matrix_has_a_place),
        "There is no mask: every query may look at every key.": holds(
            lambda case: not case.trace.example.causal and bool(case.attention.visible.all())
        ),
        "{query} looks equally at {keys}, {share} each.": alike,
        "{query} puts the most weight on {keys}, {share} each.": alike,
        "{query} looks most at {key} ({share}), then at {others} ({next}).": one_leads,
        "{query} looks at {key} and hardly anywhere else: {share} of its weight is there.": nearly_all,
    }
)
ANSWERS: dict = {}


def at(step="output", **choices):
    return screen(run_example(Example(**choices)), 0, Choices(step))


def test_matrices_of_later_steps_are_frames():
    drawn = {"x": {"x"}, "qkv": {"x", "q", "k", "v"}}
    drawn["scores"] = drawn["qkv"] | {"k_transposed", "scores"}
    for before, after in itertools.pairwise(STAGES[2:]):
        drawn[after] = drawn[before] | {after}
    for stage in STAGES:
        figure = at(stage).figures[0]
        assert {matrix.key for matrix in figure.matrices if matrix.drawn} == drawn[stage]
        assert figure.first in drawn[stage]


def test_products_stand_where_their_factors_meet():
    places = {
        matrix.key: (row, column)
        for row, band in enumerate(at(source="sentence", text="a b").figures[0].bands)
        for column, matrix in enumerate(band)
        if matrix is not None
    }
    assert places["k_transposed"][1] == places["scores"][1] and places["q"][0] == places["scores"][0]
    assert places["v"][1] == places["output"][1] and places["weights"][0] == places["output"][0]


def test_a_single_token_under_the_mask_is_not_said_to_be_without_one():
    assert "no mask" not in render_all(at("masked", source="sentence", text="hi").figures[0].notice)
    assert "no mask" in render_all(at("masked", source="sentence", text="hi", causal=False).figures[0].notice)


def test_repeated_words_share_the_largest_score():
    said = render_all(at("scores", source="sentence", text="a b a b").figures[0].notice)
    assert "(1)" in said and "(3)" in said


def test_every_number_is_that_of_the_trace():
    figure = at(source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2).figures[0]
    shown = {matrix.key: matrix.values for matrix in figure.matrices}
    torch.testing.assert_close(shown["scores"], shown["q"] @ shown["k_transposed"])
    torch.testing.assert_close(shown["weights"] @ shown["v"], shown["output"])
    assert np.allclose(shown["weights"].sum(dim=-1), 1)
