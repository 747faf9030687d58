"""The lesson on PyTorch says only what its tensors say; the heads are computed again with NumPy, head by head."""

import inspect
import math
from functools import cache

import numpy as np
import pytest
import torch
from printed_lines import wrong
from screens import JUDGE, Case, by_text, by_thought, check_said, chosen
from torch.torch_version import TorchVersion

from attention_core.base.randomness import generator
from attention_core.measured.parity import (
    RandomCase,
    compare_with_pytorch,
    copy_to_pytorch,
    fits_pytorch,
    heads_as_module,
    heads_built_in,
    heads_by_hand,
    one_mask_for_both,
    random_cases,
    takes_groups,
)
from attention_core.model.weights import named_weights
from attention_core.one_head.heads import MultiHeadAttention
from attention_core.one_head.masks import causal_mask, drawn_mask, full_mask, sliding_window_mask
from lessons.code.pytorch.implementations import Level, code_lines, note_on, notice_levels, three_levels, timed
from lessons.code.pytorch.lesson import Choices, parameter_table, screen
from lessons.code.pytorch.masks_view import telling_cell
from lessons.code.pytorch.random_cases import CASES, notice_cases
from lessons.example.example import Example, run_example
from lessons.model.heads.example import HEADS_PRESETS, HeadsChosen, run_heads
from lessons.screen import format_value, message, render, render_all
from tests.rounding import assert_close_for_size

SIZES = ((6, 3), (5, 1), (7, 7), (16, 4), (1, 1), (10, 5))
SOURCES = tuple(key for key, preset in HEADS_PRESETS.items() if preset.projects and key != "sentence")
ROUNDING = 1e-4
VIEWS = ("module", "fused", "weights", "meanings")


def cases(trace):
    seed = trace.example.seed
    d_model, n_heads = SIZES[seed % len(SIZES)]
    own = HeadsChosen(d_model=d_model, n_heads=n_heads, bias=seed % 2 == 1)
    n = len(trace.tokens)
    scattered = drawn_mask([[i == j or (i * 3 + j * 5 + seed) % 2 == 0 for j in range(n)] for i in range(n)])
    masks = (full_mask(n), causal_mask(n), sliding_window_mask(n, 2), scattered)
    fits = fits_pytorch(run_heads(trace.example, own).module)
    for at, view in enumerate(VIEWS if fits else ("fused",)):
        yield Choices(own, masks[(seed + at) % 4], view)
    yield Choices(own, masks[seed % 4], ("levels", "cases")[seed % 2] if fits else "cases", seed % 3)
    preset = HeadsChosen(source=SOURCES[seed % len(SOURCES)])
    yield Choices(preset, causal_mask(len(run_heads(trace.example, preset).tokens)), VIEWS[seed % 4])


# The heads again, in double precision.


def trace_of(case):
    return traced(case.trace.example, case.choices.example)


@cache
def traced(example, heads):
    return run_heads(example, heads)


def mask_of(case):
    return case.choices.may_attend.numpy()


def linear(module, name, x):
    W, b = getattr(module, f"W_{name}"), getattr(module, f"b_{name}")
    return x @ W.double().numpy() + (0 if b is None else b.double().numpy())


def heads_of(module, x, visible, added=None):
    """Weights of each head, and what the heads found side by side."""
    weights, found = [], []
    for q, k, v in vectors_of(module, x, added):
        scores = np.where(visible, q @ k.T / math.sqrt(q.shape[1]), -np.inf)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights.append(powers / powers.sum(axis=1, keepdims=True))
        found.append(weights[-1] @ v)
    return np.stack(weights), np.concatenate(found, axis=1)


def vectors_of(module, x, added=None):
    """The queries, keys and values of each head, turned by their positions where the model turns them."""
    asking = x if added is None else x + added
    whole = [linear(module, name, one.double().numpy()) for name, one in zip("qkv", (asking, asking, x), strict=True)]
    for q, k, v in zip(*(np.split(one, module.n_heads, axis=1) for one in whole), strict=True):
        turns = module.rotary is not None
        yield (turned(q, module.rotary.base), turned(k, module.rotary.base), v) if turns else (q, k, v)


