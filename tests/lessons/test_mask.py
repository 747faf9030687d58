"""The lesson on masks says only what its tensors say. No server, no browser: a screen is data."""

import math

import pytest
import torch
from screens import AS_GOOD, JUDGE, by_text, by_thought, chosen, holds

from attention_core.one_head.masks import causal_mask, full_mask, sliding_window_mask
from lessons.example.edits import Edit
from lessons.example.example import Example, run_example
from lessons.one_head.mask.lesson import Choices, screen
from lessons.screen import render

VIEWS = ("change", "difference", "late", "blind")


def cases(trace):
    n = len(trace.tokens)
    for mask in (causal_mask(n), full_mask(n), sliding_window_mask(n, 1)):
        for view in VIEWS:
            yield Choices(mask, view)


def softmax(scores):
    """Plain Python, row by row."""
    powers = [math.exp(s - max(scores)) for s in scores]
    return [p / sum(powers) for p in powers]


def weights_of(case, masked):
    """The weights without the mask or with it, from the scaled scores."""
    rows = (case.attention.scores * case.trace.scale).tolist()
    may = case.choices.may_attend.tolist() if masked else [[True] * len(rows)] * len(rows)
    return [
        softmax([s if sees else -math.inf for s, sees in zip(row, see, strict=True)])
        for row, see in zip(rows, may, strict=True)
    ]


def growth(case):
    free, masked, may = weights_of(case, False), weights_of(case, True), case.choices.may_attend.tolist()
    return {(i, j): masked[i][j] - free[i][j] for i in range(len(may)) for j in range(len(may)) if may[i][j]}


def grown_most(case, sentence):
    i, j = (sentence.arguments[name].position for name in ("query", "key"))
    assert growth(case)[i, j] == pytest.approx(max(growth(case).values()), abs=1e-5)
    return {"query": i, "key": j, "before": weights_of(case, False)[i][j], "after": weights_of(case, True)[i][j]}


def grows_little(case, sentence):
    return {"most": max(growth(case).values())}


def left(case):
    free, may = weights_of(case, False), case.choices.may_attend.tolist()
    return [sum(w for w, sees in zip(row, see, strict=True) if sees) for row, see in zip(free, may, strict=True)]


def one_row_left(case, sentence):
    query = sentence.arguments["query"].position
    assert left(case)[query] == pytest.approx(min(left(case)), abs=1e-4)
    return {"query": query, "left": left(case)[query]}


