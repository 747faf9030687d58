"""The lesson on dot products says only what X says. Everything is computed again in plain Python or NumPy."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from arithmetic_checks import evaluates
from screens import AS_GOOD, JUDGE, Ranked, by_largest, by_text, by_thought, chosen, holds

from lessons.example.example import Example, run_example
from lessons.one_head.dot_product.lesson import Choices, attend_without_weights, notice_ways, screen
from lessons.one_head.dot_product.loops_and_numpy import loops_beside_matrices
from lessons.screen import percent, render
from tests.printed import ABSOLUTE, lead

VIEWS = ("one", "all", "equal")


def cases(trace):
    for view in VIEWS:
        yield Choices(view, len(trace.tokens) - 1)
    yield Choices("one", 0)


def x_of(case):
    return case.trace.x.double().numpy()


def weights_of(case, query):
    """Plain Python: the softmax of the dot products of one row of X with all rows."""
    scores = [math.fsum(a * b for a, b in zip(x_of(case)[query], row, strict=True)) for row in x_of(case)]
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def alike(case, sentence):
    query = sentence.arguments["query"].position
    weights = weights_of(case, query)
    keys = [token.position for token in sentence.arguments["keys"].items]
    return {"query": query, "keys": keys, "share": max(weights), "ranked": Ranked(weights, keys, percent)}


def nearly_all(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    weights = weights_of(case, query)
    assert weights[key] == pytest.approx(max(weights)) and weights[key] >= 0.995 - ABSOLUTE
    return {"query": query, "key": key, "share": weights[key]}


def one_leads(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    weights = weights_of(case, query)
    others = [token.position for token in sentence.arguments["others"].items]
    rest = [weight if j != key else -1 for j, weight in enumerate(weights)]
    assert lead(others, rest, percent)
    return {
        "query": query,
        "key": key,
        "share": weights[key],
        "others": others,
        "next": max(rest),
        "count": len(others),
        "ranked": Ranked(weights, [key], percent),
    }


def difference(case, sentence):
    said = sentence.arguments["largest"].value
    assert said < 1e-5 and loops_are_as_near_as(case, 1e-5), "what is rounding cannot be computed again, only bounded"
    return {"largest": said}


def loops_are_as_near_as(case, gap):
    """Loops in Python beside PyTorch's matrices."""
    x, rows = case.trace.x, case.trace.x.tolist()
    gaps = []
    for row, weights, output in zip(
        rows, attend_without_weights(x).weights.tolist(), attend_without_weights(x).output.tolist(), strict=True
    ):
        scores = [sum(a * b for a, b in zip(row, key, strict=True)) for key in rows]
        powers = [math.exp(score - max(scores)) for score in scores]
        own = [power / sum(powers) for power in powers]
        mixture = [sum(w * value[c] for w, value in zip(own, rows, strict=True)) for c in range(len(row))]
        gaps += [abs(a - b) for a, b in zip(own + mixture, weights + output, strict=True)]
    return max(gaps) < gap


def dot(case, i, j):
    return float(np.einsum("f,f->", x_of(case)[i], x_of(case)[j]))


