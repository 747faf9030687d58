"""The lesson on projections says only what its tensors say. No server, no browser: a screen is data."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from edits_oracle import EDITS_ORACLE
from hypothesis import strategies as st
from screens import JUDGE, Ranked, by_largest, by_thought, chosen, holds
from strategies import EXAMPLES as PLAIN

from lessons.example.edits import Edit
from lessons.example.example import Example, run_example, unedited
from lessons.one_head.projections.lesson import Choices, screen
from lessons.screen import diff, format_value, number, render, render_all
from tests.printed import readings, with_decimals

EDITS = ((), (Edit("W_q", 0, 0, 0.5),), (Edit("x", 0, 0, -1.0), Edit("W_v", 0, 0, 7.0)), (Edit("W_k", 8, 31, 2.0),))
EXAMPLES = st.builds(lambda example, edits: replace(example, edits=edits), PLAIN, st.sampled_from(EDITS))
ROLES = ("q", "k", "v", "mirror")


def cases(trace):
    yield from map(Choices, ROLES)
    last = len(trace.tokens) - 1
    yield from (Choices("head", query, key) for query, key in ((last, 0), (last, last), (last // 2, last)))


def length(vector):
    return math.sqrt(sum(feature**2 for feature in vector))


def product(case, role):
    """X W for one head, by sums of products."""
    packed = getattr(case.trace, f"W_{role}").tolist()
    width = len(packed[0]) // len(case.trace.heads.q)
    columns = range(case.head * width, (case.head + 1) * width)
    return [
        [sum(x * row[c] for x, row in zip(token, packed, strict=True)) for c in columns]
        for token in case.trace.x.tolist()
    ]


WORDS = {"W_q": "query", "W_k": "key", "W_v": "value"}


def longest(case, sentence):
    matrix = sentence.arguments["matrix"]
    vectors = product(case, matrix[-1])
    lengths = list(map(length, vectors))
    named = [token.position for token in sentence.arguments["tokens"].items]
    return {
        "d_model": len(case.trace.x[0]),
        "width": len(vectors[0]),
        "tokens": named,
        "length": max(lengths),
        "matrix": f"W_{case.choices.role}",
        "vector": WORDS[matrix],
        "ranked": Ranked(lengths, named, number),
    }


def score(case, query, key):
    q, k = product(case, "q")[query], product(case, "k")[key]
    return sum(a * b for a, b in zip(q, k, strict=True))


def mirrored(case, sentence):
    one, other = (sentence.arguments[name].position for name in ("one", "other"))
    return {"one": one, "other": other, "there": score(case, one, other), "back": score(case, other, one)}


def gap(case, sentence):
    n = len(case.trace.tokens)
    return {"gap": max(abs(score(case, i, j) - score(case, j, i)) for i in range(n) for j in range(n))}


def symmetric(case):
    """X Xᵀ by its definition; Q Kᵀ but for rounding."""
    n = len(case.trace.tokens)
    largest = max(abs(score(case, i, j)) for i in range(n) for j in range(n))
    return n > 1 and gap(case, None)["gap"] <= 1e-4 * largest


def asked_score(case, prompt):
    one, other = (prompt.arguments[name].position for name in ("one", "other"))
    return {"one": one, "other": other, "score": score(case, one, other)}


def shapes_then(case, sentence):
    """With one more token."""
    d, d_k = len(case.trace.x[0]), len(product(case, "q")[0])
    return {"W_q": f"{d}\u00a0×\u00a0{d_k}"}


def many_become_fewer(case, sentence):
    q, k, v = (product(case, role)[0] for role in "qkv")
    assert len(q) == len(k)
    return {"d_model": len(case.trace.x[0]), "d_k": len(q), "d_v": len(v)}


def added_up(case, sentence):
    """The pair of the choices; a key that the query may not look at gives way to the last that it may."""
    query, key = case.choices.query, case.choices.meets
    seen = [place for place, visible in enumerate(case.trace.heads.visible[0][query].tolist()) if visible]
    key = key if key in seen else seen[-1]
    q, k = case.attention.q[query].tolist(), case.attention.k[key].tolist()
    total = sum(a * b for a, b in zip(q, k, strict=True))
    said = {"query": query, "key": key, "count": len(q), "score": round(total + 1e-9, 2)}
    if abs(100 * total % 1 - 0.5) < 1e-3:  # it may be rounded either way
        said["score"] = sentence.arguments["score"].value
    return said | ({"scaled": total / math.sqrt(len(q))} if "scaled" in sentence.arguments else {})


LONGEST = "Which token has the longest {vector}, that is, the one whose squared numbers have the largest sum?"
ITS_SQUARES = "Its squared numbers add up to {sum}; the root of that, {length}, is its length."
OTHER_SQUARES = "The squared numbers of {token} add up to {sum}; those of another token add up to more."
LONGEST_ROW = "It has the longest row in X, but {matrix} stretches only some directions."
READ_OFF = "Find feature {feature} of {token} in {matrix}. Which number is it?"
IN_ITS_PLACE = "It is in the row of its token and in that column."
OTHER_FEATURE = "That is feature {feature} of this token."
OTHER_TOKEN = "That is this feature of {token}."
IN_ROW = "In the row of {query} in Q Kᵀ, which key gives the largest number?"
BEST_KEY = "Its column has {score} in this row."
OTHER_KEY = "The column of {key} has {score} in this row; another has more."
ON_DIAGONAL = "That is the score of {token} for itself, on the diagonal of Q Kᵀ."
BEST_IN_X = "It has the largest number in X Xᵀ, but Q Kᵀ compares queries with keys."
SHAPE_OF_Q = "In another model X is {x}, and W_q of one head is {W_q}. What is the shape of its queries, Q = X W_q?"
ONE_MORE = "The sentence gets one more token. Which matrices of this head get one more row?"
NEW_ROWS = "Each row of X makes a row of Q, K and V. W_q stays {W_q} however long the sentence is."
ORACLE = EDITS_ORACLE | {
    "{matrix} turns the row of each token, of size {d_model}, into its {vector}, of size {width}. The longest {vector} "
    "is that of {tokens}: length {length}.": longest,
    "X Xᵀ is symmetric. Q Kᵀ is not: the query of {one} and the key of {other} give {there}, the query of {other} and "
    "the key of {one} give {back}.": mirrored,
    "X Xᵀ is symmetric. Here Q Kᵀ is symmetric too.": holds(symmetric),
    "A single token is compared only with itself.": holds(
        lambda case: len(case.trace.tokens) == 1 and all(m.values.numel() == 1 for m in case.screen.figures[0].matrices)
    ),
    "Each token's {d_model} numbers become the {d_k} of its query, the {d_k} of its key and the "
    "{d_v} of its value. Every bar has the same width; it points up if its number is positive, down "
    "if negative.": many_become_fewer,
    "The query of {query} and the key of {key}: {count} product is the score, {score}.": added_up,
    "The query of {query} and the key of {key}: {count} product is the score, {score}; divided "
    "by √{count} it is {scaled}.": added_up,
    "{rows}\u00a0×\u00a0{columns}": chosen,
    NEW_ROWS: shapes_then,
    "The dot product of the query of {one} and the key of {other} is {score}. What is that of the query of {other} "
    "and the key of {one}?": asked_score,
}


def answer_shape(case, prompt):
    (n, d), (inner, d_k) = (prompt.arguments[name].arguments.values() for name in ("x", "W_q"))
    assert inner == d
    thoughts = {
        "the rows of X, the columns of W_q": (n, d_k),
        "the rows of X, the columns of X": (n, d),
        "the columns of W_q, the rows of X": (d_k, n),
        "the rows of W_q, the columns of W_q": (d, d_k),
    }
    shapes = {thought: dict(zip(("rows", "columns"), shape, strict=True)) for thought, shape in thoughts.items()}
    return {"Each token keeps its row; its features are mixed into {d_k} new ones.": ..., JUDGE: by_thought(shapes)}


def alone(numbers):
    """Where the largest number stands; anywhere where others are as large."""
    *_, second, first = sorted([-math.inf, *numbers])
    return ... if math.isclose(first, second, rel_tol=1e-4) else numbers.index(first)


def answer_longest(case, prompt):
    """Whoever leads must lead by so much that it is seen."""
    role = {"query": "q", "key": "k", "value": "v"}[render(prompt.arguments["vector"])]
    assert case.choices.role in (role, "head"), "it is asked of what is shown"
    lengths = list(map(length, product(case, role)))
    *_, second, first = sorted(lengths)
    assert first > 1.09 * second
    return {
        ITS_SQUARES: lengths.index(first),
        LONGEST_ROW: alone(list(map(length, case.trace.x.tolist()))),
        OTHER_SQUARES: ...,
        JUDGE: by_largest(lengths),
    }


def squares_of_longest(case, reply):
    """Of the role whose sum of squares it is; which that is, the card and the prompt say."""
    said = reply.arguments["sum"].value
    largest = [max(length(vector) ** 2 for vector in product(case, role)) for role in "qkv"]
    total = min(largest, key=lambda one: abs(one - said))
    return {"sum": total, "length": math.sqrt(total)}


def squares_of_other(case, reply):
    position, said = reply.arguments["token"].position, reply.arguments["sum"].value
    sums = [length(product(case, role)[position]) ** 2 for role in "qkv"]
    return {"token": position, "sum": min(sums, key=lambda one: abs(one - said))}


def answer_read_off(case, prompt):
    role, token, feature = case.choices.role, prompt.arguments["token"].position, prompt.arguments["feature"] - 1
    assert prompt.arguments["matrix"] == role.upper(), "it is asked of what is shown"
    rows = product(case, role)
    own = rows[token][feature]
    other_features = [rows[token][(feature + step) % len(rows[0])] for step in (1, -1)]
    other_tokens = [rows[(token + step) % len(rows)][feature] for step in (1, -1)]
    in_x = dict(enumerate(case.trace.x[token].tolist())).get(feature)
    may_stand = {
        IN_ITS_PLACE: [own],
        OTHER_FEATURE: other_features,
        OTHER_TOKEN: other_tokens,
        "That is the number in X.": [in_x],
    }

    def judge(card):
        (said,) = card.text.arguments.values()
        write = with_decimals(said.decimals)
        assert any(format_value(said) in readings(one, write) for one in may_stand[card.reply.template])
        return format_value(said) in readings(own, write)

    return dict.fromkeys(may_stand, ...) | {JUDGE: judge}


def answer_best_key(case, prompt):
    assert case.choices.role == "mirror", "it is asked of what is shown"
    query, n = prompt.arguments["query"].position, len(case.trace.tokens)
    x, row = case.trace.x.tolist(), [score(case, query, key) for key in range(n)]
    return {
        BEST_KEY: row.index(max(row)),
        BEST_IN_X: alone([float(np.dot(x[query], other)) for other in x]),
        OTHER_KEY: ...,
        "That reads down the column, but the rows are the queries.": alone(
            [score(case, other, query) for other in range(n)]
        ),
        JUDGE: by_largest(row),
    }


def score_in_row(case, reply):
    """Of one of all pairs: which, the card and the prompt say."""
    n, said = len(case.trace.tokens), reply.arguments["score"].value
    every = [score(case, query, key) for query in range(n) for key in range(n)]
    if "key" in reply.arguments:
        key = reply.arguments["key"].position
        return {"key": key, "score": min((score(case, i, key) for i in range(n)), key=lambda one: abs(one - said))}
    return {"score": min(every, key=lambda one: abs(one - said))}


def answer_other_way(case, prompt):
    one, other = (prompt.arguments[name].position for name in ("one", "other"))
    x = case.trace.x.tolist()
    thoughts = {
        "the other query meets the other key": score(case, other, one),
        "the same two tokens have the same score": score(case, one, other),
        "the rows of X, multiplied as they are": np.dot(x[one], x[other]),
        "the other query meets its own key": score(case, other, other),
        "the first query meets its own key": score(case, one, one),
    }
    replies = (
        "Another query meets another key, so Q Kᵀ need not be symmetric.",
        "That would make Q Kᵀ symmetric, as X Xᵀ is. But a token's query is not its key.",
        ON_DIAGONAL,
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_one_more(case, prompt):
    n, d = case.trace.x.shape
    X, maps = np.ones((n, d)), {f"W_{name}": np.ones((d, case.trace.example.d_k)) for name in "qkv"}
    longer = np.ones((n + 1, d))
    rows = {"X": (X, longer)} | {name: (W, W) for name, W in maps.items()}
    rows |= {name[-1].upper(): (X @ W, longer @ W) for name, W in maps.items()}
    grown = {name for name, (before, after) in rows.items() if len(after) == len(before) + 1}

    def judge(card):
        return set(re.findall(r"\b(?:W_[qkv]|[XQKV])\b", card.text.template)) == grown

    return {NEW_ROWS: ..., JUDGE: judge}


ENTRY = "What is feature {feature} of the query of {token}?"


def answer_entry(case, prompt):
    token, feature = prompt.arguments["token"].position, prompt.arguments["feature"] - 1
    q, k, row = np.array(product(case, "q")), np.array(product(case, "k")), case.trace.x[token].tolist()
    thoughts = {
        "its row of X, times a column of W_q": q[token, feature],
        "the same feature of its row of X": dict(enumerate(row)).get(feature, math.nan),
        "its row of X, times a column of W_k": k[token, feature],
        "all rows of X, times a column of W_q": q[:, feature].sum(),
        "its row of X, added up": sum(row),
    }
    replies = (
        "Its row of X times column {feature} of W_q: multiply in pairs, then add.",
        "That is its row of X. W_q mixes all its features into new ones.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


ORACLE |= {
    **dict.fromkeys(
        (
            LONGEST,
            LONGEST_ROW,
            IN_ROW,
            BEST_IN_X,
        ),
        lambda case, said: chosen(case, said) | {"concept": True},
    ),
    ITS_SQUARES: squares_of_longest,
    OTHER_SQUARES: squares_of_other,
    READ_OFF: chosen,
    **dict.fromkeys((BEST_KEY, OTHER_KEY), score_in_row),
    ENTRY: chosen,
    OTHER_FEATURE: chosen,
    OTHER_TOKEN: chosen,
    ON_DIAGONAL: chosen,
    "Its row of X times column {feature} of W_q: multiply in pairs, then add.": chosen,
    "Each token keeps its row; its features are mixed into {d_k} new ones.": chosen,
}
ANSWERS = {
    ENTRY: answer_entry,
    SHAPE_OF_Q: answer_shape,
    LONGEST: answer_longest,
    READ_OFF: answer_read_off,
    IN_ROW: answer_best_key,
    "The dot product of the query of {one} and the key of {other} is {score}. What is that of the query of {other} "
    "and the key of {one}?": answer_other_way,
    ONE_MORE: answer_one_more,
}


def screen_of(role="q", head=0, **choices):
    return screen(run_example(Example(**choices)), head, Choices(role))


@pytest.mark.parametrize("role", ["q", "k", "v"])
def test_the_product_is_that_of_the_two_matrices_beside_it(role):
    """Distinct primes: 5 tokens, d_model 7, d_k 3, d_v 2; the second of two heads."""
    shown = screen_of(role, 1, source="sentence", text="a b c d e", d_model=7, d_k=3, d_v=2, n_heads=2)
    x, W, product = shown.figures[0].matrices
    assert (x.key, W.key, product.key) == ("x", f"W_{role}", role)
    torch.testing.assert_close(x.values @ W.values, product.values)
    width = product.values.shape[1]
    assert W.columns.labels == tuple(str(width + c + 1) for c in range(width)), "counted through all heads"
    assert [matrix.given for matrix in (x, W, product)] == [True, True, False]


def test_the_mirror_compares_every_pair_both_ways():
    shown = screen_of("mirror", source="sentence", text="a b c d e", d_model=7)
    xx, scores = shown.figures[0].matrices
    torch.testing.assert_close(xx.values, xx.values.T)
    assert (scores.values - scores.values.T).abs().max() > 0.01
    lit = {(cells.matrix, cells.row, cells.column) for cells in scores.sources(1, 3)}
    assert ("scores", 3, 1) in lit


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("A single token", "one"),
        ("Here Q Kᵀ is symmetric too", "no no no"),
        ("Q Kᵀ is not", "a b"),
    ],
)
def test_symmetry_is_said_as_it_is(said, text):
    assert said in render(screen_of("mirror", source="sentence", text=text).figures[0].notice[0])


def remarks(*edits, head=0, **choices):
    return render_all(screen(run_example(Example(edits=edits, **choices)), head, Choices()).remarks)


def test_what_follows_from_an_edit_is_counted():
    assert remarks(Edit("W_v", 0, 0, 1.5)).startswith(
        "1 number has been changed by hand: 1 in W_v. So these numbers change: 6 of 12 in V and 6 of 12 in the output. "
        "Nothing changes in Q, K, the scores, the scaled scores, the masked scores and the weights. In V, for example,"
    )
    assert remarks() == ""
    assert remarks(Edit("W_q", 0, 3, 9.0), n_heads=2) == "The changes made by hand change nothing in this head."


def test_the_marks_are_the_true_differences():
    trace = run_example(Example(edits=(Edit("W_k", 1, 0, 4.0),)))
    with_past = diff(screen(trace, 0, Choices("k")), screen(unedited(trace), 0, Choices("k")))
    x, W, k = with_past.figures[0].matrices
    assert (W.values != W.was).nonzero().tolist() == [[1, 0]]
    assert torch.equal(x.values, x.was)
    assert (k.values != k.was).any(dim=0).tolist() == [True, False]
