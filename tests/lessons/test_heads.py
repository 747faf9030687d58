"""The lesson on heads says only what its tensors say: everything is computed again with NumPy, head by head."""

import math
from functools import cache, partial

import numpy as np
import torch
from screens import JUDGE, Ranked, by_largest, by_text, chosen, holds

from attention_core.attention import attend
from attention_core.heads import SlicedHeads, linear
from attention_core.randomness import generator
from lessons.example.example import Example, run_example
from lessons.heads.example import HEADS_PRESETS, HeadsExample, HeadsTrace, heads_example, in_training, run_heads
from lessons.heads.lesson import Choices, screen
from lessons.screen.format import number, render
from tests.printed import largest, read_alike, readings, with_decimals

STEPS = ("project", "split", "attend", "concatenate", "output", "slices", "dropout")
SIZES = ((6, 3), (5, 1), (7, 7), (16, 4), (1, 1), (16, 16))
NOTEBOOKS = tuple(key for key in HEADS_PRESETS if key not in ("sentence", "drawn"))


def cases(example):
    seed = example.example.seed
    d_model, n_heads = SIZES[seed % len(SIZES)]
    dropout = (0.0, 0.1, 0.5, 0.9)[seed % 4]
    own = heads_example(example, "sentence", d_model=d_model, n_heads=n_heads, bias=seed % 2 == 1, dropout=dropout)
    for step in STEPS:
        yield Choices(own, step, "qkv"[seed % 3], run_heads(own).n_heads - 1 if step in ("attend", "dropout") else 0)
    yield Choices(heads_example(example, "sentence", d_model=5, n_heads=1))
    for step in ("attend", "dropout"):
        yield Choices(heads_example(example, "drawn", dropout=dropout), step, head=1)
    source = NOTEBOOKS[seed % len(NOTEBOOKS)]
    for step in STEPS:
        yield Choices(heads_example(example, source, dropout=dropout), step)


# Computed again


def trace_of(case):
    return traced(case.choices.example)


@cache
def traced(example):
    return run_heads(example)


@cache
def heads_again(example):
    """The weights and the output of each head, in NumPy with loops over heads and queries."""
    trace = traced(example)
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
        scores = q.astype(float) @ k.T.astype(float) / (np.sqrt(q.shape[1]) if example.running.scaling else 1)
        weights = np.zeros_like(scores)
        for i, row in enumerate(scores):
            seen = i + 1 if example.running.causal else len(row)
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
    """Half the sum of differences, for every two heads and every query with a choice; and from equal shares."""
    weights, _ = heads_again(case.choices.example)
    n = len(weights[0])
    seen = [i + 1 if case.choices.example.running.causal else n for i in range(n)]
    rows = [i for i in range(n) if seen[i] > 1]
    between = {
        (a, b, i): 0.5 * sum(abs(p - q) for p, q in zip(weights[a][i], weights[b][i], strict=True))
        for a in range(len(weights))
        for b in range(a + 1, len(weights))
        for i in rows
    }
    even = [0.5 * sum(abs(p - 1 / seen[i]) for p in w[i][: seen[i]]) for w in weights for i in rows]
    return between, float(np.mean(even))


def in_percent(share):
    return number(100 * share, 1)


def measured(case, sentence):
    between, even = distances(case)
    mean = float(np.mean([*between.values()]))
    noun = "heads" if isinstance(trace_of(case), HeadsTrace) else "sentences"
    word = "hardly differ" if mean < 0.05 else "differ a little" if mean < 0.2 else "differ clearly"
    return {"verdict": f"The {noun} {word}", "mean": 100 * mean, "uniform": 100 * even}


def furthest(case, sentence):
    between, _ = distances(case)
    named = [
        (row.arguments["a"] - 1, row.arguments["b"] - 1, row.arguments["token"].position)
        for row in sentence.arguments["rows"].items
    ]
    return {
        "rows": [...] * len(named),
        "largest": 100 * max(between.values()),
        "ranked": Ranked([*between.values()], [list(between).index(cell) for cell in named], in_percent),
    }


def many_furthest(case, sentence):
    values = [*distances(case)[0].values()]
    tied = largest(values, sentence.arguments["count"])
    return {
        "count": len(tied),
        "total": len(values),
        "largest": 100 * max(values),
        "ranked": Ranked(values, tied, in_percent),
    }