def turned(vectors, base):
    """Each pair of features as a complex number, times one of length 1."""
    n, width = vectors.shape
    speeds = base ** (-np.arange(0, width, 2) / width)
    pairs = (vectors[:, ::2] + 1j * vectors[:, 1::2]) * np.exp(1j * np.arange(n)[:, None] * speeds)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(n, width)


def weights_of(case):
    trace = trace_of(case)
    return heads_of(trace.module, trace.x, mask_of(case), trace.added)[0]


def output_of(case):
    trace = trace_of(case)
    return linear(trace.module, "o", heads_of(trace.module, trace.x, mask_of(case), trace.added)[1])


def theirs(case):
    """PyTorch's module, called here."""
    trace = trace_of(case)
    with torch.no_grad():
        return copy_to_pytorch(trace.module)(
            trace.x, trace.x, trace.x, attn_mask=~case.choices.may_attend, average_attn_weights=False
        )


def only_rounding(said):
    assert 0 <= said.value < ROUNDING
    return said.value


# What is said.


OUTPUTS = {
    "Our output and that of nn.MultiheadAttention": lambda case: output_of(case),
    "The outputs of our heads and of F.scaled_dot_product_attention": lambda case: found(case),
}


def difference(case, sentence):
    said = sentence.arguments
    outputs = dict(zip(("module", "fused"), OUTPUTS, strict=True))[case.choices.view]
    size = np.abs(OUTPUTS[outputs](case)).max()
    gap = only_rounding(said["difference"])
    return {"outputs": outputs, "difference": gap, "size": size}


def found(case):
    trace = trace_of(case)
    return heads_of(trace.module, trace.x, mask_of(case), trace.added)[1]


def head_by_head(case, sentence):
    tokens = {name: sentence.arguments[name].position for name in ("query", "key")}
    i, j = tokens.values()
    weights = weights_of(case)
    gap = np.ptp(weights, axis=0)
    assert gap[i, j] == pytest.approx(gap.max(), abs=1e-5)
    return tokens | {"weights": list(weights[:, i, j])}


def the_average(case, sentence):
    weights = weights_of(case)
    i, j = np.unravel_index(np.ptp(weights, axis=0).argmax(), weights[0].shape)
    said = sentence.arguments["average"].value
    near = np.ptp(weights, axis=0) > np.ptp(weights, axis=0)[i, j] - 1e-5
    return {"average": min(weights.mean(axis=0)[near], key=lambda average: abs(average - said))}


def true_cell(case, sentence):
    """Softmax over the keys where the mask is True, and over the others."""
    i, j = (sentence.arguments[name].position for name in ("query", "key"))
    mask, trace = mask_of(case), trace_of(case)
    assert mask[i, j]
    kept = weights_of(case)[0][i, j]
    expected = 0.0 if not mask[i].all() else "“not a number”"
    assert not mask[i].all() or theirs_as_it_is(case)[0, i, j].isnan()
    assert trace.tokens[i] == sentence.arguments["query"].text
    return {"query": i, "key": j, "blocked": expected, "kept": kept}


def theirs_as_it_is(case):
    trace, mask = trace_of(case), case.choices.may_attend
    asking = trace.x if trace.added is None else trace.x + trace.added
    with torch.no_grad():
        return copy_to_pytorch(trace.module)(asking, asking, trace.x, attn_mask=mask, average_attn_weights=False)[1]


def blocked_everywhere(case, sentence):
    blind = [i for i, row in enumerate(mask_of(case)) if row.all()]
    assert sentence.count == len(blind)
    assert theirs_as_it_is(case)[:, blind].isnan().all()
    return {"count": len(blind), "query": blind[0], "output": ..., "weights": "the weights are not numbers (0 ÷ 0)"}


@cache
def cases_of(number):
    return tuple(random_cases(number, CASES))


def one_case(case, sentence):
    said = dict(sentence.arguments)
    mask = {"no mask": "none", "the causal mask": "causal", "a random mask": "random"}[render(said["mask"])]
    bias = {"with bias": True, "without bias": False}[render(said["bias"])]
    shapes = [(one.tokens, one.heads, one.d_head, one.mask, one.bias) for one in cases_of(case.choices.cases)]
    assert (said["tokens"], said["heads"], said["features"], mask, bias) in shapes
    return said | {"mask": ..., "bias": ..., "difference": only_rounding(said["difference"])}


