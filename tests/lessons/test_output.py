"""The lesson on outputs says only what its tensors say. Everything is computed again from X and W, in NumPy."""

import math

import numpy as np
import pytest
from screens import AS_GOOD, JUDGE, Ranked, by_largest, by_text, by_thought, chosen

from lessons.example.edits import Edit
from lessons.example.example import Example, run_example
from lessons.example.presets import PRESETS
from lessons.one_head.output.lesson import Choices, contributions, screen
from lessons.screen import percent, render
from lessons.shared.attention_notices import notice_mix

VIEWS = ("one", "all", "parts")


def cases(trace):
    for view in VIEWS:
        yield Choices(view, len(trace.tokens) - 1)
    yield Choices("one", 0)
    yield Choices("parts", 0)


def role(case, letter):
    """Queries, keys or values of the head: X times its columns of W."""
    W = getattr(case.trace, f"W_{letter}").double().numpy()
    width = W.shape[1] // case.trace.example.n_heads
    x, added = case.trace.x, case.trace.added
    made_of = x if added is None or letter == "v" else x + added
    rows = made_of.double().numpy() @ W[:, case.head * width : (case.head + 1) * width]
    if case.trace.rotary is not None and letter != "v":
        rows = turned(rows, case.trace.rotary.base)
    features = case.trace.turn_v if letter == "v" else case.trace.turn
    return rows if features is None else rows @ features[case.head].double().numpy()