def weight_before(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    return {"query": query, "key": key, "before": weights_of(case, False)[query][key]}


HIDES = "The mask hides {key} from {query}. How much weight does {query} put on {key}?"
NOTHING_HIDDEN = (
    "Its score is −∞ before the softmax, and exp(−∞) is exactly 0. Without the mask the weight was {before}."
)


def hidden_before(case, sentence):
    """The prompt is not known here, so it must be the weight of some hidden cell."""
    said, hidden = sentence.arguments["before"].value, (~case.choices.may_attend).nonzero().tolist()
    before = weights_of(case, False)
    return {"before": min((before[i][j] for i, j in hidden), key=lambda weight: abs(weight - said))}


ORACLE = {
    "{query} may no longer see some keys, and their weight goes to the rest: its weight on {key} grows "
    "from {before} to {after}.": grown_most,
    "No visible weight grows by more than {most}.": grows_little,
    "Zeroed after the softmax, the row of {query} sums to only {left}, not to 1: the softmax had already given "
    "the rest to hidden keys.": one_row_left,
    "For a query that may see nothing, −∞ makes each weight 0 ÷ 0, not a number; −1e9 makes each "
    "{even}, and nothing warns you.": lambda case, sentence: {"even": 1 / len(case.trace.tokens)},
    HIDES: chosen,
    NOTHING_HIDDEN: hidden_before,
    "Without the mask, {query} puts the weight {before} on {key}, which stays visible. What is this weight "
    "with the mask?": weight_before,
    "Someone takes the softmax over all {n} keys first and only then writes 0 wherever the mask "
    "hides a key. What does the row of {query} sum to?": chosen,
    "{query} is token {position} of {n}. How many keys may it look at under this mask?": chosen,
    "That is its column: this many queries may look at {token}.": chosen,
}


def pair_of(prompt):
    return (prompt.arguments[name].position for name in ("query", "key"))


def answer_hidden(case, prompt):
    query, key = pair_of(prompt)
    assert not case.choices.may_attend[query, key]
    before, after = weights_of(case, False)[query][key], weights_of(case, True)[query][key]
    judge = by_text(
        {
            "None: exactly 0.": after == 0,
            "A little.": after > 0,
            "As much as without the mask.": abs(after - before) < AS_GOOD,
            "A negative weight.": after < 0,
        }
    )
    return {NOTHING_HIDDEN: ..., JUDGE: judge}


def answer_with_the_mask(case, prompt):
    query, key = pair_of(prompt)
    before, visible = weights_of(case, False)[query], case.choices.may_attend[query].tolist()
    hidden = sum(w for w, sees in zip(before, visible, strict=True) if not sees)
    thoughts = {
        "all visible weights grow by the same factor": before[key] / (1 - hidden),
        "its score stays the same, and so does its weight": before[key],
        "the weight of the hidden keys is shared out evenly": before[key] + hidden / sum(visible),
        "it takes over all the weight of the hidden keys": before[key] + hidden,
        "all visible weights shrink by the same factor": before[key] * (1 - hidden),
        "every visible key gets the same share": 1 / sum(visible),
    }
    replies = (
        "The softmax divides by a smaller sum, so each visible weight grows by the same factor.",
        "The score does not change, but now fewer keys share the whole.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_zeroed(case, prompt):
    query = prompt.arguments["query"].position
    kept = left(case)[query]
    seen = case.choices.may_attend[query].tolist()
    thoughts = {
        "the visible keys' weights, added up": kept,
        "a row of weights always sums to 1": 1.0,
        "the hidden keys' weights, added up": 1 - kept,
        "the share of keys that are visible": sum(seen) / len(seen),
        "the maximum weight of a visible key": max(
            w for w, sees in zip(weights_of(case, False)[query], seen, strict=True) if sees
        ),
    }
    replies = (
        "The hidden keys have already taken their share. A mask must come before the softmax.",
        "That holds if the mask comes first: then the visible keys share the whole.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_count(case, prompt):
    query, n = prompt.arguments["query"].position, len(case.trace.tokens)
    row, column = case.choices.may_attend[query].tolist(), case.choices.may_attend[:, query].tolist()
    thoughts = {
        "the visible cells of its row": sum(row),
        "the visible cells of its column": sum(column),
        "the hidden cells of its row": n - sum(row),
        "the visible cells of its row, less one": sum(row) - 1,
        "the visible cells of its row, and one more": sum(row) + 1,
    }
    replies = "Count the visible cells of its row.", "That is its column: this many queries may look at {token}."
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


ORACLE |= {
    "This mask hides no key, so it makes no difference when it is applied.": holds(
        lambda case: case.choices.may_attend.all()
    ),
    "This mask hides nothing, so no weight changes.": holds(
        lambda case: case.choices.may_attend.all() and weights_of(case, True) == weights_of(case, False)
    ),
    "The keys that this mask hides had no weight, so it makes no difference when the mask is applied.": holds(
        lambda case: min(left(case)) > 1 - 1e-5 and not case.choices.may_attend.all()
    ),
}

ANSWERS = {
    HIDES: answer_hidden,
    "Without the mask, {query} puts the weight {before} on {key}, which stays visible. What is this weight "
    "with the mask?": answer_with_the_mask,
    "Someone takes the softmax over all {n} keys first and only then writes 0 wherever the mask "
    "hides a key. What does the row of {query} sum to?": answer_zeroed,
    "{query} is token {position} of {n}. How many keys may it look at under this mask?": answer_count,
}


def notice(view, mask, **choices):
    trace = run_example(Example(source="sentence", **choices))
    return render(screen(trace, 0, Choices(mask, view)).figures[0].notice[0])


def test_a_mask_that_hides_nothing_says_so():
    assert notice("change", full_mask(3), text="a b c") == "This mask hides nothing, so no weight changes."
    assert "makes no difference" in notice("late", full_mask(3), text="a b c")


def test_a_row_that_loses_a_thousandth_is_not_said_to_lose_nothing():
    """ "hi there", seed 3: the row sum is 0.9984."""
    said = notice("late", causal_mask(2), text="hi there", seed=3)
    assert "hides nothing" not in said and "0.998" in said


def test_no_weight_is_named_that_reads_the_same_as_before():
    """Among twelve keys no weight grows by a percent, though 4% of the row are hidden."""
    mask = full_mask(12)
    mask[0, 4] = False
    sizes = {"d_model": 3, "d_k": 2, "d_v": 2, "n_heads": 1, "causal": False, "seed": 13}
    said = notice("change", mask, text="one two three four five six seven eight nine ten eleven twelve", **sizes)
    assert said.startswith("No visible weight grows by more")


def test_a_row_that_loses_nothing_is_not_said_to_sum_to_only_1():
    """Scores so far apart that one key has the whole weight, and the mask hides the others."""
    edits = tuple(Edit("x", row, column, 200.0 * (row - column)) for row in range(3) for column in range(3))
    mask = full_mask(3)
    mask[:, :2] = False
    sizes = {"d_model": 3, "d_k": 2, "d_v": 2, "n_heads": 1, "causal": False}
    assert "had no weight" in notice("late", mask, text="a b c", edits=edits, **sizes)


def test_zeroing_after_the_softmax_breaks_the_rows():
    trace = run_example(Example())
    n = len(trace.tokens)
    _, late, sums = screen(trace, 0, Choices(causal_mask(n), "late")).figures[0].matrices
    assert torch.allclose(late.values.sum(dim=-1, keepdim=True), sums.values)
    assert (sums.values[:-1] < 1).all()
