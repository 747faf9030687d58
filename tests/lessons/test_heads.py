"""The lesson on heads says only what its tensors say: everything is computed again with NumPy, head by head."""

import math
from functools import cache

import numpy as np
import torch
from screens import JUDGE, Ranked, by_largest, by_text, by_thought, chosen, holds

from attention_core.base.randomness import generator
from attention_core.one_head.attention import attend
from attention_core.one_head.heads import SlicedHeads, linear
from lessons.example.example import Example, run_example
from lessons.model.heads.example import HEADS_PRESETS, HeadsChosen, HeadsTrace, in_training, run_heads
from lessons.model.heads.lesson import Choices, screen
from lessons.screen import number, render
from lessons.teachers.class_vote.question_link import ScreenLink, read_asked, screen_asked, written_asked
from tests.printed import read_alike, readings, with_decimals

STEPS = ("project", "split", "attend", "concatenate", "output", "slices", "dropout")
SIZES = ((6, 3), (5, 1), (7, 7), (16, 4), (1, 1), (16, 16))
NOTEBOOKS = tuple(key for key in HEADS_PRESETS if key not in ("sentence", "drawn"))


def cases(trace):
    seed = trace.example.seed
    d_model, n_heads = SIZES[seed % len(SIZES)]
    dropout = (0.0, 0.1, 0.5, 0.9)[seed % 4]
    own = HeadsChosen(d_model=d_model, n_heads=n_heads, bias=seed % 2 == 1, dropout=dropout)
    last = run_heads(trace.example, own).n_heads - 1
    for step in STEPS:
        yield Choices(own, step, "qkv"[seed % 3], last if step in ("attend", "dropout") else 0)
    yield Choices(HeadsChosen(d_model=5, n_heads=1))
    for step in ("attend", "dropout"):
        yield Choices(HeadsChosen(source="drawn", dropout=dropout), step, head=1)
    source = NOTEBOOKS[seed % len(NOTEBOOKS)]
    for step in STEPS:
        yield Choices(HeadsChosen(source=source, dropout=dropout), step)


# Computed again


def trace_of(case):
    return traced(*chosen_in(case))


def chosen_in(case):
    return case.trace.example, case.choices.example


@cache
def traced(example, heads):
    return run_heads(example, heads)


@cache
def heads_again(example, heads):
    """The weights and the output of each head, in NumPy with loops over heads and queries."""
    trace = traced(example, heads)
    if isinstance(trace, HeadsTrace):
        asking = trace.x if trace.added is None else trace.x + trace.added
        with torch.no_grad():
            whole = [
                linear(x, getattr(trace.module, f"W_{name}"), getattr(trace.module, f"b_{name}")).numpy()
                for x, name in zip((asking, asking, trace.x), "qkv", strict=True)
            ]
        parts = [
            list(parts) for parts in zip(*(np.split(one, trace.module.n_heads, axis=1) for one in whole), strict=True)
        ]
        if trace.module.rotary:
            parts = [[turned(q), turned(k), v] for q, k, v in parts]
    else:
        parts = [[getattr(trace.heads, role)[h].numpy() for role in "qkv"] for h in range(2)]
    found = []
    for q, k, v in parts:
        scores = q.astype(float) @ k.T.astype(float) / (np.sqrt(q.shape[1]) if example.scaling else 1)
        weights = np.zeros_like(scores)
        for i, row in enumerate(scores):
            seen = i + 1 if example.causal else len(row)
            powers = np.exp(row[:seen] - row[:seen].max())
            weights[i, :seen] = powers / powers.sum()
        found.append((weights, weights @ v))
    return [weights for weights, _ in found], [output for _, output in found]


def turned(vectors):
    """Each pair of features turned by the position times its speed, as RoFormer has it."""
    result, width = vectors.astype(float).copy(), vectors.shape[1]
    for at in range(len(vectors)):
        for pair in range(0, width, 2):
            angle, (a, b) = at * 10000 ** (-pair / width), vectors[at, pair : pair + 2].astype(float)
            result[at, pair : pair + 2] = (
                a * math.cos(angle) - b * math.sin(angle),
                a * math.sin(angle) + b * math.cos(angle),
            )
    return result


