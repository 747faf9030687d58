"""The lesson on the division by √d_k says only what is measured. No server, no browser: a screen is data."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from screens import JUDGE, by_largest, by_thought, chosen, holds

from attention_core.base.randomness import generator
from attention_core.measured.measures import D_K_MEASURED
from lessons.example.example import Example, run_example
from lessons.one_head.scores.lesson import MEASURED_DRAWS, MEASURED_KEYS, Choices, screen
from lessons.screen import Curves, Table, matrices_figures, render


def cases(trace):
    yield from map(Choices, (1, 2, 64))


def rows_of(scores):
    """The weights of some rows of scores, in NumPy."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def measured(scores, weights):
    """Standard deviation, mean largest weight, mean entropy and mean norm of the Jacobian, written out."""
    jacobians = [np.diag(w) - np.outer(w, w) for w in weights]
    return {
        "std": scores[np.isfinite(scores)].std(),
        "largest": weights.max(axis=-1).mean(),
        "entropy": np.mean([-sum(p * math.log(p) for p in w if p > 0) for w in weights]),
        "jacobian": np.mean([np.linalg.norm(j) for j in jacobians]),
    }


def drawn(case, divided, d_k=None):
    """The measures of the random draws, from the same stream of random numbers."""
    d_k = d_k or case.choices.d_k
    random = generator(case.trace.example.seed, "scaling")
    q = torch.randn(MEASURED_DRAWS, 1, 512, generator=random).numpy().astype(float)
    k = torch.randn(MEASURED_DRAWS, MEASURED_KEYS, 512, generator=random).numpy().astype(float)
    scores = np.einsum("nqf,nkf->nk", q[..., :d_k], k[..., :d_k]) / (math.sqrt(d_k) if divided else 1.0)
    return measured(scores, rows_of(scores))


def own(case, divided):
    """The measures of the running example."""
    q, k = (tensor.numpy().astype(float) for tensor in (case.attention.q, case.attention.k))
    scores = q @ k.T / (math.sqrt(q.shape[1]) if divided else 1.0)
    if case.trace.example.causal:
        scores = np.where(np.tri(len(q), dtype=bool), scores, -np.inf)
    return measured(scores, rows_of(scores))


def at_one_d_k(divided):
    def arguments(case, sentence):
        m = drawn(case, divided)
        return {"std": m["std"], "largest": m["largest"], "concept": True} | (
            {"d_k": case.choices.d_k} if "d_k" in sentence.arguments else {}
        )

    return arguments


def own_arguments(case, sentence):
    before, after = own(case, False), own(case, True)
    every = {
        "d_k": case.attention.q.shape[1],
        "std": before["std"],
        "largest": before["largest"],
        "divided": after["std"],
        "divided_largest": after["largest"],
    }
    return {name: every[name] for name in sentence.arguments} | {"concept": True}


def asked_largest(case, prompt):
    query = prompt.arguments["query"].position
    return {
        "query": query,
        "weight": weights_of(case, 1.0)[query].max(),
        "d_k": case.attention.q.shape[1],
        "concept": True,
    }


def weights_of(case, scale):
    scores = visible_scores(case) * scale
    return rows_of(scores)


def visible_scores(case):
    scores = (case.attention.q @ case.attention.k.T).numpy().astype(float)
    return np.where(case.attention.visible.numpy(), scores, -np.inf)


def other_score(case, sentence):
    key, query = (sentence.arguments[name].position for name in ("key", "query"))
    return {"key": key, "query": query, "score": visible_scores(case)[query, key]}


def seen_by(case, sentence):
    query = sentence.arguments["query"].position
    return {"query": query, "keys": int(case.attention.visible[query].sum()), "concept": True}


def score_asked(case, prompt):
    return other_score(case, prompt) | {"d_k": case.attention.q.shape[1]}


SCALED = "The query of {query} and the key of {key} have the score {score}, and d_k is {d_k}. What is the scaled score?"
EXACT_ROOT = "The score is divided by √{d_k} = {root}."


def root_of_d_k(case, sentence):
    d_k = case.attention.q.shape[1]
    assert ("=" in sentence.template) == (d_k in (1, 4, 9, 16, 64)), "a rounded root is not equal to it"
    return {"d_k": d_k, "root": d_k**0.5}