def lengths(case):
    """Of what each head adds to the last token's output."""
    _, found = heads_again(case.choices.example)
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


def one_length(case, sentence):
    assert read_alike(lengths(case))
    return {"token": len(trace_of(case).tokens) - 1, "length": lengths(case)[0]}


def dropped_weights(case):
    return in_training(trace_of(case)).result.dropped.weights[case.choices.head].double().numpy()


def dropped_count(case, sentence):
    at_rest, training = heads_again(case.choices.example)[0][case.choices.head], dropped_weights(case)
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
    if "sums" in sentence.arguments:
        return expected | {"sums": [sums[row] for row in rows]}
    assert read_alike([sums[row] for row in rows])
    return expected | {"sum": sums[rows[0]], "count": len(rows)}


def every_row(case, sentence):
    sums = dropped_weights(case).sum(axis=-1)
    assert read_alike(sums)
    return {"sum": sums[0], "count": len(sums)}


@cache
def reached(example):
    """How much each projecting and each sliced head changes with each feature that is drawn, one at a time."""
    trace = traced(example)
    d_model, n_heads = trace.x.shape[-1], trace.n_heads
    d_head = d_model // n_heads
    features = (
        range(d_model) if d_model <= 16 else [h * d_head + f for h in range(n_heads) for f in range(16 // n_heads)]
    )
    mask = torch.ones(len(trace.x), len(trace.x)).tril().bool() if example.running.causal else None
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
    changes, d_head = reached(case.choices.example)
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


def own_total(case, sentence):
    """Of heads whose queries or values are not as wide together as a token."""
    W_q, W_k, W_v, W_o = (getattr(trace_of(case).module, f"W_{name}").shape for name in "qkvo")
    assert W_q == W_k and W_v == W_o[::-1] and not W_q == W_v == W_o
    total = sum(rows * columns for rows, columns in (W_q, W_k, W_v, W_o))
    return {"total": total, "d": W_q[0], "queries": W_q[1], "values": W_v[1]}


def widths(case, sentence):
    trace = trace_of(case)
    return {"d_model": trace.x.shape[1], "queries": trace.module.W_q.shape[1], "values": trace.module.W_v.shape[1]}


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
    return {"seed": 42 if notebook else case.example.example.seed}


ORACLE = {
    "Untrained: random weights (seed {seed}).": own_seed,
    "Random queries, keys and values (seed {seed}).": own_seed,
    "{verdict}: on average, two of them place {mean}% of a row's weight on different keys (0%: the same row, "
    "100%: no key in common). Rows differ from uniform attention by {uniform}% on average.": measured,
    "The rows furthest apart are {rows}: {largest}%.": furthest,
    "{count} of {total} pairs of rows share the largest difference, {largest}%.": many_furthest,
    "{things} {a} and {b} in the row of {token}": chosen,
    "head {number}": chosen,
    "sentence {number}": chosen,
    "{rows}×{columns}, {shown} shown": shown,
    "{rows}×{columns}, {shown}×{wide} shown": shown,
    "Each row of X, {d_model} wide, becomes a query and a key of {queries} features each and a value of {values}: "
    "those of all heads, side by side.": widths,
    "The heads with a slice are untrained (seed {seed}).": lambda case, sentence: {"seed": case.example.example.seed},
    "Each row of X, a single number, becomes a query, a key and a value of one number each.": counting("d"),
    "There is only one head, so it has all of them.": counting("h"),
    "{whole} is read as {parts}.": sizes,
    "Each head gets one feature of every token. No number changes.": counting("d_head"),
    "The outputs of the {count} heads, {parts}, are put side by side again: {whole}.": counting("h"),
    "W_o mixes the features of the one head. For {token} it adds a vector of length {length}.": one_length,
    "For {token}, each head adds a vector of length {length}.": one_length,
    "For {token}, head {heads} adds the longest vector, of length {length}.": extreme(1),
    "Head {heads} adds the shortest, of length {length}.": extreme(-1),
    "In training, the only weight was kept and divided by {kept}.": dropped_count,
    "In training, all {visible} visible weights were dropped.": dropped_count,
    "In training, {count} of the {visible} visible weights was dropped and the others divided by "
    "{kept}.": dropped_count,
    "Over many draws a row sums to 1 on average; here the mean over all rows is {mean}.": lambda case, sentence: {
        "mean": dropped_weights(case).sum(axis=-1).mean()
    },
    "The row furthest from 1 is that of {rows}, which now sums to {sum}.": row_sums_furthest,
    "The rows furthest from 1 are those of {rows}, which now sum to {sums}.": row_sums_furthest,
    "The only row now sums to {sum}.": every_row,
    "W_q, W_k and W_v hold {projected} numbers when every head projects all features, and {sliced} when each head "
    "reads only its slice.": cost,
    "Add 1 to one of these features, outside a head's slice: the output of a head that projects changes by up to "
    "{projected}, that of a sliced head by exactly 0.": reach,
    "The module has {total} parameters: 4 · {d} · {d}.": total,
    "The module has {total} parameters: 4 · {d} · {d} + 4 · {d}.": total,
    "The module has {total} parameters: 4 · {d} · {d} + {d}.": total,
    "The module has {total} parameters: {d} · {queries} each in W_q and W_k, {d} · {values} in W_v and {values} · {d} "
    "in W_o.": own_total,
    "The number of heads does not matter: {heads} heads of 1 feature share the projections that one head of "
    "{d} would have.": counting("d_head"),
}


# Questions


def spaced(*axes):
    return "\u00a0×\u00a0".join(map(str, axes))


def answer_split(case, prompt):
    n, d = (prompt.arguments["shape"].arguments[name] for name in ("rows", "columns"))
    h, q = prompt.arguments["heads"], np.ones((n, d))
    parts = np.stack(np.split(q, h, axis=1))
    return {
        "Every head has all tokens, and {d_model} ÷ {heads} features of each.": spaced(*parts.shape),
        "No head gets the whole query: the {d_model} features are divided among the heads.": spaced(h, n, d),
        "That is the shape before the axes are swapped. The axis of the heads must come first, so that each "
        "head has its own matrix.": spaced(*q.reshape(n, h, -1).shape),
        "That would be a single head. Here there are {heads}.": spaced(1, n, d),
    }


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
    return dict.fromkeys(MORE_HEADS_REPLIES) | {JUDGE: judge}


def parameters_of(d, heads):
    """Every number of a module with so many heads, each with projections of its own width."""
    each = [np.zeros((d, d // heads)) for _ in range(3 * heads)]
    return np.concatenate([W.ravel() for W in (*each, np.zeros((d, d)))])


def answer_cost(case, prompt):
    h, d_head, d = (prompt.arguments[name] for name in ("heads", "d_head", "d_model"))
    assert d == h * d_head
    return {
        SMALL_MATRICES: sum(3 * d_head**2 for _ in range(h)),
        "Multi-head attention has that many: there, every head projects all features. Heads are not slices.": 3 * d * d,
        "That is one head. There are more.": 3 * d_head**2,
        "Only W_q, W_k and W_v are asked for, not W_o.": sum(4 * d_head**2 for _ in range(h)),
        "That is only one of the three: queries, keys and values need one each.": sum(d_head**2 for _ in range(h)),
    }


def who_changes(case, prompt, way):
    changes, d_head = reached(case.choices.example)
    feature = prompt.arguments["feature"] - 1
    return [changes[way, head, feature] > 1e-5 for head in range(trace_of(case).n_heads)], feature // d_head


def answer_notices(case, prompt):
    changed, _ = who_changes(case, prompt, "projected" if prompt.arguments["way"].template == PROJECTS else "sliced")
    judge = by_text({"All heads.": all(changed), "One head only.": sum(changed) == 1, "No head.": not any(changed)})
    if prompt.arguments["way"].template == PROJECTS:
        return {
            "Each head projects feature {feature}. Queries, keys and values are split afterwards.": ...,
            "That would be true if heads were slices of X. They are slices of Q, K and V.": ...,
            "The projections read this feature, so queries, keys and values change.": ...,
            JUDGE: judge,
        }
    changed, own = who_changes(case, prompt, "sliced")
    assert prompt.arguments["way"].template == READS_SLICE
    assert [head for head, does in enumerate(changed) if does] == [own]
    return {
        "Head {own}: the feature is in its slice. The others would never read it.": ...,
        "That is what multi-head attention does, where every head projects all features.": ...,
        "One slice holds this feature, and its head reads it.": ...,
        JUDGE: judge,
    }


def answer_home(case, prompt):
    feature, h, d = (prompt.arguments[key] for key in ("feature", "heads", "d_model"))
    parts = np.split(np.arange(1, d + 1), h)
    (head,) = [place for place, part in enumerate(parts) if feature in part]
    own = list(parts[head]).index(feature)
    dealt = [list(range(1, d + 1))[start::h] for start in range(h)]
    (hand,) = [place for place, part in enumerate(dealt) if feature in part]
    return {
        "Each head has one feature.": f"Feature {own + 1} of head {head + 1}.",
        "Features are not dealt out like cards, one to each head in turn. Each head takes neighbouring ones.": (
            f"Feature {dealt[hand].index(feature) + 1} of head {hand + 1}."
        ),
        "Then each head would have all {d_model} features. They are divided "
        "among the heads.": f"Feature {feature} of every head.",
        "That swaps head and feature.": f"Feature {head + 1} of head {own + 1}.",
    }


def answer_dropout(case, prompt):
    query, key = (prompt.arguments[name].position for name in ("query", "key"))
    row = heads_again(case.choices.example)[0][case.choices.head][query]
    p = case.choices.example.dropout
    return {
        "What is left, 1 minus that weight, is divided by {kept}.": sum(np.delete(row, key)) / (1 - p),
        "The softmax came before the dropout. Nothing makes the weights sum to 1 again.": 1,
        "Dropout also divides the weights that stay by {kept}.": sum(np.delete(row, key)),
        "That is the share of weights that stay on average, not the sum of this row.": 1 - p,
        "The weight itself is gone, so 1 minus that weight is left to divide.": 1 / (1 - p),
    }


def asked_about(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    row = heads_again(case.choices.example)[0][case.choices.head][query]
    return {"query": query, "key": key, "p": case.choices.example.dropout, "weight": row[key]}


def answer_divided(case, prompt):
    d, h = (prompt.arguments[name] for name in ("d_model", "heads"))
    q = torch.ones(h, 1, d // h)
    d_k = round(float(q[0] @ q[0].T / attend(q, q, q).scaled[0]) ** 2)
    return {
        "The query of one head has {d_model} ÷ {heads} features: that is d_k.": f"√{d_k}",
        "No head sees a query {d_model} wide. Its dot products have {d_head} terms.": f"√{d}",
        "The number of heads does not matter: they do not meet before their outputs are put side by side.": f"√{h}",
        "That is how many features a head has. Divide by the square root.": f"{d_k}",
    }


def answer_weights(case, prompt):
    of_heads = isinstance(trace_of(case), HeadsTrace)
    h, n, d_head = (prompt.arguments[name] for name in ("heads" if of_heads else "sentences", "tokens", "d_head"))
    trace = attend(*(torch.ones(h, n, d_head) for _ in "qkv"))
    every, alone = (
        ("Each head has a weight for every pair of tokens.", "That is the matrix of a single head.")
        if of_heads
        else ("Each sentence has a weight for every pair of its tokens.", "That is only one sentence.")
    )
    return {
        every: spaced(*trace.weights.shape),
        "That is the shape of the outputs. A weight belongs to a pair of tokens.": spaced(*trace.output.shape),
        alone: spaced(n, n),
        "Attention compares tokens, not features.": spaced(h, d_head, d_head),
    }


ORACLE |= {
    template: lambda case, sentence: {"kept": 1 - case.choices.example.dropout}
    for template in (
        "What is left, 1 minus that weight, is divided by {kept}.",
        "Dropout also divides the weights that stay by {kept}.",
    )
}
SMALL_MATRICES = "Each of the {heads} heads has 3 matrices of {d_head}\u00a0×\u00a0{d_head}."
MORE_HEADS = (
    "This module has n_heads = {heads} and d_model = {d_model}. Build it with n_heads = {other} and the same d_model. "
    "How does the number of its parameters change?"
)
MORE_HEADS_REPLIES = (
    "It stays {total}: the same projections are cut into more or fewer pieces.",
    "Each head has a part of the projections, and with n_heads = {other} a part is {d_model} ÷ {other} "
    "features wide. Together they still hold {total} numbers.",
    "The features per head change with the number of heads, but so does the number of parts: the total stays {total}.",
)
NOTICES = "{way} Add 1 to feature {feature} of every row of X. Which heads change their output?"
PROJECTS = "Each head projects all features of X."
READS_SLICE = "Suppose each head read only its own slice of X, {d_head} of the {d_model} features."
SPLIT = (
    "Q of another sentence is {shape}, and it is split among {heads} heads. What is its shape then, heads × tokens × "
    "features?"
)
SLICED = (
    "Suppose each of {heads} heads read only its own {d_head} of {d_model} features. How many numbers would all W_q, "
    "W_k and W_v hold together, without bias?"
)
DIVIDED = (
    "In another model d_model is {d_model}, and there are {heads} heads. By what does each head divide its scores?"
)
ALL_WEIGHTS = (
    "A model has {heads} heads of {d_head} features, and there are {tokens} tokens. What is the shape of the tensor "
    "with all attention weights, heads first?"
)
OF_SENTENCES = (
    "There are {sentences} sentences of {tokens} tokens, each of {d_head} features. What is the shape of the tensor "
    "with all attention weights, sentences first?"
)
DROPPED = (
    "In training, with dropout {p}, only the weight of {key}, {weight}, is dropped from the row of {query}. What does "
    "the row sum to then?"
)
ORACLE |= {
    "Every query sees a single key here, so all heads give the same weights.": holds(
        lambda case: (np.array(heads_again(case.choices.example)[0]) > 0).sum(axis=-1).max() == 1
    ),
    "There is one head, so there is nothing to compare.": holds(lambda case: trace_of(case).n_heads == 1),
    "The number of heads does not matter: several heads would share the same projections.": holds(
        lambda case: trace_of(case).n_heads == 1
    ),
}

WHICH_HEAD = "Which head gives {key} the most weight from {query}?"
IN_HEAD = "In the enlarged map, on which key does {query} put its largest weight?"
GETS_MORE = "{key} gets {weight} from {query}; another key gets more."


def some_weight(case, sentence):
    """Of which head and pair, the card and the prompt say."""
    said, every = sentence.arguments["weight"].value, np.array(heads_again(case.choices.example)[0]).flatten()
    return {"weight": min(every, key=lambda weight: abs(weight - said))}


def weight_of_pair(case, sentence):
    query, key = (sentence.arguments[name].position for name in ("query", "key"))
    row = heads_again(case.choices.example)[0][case.choices.head][query]
    assert row[key] < max(row)
    return {"query": query, "key": key, "weight": row[key]}


def answer_which_head(case, prompt):
    query, key = (prompt.arguments[name].position for name in ("query", "key"))
    every = np.array(heads_again(case.choices.example)[0])
    weights = every[:, query, key]
    assert every[:, query].max() <= 0.9 + 1e-6
    return {
        "It gives {weight}: each head has its own W_q and W_k.": {"head": weights.argmax() + 1},
        "It gives {weight}, and another head more.": ...,
        "The tokens are the same, but each head has its own W_q and W_k.": ...,
        JUDGE: lambda card: (
            weights[card.text.arguments["head"] - 1] == weights.max()
            if card.text.arguments
            else weights.max() - weights.min() < 0.005
        ),
    }


def answer_in_head(case, prompt):
    weights, query = (
        np.array(heads_again(case.choices.example)[0][case.choices.head]),
        prompt.arguments["query"].position,
    )
    return {
        "Rows are queries: in its row, this key has the largest weight.": weights[query].argmax(),
        "That is read down the column: it is the query that looks at {query} most.": weights[:, query].argmax(),
        GETS_MORE: ...,
        JUDGE: by_largest(weights[query].tolist()),
    }


ORACLE |= {
    WHICH_HEAD: lambda case, prompt: chosen(case, prompt) | {"concept": True},
    IN_HEAD: lambda case, prompt: chosen(case, prompt) | {"concept": True},
    "It gives {weight}: each head has its own W_q and W_k.": some_weight,
    "It gives {weight}, and another head more.": some_weight,
    "Rows are queries: in its row, this key has the largest weight.": lambda case, reply: {"concept": True},
    "That is read down the column: it is the query that looks at {query} most.": lambda case, reply: (
        chosen(case, reply) | {"concept": True}
    ),
    GETS_MORE: weight_of_pair,
}
ANSWERS = {
    WHICH_HEAD: answer_which_head,
    IN_HEAD: answer_in_head,
    SPLIT: answer_split,
    MORE_HEADS: answer_more_heads,
    SLICED: answer_cost,
    NOTICES: answer_notices,
    "Q has {d_model} features and is split among {heads} heads. Where is feature {feature}, counted from "
    "1?": answer_home,
    DROPPED: answer_dropout,
    DIVIDED: answer_divided,
    ALL_WEIGHTS: answer_weights,
    OF_SENTENCES: answer_weights,
}


def parameters_now(case, sentence):
    trace = trace_of(case)
    d, module, said = trace.x.shape[-1], trace.module, sentence.arguments
    biases = sum(b is not None for b in (module.b_q, module.b_k, module.b_v, module.b_o))
    every = {"total": 4 * d * d + biases * d, "d_model": d, "heads": trace.n_heads}
    return {name: every.get(name, said[name]) for name in said}


ORACLE |= {
    DROPPED: asked_about,
    **dict.fromkeys((MORE_HEADS, *MORE_HEADS_REPLIES), parameters_now),
    READS_SLICE: lambda case, sentence: {
        "d_head": trace_of(case).x.shape[1] // trace_of(case).n_heads,
        "d_model": trace_of(case).x.shape[1],
    },
    "Q has {d_model} features and is split among {heads} heads. Where is feature {feature}, counted from 1?": chosen,
    "Each head has one feature.": lambda case, sentence: {"count": sizes_of("q", case, sentence)["count"]["d_head"]},
    "Then each head would have all {d_model} features. They are divided among the heads.": partial(sizes_of, "q"),
    **dict.fromkeys(
        (
            "{rows}\u00a0×\u00a0{columns}",
            "{how_many}\u00a0×\u00a0{matrix}",
            SPLIT,
            SLICED,
            NOTICES,
            DIVIDED,
            ALL_WEIGHTS,
            OF_SENTENCES,
            "Each head projects feature {feature}. Queries, keys and values are split afterwards.",
            "Head {own}: the feature is in its slice. The others would never read it.",
            "Every head has all tokens, and {d_model} ÷ {heads} features of each.",
            "No head gets the whole query: the {d_model} features are divided among the heads.",
            "That would be a single head. Here there are {heads}.",
            SMALL_MATRICES,
            "The query of one head has {d_model} ÷ {heads} features: that is d_k.",
            "No head sees a query {d_model} wide. Its dot products have {d_head} terms.",
        ),
        chosen,
    ),
}


# What a notebook shows, and what once was said wrongly


def said(source="sentence", step="attend", head=0, running=None, **choices):
    example = run_example(running or Example())
    own = heads_example(example, source, **choices)
    return " ".join(map(render, screen(example, 0, Choices(own, step, head=head)).figures[0].notice))


def test_the_journeys_untrained_heads_are_said_to_hardly_differ():
    weights = run_heads(HeadsExample(source="journey", running=Example(causal=False))).heads.weights
    assert "0.152" in readings(weights.min(), with_decimals(3)) and "0.176" in readings(weights.max(), with_decimals(3))
    assert said("journey", running=Example(causal=False)).startswith(
        "The heads hardly differ: on average, two of them place 1.4% of a row's weight on different keys"
    )


def test_the_wide_module_has_the_notebooks_number_of_parameters():
    example = run_example(Example())
    table = screen(example, 0, Choices(heads_example(example, "wide"))).figures[-1]
    assert table.cells[-1][-1].value == 1_050_624
    assert render(table.notice[0]) == "The module has 1,050,624 parameters: 4 · 512 · 512 + 4 · 512."


def test_rows_that_lose_nothing_are_all_named_as_furthest_from_1():
    """Five rows of the first screen sum to 1.1111."""
    sentence = said(step="dropout")
    assert "those of “Your”, “journey”, “starts”, “with” and “one”, which now sum to 1.11 each" in sentence


def test_slices_need_half_of_the_numbers_with_two_heads():
    sentence = said(step="slices", d_model=16, n_heads=2)
    assert "hold 768 numbers when every head projects all features, and 384 when" in sentence


def test_where_there_is_nothing_to_compare_that_is_said():
    assert said(d_model=4, n_heads=1) == "There is one head, so there is nothing to compare."
    one = Example(source="sentence", text="one")
    assert said(running=one) == "Every query sees a single key here, so all heads give the same weights."
    assert said(step="dropout", dropout=0.0) == (
        "The dropout is 0, so training changes nothing and every row still sums to 1."
    )