def covered_by_cases(case, sentence):
    every = cases_of(case.choices.cases)
    ends = {}
    for least, most, name in (
        ("tokens", "more_tokens", "tokens"),
        ("heads", "more_heads", "heads"),
        ("features", "more_features", "d_head"),
    ):
        values = sorted(getattr(one, name) for one in every)
        ends |= {least: values[0], most: values[-1]}
    return ends | {"count": 300, "masks": [...] * 3, "bias": sum(one.bias for one in every)}


def times(case, sentence):
    """They are those of the moment: only that they are in order can be tried."""
    said = sentence.arguments
    assert 0 < said["fastest"].value <= said["median"].value <= said["slowest"].value
    return {name: getattr(value, "value", ...) for name, value in said.items()}


def note(case, sentence):
    said = sentence.arguments
    listing = next(f for f in case.screen.figures if f.note is sentence)
    source = [line for function in listing.functions for line in inspect.getsource(function).splitlines()]
    assert 0 < said["lines"] < len(source)
    return {
        "count": len(listing.functions),
        "lines": code_lines(*listing.functions),
        "median": said["median"].value,
        "difference": only_rounding(said["difference"]),
    }


MODULE_MASK = (
    "A boolean mask has {count} entry in the row of {query}, {true} of them True. "
    "nn.MultiheadAttention gets it unchanged as attn_mask. How many keys may {query} look at?"
)
REPORTED = (
    "In its heads, {query} gives {key} the weights {weights}. Which weight does nn.MultiheadAttention report by "
    "default?"
)
DIVIDED = (
    "In head 1 the score of {key} for {query} is {score}, with {d_head} features. Somebody divides q by √{d_head}, "
    "then calls F.scaled_dot_product_attention without a scale. Which scaled score does it use?"
)
PACKED = (
    "nn.MultiheadAttention keeps W_q, W_k and W_v in one matrix, in_proj_weight, stored as nn.Linear stores "
    "its weights. With {d_model} features per token, what is its shape?"
)


def counted(case, prompt):
    i = prompt.arguments["query"].position
    row = mask_of(case)[i]
    return {"n" if "n" in prompt.arguments else "count": len(row), "query": i} | (
        {"true": sum(row)} if "true" in prompt.arguments else {"false": len(row) - sum(row)}
    )


def reported(case, prompt):
    i, j = (prompt.arguments[name].position for name in ("query", "key"))
    return {"query": i, "key": j, "weights": list(weights_of(case)[:, i, j])}


def score_of(case, prompt):
    trace = trace_of(case)
    i, j = (prompt.arguments[name].position for name in ("query", "key"))
    q, k, _ = next(vectors_of(trace.module, trace.x, trace.added))
    return {"query": i, "key": j, "d_head": q.shape[1], "score": q[i] @ k[j]}


def rows_of_a_projection(case, sentence):
    d_model, first = trace_of(case).x.shape[1], sentence.arguments["first"]
    assert first in (1, d_model + 1, 2 * d_model + 1)
    return {"parameter": sentence.arguments["parameter"], "first": first, "last": first + d_model - 1}


def of_real_layer(case):
    return case.trace.example.source == "language" and case.choices.example.source == "sentence"


def why_it_cannot(case, sentence):
    """PyTorch's module has no rotation, and one number of features for queries and values."""
    module, said = trace_of(case).module, [render(reason) for reason in sentence.arguments["reasons"].items]
    assert ("does not turn queries and keys by their positions" in said) == (module.rotary is not None)
    shares = "gives queries, keys and values of a head the same number of features, d_model ÷ heads"
    assert (shares in said) == (not module.W_q.shape == module.W_v.shape == module.W_o.shape)
    assert ("gives each head its own keys and values" in said) == of_real_layer(case)
    return {"reasons": [...] * len(said)}


def keys_once(case, sentence):
    """The real model has 9 heads of queries, and 3 of keys and values; each has 64 features."""
    n = len(trace_of(case).tokens)
    assert of_real_layer(case)
    return {"each": 3, "all": 9, "q": str([9, n, 64]), "k": str([3, n, 64])}