ORACLE = {
    "largest weight of a row": lambda case, sentence: {"concept": True},
    "At d_k = {d_k} the scores have a standard deviation of {std}, and the largest weight of a row is {largest} on "
    "average.": at_one_d_k(False),
    "After division by √{d_k}, they are {std} and {largest}.": at_one_d_k(True),
    "Measured on {draws} random queries, each with {keys} random keys.": chosen,
    "Here, with d_k = {d_k}, the division takes the standard deviation of the scores from {std} to "
    "{divided}, and the largest weight of a row, on average, from {largest} to {divided_largest}.": own_arguments,
    "Here, with d_k = {d_k}, the division takes the standard deviation of the scores from {std} to {divided}.": (
        own_arguments
    ),
    "{query} may look at {keys} keys. Which of them has the largest score?": seen_by,
    "It has the largest number in the row of {query}.": lambda case, sentence: {
        "query": sentence.arguments["query"].position,
        "concept": True,
    },
    "The score of {key} for {query} is {score}; another is larger.": other_score,
    SCALED: score_asked,
    EXACT_ROOT: root_of_d_k,
    EXACT_ROOT.replace("=", "≈"): root_of_d_k,
    "With unscaled scores, the largest weight of {query} is {weight}. How large is its largest weight once the "
    "scores are divided by √{d_k}?": asked_largest,
    "Features of queries and keys are independent, with mean 0 and standard deviation 1. What is the "
    "standard deviation of the scores q · k for d_k = {d_k}?": chosen,
    "q · k is a sum of {d_k} products, each of variance 1, so its variance is {d_k}.": chosen,
}


def answer_best(case, prompt):
    query = prompt.arguments["query"].position
    row, column = visible_scores(case)[query], visible_scores(case)[:, query]
    return {
        "It has the largest number in the row of {query}.": int(row.argmax()),
        "A query need not fit the key of its own token.": query,
        "That reads down the column, but the rows are the queries.": int(column.argmax()),
        "The score of {key} for {query} is {score}; another is larger.": ...,
        JUDGE: by_largest(row),
    }