def turned(rows, base):
    """Queries or keys as rotary positions turn them: each pair of features as one complex number."""
    n, width = rows.shape
    angles = np.arange(n)[:, None] * base ** (-np.arange(0, width, 2) / width)
    pairs = (rows[:, ::2] + 1j * rows[:, 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(n, width)


def weights_of(case, causal=None, order=None):
    """Row by row, over the visible keys alone: no −∞ involved."""
    example = case.trace.example
    causal = example.causal if causal is None else causal
    order = range(len(case.trace.tokens)) if order is None else order
    scores = np.einsum("if,jf->ij", role(case, "q")[order], role(case, "k")[order])
    scores *= example.d_k**-0.5 if example.scaling else 1.0
    weights = np.zeros_like(scores)
    for i, row in enumerate(scores):
        seen = slice(0, i + 1) if causal else slice(None)
        powers = np.exp(row[seen] - row[seen].max())
        weights[i, seen] = powers / powers.sum()
    return weights


def visible(case, query):
    return range(query + 1 if case.trace.example.causal else len(case.trace.tokens))


def mix(case, sentence):
    query = sentence.arguments["query"].position
    row = weights_of(case)[query, visible(case, query)]
    keys = [token.position for token in sentence.arguments["keys"].items]
    return {"query": query, "values": len(row), "share": max(row), "keys": keys}


def largest_weight(case, sentence):
    said = mix(case, sentence)
    row = weights_of(case)[said["query"], visible(case, said["query"])].tolist()
    return said | {"count": len(said["keys"]), "ranked": Ranked(row, said["keys"], percent)}


def one_value(case, sentence):
    query = sentence.arguments["query"].position
    assert list(visible(case, query)) == [query]
    return {"query": query} | ({"keys": [query]} if "keys" in sentence.arguments else {})


def lengths_of(case, query):
    """Of the values, of weight × value, one key after the other."""
    values = [math.sqrt(math.fsum(v * v for v in row)) for row in role(case, "v")]
    terms = weights_of(case)[query][:, None] * role(case, "v")
    return np.array(values), np.array([math.hypot(*term) for term in terms])


def contribution(case, sentence):
    query, key = case.choices.query, sentence.arguments["key"].position
    values, added = lengths_of(case, query)
    longer = "more than" in sentence.template
    assert (values[key] > added.sum()) == longer and (added[key] / added.sum() > weights_of(case)[query, key]) == longer
    return {
        "key": key,
        "weight": weights_of(case)[query, key],
        "share": added[key] / added.sum(),
        "length": values[key],
        "mean": added.sum(),
    }


def nearly_the_same(case, sentence):
    query = case.choices.query
    _, added = lengths_of(case, query)
    gaps = np.abs(added / added.sum() - weights_of(case)[query])
    return {"gap": gaps.max()}


def all_zero(case, sentence):
    assert not role(case, "v")[visible(case, sentence.arguments["query"].position)].any()
    return chosen(case, sentence)


def shorter_term(case, sentence):
    """Another key adds a longer vector for the query of the question; which one that was, the prompt says."""
    key, length = sentence.arguments["key"].position, sentence.arguments["length"].value
    terms = [lengths_of(case, query)[1] for query in range(len(case.trace.tokens))]
    (row, *_) = (row for row in terms if row[key] == pytest.approx(length, rel=1e-4, abs=1e-6) and row[key] < row.max())
    return {"key": key, "length": row[key]}


CELL = "What is feature {feature} of the output of {query}?"
SHAPE = "In another model the weights of one head are {weights} and V is {values}. What is the shape of the output?"
TERMS = "The output of {query} adds up weight × value over all keys. Which of these terms is the longest vector?"
SWAP = (
    "With {mask}, {one} and {other} swap positions, each with its query, key and value. What happens to "
    "the output of {one}?"
)
OWN_QUERY = "It brings its own query along, so its output is not that of {token}."
TIMES = "Every value is multiplied by {times}; queries and keys stay the same. What happens to the output of {query}?"

ORACLE = {
    "{query} receives its own value, unmixed.": one_value,
    "{query} receives a weighted mix of {values} values, its own included. The largest weight, {share}, is on "
    "{keys}.": largest_weight,
    "A weight is not a contribution: {key} has {weight} of the weight but {share} of what is added "
    "up. Its value has length {length}; the weighted mean of all lengths is {mean}.": contribution,
    "No share differs from its weight by more than {gap}.": nearly_the_same,
    "Every value that {query} receives is zero, so nothing is added up.": all_zero,
    "{rows}\u00a0×\u00a0{columns}": chosen,
    CELL: chosen,
    TERMS: lambda case, sentence: chosen(case, sentence) | {"concept": True},
    SWAP: lambda case, prompt: (
        chosen(case, prompt) | {"mask": "a causal mask" if case.trace.example.causal else "no mask"}
    ),
    TIMES: chosen,
    OWN_QUERY: chosen,
    "That is only the value of {key}. The others are mixed in too.": chosen,
    "The term of {key} has length {length}; another is longer.": shorter_term,
}


def answer_cell(case, prompt):
    query, column = prompt.arguments["query"].position, prompt.arguments["feature"] - 1
    weights, values = weights_of(case), role(case, "v")[:, column]
    thoughts = {
        "the values, mixed by the weights of its row": weights[query] @ values,
        "the winner takes all, and its value comes out": values[weights[query].argmax()],
        "the values, mixed by the weights of its column": weights[:, query] @ values,
        "the values, mixed as if there were no mask": weights_of(case, causal=False)[query] @ values,
        "the visible values, mixed evenly": values[visible(case, query)].mean(),
        "its own value, unchanged": values[query],
    }
    replies = (
        "Multiply each value by its weight in the row and add up.",
        "That is only the value of {key}. The others are mixed in too.",
        "The weights of a query are in its row, not down its column.",
    )
    return dict.fromkeys(replies, ...) | {JUDGE: by_thought(thoughts)}


def answer_shape(case, prompt):
    weights, values = (np.ones([*prompt.arguments[name].arguments.values()]) for name in ("weights", "values"))
    rows, columns = (weights @ values).shape
    n, d_v = values.shape
    thoughts = {
        "for each query, as many features as a value": (rows, columns),
        "for each query, as many numbers as there are keys": (n, n),
        "for the whole sentence, one mix of values": (1, d_v),
        "for each feature of a value, all queries": (d_v, n),
    }
    shapes = {thought: dict(zip(("rows", "columns"), shape, strict=True)) for thought, shape in thoughts.items()}
    return {"Each query has a row with as many features as a value.": ..., JUDGE: by_thought(shapes)}


def answer_terms(case, prompt):
    query = prompt.arguments["query"].position
    values, terms = lengths_of(case, query)
    return {
        "The length of a term is the weight times the length of the value.": int(terms.argmax()),
        "No other key has more weight, but the value of this one is shorter.": int(weights_of(case)[query].argmax()),
        "No other value is longer, but the weight of this one in the row is too small.": int(values.argmax()),
        "The term of {key} has length {length}; another is longer.": ...,
        JUDGE: by_largest(terms),
    }


def output_after_swap(case, prompt):
    """The output of the first token, at its new position, and how far it is from its own and the other's before."""
    one, other = (prompt.arguments[name].position for name in ("one", "other"))
    order = np.arange(len(case.trace.tokens))
    order[[one, other]] = other, one
    before = weights_of(case) @ role(case, "v")
    after = (weights_of(case, order=order) @ role(case, "v")[order])[other]
    return (np.abs(after - before[position]).max() for position in (one, other))


def judge_swapped(case, prompt):
    own, other = output_after_swap(case, prompt)
    return by_text(
        {
            "It keeps its numbers.": own < AS_GOOD,
            "It changes, but not to the numbers of {token}.": own > AS_GOOD and other > AS_GOOD,
            "It takes on the numbers of {token}.": other < AS_GOOD,
        }
    )


def answer_masked(case, prompt):
    assert case.trace.example.causal
    own, other = output_after_swap(case, prompt)
    assert own > 0.009 and other > 0.009, "neither its own numbers nor those of the other"
    return {
        "At its new position it may look at other tokens: the mask makes the order matter.": ...,
        "The mask does not leave it the same keys at its new position.": ...,
        OWN_QUERY: ...,
        JUDGE: judge_swapped(case, prompt),
    }


def answer_free(case, prompt):
    assert not case.trace.example.causal
    own, other = output_after_swap(case, prompt)
    assert own < 2e-3 and other > 0.009
    return {
        "The same queries meet the same keys and mix the same values: only the rows move.": ...,
        "Without a mask it meets all keys, wherever it stands, so nothing changes for it.": ...,
        OWN_QUERY: ...,
        JUDGE: judge_swapped(case, prompt),
    }


def answer_times(case, prompt):
    times, query = prompt.arguments["times"], prompt.arguments["query"].position
    row, values = weights_of(case)[query], role(case, "v")

    def judge(card):
        grown = card.text.arguments.get("times", 1)
        return np.abs(row @ (times * values) - grown * (row @ values)).max() < AS_GOOD

    return {
        "The weights stay the same, so the mix grows as its values do.": times,
        "The weights sum to 1, but the values are larger.": None,
        "Weights come only from queries and keys.": times**2,
        JUDGE: judge,
    }


ANSWERS = {
    CELL: answer_cell,
    SHAPE: answer_shape,
    TERMS: answer_terms,
    SWAP: lambda case, prompt: (answer_masked if case.trace.example.causal else answer_free)(case, prompt),
    TIMES: answer_times,
}


def figure(view, query=-1, **choices):
    trace = run_example(Example(**choices))
    return screen(trace, 0, Choices(view, query % len(trace.tokens))).figures[0]


def said(*arguments, **choices):
    return render(figure(*arguments, **choices).notice[0])


def test_a_weight_is_not_said_to_be_a_part_of_the_output():
    assert "part" not in said("one") and "The largest weight, " in said("one")


def test_a_large_weight_on_a_short_value_adds_little():
    trace = run_example(Example())
    attention = trace.heads.select(0)
    parts = contributions(attention, 5)
    expected = [w * math.hypot(*v) for w, v in zip(attention.weights[5].tolist(), attention.v.tolist(), strict=True)]
    assert parts.lengths.tolist() == pytest.approx(expected, rel=1e-5)
    assert parts.shares.tolist() == pytest.approx([length / sum(expected) for length in expected], rel=1e-5)


def test_rows_that_are_keys_are_called_keys():
    weight, _, share = figure("parts").matrices
    assert render(weight.rows.name) == render(share.rows.name) == "keys"


def test_a_hidden_key_adds_nothing_and_the_figure_says_why():
    weight, part = (m for m in figure("one", 1).matrices if m.key in ("weight", "part"))
    assert not weight.sees(4, 0) and not part.sees(4, 0)
    assert weight.step(4, 0).value == 0 == part.step(4, 0).value
    assert "adds nothing" in render(part.step(4, 0).meaning)


def test_values_that_are_all_zero_have_no_shares():
    zeros = tuple(Edit("W_v", row, column, 0.0) for row in range(3) for column in range(2))
    trace = run_example(Example(edits=zeros))
    shown = screen(trace, 0, Choices("parts", 5)).figures[0]
    assert shown.matrices[2].values.tolist() == [[0.0]] * 6
    assert render(shown.notice[0]) == "Every value that “step” receives is zero, so nothing is added up."


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("source", PRESETS)
def test_a_mix_counts_the_values_that_a_query_sees_and_its_own_is_one_of_them(source, causal):
    """Also where it sees one key alone: that is its own."""
    trace = run_example(Example(source=source, causal=causal))
    for head in range(trace.example.n_heads):
        attention = trace.heads.select(head)
        for query, row in enumerate(attention.weights.tolist()):
            seen = [key for key, weight in enumerate(row) if weight > 0]
            told = notice_mix(trace.names, attention, query)
            assert query in seen
            if len(seen) == 1:
                assert render(told).endswith(" receives its own value, unmixed.")
            else:
                assert told.arguments["values"] == len(seen) and "its own included" in told.template