def shapes_in_a_batch(case, sentence):
    trace = trace_of(case)
    n, d_model = trace.x.shape
    return {"batch": f"[{n}, 1, {d_model}]", "output": f"[{n}, 1, {d_model}]", "weights": f"[1, {n}, {n}]"}


ORACLE = {
    "On a batch of this one sentence, {batch}, nn.MultiheadAttention gives an output of shape "
    "{output} and weights of shape {weights}. Without batch_first=True, sentences are the second "
    "axis of input and output.": shapes_in_a_batch,
    "nn.MultiheadAttention cannot hold these heads, because it {reasons}; "
    "F.scaled_dot_product_attention computes them.": why_it_cannot,
    "Untrained: random weights (seed {seed}).": lambda case, sentence: {"seed": trace_of(case).seed},
    "Untrained: random weights for each case, all drawn with seed {number}.": lambda case, sentence: {
        "number": case.choices.cases
    },
    "nn.MultiheadAttention differs by at most": lambda case, sentence: {},
    "F.scaled_dot_product_attention differs by at most": lambda case, sentence: {},
    "With enable_gqa=True it differs by at most": lambda case, sentence: {},
    "Every {each} of the {all} heads share keys and values: with enable_gqa=True the function takes "
    "queries of shape {q}, but keys and values of shape {k}.": (keys_once),
    "{outputs} differ by at most {difference}, in numbers up to {size}.": difference,
    "head {head}": chosen,
    "{parameter}, rows {first} to {last}": rows_of_a_projection,
    "{parameter}, rows {first} to {last}, transposed": rows_of_a_projection,
    "{parameter}, transposed": lambda case, sentence: {"parameter": "out_proj.weight"},
    "average of {count}": lambda case, sentence: {"count": trace_of(case).module.n_heads},
    "In its heads, {query} gives {key} the weights {weights}.": head_by_head,
    "By default, nn.MultiheadAttention reports only their average, {average}.": the_average,
    "Our weights differ from those of nn.MultiheadAttention by at most {difference}.": lambda case, sentence: {
        "difference": only_rounding(sentence.arguments["difference"])
    },
    "The mask is True for {query} → {key}: nn.MultiheadAttention gives the weight {blocked}, "
    "scaled_dot_product_attention gives {kept}.": true_cell,
    "{query} is blocked everywhere: {weights}; {output}.": blocked_everywhere,
    "Of {count} cases none differs by more than": lambda case, sentence: {"count": 300},
    "{count} random cases, with {tokens} to {more_tokens} tokens, {heads} to {more_heads} heads and {features} to "
    "{more_features} features in a head, with {masks}; {bias} of them with bias.": covered_by_cases,
    "tokens: {tokens}, heads: {heads}, features in a head: {features}, {mask}, {bias}: differs "
    "by {difference}": one_case,
    "Median of {runs} runs on this machine, at this moment: {ways}.": lambda case, sentence: {
        "runs": 15,
        "ways": [...] * 3,
    },
    "{median} ms for “{way}” ({fastest} to {slowest})": times,
    "{lines} lines of code in the function shown, {median} ms. The output differs from the same computation in double "
    "precision by at most {difference}.": note,
    MODULE_MASK: counted,
    REPORTED: reported,
    DIVIDED: score_of,
    PACKED: chosen,
    "q was divided by √{d_head}, and the function divides by √{d_head} again.": chosen,
}


# What is asked.


def answer_module_mask(case, prompt):
    i = prompt.arguments["query"].position
    row = mask_of(case)[i]
    visible = sum(not blocked for blocked in row)
    if fits_pytorch(trace_of(case).module):
        assert visible == 0 or int((theirs_as_it_is(case)[0, i] > 0).sum()) <= visible
    thoughts = {
        "True blocks a key": visible,
        "True keeps a key": sum(row),
        "the mask counts only with is_causal=True": len(row),
        "a token sees itself, and no more": 1,
        "one True in the row blocks all of it": 0,
    }
    return {"nn.MultiheadAttention blocks where the mask is True.": ..., JUDGE: by_thought(thoughts)}