def answer_scaled(case, prompt):
    key, query = (prompt.arguments[name].position for name in ("key", "query"))
    score, d_k = visible_scores(case)[query, key], case.attention.q.shape[1]
    thoughts = {
        "the score, divided by √d_k": score * d_k**-0.5,
        "the score, just as it is": score,
        "the score, divided by d_k": score / d_k,
        "the score, multiplied by √d_k": score * d_k**0.5,
        "the score, divided by √d_model": score * case.trace.x.shape[1] ** -0.5,
        "the score, divided by the root of the number of tokens": score * len(case.trace.tokens) ** -0.5,
    }
    replies = (
        EXACT_ROOT if d_k in (1, 4, 9, 16, 64) else EXACT_ROOT.replace("=", "≈"),
        "Divide by √d_k, not by d_k: the standard deviation of the scores grows only with √d_k.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_largest(case, prompt):
    query, root = prompt.arguments["query"].position, case.attention.q.shape[1] ** 0.5
    before = weights_of(case, 1.0)[query].max()
    thoughts = {
        "the softmax of the scores, divided by √d_k": weights_of(case, 1 / root)[query].max(),
        "the order of the keys stays the same, and so does the weight": before,
        "the weight, divided by √d_k": before / root,
        "the softmax of the scores, multiplied by √d_k": weights_of(case, root)[query].max(),
        "every visible key gets the same share": 1 / int(case.attention.visible[query].sum()),
        "the softmax of the scores, divided by d_k": weights_of(case, root**-2)[query].max(),
    }
    replies = (
        "The differences between scores become smaller, so the row becomes flatter.",
        "The scores are divided, not the weights: a row must still sum to 1.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_deviation(case, prompt):
    d_k = prompt.arguments["d_k"]
    thoughts = {
        "each product adds 1 to the variance": d_k**0.5,
        "products of such features also have standard deviation 1": 1.0,
        "each product adds 1 to the deviation": d_k,
        "each product adds 2 to the variance": (2 * d_k) ** 0.5,
        "more products average out more": d_k**-0.5,
    }
    replies = (
        "q · k is a sum of {d_k} products, each of variance 1, so its variance is {d_k}.",
        "That is the variance. The standard deviation is its square root.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


ORACLE |= {
    "Here all scores are equal, so the weights are equal shares, with or without the division.": holds(
        lambda case: all(
            np.ptp(weights[weights > 0]) < 1e-5 for scale in (1.0, 0.5) for weights in weights_of(case, scale)
        )
    ),
}

ANSWERS = {
    "{query} may look at {keys} keys. Which of them has the largest score?": answer_best,
    SCALED: answer_scaled,
    "With unscaled scores, the largest weight of {query} is {weight}. How large is its largest weight once the "
    "scores are divided by √{d_k}?": answer_largest,
    "Features of queries and keys are independent, with mean 0 and standard deviation 1. What is the "
    "standard deviation of the scores q · k for d_k = {d_k}?": answer_deviation,
}


def screen_of(marked=64, head=0, **choices):
    return screen(run_example(Example(**choices)), head, Choices(marked))


def own_notice(**choices):
    figure = next(f for f in screen_of(**choices).figures if f.key == "divided_figure")
    return render(figure.notice[0])


def test_the_curves_hold_what_is_measured_of_the_random_draws():
    trace = run_example(Example(seed=7))
    case = type("Case", (), {"trace": trace, "choices": Choices(32)})
    curves = [figure for figure in screen(trace, 0, Choices(32)).figures if isinstance(figure, Curves)]
    assert [curve.key for curve in curves] == ["curve_std", "curve_largest", "curve_entropy", "curve_jacobian"]
    for curve in curves:
        assert curve.chosen == 32 and [line.x for line in curve.lines] == [D_K_MEASURED] * 2
        for line, divided in zip(curve.lines, (False, True), strict=True):
            true = [drawn(case, divided, d_k)[curve.key.removeprefix("curve_")] for d_k in D_K_MEASURED]
            assert line.y == pytest.approx(true, rel=1e-3, abs=1e-4)


def test_both_ways_are_shown_whatever_the_switch_says():
    for scaling in (True, False):
        figures = matrices_figures(screen_of(head=1, n_heads=2, d_k=7, scaling=scaling).figures)
        scores, scaled, plain, divided = (matrix.values for figure in figures for matrix in figure.matrices)
        a = run_example(Example(n_heads=2, d_k=7, scaling=scaling)).heads.select(1)
        torch.testing.assert_close(scores, (a.q @ a.k.T).where(a.visible, -math.inf))
        torch.testing.assert_close(scaled, scores / math.sqrt(7))
        torch.testing.assert_close(plain, scores.softmax(dim=-1))
        torch.testing.assert_close(divided, scaled.softmax(dim=-1))


def test_the_table_has_the_four_measures_of_the_running_example():
    trace = run_example(Example(d_k=5, causal=False))
    shown = screen(trace, 0, Choices())
    (table,) = (figure for figure in shown.figures if isinstance(figure, Table))
    case = type("Case", (), {"trace": trace, "attention": trace.heads.select(0)})
    for row, divided in zip(table.cells, (False, True), strict=True):
        assert [number.value for number in row[1:]] == pytest.approx(list(own(case, divided).values()), abs=1e-5)


def test_a_single_token_and_equal_scores_are_not_said_to_be_softened():
    for text in ("one", "no no no"):
        assert own_notice(source="sentence", text=text).startswith("Here all scores are equal")
    assert "largest" not in own_notice(weight_kind="small")


def test_the_best_match_is_a_key_that_may_be_looked_at():
    trace = run_example(Example(causal=True))
    asked = [screen(trace, 0, Choices()).ask(number) for number in range(40)]
    best = [question for question in asked if "has the largest score" in question.prompt.template]
    assert best
    for question in best:
        query = question.prompt.arguments["query"].position
        assert all(card.text.arguments["token"].position <= query for card in question.cards)


def test_several_answers_are_right_in_turn():
    """The right letter and number vary from question to question."""
    shown = screen_of()
    rights = {render(q.cards[q.right].text) for q in map(shown.ask, range(20))}
    assert len(rights) > 6


def test_the_marked_d_k_is_no_part_of_the_example():
    assert replace(Choices(), d_k=2) != Choices()
    a, b = screen_of(2).figures[1], screen_of(512).figures[1]
    assert torch.equal(a.matrices[1].values, b.matrices[1].values)
