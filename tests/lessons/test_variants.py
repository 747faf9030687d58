"""The lesson on variants: everything its screens say, computed again with plain Python."""

import math
from dataclasses import replace
from functools import cache, lru_cache

import pytest
import torch
from learnt_oracle import ORACLE as LEARNT
from safetensors import safe_open
from screens import AS_GOOD, JUDGE, Case, by_largest, by_text, by_thought, check_said, chosen, holds, token_on

from attention_core.base.randomness import generator
from attention_core.learning.tasks import CharacterTask
from attention_core.measured.head_measures import tokens_that_reach
from attention_core.model.small_model import ModelConfig, draw_model
from lessons.example.edits import Edit
from lessons.example.example import Example, learnt_example, run_example
from lessons.example.layer_on_text import SHIPPED_FILE
from lessons.example.second_sentence import followed_by
from lessons.example.task_models import recorded
from lessons.screen import format_value, render, render_all
from lessons.today.variants.figures import CAPS_MEASURED, SINKS_MEASURED
from lessons.today.variants.lesson import Choices, screen
from lessons.today.variants.measures import (
    EVERY,
    KINDS_TRAINED,
    LENGTHS_MEASURED,
    STEPS_TRAINED,
    right_over_length,
    settings_of_lengths,
    with_context,
)
from tests.rounding import assert_close_for_size

KINDS = ("window", "sink", "cap", "alibi", "rotary", "grouped", "cross")


def cases(trace):
    yield from map(Choices, KINDS)
    yield Choices("window", reach=3)
    yield Choices("sink", sink=2.0)
    yield Choices("cap", cap=0.5)
    yield Choices("cross", second="the dog found a lamp")


# The head, with plain loops.


@lru_cache(maxsize=4)  # the loops below ask for it at every step
def example_of(case):
    """The running example; with two heads where one would have nobody to share with, or with a second sentence."""
    if case.choices.second and case.trace.example.given_by.takes_text:
        return followed_by(case.trace, case.choices.second)
    trace = case.trace
    if case.choices.variant == "grouped" and trace.example.n_heads == 1:
        return run_example(replace(trace.example, n_heads=2))
    return trace


def cut_of(case):
    """How many tokens are looked at in cross-attention."""
    n, first = len(example_of(case).tokens), len(case.trace.tokens)
    return first if n > first else n // 2


def projected(case, name, head=None, positions=True):
    """The rows of a head's queries, keys or values as its W makes them, before anything turns."""
    x, W = example_of(case).x.double(), getattr(example_of(case), f"W_{name}").double()
    if positions and name in "qk" and example_of(case).added is not None:
        x = x + example_of(case).added
    width = W.shape[1] // example_of(case).example.n_heads
    head = case.head if head is None else head
    return (x @ W[:, head * width : (head + 1) * width]).tolist()


def turn(rows, base=10000.0):
    """Rotary positions, each pair of features as one complex number."""
    width, turned = len(rows[0]), []
    for place, row in enumerate(rows):
        numbers = [
            complex(row[i], row[i + 1]) * complex(math.cos(angle), math.sin(angle))
            for i in range(0, width, 2)
            for angle in [place * base ** (-i / width)]
        ]
        turned.append([part for z in numbers for part in (z.real, z.imag)])
    return turned


def rows_of_head(case, name, head):
    """Queries or keys as the head has them without the variant."""
    rows = projected(case, name, head)
    rotary = example_of(case).rotary
    return turn(rows, rotary.base) if rotary else rows


def scaled_scores(case, q, k):
    return [[sum(a * b for a, b in zip(one, other, strict=True)) * example_of(case).scale for other in k] for one in q]


def sees(case, i, j):
    return j <= i or not example_of(case).example.causal


def softmax(scores, extra=None):
    scores = [*scores, -math.inf if extra is None else extra]
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers[:-1]]