def answer_reported(case, prompt):
    own = weights_of(case)[:, prompt.arguments["query"].position, prompt.arguments["key"].position]
    thoughts = {
        "the mean over the heads": sum(own) / len(own),
        "the weight of the first head": own[0],
        "the sum over the heads": sum(own),
        "the maximum over the heads": max(own),
        "the minimum over the heads": min(own),
        "the product over the heads": math.prod(own),
    }
    reply = "It reports the average over the heads, which may match no single head."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_divided(case, prompt):
    about = score_of(case, prompt)
    score, root = about["score"], math.sqrt(about["d_head"])
    thoughts = {
        "divided in q, and again in the function": score / root / root,
        "divided in q, and that is all": score / root,
        "divided in q, multiplied in the function": score,
        "multiplied, and not divided": score * root,
        "divided in q, then for q and k in the function": score / root**3,
    }
    reply = "q was divided by √{d_head}, and the function divides by √{d_head} again."
    return {reply: ..., JUDGE: by_thought(thoughts)}


def answer_packed(case, prompt):
    d_model = prompt.arguments["d_model"]
    rows, columns = torch.nn.MultiheadAttention(d_model, 1).in_proj_weight.shape
    thoughts = {
        "three matrices, stacked one below another": {"rows": rows, "columns": columns},
        "three matrices, one beside the other": {"rows": columns, "columns": rows},
        "one matrix, used three times": {"rows": d_model, "columns": d_model},
    }
    reply = "The three projections lie one below the other, each transposed: nn.Linear computes x @ W.T."
    return {reply: ..., JUDGE: by_thought(thoughts)}


APART = "How do PyTorch's numbers differ from ours?"
LAST_DIGITS = (
    "They differ by at most one part in {parts} of the largest number: both add up the same products, but in a "
    "different order."
)


def rounding_alone(case, sentence):
    parts = sentence.arguments["parts"].value
    assert 1e4 <= parts <= 1e9 and set(str(parts)[1:]) == {"0"}, "what is rounding can only be bounded"
    return {"parts": parts}


def answer_apart(case, prompt):
    judge = by_text(
        {"Only in the last digits.": True, "They do not differ.": False, "From the first digits on.": False}
    )
    return {LAST_DIGITS: ..., JUDGE: judge}


ORACLE |= {LAST_DIGITS: rounding_alone}
ANSWERS = {
    APART: answer_apart,
    MODULE_MASK: answer_module_mask,
    REPORTED: answer_reported,
    DIVIDED: answer_divided,
    PACKED: answer_packed,
}


def shown(view="module", mask=None, text="one two three four five", **choices):
    running = run_example(Example(source="sentence", text=text))
    own = HeadsChosen(**({"d_model": 6, "n_heads": 3} | choices))
    return screen(running, 0, Choices(own, causal_mask(len(running.tokens)) if mask is None else mask, view))


def figure(*arguments, **choices):
    return next(f for f in shown(*arguments, **choices).figures if f.key == "parity_figure")


def compared(n, d_head, n_heads, mask=None, bias=False):
    random = generator(0)
    ours = MultiHeadAttention.draw(d_head * n_heads, n_heads, bias=bias, generator=random)
    x = torch.randn(n, d_head * n_heads, generator=random)
    return compare_with_pytorch(x, causal_mask(n) if mask is None else mask, ours)


def both_meanings(n, d_head, n_heads):
    parity = compared(n, d_head, n_heads)
    return one_mask_for_both(parity.x, parity.may_attend, parity.ours)


def test_every_kind_of_question_comes_up_and_the_right_card_stands_anywhere():
    questions = [shown().ask(number) for number in range(80)]
    assert {question.prompt.template for question in questions} == set(ANSWERS)
    assert {question.right for question in questions} >= {0, 1, 2}


def test_a_row_blocked_everywhere_is_no_number_or_looks_like_one():
    said = render_all(figure("meanings").notice)
    assert "“five” is blocked everywhere: the weights are not numbers (0 ÷ 0)" in said
    two = both_meanings(5, 2, 3)
    silent = not two.without_weights[4].isnan().any()
    assert said.endswith("as if nothing were wrong." if silent else "is not a number either.")
    assert "blocked everywhere" not in render_all(figure("meanings", sliding_window_mask(5, 2)).notice)
    assert "5 tokens are blocked everywhere" in render_all(figure("meanings", full_mask(5)).notice)