def distances(case):
    """Half the sum of differences, for every two heads and every query with a choice."""
    weights, _ = heads_again(*chosen_in(case))
    n = len(weights[0])
    seen = [i + 1 if case.trace.example.causal else n for i in range(n)]
    rows = [i for i in range(n) if seen[i] > 1]
    return {
        (a, b, i): 0.5 * sum(abs(p - q) for p, q in zip(weights[a][i], weights[b][i], strict=True))
        for a in range(len(weights))
        for b in range(a + 1, len(weights))
        for i in rows
    }


def in_percent(share):
    return number(100 * share, 1)


def measured(case, sentence):
    between = distances(case)
    mean = float(np.mean([*between.values()]))
    noun = "heads" if isinstance(trace_of(case), HeadsTrace) else "sentences"
    word = "hardly differ" if mean < 0.05 else "differ a little" if mean < 0.2 else "differ clearly"
    return {"verdict": f"The {noun} {word}", "mean": 100 * mean}


def furthest(case, sentence):
    between = distances(case)
    named = [
        (row.arguments["a"] - 1, row.arguments["b"] - 1, row.arguments["token"].position)
        for row in sentence.arguments["rows"].items
    ]
    return {
        "rows": [...] * len(named),
        "largest": 100 * max(between.values()),
        "ranked": Ranked([*between.values()], [list(between).index(cell) for cell in named], in_percent),
    }


def lengths(case):
    """Of what each head adds to the last token's output."""
    _, found = heads_again(*chosen_in(case))
    W_o = trace_of(case).module.W_o.numpy()
    d = found[0].shape[1]
    return [float(np.linalg.norm(output[-1] @ W_o[h * d : (h + 1) * d])) for h, output in enumerate(found)]


def extreme(sign):
    def ranked(case, sentence):
        values = [sign * length for length in lengths(case)]
        heads = list(sentence.arguments["heads"].items)
        expected = {
            "heads": heads,
            "length": abs(max(values)),
            "ranked": Ranked(values, [h - 1 for h in heads], number),
        }
        if "token" in sentence.arguments:
            expected["token"] = len(trace_of(case).tokens) - 1
        return expected | {"count": len(heads)}

    return ranked


def dropped_weights(case):
    return in_training(trace_of(case)).result.dropped.weights[case.choices.head].double().numpy()


def dropped_count(case, sentence):
    at_rest, training = heads_again(*chosen_in(case))[0][case.choices.head], dropped_weights(case)
    expected = {
        "count": int(((at_rest > 1e-30) & (training == 0)).sum()),
        "visible": int((at_rest > 1e-30).sum()),
        "kept": 1 - case.choices.example.dropout,
    }
    return {key: value for key, value in expected.items() if key in sentence.arguments}


def row_sums_furthest(case, sentence):
    sums = dropped_weights(case).sum(axis=-1)
    rows = [token.position for token in sentence.arguments["rows"].items]
    expected = {"rows": rows, "ranked": Ranked([abs(s - 1) for s in sums], rows, number)}
    assert read_alike([sums[row] for row in rows])
    return expected | {"sum": sums[rows[0]], "count": len(rows)}