def set_before(case):
    """The heads that share keys and values in the example as it is: three in the real model, else each for itself."""
    n_sharing = 3 if case.trace.example.source == "language" else 1
    return range(case.head // n_sharing * n_sharing, case.head // n_sharing * n_sharing + n_sharing)


def group_of(case):
    n_heads = example_of(case).example.n_heads
    if case.trace.example.source == "language":
        return range(9)
    size = next((size for size in range(2, n_heads + 1) if n_heads % size == 0), 1)
    return range(case.head // size * size, case.head // size * size + size)


def shared_keys(case):
    together = zip(*(rows_of_head(case, "k", head) for head in group_of(case)), strict=True)
    return [[sum(column) / len(column) for column in zip(*rows, strict=True)] for rows in together]


def possible(case):
    kind, width = case.choices.variant, len(projected(case, "q")[0])
    return not (
        (kind == "rotary" and width % 2)
        or (kind == "grouped" and example_of(case).example.n_heads == 1)
        or (kind == "cross" and len(example_of(case).tokens) == 1)
    )


def masked_scores(case, changed):
    """The head's scores after all that happens before the softmax."""
    kind, n = case.choices.variant, len(example_of(case).tokens)
    q, k = (rows_of_head(case, name, case.head) for name in "qk")
    see = [[sees(case, i, j) for j in range(n)] for i in range(n)]
    changed = changed and possible(case)
    if changed and kind == "rotary":
        q, k = (turn(projected(case, name, positions=False)) for name in "qk")
    if changed and kind == "grouped":
        k = shared_keys(case)
    scores = scaled_scores(case, q, k)
    for i in range(n):
        for j in range(n):
            if changed and kind == "window":
                see[i][j] = see[i][j] and (abs(i - j) <= case.choices.reach or 0 in (i, j))
            if changed and kind == "cross":
                see[i][j] = j < cut_of(case)
            if changed and kind == "cap":
                scores[i][j] = case.choices.cap * math.tanh(scores[i][j] / case.choices.cap)
            if changed and kind == "alibi":
                scores[i][j] -= 0.5 ** (case.head % 8 + 1) * abs(i - j)
            if not see[i][j]:
                scores[i][j] = -math.inf
    return scores


def weights_of(case, changed):
    extra = case.choices.sink if changed and case.choices.variant == "sink" else None
    return [softmax(row, extra) for row in masked_scores(case, changed)]


def moved_between(one, other):
    gaps = [sum(abs(a - b) for a, b in zip(*rows, strict=True)) / 2 for rows in zip(one, other, strict=True)]
    return sum(gaps) / len(gaps)


def entropy(rows):
    return sum(-sum(w * math.log2(w) for w in row if w > 0) for row in rows) / len(rows)


def with_choices(case, **choices):
    return replace(case, choices=Choices(case.choices.variant, **choices))


def collected(case):
    rows = weights_of(case, True)
    return sum(1 - sum(row) for row in rows) / len(rows)


# What the sentences say.


def hidden_by_window(case, sentence):
    before, after = masked_scores(case, False), masked_scores(case, True)
    count = sum(score > -math.inf for row in before for score in row)
    return {"count": count, "hidden": count - sum(score > -math.inf for row in after for score in row)}


def entropies(case, sentence):
    before, after = entropy(weights_of(case, False)), entropy(weights_of(case, True))
    assert after >= before - 1e-6
    return {"cap": case.choices.cap, "before": before, "after": after}


def cap_of_no_use(case, sentence):
    before, after = (weights_of(case, changed) for changed in (False, True))
    assert moved_between(before, after) < 1e-3
    for one, other in zip(before, after, strict=True):
        assert entropy([one]) == pytest.approx(entropy([other]), abs=1e-3)
    return {"cap": case.choices.cap}


def groups_said(case, sentence):
    n_heads, group = example_of(case).example.n_heads, group_of(case)
    return {"count": n_heads // len(group), "heads": [called(case, head) for head in group], "all": n_heads}


def called(case, head):
    return f"13.{head}" if case.trace.example.source == "language" else head + 1


def shared_already(case, sentence):
    return {"count": 3, "heads": [called(case, head) for head in set_before(case)], "all": 9}


def same_maps(case, sentence):
    """Each number of the maps of the heads that share, one by one, in the file that ships."""
    with safe_open(SHIPPED_FILE, "np") as file:
        stored = {name: file.get_tensor(name) for name in ("W_k", "W_v")}
    for name, W in stored.items():
        for head in set_before(case):
            own = getattr(case.trace, name)[:, 64 * head : 64 * head + 64].numpy()
            assert (own == W[:, head // 3 * 64 : head // 3 * 64 + 64].astype("float32")).all()
    size = len(stored["W_k"]) * 64
    return {"heads": [called(case, head) for head in set_before(case)], "keys": size, "values": size}


def cut_said(case, sentence):
    return {"asking": len(example_of(case).tokens) - cut_of(case), "answering": cut_of(case)}


def heard(reach, layers, causal, helped, n=41):
    """Who reaches the one token, with plain sets: layer by layer, whom those look at that reach it."""
    reached = {n - 1 if causal else n // 2}
    for _ in range(layers):
        reached |= {
            j
            for i in reached
            for j in range(n)
            if (abs(i - j) <= reach or (helped and 0 in (i, j))) and (j <= i or not causal)
        }
    return len(reached)


def reach_said(case, sentence):
    causal = example_of(case).example.causal
    alone, helped = (heard(case.choices.reach, 6, causal, with_global) for with_global in (False, True))
    return {"layers": 6, "alone": alone, "n": 41, "helped": helped}


def sinks_said(case, sentence):
    little, much = (collected(with_choices(case, sink=score)) for score in (-4.0, 4.0))
    return {"low": -4, "little": little, "high": 4, "much": much}


def caps_said(case, sentence):
    even = entropy(weights_of(with_choices(case, cap=0.25), True))
    return {"low": 0.25, "even": even, "without": entropy(weights_of(case, False))}


@cache
def right_with(kind, length):
    """One piece after the other, through a model with that context and these weights."""
    settings = settings_of_lengths(kind)
    trained = recorded(settings).model(STEPS_TRAINED)
    ids = torch.tensor(settings.task.vocabulary.encode(settings.task.tokens))
    model = trained if kind == "learned" else with_context(trained, length)
    right = [
        model(ids[begin : begin + length]).logits.argmax(dim=-1) == ids[begin + 1 : begin + length + 1]
        for begin in range(0, len(ids) - length, EVERY)
    ]
    return float(torch.cat(right).double().mean())


def lengths_said(case, sentence):
    names = {"alibi": "alibi", "rotary": "rotary", "waves": "sinusoidal"}
    return {"steps": STEPS_TRAINED, "trained": 16, "length": 128} | {
        name: 100 * right_with(kind, 128) for name, kind in names.items()
    }


@cache
def trained_with(sink):
    """The small model of the text that learns places, trained without sinks or with them; its task."""
    settings = settings_of_lengths("learned")
    settings = replace(settings, model=replace(settings.model, sink=sink))
    return recorded(settings).model(STEPS_TRAINED), settings.task


@cache
def read_with_sinks(trained, score=None):
    """Piece after piece, head after head with plain loops: what sinks and first tokens get, how much is right.

    The weights of the model are used as they are; its sinks are those it learnt, or all have this score.
    """
    model, task = trained_with(trained)
    ids, n_heads = task.vocabulary.encode(task.tokens), model.config.n_heads
    (layer,), d_head = model.layers, model.config.d_model // n_heads
    sinks = (
        [score] * n_heads if score is not None else layer.attention.sink.tolist() if trained else [-math.inf] * n_heads
    )
    collected, first, right = [], [], []
    for begin in range(0, len(ids) - 16, EVERY):
        x = torch.stack([model.token_table[i] for i in ids[begin : begin + 16]]) + model.position_table[:16]
        heads = []
        for head, sink in enumerate(sinks):
            own = slice(head * d_head, (head + 1) * d_head)
            q, k, v = (x @ W[:, own] for W in (layer.attention.W_q, layer.attention.W_k, layer.attention.W_v))
            scores = (q @ k.T / math.sqrt(k.shape[1])).tolist()
            rows = [softmax(row[: i + 1], sink) for i, row in enumerate(scores)]
            collected += [1 - sum(row) for row in rows[1:]]
            first += [row[0] for row in rows[1:]]
            heads.append(torch.stack([sum(w * v[j] for j, w in enumerate(row)) for row in rows]))
        out = x + torch.cat(heads, dim=1) @ layer.attention.W_o
        found = (out @ model.W_unembed + model.b_unembed).argmax(dim=1).tolist()
        right += [one == other for one, other in zip(found, ids[begin + 1 : begin + 17], strict=True)]
    return tuple(sum(numbers) / len(numbers) for numbers in (collected, first, right))


def sinks_trained(case, sentence):
    even = sum(1 / (seen + 1) for seen in range(2, 17)) / 15
    return {"steps": STEPS_TRAINED, "sinks": read_with_sinks(True)[0], "even": even}


def right_with_sinks(case, sentence):
    (_, _, right), (_, _, alone) = read_with_sinks(True), read_with_sinks(False)
    late, _, late_right = read_with_sinks(False, 0.0)
    return {"right": 100 * right, "alone": 100 * alone, "late": late, "late_right": 100 * late_right}


def part_of_weight(case, sentence):
    model, part = (render(sentence.arguments[name]) for name in ("model", "part"))
    trained = {"trained without sinks": False, "trained with sinks": True}[model]
    sink, first, _ = read_with_sinks(trained)
    shares = {"the sinks": sink if trained else 0.0, "the first token": first, "all others": 1 - sink - first}
    return {"model": model, "share": shares[part], "part": part}


def slopes_said(case, sentence):
    return {"steps": 4, "steep": math.exp(-2), "heads": 8, "flat": math.exp(-1 / 64)}


def group_gap(case, sentence):
    one, other, *_ = group_of(case)
    q, p = rows_of_head(case, "q", one), rows_of_head(case, "q", other)
    return {"gap": max(abs(a - b) for rows in zip(q, p, strict=True) for a, b in zip(*rows, strict=True))}


def shared_rows(case, head):
    k = shared_keys(case)
    scores, n = scaled_scores(case, rows_of_head(case, "q", head), k), len(k)
    return [softmax([scores[i][j] if sees(case, i, j) else -math.inf for j in range(n)]) for i in range(n)]


def group_share(case, sentence):
    one, other, *_ = group_of(case)
    return {"share": moved_between(shared_rows(case, one), shared_rows(case, other))}


OWN_W_Q = "Each head still has a W_q of its own, so the queries differ."
OTHER_WEIGHTS = "They mix the same values by other weights, so the outputs differ."
SAME_NUMBERS = "They are the same {count} numbers, and the cache keeps them once."
OTHER_QUERIES = "Other queries meet the same keys, so the weights differ: {share} of the weight lies elsewhere."
STILL = "Heads {both} share keys and values. Which of these can no longer differ between them?"
WITH_SINK = (
    "Without a sink, {query} puts {before} on {key}. A sink collects {share} of this query's weight. What is left on "
    "{key}?"
)
CAPPED = "The scaled score of {key} for {query} is {score}. What does a soft cap of {cap} make of it?"
BIASED = (
    "The scaled score of {key} for {query} is {score}, and their distance is {steps}. The slope of "
    "ALiBi is {slope}. What is the score with its bias?"
)
SHAPE = (
    "One sentence asks (tokens: {asking}) and another answers (tokens: {answering}). What shape do the weights have?"
)
KEPT = (
    "With d_k = {d_k}, d_v = {d_v}, n_heads = {heads} and {sets}, how many numbers does the cache keep (tokens: "
    "{kept})?"
)


OUT_OF_WINDOW = "Compare the two matrices. Which key does {query} no longer see in the window?"
TOO_FAR = "It is {apart} steps away, and the window reaches {reach}."
GLOBAL = "The first token is global: all see it."
AT_THE_EDGE = "{token} is at the edge of the window: near enough."
OWN_KEY = "A query sees its own key in every window."
LOSES_MOST = "Compare the row of {query} in both matrices. Which key loses the most weight?"
LOSES = "It loses {lost}; no other key loses as much."
LOSES_LESS = "{token} loses {lost}; another key loses more."
GAINS = "{token} gains {gained}, some of what others lose."
KEEPS = "{token} keeps its weight, or nearly so."
GETS_LESS = "{token} gets {weight}; another key gets more."

IN_ROW = "In the second matrix, which key gets the largest weight of {query}?"
MOST_IN_ROW = "It gets {weight}: no other key in this row has more."
FIRST_MATRIX = "In the first matrix it gets the largest weight of this row."


def losses(case):
    """What each key loses of the weight of each query."""
    both = zip(weights_of(case, False), weights_of(case, True), strict=True)
    return [[before - after for before, after in zip(*rows, strict=True)] for rows in both]


def among(name, numbers):
    """Of a reply to one card, which is about one of these numbers: which, the prompt says, and a judge checks it."""

    def oracle(case, reply):
        key = reply.arguments["token"].position if "token" in reply.arguments else None
        found = [number for row in numbers(case) for number in (row if key is None else row[key : key + 1])]
        said = reply.arguments[name].value
        nearest = {name: min(found, key=lambda one: abs(one - said))}
        return nearest if key is None else nearest | {"token": key}

    return oracle


def pair(sentence):
    return (sentence.arguments[name].position for name in ("query", "key"))


def said_with_sink(case, sentence):
    query, key = pair(sentence)
    share = 1 - sum(weights_of(case, True)[query])
    return {"query": query, "key": key, "before": weights_of(case, False)[query][key], "share": share}


def said_capped(case, sentence):
    query, key = pair(sentence)
    return {"query": query, "key": key, "score": masked_scores(case, False)[query][key], "cap": case.choices.cap}


def said_biased(case, sentence):
    query, key = pair(sentence)
    score, slope = masked_scores(case, False)[query][key], 0.5 ** (case.head % 8 + 1)
    return {"query": query, "key": key, "score": score, "steps": abs(query - key), "slope": slope}


def of_the_head_shown(oracle):
    """What is said of the weights is about the example that the variant is shown on."""
    return lambda case, sentence: oracle(replace(case, trace=example_of(case)), sentence)


ORACLE = {
    **{template: of_the_head_shown(oracle) for template, oracle in LEARNT.items()},
    "The window hides {hidden} of {count} visible cells. The first token is global: all see it.": hidden_by_window,
    "On average, a query moves {share} of its weight to other keys.": lambda case, sentence: {
        "share": moved_between(weights_of(case, False), weights_of(case, True))
    },
    "A sink with score {score} collects {share} of a query's weight on average. That share adds no "
    "value: a head can choose to do nothing.": lambda case, sentence: {
        "score": case.choices.sink,
        "share": collected(case),
    },
    "A cap of {cap} brings scores closer together: the entropy of a row goes from {before} to {after} "
    "bits on average.": entropies,
    "A cap of {cap} leaves these weights as even as they were.": cap_of_no_use,
    "Each step between query and key lowers the score by {slope}, the slope of head {head} of {heads}.": (
        lambda case, sentence: {"slope": 0.5 ** (case.head % 8 + 1), "head": case.head % 8 + 1, "heads": 8}
    ),
    "Heads {heads} share one set of keys and values, the means of their own: {count} set for {all} heads.": groups_said,
    "Heads {heads} of this model already share W_k and W_v: {count} set for {all} heads.": shared_already,
    "Heads {heads} have the same W_k, of size {keys}, and the same W_v, of size {values}. Each has its own W_q.": (
        same_maps
    ),
    "W_k of head {head}": lambda case, sentence: {"head": sentence.arguments["head"]},
    "keys shared by {count}": lambda case, sentence: {"count": len(group_of(case))},
    "The model turns them, too: on the left with its own base, {base}, on the right with {usual}.": (
        lambda case, sentence: {"base": example_of(case).rotary.base, "usual": 10000}
    ),
    "The end of the text is one sentence, which asks (tokens: {asking}); its beginning is another, "
    "which is looked at (tokens: {answering}).": cut_said,
    "Rotary positions turn pairs of features. Choose an even d_k in the sidebar, not {d_k}.": lambda case, sentence: {
        "d_k": len(projected(case, "q")[0])
    },
    "Through {layers} layers, {alone} of {n} tokens reach one query by windows alone, and {helped} "
    "with the global token, as the gradients of untrained layers show (seed 0).": reach_said,
    "With score {low}, a sink collects {little} of the weight; with score {high}, it collects {much}.": sinks_said,
    "With a cap of {low}, a row has {even} bits of entropy on average; without a cap, {without}.": caps_said,
    "Four small models of one text were trained here for {steps} training steps on {trained} "
    "characters at a time (seed 0). Reading {length} at a time, they predict {alibi}% of the next "
    "characters correctly with ALiBi, {rotary}% with rotary positions and {waves}% with sines and "
    "cosines.": lengths_said,
    "Two small models of one text were trained here from the same random weights for {steps} "
    "training steps (seed 0), one of them with a sink in each head. Its sinks collect {sinks} of "
    "the weight of all queries but the first; if the weight were spread evenly, it would be {even}.": (sinks_trained),
    "With sinks, the model predicts {right}% of the next characters correctly; without them, "
    "{alone}%. Sinks added only after training, with score 0, collect {late}, and then "
    "{late_right}% are correct.": right_with_sinks,
    "{model}: {share} of the weight goes to {part}": part_of_weight,
    "At a distance of {steps}, the bias multiplies e to the score by {steep} in head 1 and by "
    "{flat} in head {heads}: each head looks back twice as far as the one before.": slopes_said,
    "how much of e to a score the bias of head {head} leaves at a distance of {steps}": chosen,
    "Learned vectors end at position {trained}: that model cannot read longer pieces.": (
        lambda case, sentence: {"trained": 16}
    ),
    "characters read at a time ({trained} in training)": lambda case, sentence: {"trained": 16},
    "cached after {count} token": lambda case, sentence: {"count": len(example_of(case).tokens)},
    "after {count}": lambda case, sentence: {"count": 4096},
    AT_THE_EDGE: chosen,
    OTHER_QUERIES: group_share,
    SAME_NUMBERS: lambda case, sentence: {"count": len(case.trace.tokens) * len(projected(case, "k")[0])},
    **dict.fromkeys((OUT_OF_WINDOW, TOO_FAR, KEEPS), chosen),
    **dict.fromkeys((LOSES_MOST, IN_ROW, FIRST_MATRIX), lambda case, said: chosen(case, said) | {"concept": True}),
    **dict.fromkeys((LOSES, LOSES_LESS), among("lost", losses)),
    GAINS: among("gained", lambda case: [[-lost for lost in row] for row in losses(case)]),
    **dict.fromkeys((GETS_LESS, MOST_IN_ROW), among("weight", lambda case: weights_of(case, True))),
    STILL: chosen,
    WITH_SINK: said_with_sink,
    CAPPED: said_capped,
    BIASED: said_biased,
    SHAPE: cut_said,
    KEPT: chosen,
    "1 set of keys and values": chosen,
    "{count} sets of keys and values": chosen,
}


def one_reply(reply, numbers):
    """The same reply to all cards, whose thoughts lead to these numbers, the right one first."""
    return {reply: ..., JUDGE: by_thought(numbers)}


def answer_out_of_window(case, prompt):
    query, reach = prompt.arguments["query"].position, case.choices.reach
    before, after = (masked_scores(case, changed)[query] for changed in (False, True))

    def judge(card):
        key, reply = token_on(card), card.reply
        apart = abs(query - key)
        assert {TOO_FAR: apart > reach and key, GLOBAL: apart > reach and not key, AT_THE_EDGE: apart == reach}.get(
            reply.template, not apart
        )
        of_edge = {"token": card.text.arguments["token"]}
        expected = {TOO_FAR: {"apart": apart, "reach": reach}, AT_THE_EDGE: of_edge}.get(reply.template, {})
        assert reply.arguments == expected
        return before[key] > -math.inf and after[key] == -math.inf

    return {TOO_FAR: ..., GLOBAL: ..., AT_THE_EDGE: ..., OWN_KEY: query, JUDGE: judge}


def answer_loses_most(case, prompt):
    lost = losses(case)[prompt.arguments["query"].position]

    def judge(card):
        said, own = card.reply.arguments, lost[token_on(card)]
        assert "token" not in said or said["token"].position == token_on(card)
        if card.reply.template == KEEPS:
            assert abs(own) < 0.0051
        else:
            assert own == pytest.approx(said["lost"].value if "lost" in said else -said["gained"].value, abs=1e-5)
        return by_largest(lost)(card)

    return {LOSES: ..., LOSES_LESS: ..., GAINS: ..., KEEPS: ..., JUDGE: judge}


def answer_in_row(case, prompt):
    query = prompt.arguments["query"].position
    unchanged, row = (weights_of(case, changed)[query] for changed in (False, True))
    scores = masked_scores(case, True)[query]

    def judge(card):
        key, weight = token_on(card), card.reply.arguments.get("weight")
        assert scores[key] > -math.inf, "it is seen"
        if card.reply.template == FIRST_MATRIX:
            assert unchanged[key] >= max(unchanged) - 1e-5
        else:
            assert_close_for_size(weight.value, row[key], 1.0, scores)
        return by_largest(row)(card)

    return {MOST_IN_ROW: ..., FIRST_MATRIX: ..., GETS_LESS: ..., JUDGE: judge}


def answer_still(case, prompt):
    assert list(prompt.arguments["both"].items) == [called(case, head) for head in group_of(case)][:2]
    one, other = ((shared_rows(case, head), shared_output(case, head)) for head in list(group_of(case))[:2])
    gaps = [moved_between(one[0], other[0]), max(abs(a - b) for a, b in zip(one[1], other[1], strict=True))]
    judge = by_text(
        {
            "Their keys.": True,
            "Their queries.": group_gap(case, prompt)["gap"] < AS_GOOD,
            "Their weights.": gaps[0] < AS_GOOD,
            "Their outputs.": gaps[1] < AS_GOOD,
        }
    )
    return {SAME_NUMBERS: ..., **dict.fromkeys((OWN_W_Q, OTHER_QUERIES, OTHER_WEIGHTS), ...), JUDGE: judge}


def shared_output(case, head):
    """The output of a head, all its numbers in one list, with the values that the heads share."""
    together = zip(*(projected(case, "v", one) for one in group_of(case)), strict=True)
    v = [[sum(column) / len(column) for column in zip(*rows, strict=True)] for rows in together]
    rows = shared_rows(case, head)
    columns = list(zip(*v, strict=True))
    return [sum(w * value for w, value in zip(row, column, strict=True)) for row in rows for column in columns]


def answer_with_sink(case, prompt):
    query, key = pair(prompt)
    before, after = weights_of(case, False)[query], weights_of(case, True)[query]
    share, n_keys = 1 - sum(after), sum(score > -math.inf for score in masked_scores(case, False)[query])
    return one_reply(
        "Every weight of the row shrinks by the same factor: 1 minus the share of the sink.",
        {
            "the weight, less its share of what the sink takes": after[key],
            "its score stays the same, and so does its weight": before[key],
            "the weight, less an equal part of what the sink takes": before[key] - share / n_keys,
            "the weight, less all that the sink takes": before[key] - share,
            "the weight, divided by 1 plus the share": before[key] / (1 + share),
            "the weight, times the share of the sink": before[key] * share,
        },
    )


def answer_capped(case, prompt):
    query, key = pair(prompt)
    score, cap = masked_scores(case, False)[query][key], case.choices.cap
    return one_reply(
        "The cap times tanh of the score over the cap: every score is bent, and none reaches the cap.",
        {
            "bent: the cap times tanh(score / cap)": cap * math.tanh(score / cap),
            "clipped at the cap": min(max(score, -cap), cap),
            "bent: tanh of the score": math.tanh(score),
            "made smaller: the score over the cap": score / cap,
            "pushed out to the cap, with the sign of the score": cap if score >= 0 else -cap,
            "the score, times the cap": cap * score,
        },
    )


def answer_biased(case, prompt):
    query, key = pair(prompt)
    score, slope, apart = masked_scores(case, False)[query][key], 0.5 ** (case.head % 8 + 1), abs(query - key)
    n_tokens = len(example_of(case).tokens)
    return one_reply(
        "The slope is subtracted once for each step between the two: neighbours are one step apart.",
        {
            "the slope subtracted once for each step": score - slope * apart,
            "the slope added once for each step": score + slope * apart,
            "the slope subtracted for each step, and once more": score - slope * (apart + 1),
            "the slope subtracted for each token, and once more": score - slope * (n_tokens + 1),
            "the slope subtracted as a share of the score": score * (1 - slope),
            "the score, just as it is": score,
        },
    )


def answer_shape(case, prompt):
    n, first = len(example_of(case).tokens), cut_of(case)
    shapes = {
        "rows for those that ask, columns for those that answer": (n - first, first),
        "rows for those that answer, columns for those that ask": (first, n - first),
        "rows and columns for all tokens": (n, n),
        "rows for those that ask, columns for all tokens": (n - first, n),
        "rows and columns for those that answer": (first, first),
    }
    return one_reply(
        "Each token that asks has a row, each token of the other sentence a column.",
        {thought: dict(zip(("rows", "columns"), shape, strict=True)) for thought, shape in shapes.items()},
    )


def answer_kept(case, prompt):
    said = {name: prompt.arguments[name] for name in ("heads", "d_k", "d_v", "kept")}
    said["sets"] = prompt.arguments["sets"].arguments["count"]
    n_heads, kind, kept = example_of(case).example.n_heads, case.choices.variant, said["kept"]
    d_k, d_v = len(projected(case, "q")[0]), len(projected(case, "v")[0])
    sets = n_heads // len(group_of(case) if kind == "grouped" else set_before(case))
    assert (said["heads"], said["sets"], said["d_k"], said["d_v"]) == (n_heads, sets, d_k, d_v)
    if kind == "window":
        assert kept == case.choices.reach + 2
    if kind == "cross" and possible(case):
        assert kept == cut_of(case)
    return one_reply(
        "A key and a value for each token, once for each set. Queries and weights are not kept.",
        {
            "keys and values, once for each set": kept * sets * (d_k + d_v),
            "keys only, once for each set": kept * sets * d_k,
            "queries, keys and values, once for each set": kept * sets * (d_k + d_k + d_v),
            "keys, values and weights, once for each set": kept * sets * (kept + d_k + d_v),
            "keys and values of every head, for each set": kept * sets * n_heads * (d_k + d_v),
            "keys and values of a single token": sets * (d_k + d_v),
        },
    )


ORACLE |= {
    "This window hides nothing here.": holds(
        lambda case: all(
            abs(i - j) <= case.choices.reach or 0 in (i, j)
            for i, row in enumerate(masked_scores(case, False))
            for j, score in enumerate(row)
            if score > -math.inf
        )
    ),
    "No weight moves, or it moves too little to see.": holds(
        lambda case: moved_between(weights_of(case, False), weights_of(case, True)) < 1e-4
    ),
    "One token cannot make two sentences: take a longer sentence.": holds(
        lambda case: len(example_of(case).tokens) == 1
    ),
    "The running example has one head, so it is shown here with two.": holds(
        lambda case: case.trace.example.n_heads == 1
    ),
}

ANSWERS = {
    OUT_OF_WINDOW: answer_out_of_window,
    LOSES_MOST: answer_loses_most,
    IN_ROW: answer_in_row,
    STILL: answer_still,
    WITH_SINK: answer_with_sink,
    CAPPED: answer_capped,
    BIASED: answer_biased,
    SHAPE: answer_shape,
    KEPT: answer_kept,
}


# What is asked first.


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_opens_a_variant_is_first_asked_what_its_matrices_show(kind):
    trace = run_example(learnt_example("pronouns"))
    question = screen(trace, 0, Choices(kind)).ask(0)
    assert question.step == "look" and not question.in_figure and len(question.cards) > 2


# The formulas, and the figures.


@pytest.mark.parametrize("reach", [1, 2, 4])
def test_the_formula_of_the_window_says_who_sees_whom(reach):
    shown = Shown("window", choices=Choices("window", reach=reach), text="a b c d e f g h", causal=False)
    condition = screen(shown.trace, 0, shown.choices).formula
    for symbol, python in (("|i - j|", "abs(i - j)"), (r"\;\lor\;", "or"), (" = ", " == "), (r"\le", "<=")):
        condition = condition.replace(symbol, python)
    sees = [[eval(condition, {"i": i, "j": j, "abs": abs}) for j in range(1, 9)] for i in range(1, 9)]
    assert sees == [[score > -math.inf for score in row] for row in masked_scores(shown, True)]


class Shown:
    """What a case has, for a screen that is looked at here."""

    def __init__(self, kind, head=0, choices=None, **example):
        chosen_example = {"source": "sentence", "n_heads": 4, "text": "the cat saw the old dog"} | example
        self.trace, self.head = run_example(Example(**chosen_example)), head
        self.choices = choices or Choices(kind)

    @property
    def figures(self):
        return screen(self.trace, self.head, self.choices).figures


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_matrices_are_those_of_plain_loops(kind, causal):
    case = Shown(kind, head=1, causal=causal)
    plain, changed, *_ = case.figures[0].matrices
    cut = 3 if kind == "cross" else 0
    expected = torch.tensor(weights_of(case, True))
    expected = expected[cut:, :cut] if cut else expected
    assert_close_for_size(plain.values, weights_of(case, False), masked_scores(case, False))
    assert_close_for_size(changed.values, expected, masked_scores(case, True))


@pytest.mark.parametrize("source", ["sentence", "pronouns", "induction", "language"])
def test_a_second_sentence_is_read_on_its_own_by_the_same_weights(source):
    first, text = {"induction": ("abcabc", "cab")}.get(source, ("boy found lamp near girl", "aunt left lamp"))
    start = Example(source="sentence") if source == "sentence" else learnt_or_read(source)
    trace = run_example(replace(start, text=first))
    both, alone = followed_by(trace, text), run_example(replace(start, text=text))
    n = len(trace.tokens)
    assert both.tokens == trace.tokens + alone.tokens and both.W_q is trace.W_q
    torch.testing.assert_close(both.x[:n], trace.x, rtol=0, atol=0)
    if source == "sentence":
        written_as_one = run_example(replace(start, text=f"{first} {text}"))
        torch.testing.assert_close(both.x, written_as_one.x, rtol=0, atol=0)
        torch.testing.assert_close(both.heads.weights, written_as_one.heads.weights)
    else:
        torch.testing.assert_close(both.x[n:], alone.x, rtol=0, atol=0)


def learnt_or_read(source):
    return Example(source="language", text="") if source == "language" else learnt_example(source)


def test_an_edit_of_a_word_holds_in_both_sentences():
    trace = run_example(Example(source="sentence", text="boy found lamp", edits=(Edit("x", 2, 1, 5.0),)))
    both = followed_by(trace, "a lamp")
    assert both.x[2, 1] == both.x[4, 1] == 5.0 and both.x[3, 1] != 5.0


def test_what_cannot_be_read_of_a_second_sentence_is_said():
    trace = run_example(learnt_example("pronouns"))
    (note,) = followed_by(trace, "aunt left zebra lamp near girl because she").notes
    assert "zebra" in format_value(note)


def test_each_slope_is_drawn_and_each_head_looks_back_twice_as_far_as_the_one_before():
    _, slopes, *_ = Shown("alibi", head=2).figures
    (matrix,) = slopes.matrices
    assert matrix.values[:, 0].tolist() == [1.0] * 8 and matrix.columns.labels[1:3] == ("1", "2")
    torch.testing.assert_close(matrix.values[:, 1], torch.tensor([math.exp(-(0.5**head)) for head in range(1, 9)]))
    torch.testing.assert_close(matrix.values[1:, 2:], matrix.values[:-1, 1:-1])


def test_parameters_and_cache_are_counted():
    def numbers(kind):
        case = Shown(kind, d_model=6, d_k=2, d_v=3)
        return [[cell.value for cell in row[1:]] for row in case.figures[-1].cells]

    plain = [6 * 4 * (2 + 2 + 3), 6 * 4 * 5, 4096 * 4 * 5]
    assert numbers("grouped") == [plain, [6 * (4 * 2 + 2 * 5), 6 * 2 * 5, 4096 * 2 * 5]]
    assert numbers("window") == [plain, [plain[0], 4 * 4 * 5, 4 * 4 * 5]]
    assert numbers("sink") == [plain, [plain[0] + 4, *plain[1:]]]
    assert numbers("cross") == [plain, [plain[0], 3 * 4 * 5, 3 * 4 * 5]]
    assert numbers("cap") == numbers("alibi") == numbers("rotary") == [plain, plain]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("helped", [True, False])
def test_gradients_find_all_that_a_window_lets_through_and_no_more(causal, helped):
    for reach in (1, 3):
        for layers in (1, 2, 5):
            assert tokens_that_reach(reach, layers, causal, helped) == heard(reach, layers, causal, helped)


def test_the_curves_are_those_of_plain_loops():
    for kind, measured, of in (
        ("sink", SINKS_MEASURED, collected),
        ("cap", CAPS_MEASURED, lambda case: entropy(weights_of(case, True))),
    ):
        (line,) = Shown(kind).figures[1].lines
        assert tuple(line.x) == measured
        for x, y in zip(line.x, line.y, strict=True):
            assert y == pytest.approx(of(Shown(kind, choices=Choices(kind, **{kind: x}))), abs=1e-5)


def test_accuracy_over_length_is_measured_on_models_trained_on_short_pieces():
    found = {one.kind: one for one in right_over_length()}
    assert tuple(found) == KINDS_TRAINED and found["learned"].lengths == (8, 16)
    for kind in ("rotary", "alibi", "sinusoidal"):
        assert found[kind].lengths == LENGTHS_MEASURED
        for length, right in zip(LENGTHS_MEASURED, found[kind].right, strict=True):
            assert right == pytest.approx(right_with(kind, length), abs=1e-3)
    # what the lesson is about: all have learnt; at eight times the length ALiBi has kept more than the others
    assert all(one.right[1] > 0.75 for one in found.values())
    assert found["alibi"].right[-1] > found["rotary"].right[-1] > found["sinusoidal"].right[-1]


def test_weights_in_a_longer_context_are_the_same_in_the_shorter():
    for kind in ("rotary", "alibi", "sinusoidal", "none"):
        config = ModelConfig(vocabulary=13, context=7, d_model=8, n_heads=2, positions=kind)
        model, ids = draw_model(config, generator(1)), torch.tensor([3, 1, 4, 1, 5])
        torch.testing.assert_close(with_context(model, 40)(ids).logits, model(ids).logits)


def test_what_cannot_be_changed_is_said_and_nothing_changes():
    for kind, example in (("grouped", {"source": "batch"}), ("rotary", {"d_k": 3}), ("cross", {"text": "alone"})):
        figure = Shown(kind, **example).figures[0]
        plain, changed = figure.matrices
        assert torch.equal(plain.values, changed.values) and len(figure.notice) == 1
    assert "with two. Heads 1 and 2 share" in render_all(Shown("grouped", n_heads=1).figures[0].notice)


def test_the_text_of_the_models_is_that_of_the_training_page():
    assert settings_of_lengths("alibi").task == CharacterTask(window=16)


# The layer of the real model, whose heads share already.

REAL = Example(source="language", text="", layer=14)


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_that_is_said_of_the_real_layer_is_computed_again(kind):
    trace = run_example(REAL)
    for head in (0, 4, 8):
        case = Case(trace, head, Choices(kind), screen(trace, head, Choices(kind)))
        used = check_said(case, ORACLE, ANSWERS)
    assert kind != "grouped" or any("already share W_k and W_v" in template for template in used)


def test_what_the_real_layer_costs_with_more_sets_of_keys_and_with_fewer():
    table = screen(run_example(REAL), 8, Choices("grouped")).figures[-1]
    for row, sets in zip(table.cells, (3, 1, 9), strict=True):
        name, parameters, *kept = (format_value(cell) for cell in row)
        assert parameters == f"{576 * 64 * (9 + 2 * sets):,}"
        assert kept == [f"{n * sets * 128:,}" for n in (10, 4096)], name


def test_the_heads_of_the_real_layer_have_the_same_keys_and_others_than_with_one_set():
    figure = screen(run_example(REAL), 8, Choices("grouped")).figures[1]
    *same, other = (matrix.values for matrix in figure.matrices)
    assert len(same) == 3 and torch.equal(same[0], same[1]) and torch.equal(same[0], same[2])
    assert not torch.equal(same[0], other)


@pytest.mark.parametrize("source", ["search", "mat", "batch", "modules"])
def test_a_head_that_has_nobody_to_share_with_tells_how_each_number_comes_about(source):
    """A notebook with one head: nothing is changed, and its numbers have no head before them."""
    shown = screen(run_example(Example(source=source)), 0, Choices("grouped"))
    for matrix in shown.figures[0].matrices:
        last_row, last_column = (size - 1 for size in matrix.values.shape)
        said = [render(step.meaning) for step in matrix.derive(last_row, last_column)]
        assert said and not any("head" in each for each in said)