def test_the_cell_told_of_has_a_choice_in_both_meanings():
    for n in range(4, 9):
        two = both_meanings(n, 2, 2)
        i, j = telling_cell(two.mask, two.kept[0])
        assert two.mask[i, j] and 2 <= int(two.mask[i].sum()) <= n - 2
        rows = [row for row in range(n) if 2 <= row + 1 <= n - 2]
        assert two.kept[0, i, j] == max(two.kept[0, row, key] for row in rows for key in range(row + 1))
    two = both_meanings(3, 2, 2)
    i, _ = telling_cell(two.mask, two.kept[0])
    assert 0 < int(two.mask[i].sum()) < 3, "of three tokens none has a choice in both, but some see something in both"


def test_what_stands_beside_is_ours_theirs_and_the_difference():
    for view in ("module", "fused"):
        ours, theirs, gap = figure(view).matrices
        assert torch.equal(gap.values, theirs.values - ours.values)
        (step,) = gap.derive(4, 5)
        assert wrong(step.text, step.value) is None and step.value == float(gap.values[4, 5])


def test_the_average_is_not_what_any_head_does():
    *heads, average = (matrix.values for matrix in figure("weights").matrices)
    assert torch.allclose(average, sum(heads) / 3)
    assert "With one head, the average is that head's weight." in render_all(figure("weights", n_heads=1).notice)


@pytest.mark.parametrize("bias", [False, True])
def test_the_parameter_table_names_every_number(bias):
    parity = compared(5, 2, 3, bias=bias)
    *rows, total = [[format_value(cell) for cell in row] for row in parameter_table(parity).cells]
    assert sum(int(row[3]) for row in rows) == int(total[3]) == sum(p.numel() for p in parity.theirs.parameters())
    assert [row[0] for row in rows] == [name for name, _ in named_weights(parity.ours)]
    stacked = {"in_proj_weight": parity.theirs.in_proj_weight, "in_proj_bias": parity.theirs.in_proj_bias}
    for mine, where, shape, _ in rows:
        where, transposed, _ = where.partition(", transposed")
        name, _, place = where.partition(", rows ")
        parameter = getattr(parity.ours, mine)
        theirs = parameter.T if transposed else parameter
        if place:
            first, last = map(int, place.split(" to "))
            assert torch.equal(stacked[name][first - 1 : last], theirs)
        else:
            assert torch.equal(parity.theirs.get_parameter(name), theirs)
        assert shape == " × ".join(map(str, parameter.shape))
        assert bool(transposed) == mine.startswith("W")


def test_the_cases_are_told():
    cases = (RandomCase(2, 1, 3, "none", False, 0.0), RandomCase(5, 2, 3, "causal", True, 0.25))
    said = render_all(tuple(notice_cases(cases)))
    assert "2 random cases, with 2 to 5 tokens, 1 to 2 heads and 3 to 3 features" in said


def test_the_cloud_has_a_point_for_each_case_that_differs():
    cloud = shown("cases").figures[1]
    differing = [case for case in random_cases(0, CASES) if case.difference > 0]
    assert list(cloud.xs) == [case.tokens * case.heads * case.d_head for case in differing]
    assert list(cloud.ys) == [case.difference for case in differing]


@pytest.mark.parametrize("bias", [False, True])
def test_the_three_levels_compute_the_same(bias):
    parity = compared(5, 2, 3, bias=bias)
    levels = three_levels(parity, runs=3)
    assert [render(level.title) for level in levels] == [
        "Tensors by hand",
        "A module of our own",
        "Built into PyTorch",
    ]
    assert all(0 < level.difference < 5e-6 for level in levels)
    assert all(len(level.milliseconds) == 3 and min(level.milliseconds) > 0 for level in levels)
    assert [level.functions[0] for level in levels] == [heads_by_hand, heads_as_module, heads_built_in]
    projections = tuple(getattr(parity.ours, f"W_{name}") for name in "qkvo")
    biases = tuple(getattr(parity.ours, f"b_{name}") if bias else torch.zeros(6) for name in "qkvo")
    hand = heads_by_hand(parity.x, projections, biases, 3, parity.may_attend)
    _, joined = heads_of(parity.ours, parity.x, parity.may_attend.numpy())
    assert np.allclose(hand.detach().numpy(), linear(parity.ours, "o", joined), atol=1e-6)