@cache
def reached(example, heads):
    """How much each projecting and each sliced head changes with each feature that is drawn, one at a time."""
    trace = traced(example, heads)
    d_model, n_heads = trace.x.shape[-1], trace.n_heads
    d_head = d_model // n_heads
    features = (
        range(d_model) if d_model <= 16 else [h * d_head + f for h in range(n_heads) for f in range(16 // n_heads)]
    )
    mask = torch.ones(len(trace.x), len(trace.x)).tril().bool() if example.causal else None
    changes = {}
    for way, module in (
        ("projected", trace.module),
        ("sliced", SlicedHeads.draw(d_model, n_heads, generator=generator(trace.seed))),
    ):
        with torch.no_grad():
            added = trace.added if way == "projected" else None
            before = module(trace.x, mask, scale=trace.scale, positions=added)[1].heads.output
            for feature in features:
                x = trace.x.clone()
                x[:, feature] += 1
                after = module(x, mask, scale=trace.scale, positions=added)[1].heads.output
                for head in range(n_heads):
                    changes[way, head, feature] = float((after[head] - before[head]).abs().max())
    return changes, d_head


def outside(case, way):
    changes, d_head = reached(*chosen_in(case))
    return max(value for (kind, head, f), value in changes.items() if kind == way and f // d_head != head)


def reach(case, sentence):
    assert outside(case, "sliced") == 0
    return {"projected": outside(case, "projected")}


def cost(case, sentence):
    trace = trace_of(case)
    d, h = trace.x.shape[-1], trace.n_heads
    widths = [getattr(trace.heads, role).shape[-1] for role in "qkv"]
    return {
        "projected": sum(d * h * width for width in widths),
        "sliced": sum((d // h) * width for width in widths for _ in range(h)),
    }


def total(case, sentence):
    d, module = trace_of(case).x.shape[-1], trace_of(case).module
    biases = sum(b is not None for b in (module.b_q, module.b_k, module.b_v, module.b_o))
    assert ("+ 4" in sentence.template) == (biases == 4) and ("+ {d}" in sentence.template) == (biases == 1)
    return {"total": 4 * d * d + biases * d, "d": d}


def widths(case, sentence):
    trace = trace_of(case)
    return {"d_model": trace.x.shape[1], "count": trace.module.W_q.shape[1], "values": trace.module.W_v.shape[1]}


def sizes(case, sentence):
    """Of queries; of what is split where the figure splits, and of values where outputs are joined."""
    role = {"split": case.choices.role, "concatenate": "v"}.get(case.choices.step, "q")
    return sizes_of(role, case, sentence)


def sizes_of(role, case, sentence):
    trace = trace_of(case)
    part = getattr(trace.heads, role)
    n, d, h = len(trace.tokens), part.shape[0] * part.shape[2], part.shape[0]
    known = {
        "count": {"h": h, "d": d, "d_head": d // h},
        "whole": f"{n}×{d}",
        "parts": f"{h}×{n}×{d // h}",
        "heads": h,
        "d": d,
        "d_model": d,
        "d_head": d // h,
        "shape": f"{n}\u00a0×\u00a0{d}",
        "sentences": h,
        "tokens": "1 token" if n == 1 else f"{n} tokens",
    }
    return {key: known[key] for key in sentence.arguments}


def counting(what):
    """For sentences whose `count` is the number of heads, of features or of features of a head."""
    return lambda case, sentence: sizes(case, sentence) | {"count": sizes(case, sentence)["count"][what]}


def shown(case, sentence):
    trace = trace_of(case)
    d, few = trace.x.shape[-1], sentence.arguments["shown"]
    rows, columns = sentence.arguments["rows"], sentence.arguments["columns"]
    every = {d} | {many for tensor in (trace.q, trace.v, *trace.heads.q, *trace.heads.v) for many in tensor.shape[1:]}
    assert max(every) > 16 and few < columns and rows in {len(trace.tokens), *every} and columns in every
    counts = (8 // trace.n_heads * trace.n_heads, 16, 16 // trace.n_heads)
    assert few in counts and sentence.arguments.get("wide", few) in counts
    return {"rows": rows, "columns": columns, "shown": few} | {
        name: few for name in ("wide",) if name in sentence.arguments
    }


def own_seed(case, sentence):
    notebook = case.choices.example.source != "sentence"
    return {"seed": 42 if notebook else case.trace.example.seed}


ORACLE = {
    "Untrained: random weights (seed {seed}).": own_seed,
    "Random queries, keys and values (seed {seed}).": own_seed,
    "{verdict}: on average, any two of them place {mean}% of a row's weight on different keys.": measured,
    "The rows furthest apart are {rows}: {largest}%.": furthest,
    "{things} {a} and {b} in the row of {token}": chosen,
    "head {number}": chosen,
    "sentence {number}": chosen,
    "{rows}×{columns}, {shown} shown": shown,
    "{rows}×{columns}, {shown}×{wide} shown": shown,
    "Each row of X, {d_model} wide, becomes a query and a key of one feature and a value of {values}. They hold the "
    "numbers of all heads, side by side.": widths,
    "The heads with a slice are untrained (seed {seed}).": lambda case, sentence: {"seed": case.trace.example.seed},
    "Each row of X, a single number, becomes a query, a key and a value of one number each.": counting("d"),
    "The shape {whole} is read as {parts}.": sizes,
    "Each head gets one feature of every token.": counting("d_head"),
    "The outputs of the heads, {parts}, are put side by side again: {whole}.": sizes,
    "For {token}, head {heads} adds the longest vector, of length {length}.": extreme(1),
    "Head {heads} adds the shortest, of length {length}.": extreme(-1),
    "Visible weights dropped in training: {count} of {visible}. The rest are divided by {kept}.": dropped_count,
    "The row whose sum is furthest from 1 is that of {rows}: it now sums to {sum}.": row_sums_furthest,
    "W_q, W_k and W_v hold {projected} numbers when every head projects all features, {sliced} when "
    "each reads only its slice.": cost,
    "Add 1 to a feature outside a head's slice: the output of a head that projects changes by up to "
    "{projected}, that of a sliced head by exactly 0.": reach,
    "The number of heads does not change the number of parameters: {heads} heads of 1 feature share the "
    "projections that one head of {d} would have.": counting("d_head"),
}


# Questions


def answer_more_heads(case, prompt):
    d, other = (prompt.arguments[name] for name in ("d_model", "other"))
    assert d % other == 0 and other != prompt.arguments["heads"]
    now, then = (len(parameters_of(d, heads)) for heads in (prompt.arguments["heads"], other))
    judge = by_text(
        {
            "Not at all.": then == now,
            "In proportion to the number of heads.": then * prompt.arguments["heads"] == now * other,
            "In proportion to the number of features in a head.": then * other == now * prompt.arguments["heads"],
        }
    )
    return {STAYS: ..., JUDGE: judge}


def parameters_of(d, heads):
    """Every number of a module with so many heads, each with projections of its own width."""
    each = [np.zeros((d, d // heads)) for _ in range(3 * heads)]
    return np.concatenate([W.ravel() for W in (*each, np.zeros((d, d)))])


def answer_home(case, prompt):
    feature, h, d = (prompt.arguments[key] for key in ("feature", "heads", "d_model"))
    parts = np.split(np.arange(1, d + 1), h)
    (head,) = [place for place, part in enumerate(parts) if feature in part]
    own = list(parts[head]).index(feature)
    dealt = [list(range(1, d + 1))[start::h] for start in range(h)]
    (hand,) = [place for place, part in enumerate(dealt) if feature in part]
    return {
        "Each head has one feature.": f"Feature {own + 1} of head {head + 1}.",
        "Features are not dealt out in turn: each head takes neighbouring ones.": (
            f"Feature {dealt[hand].index(feature) + 1} of head {hand + 1}."
        ),
        "The features are divided among the heads.": f"Feature {feature} of every head.",
        "That swaps head and feature.": f"Feature {head + 1} of head {own + 1}.",
    }


def answer_divided(case, prompt):
    d, h = (prompt.arguments[name] for name in ("d_model", "heads"))
    q = torch.ones(h, 1, d // h)
    d_k = round(float(q[0] @ q[0].T / attend(q, q, q).scaled[0]) ** 2)
    thoughts = {
        "the root of the features of one head": f"√{d_k}",
        "the root of the features of all heads together": f"√{d}",
        "the root of the number of heads": f"√{h}",
        "the number of features of one head": f"{d_k}",
    }
    return {"The query of one head has {d_model} ÷ {heads} features: that is d_k.": ..., JUDGE: by_thought(thoughts)}


MORE_HEADS = (
    "This module has n_heads = {heads} and d_model = {d_model}. With n_heads = {other} and the same "
    "d_model, how does the number of its parameters change?"
)
STAYS = "It stays {total}: the same projections are cut into more or fewer pieces."
DIVIDED = (
    "In another model d_model is {d_model}, and there are {heads} heads. By what does each head divide its scores?"
)
ORACLE |= {
    "There is one head, so there is nothing to compare.": holds(lambda case: trace_of(case).n_heads == 1),
    "They hold the numbers of all heads, side by side.": holds(lambda case: trace_of(case).n_heads > 1),
}

WHICH_HEAD = "Which head gives {key} the most weight from {query}?"
IN_HEAD = "In the enlarged map, on which key does {query} put its largest weight?"
GETS_MORE = "{key} gets {weight} from {query}; another key gets more."


def some_weight(case, sentence):
    """Of which head and pair, the card and the prompt say."""
    said, every = sentence.arguments["weight"].value, np.array(heads_again(*chosen_in(case))[0]).flatten()
    return {"weight": min(every, key=lambda weight: abs(weight - said))}


def weight_of_head(case, sentence):
    """Of which pair, the prompt says."""
    head, said = sentence.arguments["head"], sentence.arguments["weight"].value
    every = np.array(heads_again(*chosen_in(case))[0])[head - 1].flatten()
    return {"head": head, "weight": min(every, key=lambda weight: abs(weight - said))}


def weight_of_pair(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    row = heads_again(*chosen_in(case))[0][case.choices.head][query]
    assert row[key] < max(row)
    return {"query": query, "key": key, "weight": row[key]}


def answer_which_head(case, prompt):
    query, key = (prompt.arguments[name].position for name in ("query", "key"))
    every = np.array(heads_again(*chosen_in(case))[0])
    weights = every[:, query, key]
    assert every[:, query].max() <= 0.9 + 1e-6
    return {
        "It gives {weight}: each head has its own W_q and W_k.": {"head": weights.argmax() + 1},
        "Head {head} gives {weight}; another head gives more.": ...,
        "Each head has its own W_q and W_k.": ...,
        JUDGE: lambda card: (
            weights[card.text.arguments["head"] - 1] == weights.max()
            if card.text.arguments
            else weights.max() - weights.min() < 0.005
        ),
    }


def answer_in_head(case, prompt):
    weights, query = (
        np.array(heads_again(*chosen_in(case))[0][case.choices.head]),
        prompt.arguments["query"].position,
    )
    return {
        "In its row, this key has the largest weight.": weights[query].argmax(),
        "That reads down the column, but the rows are the queries.": weights[:, query].argmax(),
        GETS_MORE: ...,
        JUDGE: by_largest(weights[query].tolist()),
    }


ORACLE |= {
    WHICH_HEAD: lambda case, prompt: chosen(case, prompt) | {"concept": True},
    IN_HEAD: lambda case, prompt: chosen(case, prompt) | {"concept": True},
    "It gives {weight}: each head has its own W_q and W_k.": some_weight,
    "Head {head} gives {weight}; another head gives more.": weight_of_head,
    "In its row, this key has the largest weight.": lambda case, reply: {"concept": True},
    "That reads down the column, but the rows are the queries.": lambda case, reply: (
        chosen(case, reply) | {"concept": True}
    ),
    GETS_MORE: weight_of_pair,
}
ANSWERS = {
    WHICH_HEAD: answer_which_head,
    IN_HEAD: answer_in_head,
    MORE_HEADS: answer_more_heads,
    "Q has {d_model} features and is split among {heads} heads. Where is feature {feature}, counted from "
    "1?": answer_home,
    DIVIDED: answer_divided,
}


def parameters_now(case, sentence):
    trace = trace_of(case)
    d, module, said = trace.x.shape[-1], trace.module, sentence.arguments
    biases = sum(b is not None for b in (module.b_q, module.b_k, module.b_v, module.b_o))
    every = {"total": 4 * d * d + biases * d, "d_model": d, "heads": trace.n_heads}
    return {name: every.get(name, said[name]) for name in said}


ORACLE |= {
    **dict.fromkeys((MORE_HEADS, STAYS), parameters_now),
    "Q has {d_model} features and is split among {heads} heads. Where is feature {feature}, counted from 1?": chosen,
    "Each head has one feature.": lambda case, sentence: {"count": sizes_of("q", case, sentence)["count"]["d_head"]},
    **dict.fromkeys(
        (
            "{rows}\u00a0×\u00a0{columns}",
            "{how_many}\u00a0×\u00a0{matrix}",
            DIVIDED,
            "The query of one head has {d_model} ÷ {heads} features: that is d_k.",
        ),
        chosen,
    ),
}


# What a notebook shows, and what once was said wrongly


def said(source="sentence", step="attend", head=0, running=None, **choices):
    trace = run_example(running or Example())
    own = HeadsChosen(source=source, **choices)
    return " ".join(map(render, screen(trace, 0, Choices(own, step, head=head)).figures[0].notice))


def test_the_journeys_untrained_heads_are_said_to_hardly_differ():
    weights = run_heads(Example(causal=False), HeadsChosen(source="journey")).heads.weights
    assert "0.152" in readings(weights.min(), with_decimals(3)) and "0.176" in readings(weights.max(), with_decimals(3))
    assert said("journey", running=Example(causal=False)).startswith(
        "The heads hardly differ: on average, any two of them place 1.4% of a row's weight on different keys"
    )


def test_the_wide_module_has_the_notebooks_number_of_parameters():
    trace = run_example(Example())
    table = screen(trace, 0, Choices(HeadsChosen(source="wide"))).figures[-1]
    assert table.cells[-1][-1].value == 1_050_624


# As plans were written that had the running example in their choices, too; what is left out has its default.
WRITTEN_BEFORE = (
    '{"lesson":"heads","example":{"source":"sentence","text":"a b c","seed":7,"causal":false},"head":0,"number":1,'
    '"choices":{"example":{"running":{"source":"sentence","text":"a b c","seed":7,"causal":false},"source":"sentence",'
    '"d_model":6,"n_heads":3,"bias":true,"dropout":0.5},"step":"dropout","role":"q","head":2}}'
)


def test_a_plan_that_was_written_with_a_second_running_example_shows_the_same_screen():
    example = Example(source="sentence", text="a b c", seed=7, causal=False)
    choices = Choices(HeadsChosen(d_model=6, n_heads=3, bias=True, dropout=0.5), "dropout", head=2)
    link = ScreenLink("heads", example, 0, choices, 1)
    assert vars(read_asked(WRITTEN_BEFORE)) == vars(link)
    (before, asked_before), (now, asked) = screen_asked(WRITTEN_BEFORE), screen_asked(written_asked(link))
    assert asked_before == asked and before.remarks == now.remarks
    for figure, same in zip(before.figures, now.figures, strict=True):
        assert figure.notice == same.notice
        for one, other in zip(getattr(figure, "matrices", ()), getattr(same, "matrices", ()), strict=True):
            assert torch.equal(one.values, other.values)
    weights = now.figures[0].matrices[0].values
    assert [round(float(weight), 4) for weight in weights[2]] == [0.3341, 0.3277, 0.3381], (
        "as it was when it was written"
    )


def test_a_class_can_be_asked_about_the_heads_of_the_real_model(smollm2):
    example, choices = (
        Example(source="language", text="the cat sat", layer=4, real_model=smollm2),
        Choices(HeadsChosen()),
    )
    made, _ = screen_asked(written_asked(ScreenLink("heads", example, 0, choices)), smollm2)
    assert made.figures[0].notice == screen(run_example(example), 0, choices).figures[0].notice


def test_rows_that_lose_nothing_are_all_named_as_furthest_from_1():
    """Five rows of the first screen sum to 1.1111."""
    sentence = said(step="dropout")
    assert "those of “Your”, “journey”, “starts”, “with” and “one”: they now sum to 1.11 each" in sentence


def test_slices_need_half_of_the_numbers_with_two_heads():
    sentence = said(step="slices", d_model=16, n_heads=2)
    assert "hold 768 numbers when every head projects all features, 384 when each" in sentence


def test_where_there_is_nothing_to_compare_that_is_said():
    assert said(d_model=4, n_heads=1) == "There is one head, so there is nothing to compare."
    assert said(running=Example(source="sentence", text="one")) == ""
    assert said(step="dropout", dropout=0.0) == "The dropout is 0, so nothing is dropped in training either."