def other_is_larger(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    row = [dot(case, query, j) for j in range(len(x_of(case)))]
    assert dot(case, query, key) < max(row)
    return {"query": query, "key": key, "score": dot(case, query, key)}


def some_score(case, sentence):
    """The prompt is not known here, so it must be the score of some pair."""
    said, n = sentence.arguments["score"].value, len(x_of(case))
    return {"score": min((dot(case, i, j) for i in range(n) for j in range(n)), key=lambda score: abs(score - said))}


LARGEST = "Which other token has the largest dot product with {query}?"
CELL = "What is the dot product of the rows of {query} and {key} in X?"
SIGN = "Do the vectors of {one} and {other} point more in the same direction or more in opposite ones?"
SIGN_SAYS = {
    True: "Their dot product is {score}, above 0: the products of like signs win.",
    False: "Their dot product is {score}, below 0: the products of unlike signs win.",
}
OTHER_SIGN = {
    True: "Then their dot product would be below 0, and it is {score}.",
    False: "Then their dot product would be above 0, and it is {score}.",
}
NO_ANGLE = "Then their dot product would be 0, and it is {score}."
MIRROR = (
    "In X Xᵀ, the row of {one} holds a number in the column of {other}. What does the row of {other} hold in the "
    "column of {one}?"
)
SAME_PRODUCTS = "Both are {score}: they add up the same products, so X Xᵀ is symmetric."
LONGER = "Make the vector of {token} {longer} times as long. What happens to its dot product with itself?"

ROW: dict = {
    "{query} may look only at {key}, so all of its weight goes there.": lambda case, sentence: (
        {"query": case.choices.query, "key": "itself"}
    ),
    "{query} looks equally at {keys}, {share} each.": alike,
    "{query} puts the most weight on {keys}, {share} each.": alike,
    "{query} looks most at {key} ({share}), then at {others} ({next}).": one_leads,
    "{query} looks at {key} and hardly anywhere else: {share} of its weight is there.": nearly_all,
}
ORACLE = ROW | {
    "Loops and matrices give the same weights and output but for rounding: they differ by at most {largest}. "
    "Python's loops compute with about 16 digits, PyTorch's matrices with about 7.": difference,
    "{rows}\u00a0×\u00a0{columns}": chosen,
    LARGEST: lambda case, sentence: chosen(case, sentence) | {"concept": True},
    CELL: chosen,
    MIRROR: chosen,
    SAME_PRODUCTS: some_score,
    LONGER: chosen,
    "The dot product of {query} and {key} is {score}; another is larger.": other_is_larger,
    "Both factors become longer: {longer} × {longer} = {times}.": chosen,
}


def others_than(case, query):
    return [j for j in range(len(x_of(case))) if j != query]


def answer_largest(case, prompt):
    query = prompt.arguments["query"].position
    others = others_than(case, query)
    return {
        "Its vector points in a similar direction, or it is long, or both.": max(
            others, key=lambda j: dot(case, query, j)
        ),
        "None of the other tokens has a longer vector, but the direction counts as well.": max(
            others, key=lambda j: math.dist(case.trace.x[j].tolist(), [0.0] * case.trace.x.shape[1])
        ),
        "The dot product of {query} and {key} is {score}; another is larger.": ...,
        JUDGE: by_largest([dot(case, query, j) if j != query else -math.inf for j in range(len(x_of(case)))]),
    }


def some_dot_product(case, sentence):
    """Of which pair, only the prompt says: of one whose sign is what the sentence says."""
    said, every = sentence.arguments["score"].value, [dot(case, i, j) for i in range(len(x_of(case))) for j in range(i)]
    found = min(every, key=lambda score: abs(score - said))
    assert sentence.template in (SIGN_SAYS[bool(found > 0)], OTHER_SIGN[bool(found > 0)], NO_ANGLE)
    return {"score": found}


def answer_sign(case, prompt):
    one, other = (prompt.arguments[name].position for name in ("one", "other"))
    cosine = dot(case, one, other) / np.linalg.norm(x_of(case)[one]) / np.linalg.norm(x_of(case)[other])
    judge = by_text(
        {
            "More in the same direction.": cosine > 1e-9,
            "More in opposite directions.": cosine < -1e-9,
            "Exactly at a right angle.": abs(cosine) < 1e-9,
        }
    )
    return {SIGN_SAYS[bool(cosine > 0)]: ..., OTHER_SIGN[bool(cosine > 0)]: ..., NO_ANGLE: ..., JUDGE: judge}


def answer_cell(case, prompt):
    i, j = (prompt.arguments[name].position for name in ("query", "key"))
    a, b = x_of(case)[i], x_of(case)[j]
    thoughts = {
        "the products of the pairs, added up": dot(case, i, j),
        "the products, added up, over both lengths": dot(case, i, j) / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-9),
        "all the numbers of both rows, added up": sum(a) + sum(b),
        "both sums, multiplied": sum(a) * sum(b),
        "the product of the first pair": a[0] * b[0],
        "the products of the pairs, averaged": dot(case, i, j) / len(a),
    }
    replies = (
        "Multiply the numbers in pairs and add the products.",
        "That is the cosine: the dot product divided by both lengths.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_mirror(case, prompt):
    i, j = (prompt.arguments[name].position for name in ("one", "other"))
    there, back = dot(case, i, j), dot(case, j, i)
    judge = by_text(
        {
            "The same number.": abs(there - back) < AS_GOOD,
            "Minus that number.": abs(there + back) < AS_GOOD,
            "Another number.": abs(there - back) > AS_GOOD,
        }
    )
    return {SAME_PRODUCTS: ..., JUDGE: judge}


def answer_longer(case, prompt):
    token, longer = prompt.arguments["token"].position, prompt.arguments["longer"]
    stretched, plain = longer * x_of(case)[token], x_of(case)[token]

    def judge(card):
        times = card.text.arguments.get("times", 1)
        return abs(stretched @ stretched - times * plain @ plain) < AS_GOOD

    return {
        "Both factors become longer: {longer} × {longer} = {times}.": round(
            float(stretched @ stretched / (plain @ plain))
        ),
        "That would hold for another token. Here both factors become longer.": longer,
        "Only the cosine does not change.": None,
        JUDGE: judge,
    }


ORACLE |= {
    "Loops and matrices give exactly the same weights and output.": holds(
        lambda case: loops_are_as_near_as(case, 1e-5)
    ),
}

ORACLE |= {SIGN: chosen, **dict.fromkeys((*SIGN_SAYS.values(), *OTHER_SIGN.values(), NO_ANGLE), some_dot_product)}
ANSWERS = {
    SIGN: answer_sign,
    LARGEST: answer_largest,
    CELL: answer_cell,
    MIRROR: answer_mirror,
    LONGER: answer_longer,
}


def shown(view, query=0, **choices):
    trace = run_example(Example(**choices))
    return screen(trace, 0, Choices(view, query)).figures[0]


def test_the_notebooks_row_to_the_printed_digits():
    *_, weights, _, _, _ = shown("one", 1).matrices
    assert weights.values[:, 0].tolist() == pytest.approx([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581], abs=5e-5)


def test_keys_that_share_a_weight_alike_are_all_named():
    """Exact ties wherever a word repeats."""
    said = render(shown("one", 2, source="sentence", text="the cat the the dog").notice[0])
    assert re.search(r"“the” \(1\), “the” \(3\) and “the” \(4\)", said)


def test_a_leader_with_less_than_half_is_said_with_its_share():
    said = render(shown("one", 5).notice[0])
    assert said == "“step” looks most at “journey” (22%), then at “starts” (21%)."


def test_the_difference_of_loops_and_matrices_is_followed_with_all_its_digits():
    gap = shown("equal", source="sentence", text="one two three", d_model=3).matrices[2]
    for i in range(3):
        for j in range(3):
            step = gap.step(i, j)
            assert evaluates(step) and step.value == float(gap.values[i, j])


def test_a_difference_that_rounding_does_not_explain_is_told():
    attention = attend_without_weights(run_example(Example()).x)
    broken = replace(attention, output=attention.output + 0.5)
    assert render(notice_ways(loops_beside_matrices(broken, 1.0))).startswith(
        "Loops and matrices differ by up to 0.50: more than rounding"
    )


def test_only_vectors_that_were_drawn_are_called_random():
    assert shown("all").weights is None
    assert render(shown("all", source="sentence", seed=7).weights) == "Untrained: random vectors (seed 7)."