def test_lines_of_code_are_those_that_do_something():
    def small(x):
        """A description.

        Of three lines.
        """
        # a remark

        return x  # and another

    assert code_lines(small) == 2
    assert code_lines(small, small) == 4
    assert "2 lines of code in the function shown, " in render(note_on(Level(message("A"), (small,), 2, (1.0,), 0.0)))
    two = Level(message("A"), (small, small), 4, (1.0,), 0.0)
    assert "4 lines of code in the functions shown, " in render(note_on(two))
    source = inspect.getsource(inspect.unwrap(heads_built_in))
    assert code_lines(heads_built_in) == len([line for line in source.splitlines() if line.strip()]) - 1


def test_times_are_told_as_measured_and_in_no_order_of_merit():
    levels = tuple(
        Level(title, (), 1, times, 0.0)
        for title, times in ((message("A"), (3.0, 1.0, 2.0)), (message("B"), (0.5, 9.0, 7.0)))
    )
    said = render(notice_levels(levels))
    assert said == (
        "Median of 3 runs on this machine, at this moment: 2.000 ms for “A” (1.000 to 3.000) and 7.000 ms for “B” "
        "(0.500 to 9.000)."
    )
    calls = []
    assert len(timed(lambda: calls.append(1), 4)) == 4 and len(calls) == 5


# The real layer, whose heads share keys and values.


def real_case():
    running = run_example(Example(source="language", text="", layer=14))
    choices = Choices(HeadsChosen(), causal_mask(10), "fused")
    return Case(running, 0, choices, screen(running, 0, choices))


def test_the_function_is_given_three_keys_for_nine_heads_and_finds_what_loops_find(monkeypatch):
    given, function = [], torch.nn.functional.scaled_dot_product_attention

    def watched(q, k, v, **others):
        given.append((tuple(q.shape), tuple(k.shape), tuple(v.shape), others.get("enable_gqa", False)))
        return function(q, k, v, **others)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", watched)
    case = real_case()
    assert given == [((9, 10, 64), (3, 10, 64), (3, 10, 64), True)]
    trace = trace_of(case)
    parity = compare_with_pytorch(trace.x, case.choices.may_attend, trace.module)
    _, found = heads_of(trace.module, trace.x, mask_of(case))
    assert_close_for_size(parity.fused.swapaxes(0, 1).flatten(1), found, trace.heads.scaled)
    assert_close_for_size(parity.fused, trace.heads.output, trace.heads.scaled)
    said = check_said(case, ORACLE, ANSWERS)
    assert [render(name) for name, _ in case.screen.figures[0].facts] == ["With enable_gqa=True it differs by at most"]
    assert any("enable_gqa=True the function takes queries" in template for template in said)


def test_the_code_beside_the_real_layer_hands_its_keys_over_once():
    case = real_case()
    call = case.screen.code.call()
    assert call.inputs["k"].shape == (3, 10, 64) and call.inputs["q"].shape == (9, 10, 64)
    result = call.function(**call.inputs)
    assert_close_for_size(result.ours, result.theirs, trace_of(case).heads.scaled)


def test_an_older_pytorch_is_given_the_keys_of_each_head(monkeypatch):
    monkeypatch.setattr(torch, "__version__", TorchVersion("2.4.1+cpu"))
    case = real_case()
    check_said(case, ORACLE, ANSWERS)
    assert case.screen.code.call().inputs["k"].shape == (9, 10, 64)
    facts = [render(name) for name, _ in case.screen.figures[0].facts]
    assert facts == ["F.scaled_dot_product_attention differs by at most"]
    for version, takes in (("2.5.0", True), ("2.13.0+cpu", True), ("2.4.1", False), ("3.0", True)):
        monkeypatch.setattr(torch, "__version__", TorchVersion(version))
        assert takes_groups() == takes, version
