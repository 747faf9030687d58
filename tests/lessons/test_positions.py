"""The lesson on positions says only what its tensors say; here they are computed again in double precision."""

import math

import numpy as np
import pytest
import torch
from printed_lines import wrong
from screens import JUDGE, Case, by_text, by_thought, check_said, chosen, holds, token_on

from attention_core.measured.permutation import random_permutation
from attention_core.text.positions import added_positions, kinds_for
from lessons.example.example import Example, run_example
from lessons.model.positions.lesson import Choices, screen
from lessons.screen import equation, format_value, render, render_all
from tests.printed import readings, with_decimals

KINDS = ("none", "sinusoidal", "learned", "rotary")
ROUNDING = 1e-4  # of single precision, even where numbers are large


def cases(trace):
    n = len(trace.tokens)
    permutation = random_permutation(n, trace.example.seed % 7)
    for at, kind in enumerate(kinds_for(trace.example.d_k)):
        for view in (("output", "weights")[at % 2], "rows", "distance"):
            yield Choices(permutation, view, kind, causal=view == "weights", token=n // 2)
    yield Choices(permutation, causal=True)
    yield Choices(tuple(range(n)), "weights")


# One head with positions, by other formulas than those of the lesson.


def waves(n, d):
    return np.array(
        [
            [(math.sin if f % 2 == 0 else math.cos)(place / 10000 ** ((f - f % 2) / d)) for f in range(d)]
            for place in range(n)
        ]
    )


def base_of(case):
    """Of rotary positions: that of the model of the example, where it has some."""
    return 10000.0 if case.trace.rotary is None else case.trace.rotary.base


def turn(rows, base, first=0):
    """Each row turned pair by pair, as complex numbers; the first row stands at this position."""
    pairs = rows[:, 0::2] + 1j * rows[:, 1::2]
    places, speeds = np.arange(first, first + len(rows)), base ** (-np.arange(pairs.shape[1]) * 2 / rows.shape[1])
    turned = pairs * np.exp(1j * places[:, None] * speeds)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(rows.shape)


def maps_of(case):
    widths = (case.trace.example.d_k, case.trace.example.d_k, case.trace.example.d_v)
    packed = (W.double().numpy() for W in (case.trace.W_q, case.trace.W_k, case.trace.W_v))
    return [W[:, case.head * width : (case.head + 1) * width] for W, width in zip(packed, widths, strict=True)]


def x_of(case):
    """What enters the head; in a first layer without the vectors that the model adds for positions."""
    trace = case.trace
    if trace.trained is None or trace.example.layer > 1:
        return trace.x.double().numpy()
    model = trace.example.given_by.model(trace.example)
    if model.config.positions not in ("learned", "sinusoidal"):
        return trace.x.double().numpy()
    rows = model.table[list(trace.ids)].double()
    if model.layers[0].norm is not None:
        spread = (rows.var(dim=-1, keepdim=True, correction=0) + 1e-5).sqrt()
        rows = (rows - rows.mean(dim=-1, keepdim=True)) / spread
        rows = rows * model.layers[0].norm.gain + model.layers[0].norm.shift
    return rows.numpy()


def added_of(case, kind=None):
    n, d = x_of(case).shape
    kind = kind or case.choices.kind
    if kind != "learned":
        return waves(n, d) if kind == "sinusoidal" else np.zeros((n, d))
    return added_positions(kind, n, d, case.trace.example.seed).double().numpy()


def run(case, x, kind=None, causal=None):
    """Weights and output, row by row over the visible keys alone."""
    kind = kind or case.choices.kind
    q, k, v = ((x + added_of(case, kind)) @ W for W in maps_of(case))
    if kind == "rotary":
        q, k = turn(q, base_of(case)), turn(k, base_of(case))
    weights = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        seen = i + 1 if (case.choices.causal if causal is None else causal) else len(x)
        row = k[:seen] @ q[i] * case.trace.scale
        weights[i, :seen] = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    return weights, weights @ v


def both_orders(case, kind=None, causal=None):
    """Weights and output attended first, then permuted; and those permuted first."""
    order = list(case.choices.permutation)
    weights, output = run(case, x_of(case), kind, causal)
    return (weights[order][:, order], output[order]), run(case, x_of(case)[order], kind, causal)


def residual(case, kind=None, causal=None):
    (_, then), (_, first) = both_orders(case, kind, causal)
    return np.abs(first - then).max()


def rounding(said, exact):
    """What is rounding cannot be computed again, only bounded; anything else can."""
    if exact < 1e-9:
        assert 0 <= said.value < ROUNDING
        return said.value
    return exact


# What is said.


def output_differs(case, sentence):
    (_, then), (_, first) = both_orders(case)
    token, feature = sentence.arguments["token"].position, sentence.arguments["feature"] - 1
    row = case.choices.permutation.index(token)
    gap = np.abs(first - then)
    assert gap[row, feature] == pytest.approx(gap.max(), rel=1e-3)
    return {"token": token, "feature": feature + 1, "before": then[row, feature], "after": first[row, feature]}


def weight_differs(case, sentence):
    (then, _), (first, _) = both_orders(case)
    query = sentence.arguments["query"].position
    key = getattr(sentence.arguments["key"], "position", query)
    row, column = (case.choices.permutation.index(token) for token in (query, key))
    gap = np.abs(first - then)
    assert gap[row, column] == pytest.approx(gap.max(), rel=1e-3)
    said = {"query": query, "key": "itself" if key == query else key}
    return said | {"before": then[row, column], "after": first[row, column]}


def no_trace(case, sentence):
    assert residual(case) < 1e-9
    said = sentence.arguments
    if case.choices.view == "output":
        gap = next(m for m in case.screen.figures[0].matrices if m.key == "gap")
        assert float(gap.values.abs().max()) < ROUNDING
    return {"single": rounding(said["single"], 0)}


def leak(case, sentence):
    exact = {"free": residual(case, "none", False), "masked": residual(case, "none", True)}
    assert exact["free"] < 1e-9
    return {name: rounding(sentence.arguments[name], value) for name, value in exact.items()}


def lengths(case, sentence):
    return {name: np.linalg.norm(m, axis=1).mean() for name, m in (("added", added_of(case)), ("x", x_of(case)))}


def repeats(case, sentence):
    d = x_of(case).shape[1]
    return {"first": 2 * math.pi, "last": 2 * math.pi * 10000 ** ((d - 1) // 2 * 2 / d)}


def degrees_of(case):
    d_k = case.trace.example.d_k
    return [math.degrees((len(x_of(case)) - 1) / base_of(case) ** (2 * p / d_k)) for p in range(d_k // 2)]


def one_angle(case, sentence):
    said = sentence.arguments["degrees"].value
    return {"degrees": min(degrees_of(case), key=lambda angle: abs(angle - said))}


def turned(case, sentence):
    said = [angle.arguments["degrees"].value for angle in sentence.arguments["angles"].items]
    assert said == pytest.approx(degrees_of(case), rel=1e-4)
    query = x_of(case)[-1] @ maps_of(case)[0]
    assert np.linalg.norm(turn(np.tile(query, (5, 1)), base_of(case))[4]) == pytest.approx(np.linalg.norm(query))
    return {
        "count": len(said),
        "token": len(x_of(case)) - 1,
        "angles": [...] * len(said),
        "length": np.linalg.norm(query),
    }


def first_and_last(case, sentence):
    """Of many pairs; and no turn changes a length."""
    query = x_of(case) @ maps_of(case)[0]
    np.testing.assert_allclose(*(np.linalg.norm(rows, axis=1) for rows in (turn(query, base_of(case)), query)))
    return {"token": len(x_of(case)) - 1, "first": degrees_of(case)[0], "last": degrees_of(case)[-1]}


def own_turn(case, sentence):
    """After how many tokens the angles of a pair have grown by a whole turn."""
    d_k = case.trace.example.d_k
    round_after = [2 * math.pi * base_of(case) ** (2 * p / d_k) for p in range(d_k // 2)]
    return {"which": f"all {d_k}", "base": base_of(case), "first": round_after[0], "last": round(round_after[-1])}


def scores_of_two(case, sentence):
    """The key that a query gives most, the score there, and where its place is another."""
    token, weights = case.choices.token, run(case, x_of(case), "rotary", case.trace.example.causal)[0]
    key = int(weights[token, : token + 1].argmax())
    q, k = x_of(case)[token] @ maps_of(case)[0], x_of(case)[key] @ maps_of(case)[1]

    def score(steps):
        rows = turn(q[None], base_of(case), 100)[0], turn(k[None], base_of(case), 100 - steps)[0]
        return sum(a * b for a, b in zip(*rows, strict=True)) * case.trace.scale

    scores = {"here": score(token - key), "near": score(1), "further": score(8), "far": score(32)}
    said = "itself" if key == token else key
    return {"query": token, "key": said, "weight": weights[token, key]} | scores


def cosines(case):
    """Of 64 positions with 64 others."""
    kind = case.choices.kind
    if kind in ("none", "rotary"):
        q, k = (np.tile(x_of(case)[case.choices.token] @ W, (64, 1)) for W in maps_of(case)[:2])
        q, k = (turn(q, base_of(case)), turn(k, base_of(case))) if kind == "rotary" else (q, k)
    elif kind == "sinusoidal":
        q = k = waves(64, x_of(case).shape[1])
    else:
        q = k = added_positions(kind, 64, x_of(case).shape[1], case.trace.example.seed).double().numpy()
    return cosines_of(q, k)


def cosines_of(q, k):
    length = np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1)
    return np.divide(q @ k.T, length, out=np.zeros((len(q), len(k))), where=length > 1e-12)


def variation(table):
    return max(np.ptp(np.diagonal(table, distance)) for distance in range(-32, 33))


def at_distances(case, sentence):
    table = cosines(case)
    names = {"near": 1, "further": 8, "far": 32}
    found = {name: np.diagonal(table, distance).mean() for name, distance in names.items()}
    return found | ({"token": case.choices.token} if "token" in sentence.arguments else {})


def only_distance(case, sentence):
    return {"variation": rounding(sentence.arguments["variation"], variation(cosines(case)))}


SEED = "Untrained: random weights and positions (seed {seed})."
BY_HAND = "Untrained: random weights and positions (seed {seed}), some of them changed by hand."
TURNED = "In the query of {token}, the pair of features turns by {angles}; the length of the query stays {length}."
OWN_TURN = (
    "The model itself turns {which} features in this way, with base {base}. The first pair comes "
    "round after {first} tokens, the last after {last}."
)
SCORES = (
    "{query} puts {weight} of its weight on {key}: the scaled score is {here}. At a distance of 1 the "
    "same two vectors would score {near}, at 8 {further} and at 32 {far}."
)
WEIGHT_DIFFERS = (
    "The order matters: {query} puts the weight {before} on {key} if we attend first and {after} if we shuffle first."
)
ROTARY = (
    "Rotary positions, counted from 0: with {a} as the query at position {query} and {b} as the key at "
    "position {key}, the score before scaling is {score}. Now {a} is at position {moved}. Where must {b} be "
    "for the same score?"
)
SHUFFLED_WEIGHT = (
    "No mask, no positions. The shuffle moves {a} to row {row} and {b} to row {column}. Which weight is "
    "now in row {row}, column {column}, where {a} is the query and {b} the key?"
)
SHUFFLED_ROW = (
    "Sinusoidal positions are added to X. Then the shuffle moves {a} to the row where {b} was. What is feature "
    "{feature} of the input row of {a} now?"
)
WAVE = (
    "Sinusoidal positions, counted from 0: which number is added to feature {feature} of {token}, at position "
    "{position}?"
)
TWICE = "No mask, {positions}. {one} and {other} have the same vector of X. How do their output rows compare?"
SHUFFLED = "{mask}, no positions. The shuffle moves {token} to row {row}. How does its output compare with before?"


def said_base(case, sentence):
    """The curves are those of the model's own base and of the usual one."""
    bases = {base_of(case), 10000.0}
    assert len(case.screen.figures[1].lines) == len(bases)
    return min(bases, key=lambda base: abs(base - sentence.arguments["base"].value))


def rotary_score(case, prompt):
    said = chosen_but(prompt, "score")
    q, k = x_of(case) @ maps_of(case)[0], x_of(case) @ maps_of(case)[1]
    assert (said["a"], said["b"]) == (said["query"], said["key"])
    return said | {"score": turn(q, base_of(case))[said["a"]] @ turn(k, base_of(case))[said["b"]]}


def chosen_but(sentence, *computed):
    arguments = {name: value for name, value in sentence.arguments.items() if name not in computed}
    return {name: getattr(value, "position", value) for name, value in arguments.items()}


ORACLE = {
    SEED: chosen,
    BY_HAND: chosen,
    "{whose} The positions are random (seed {seed}).": chosen,
    "The order matters: feature {feature} of the output of {token} is {before} if we attend first and "
    "{after} if we shuffle first.": output_differs,
    WEIGHT_DIFFERS: weight_differs,
    "The output rows are permuted in the same way: no number differs by more than {single}, which is rounding error.": (
        no_trace
    ),
    "The output differs by at most this much between attending first and shuffling first.": lambda case, sentence: {},
    "Without positions it is {free}; with only the causal mask, {masked}.": leak,
    "One row for each position, drawn at random from seed {seed}: untrained.": chosen,
    "Waves over the positions: the first features repeat every {first} positions, the last every {last}.": repeats,
    "On average an added row has length {added}, a row of X length {x}.": lengths,
    TURNED: turned,
    "{degrees}°": one_angle,
    "At the position of {token}, the first pair has turned by {first}° and the last by {last}°.": first_and_last,
    OWN_TURN: own_turn,
    "all {all}": lambda case, sentence: {"all": case.trace.example.d_k},
    "This model turns queries and keys in just this way, with base {base}.": lambda case, sentence: {
        "base": base_of(case)
    },
    "base {base}": lambda case, sentence: {"base": said_base(case, sentence)},
    SCORES: scores_of_two,
    "Without positions the query and the key of {token} have the cosine {cosine} at every "
    "distance.": lambda case, sentence: {"token": case.choices.token, "cosine": cosines(case)[0, 0]},
    "The query and the key of {token}, turned by rotary positions, have the cosine {near} at a distance of 1, "
    "{further} at 8 and {far} at 32.": at_distances,
    "On average, the vectors of two sinusoidal positions have the cosine {near} at a distance of 1, {further} "
    "at 8 and {far} at 32.": at_distances,
    "Pairs at the same distance differ by at most {variation}, which is rounding: only the distance "
    "counts.": only_distance,
    "With an odd number of features, the last sine has no matching cosine: pairs of positions at "
    "the same distance differ by up to {variation}.": lambda case, sentence: {"variation": variation(cosines(case))},
    "Learned positions are untrained here (seed {seed}), so they do not show distance: pairs at the "
    "same distance differ by up to {variation}.": lambda case, sentence: {
        "seed": case.trace.example.seed,
        "variation": variation(cosines(case)),
    },
    ROTARY: rotary_score,
    SHUFFLED: lambda case, prompt: {
        "mask": render(prompt.arguments["mask"]),
        "token": case.choices.permutation[prompt.arguments["row"] - 1],
        "row": prompt.arguments["row"],
    },
    **dict.fromkeys(
        (
            SHUFFLED_WEIGHT,
            SHUFFLED_ROW,
            WAVE,
            TWICE,
            "The weight has moved with its two tokens: it does not depend on their positions.",
            "Its own vector, plus that of the position where {b} was: positions do not move with tokens.",
        ),
        chosen,
    ),
}


# What is asked.


def answer_shuffled_weight(case, prompt):
    order, (a, b) = list(case.choices.permutation), (prompt.arguments[name].position for name in "ab")
    row, column = prompt.arguments["row"] - 1, prompt.arguments["column"] - 1
    assert (order[row], order[column]) == (a, b)
    before, after = (run(case, x, "none", False)[0] for x in (x_of(case), x_of(case)[order]))
    thoughts = {
        "the earlier weight between the two tokens": after[row, column],
        "the weight that was in this cell before": before[row, column],
        "the weight of the query token on itself": before[a, a],
        "the weight of the key token on itself": before[b, b],
        "without positions all keys get the same weight": 1 / len(before),
    }
    reply = "The weight has moved with its two tokens: it does not depend on their positions."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_row(case, prompt):
    order, (a, b) = list(case.choices.permutation), (prompt.arguments[name].position for name in "ab")
    assert order[b] == a
    f, added, x = prompt.arguments["feature"] - 1, waves(*x_of(case).shape), x_of(case)
    thoughts = {
        "its own vector, plus that of its new position": (x[order] + added)[b, f],
        "its own vector, plus that of its old position": (x + added)[a, f],
        "its own vector, just as it is": x[a, f],
        "the row that was at its new position": (x + added)[b, f],
    }
    reply = "Its own vector, plus that of the position where {b} was: positions do not move with tokens."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_rotary(case, prompt):
    said = chosen_but(prompt, "score")
    q, k = x_of(case)[said["a"]] @ maps_of(case)[0], x_of(case)[said["b"]] @ maps_of(case)[1]
    steps = said["moved"] - said["query"]

    def score(query, key):
        return float(turn(q[None], base_of(case), query)[0] @ turn(k[None], base_of(case), key)[0])

    positions = {
        "the key moves as far as the query": said["key"] + steps,
        "the query moves, the key stays": said["key"],
        "the key goes where the query is": said["moved"],
        "the key moves twice as far as the query": said["key"] + 2 * steps,
        "the key goes where the query was": said["query"],
        "the key moves one step further than the query": said["key"] + steps + 1,
    }
    same = score(said["query"], said["key"])
    right, *others = positions.values()
    assert score(said["moved"], right) == pytest.approx(same, abs=1e-9 + 1e-9 * abs(same))
    wrong = {thought: at for thought, at in positions.items() if abs(score(said["moved"], at) - same) > 0.019}
    assert others
    thoughts = {"the key moves as far as the query": right} | wrong
    return {"The distance is the same, and so is the angle between query and key.": ..., JUDGE: by_thought(thoughts)}


SAME_NUMBERS = {
    "none": "The same vector makes the same query, and both see the same keys and values.",
    "sinusoidal": "Different positions were added to the same vector.",
    "same": "It sees the same keys as before, or keys that give the same mixture.",
    "other": "Now other tokens come later and are hidden: the mask reveals the order.",
}
OTHER_NUMBERS = {  # what is said to whoever takes them for the others
    "none": "The two positions make no difference here.",
    "sinusoidal": "The vectors of X are the same, but what was added to them is not.",
    "same": "The shuffle brings it no new mixture of values.",
    "other": "The mask hides what comes later, and those are other tokens now.",
}


def answer_twice(case, prompt):
    one, other = (prompt.arguments[name].position for name in ("one", "other"))
    assert (x_of(case)[one] == x_of(case)[other]).all() and one != other
    kind = {"no positions": "none", "sinusoidal positions": "sinusoidal"}[render(prompt.arguments["positions"])]
    output = run(case, x_of(case), kind, False)[1]
    same = np.abs(output[one] - output[other]).max() < 1e-3
    judge = by_text({"Its numbers are the same.": same, "Its numbers differ.": not same})
    kind = "none" if same else "sinusoidal"
    return {SAME_NUMBERS[kind]: ..., OTHER_NUMBERS[kind]: ..., JUDGE: judge}


def is_masked(prompt):
    return render(prompt).startswith("Causal mask, ")


def answer_shuffled(case, prompt):
    order, row = list(case.choices.permutation), prompt.arguments["row"] - 1
    assert order[row] == prompt.arguments["token"].position
    before, after = (run(case, x, "none", is_masked(prompt))[1] for x in (x_of(case), x_of(case)[order]))
    same = np.abs(after[row] - before[order[row]]).max() < 1e-3
    still = "The output rows move with their tokens."
    stays = np.abs(after - before).max() < 1e-3
    judge = by_text(
        {
            "Its numbers are the same.": same,
            "Its numbers differ.": not same,
            "No row of the output changes.": stays,
        }
    )
    kind = "same" if same else "other"
    return {SAME_NUMBERS[kind]: ..., OTHER_NUMBERS[kind]: ..., still: ..., JUDGE: judge}


def answer_wave(case, prompt):
    position, feature = prompt.arguments["position"], prompt.arguments["feature"]
    assert prompt.arguments["token"].position == position
    right = waves(len(x_of(case)) + 1, max(2, x_of(case).shape[1]))
    first = "The first feature is the sine of the position, an angle in radians."
    second = "The second feature is the cosine of the position, an angle in radians."
    wave, other = ("sine", "cosine") if feature == 1 else ("cosine", "sine")
    numbers = {
        f"the {wave} of its position": right[position, feature - 1],
        f"the {other} of its position": right[position, 2 - feature],
        "the position itself": position,
        f"the {wave} of its position, counted from 1": right[position + 1, feature - 1],
        f"the {wave} of its position, subtracted": -right[position, feature - 1],
        f"the {wave} of its position, in degrees": [np.sin, np.cos][feature - 1](np.pi * position / 180),
    }

    def judge(card):
        said = card.text.arguments["number"]
        assert format_value(said) in readings(numbers[render(card.reason)], with_decimals(said.decimals))
        return render(card.reason) == f"the {wave} of its position"

    of_other = "The sine belongs to the first feature.", "The cosine belongs to the second feature."
    return {(first, second)[feature - 1]: ..., of_other[2 - feature]: ..., JUDGE: judge}


ORACLE |= {
    "One token has only one order.": holds(lambda case: len(x_of(case)) == 1),
    "With these tokens and this order, no difference shows.": holds(
        lambda case: residual(case) < 1e-4 and (case.choices.causal or case.choices.kind != "none")
    ),
    "This head does not know the order.": holds(
        lambda case: residual(case) < 1e-4 and case.choices.kind == "none" and not case.choices.causal
    ),
    "No positions are given: only the causal mask reveals the order.": holds(
        lambda case: residual(case) > 1e-9 > residual(case, causal=False) and case.choices.kind == "none"
    ),
}

IN_ROW = "Which token is in row {row} after the shuffle?"


def answer_in_row(case, prompt):
    order, row, names = list(case.choices.permutation), prompt.arguments["row"] - 1, case.trace.names
    shuffled = [names[position].text for position in order]
    return {
        "The shuffle moves it here from row {row}.": order[row],
        "It is in row {row} now.": ...,
        JUDGE: lambda card: names[token_on(card)].text == shuffled[row],
    }


ORACLE |= {
    IN_ROW: chosen,
    "The shuffle moves it here from row {row}.": chosen,
    "It is in row {row} now.": chosen,
}
ANSWERS = {
    IN_ROW: answer_in_row,
    SHUFFLED_WEIGHT: answer_shuffled_weight,
    SHUFFLED_ROW: answer_row,
    ROTARY: answer_rotary,
    WAVE: answer_wave,
    TWICE: answer_twice,
    SHUFFLED: answer_shuffled,
}


def shown(permutation=(2, 0, 1), text="one two three", **choices):
    sizes = {name: choices.pop(name) for name in ("d_model", "d_k", "seed") if name in choices}
    trace = run_example(Example(source="sentence", text=text, **sizes))
    return screen(trace, 0, Choices(permutation, **choices))


def notice(*arguments, **choices):
    return render_all(shown(*arguments, **choices).figures[0].notice)


def test_every_kind_of_question_comes_up_and_the_right_card_stands_anywhere():
    ask = shown((4, 3, 2, 1, 0), "the cat saw the dog").ask
    questions = [ask(number) for number in range(150)]
    assert {question.prompt.template for question in questions} == set(ANSWERS)
    assert {question.right for question in questions} >= {0, 1, 2}


def test_what_the_permutation_did_is_said():
    assert "one order" in notice((0,), "one")
    assert "sentence's own order" in notice((0, 1, 2))
    assert notice().endswith("This head does not know the order.")
    assert "only the causal mask reveals the order" in notice(causal=True)
    assert notice(causal=True, kind="rotary").endswith("but the positions stayed where they were.")
    assert notice(kind="learned").endswith("but the positions stayed where they were.")


def test_equal_tokens_do_not_prove_that_a_mask_knows_no_order():
    said = notice((1, 0), "no no", causal=True)
    assert said.endswith("With these tokens and this order, no difference shows.")
    assert "does not know" not in said


@pytest.mark.parametrize("d_model", range(1, 8))
def test_only_the_distance_counts_between_sinusoidal_positions_but_for_an_unpaired_sine(d_model):
    said = notice(view="distance", kind="sinusoidal", d_model=d_model)
    assert ("only the distance counts" in said) == (d_model % 2 == 0)
    assert ("the last sine has no matching cosine" in said) == (d_model % 2 == 1)


@pytest.mark.parametrize("view", ["output", "weights", "rows", "distance"])
def test_learned_positions_say_that_they_are_untrained(view):
    figure = shown(view=view, kind="learned", seed=9).figures[0]
    assert render(figure.weights) == "Untrained: random weights and positions (seed 9)."
    assert view in ("output", "weights") or "ntrained" in render_all(figure.notice)


def test_the_table_holds_every_kind_of_positions_that_the_head_can_have():
    for d_k, kinds in ((4, 4), (3, 3)):
        table = shown(d_k=d_k).figures[1]
        assert len(table.cells) == kinds
        case = type("Case", (), {"trace": run_example(Example(source="sentence", text="one two three", d_k=d_k))})
        case.head, case.choices = 0, Choices((2, 0, 1))
        for kind, (name, free, masked) in zip(KINDS, table.cells, strict=False):
            assert kind.removeprefix("no")[:5] in render(name) or kind == "none"
            assert free.value == pytest.approx(rounding(free, residual(case, kind, False)), rel=1e-3)
            assert masked.value == pytest.approx(residual(case, kind, True), rel=1e-3)


def test_a_sinusoidal_position_is_the_wave_that_is_written():
    matrix = shown(view="rows", kind="sinusoidal", d_model=5).figures[0].matrices[1]
    for j, (wave, exponent) in enumerate(((math.sin, 0), (math.cos, 0), (math.sin, -2), (math.cos, -2))):
        step = matrix.step(2, j)
        power = f"({exponent})".replace("-", "−") if exponent else "0"
        assert equation(step).startswith(f"{wave.__name__}(2·10000^({power} ÷ 5)) ≈ ")
        assert step.value == pytest.approx(wave(2 * 10000 ** (exponent / 5)), abs=1e-6)


def test_pointing_lights_the_same_token_in_both_orders():
    order = (2, 0, 1)
    for view in ("output", "weights"):
        own, then, *_ = shown(order, view=view).figures[0].matrices
        for i in range(3):
            column = order.index(1) if view == "weights" else 1
            assert {(c.matrix, c.row, c.column) for c in own.sources(order[i], 1)} >= {("then", i, column)}
            assert ("own", order[i], order[1] if view == "weights" else 1) in {
                (c.matrix, c.row, c.column) for c in then.sources(i, 1)
            }


def test_the_difference_is_followed_to_its_last_digit():
    figure = shown().figures[0]
    gap = figure.matrices[-1]
    for i in range(3):
        (step,) = gap.derive(i, 0)
        assert wrong(step.text, step.value) is None and step.value == float(gap.values[i, 0])


def test_the_permutation_is_attended_with_the_weights_of_the_example():
    matrices = {m.key: m.values for m in shown((1, 2, 0)).figures[0].matrices}
    assert torch.equal(matrices["then"], matrices["own"][[1, 2, 0]])
    assert torch.equal(matrices["gap"].float(), matrices["first"] - matrices["then"])


REAL = Example(source="language", text="", layer=14)


def test_every_number_that_is_said_of_the_real_layer_is_computed_again():
    trace, said = run_example(REAL), set()
    for query, choices in zip((7, 0, 4, 7, 9), cases(trace), strict=False):
        for view in ("rows", "distance", "weights"):
            here = Choices(choices.permutation, view, "rotary", causal=True, token=query)
            case = Case(trace, 8, here, screen(trace, 8, here))
            said |= check_said(case, ORACLE, ANSWERS)
    assert {OWN_TURN, SCORES} <= said


def test_with_the_causal_mask_and_its_own_turn_the_real_head_attends_as_in_its_model():
    trace = run_example(REAL)
    choices = Choices(tuple(range(10)), "weights", "rotary", causal=True)
    own, *_ = screen(trace, 8, choices).figures[0].matrices
    torch.testing.assert_close(own.values, trace.heads.weights[8], atol=1e-5, rtol=1e-4)
    assert not any("left out" in render(remark) for remark in screen(trace, 8, choices).remarks)
    others = screen(trace, 8, Choices(tuple(range(10)), "weights", "none", causal=True))
    assert any("left out" in render(remark) for remark in others.remarks)


def test_the_score_of_two_tokens_is_theirs_where_they_stand_and_falls_slower_with_the_larger_base():
    own, usual = screen(run_example(REAL), 8, Choices(tuple(range(10)), "distance", "rotary", token=7)).figures[1].lines
    assert own.y[6] == pytest.approx(float(run_example(REAL).heads.scaled[8, 7, 1]), rel=1e-4)
    assert all(one > other for one, other in zip(own.y[2:33], usual.y[2:33], strict=True))
