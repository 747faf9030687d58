"""The presets are the notebooks: the notebooks' own computation, run again here, gives the same numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from overview_cells import matrices_of
from torch import nn

from attention_core.base.randomness import default_weight, generator
from attention_core.measured.costs import LayerSizes
from lessons.example.example import LIMITS, Example, run_example
from lessons.example.presets import JOURNEY_X, PRESETS
from lessons.one_head.softmax import lesson as softmax
from lessons.screen import render
from lessons.shared.stages import STAGES, notice_stage
from lessons.today.cost.lesson import cost_formula
from tests.printed import as_printed
from tests.rounding import assert_close_for_size

FIXED = [key for key, preset in PRESETS.items() if preset.fixed]

PRINTED_X = """
 0.1808 -0.0700 -0.3596 -0.9152  0.6258  0.0255  0.9545  0.0643
 0.3612  1.1679 -1.3499 -0.5102  0.2360 -0.2398 -0.9211  1.5433
 1.3488 -0.1396  0.2858  0.9651 -2.0371  0.4931  1.4870  0.5910
 0.1260 -1.5627 -1.1601 -0.3348  0.4478 -0.8016  1.5236  2.5086
"""
PRINTED_Q = """
 0.0110 -0.1263  0.4046  0.0332  0.2670 -0.1756  0.1955 -0.0063
 0.6874 -0.0661 -0.2071  0.3671  0.6184 -0.5196  0.4594 -0.2400
 0.0537  0.4173  0.5473  0.2127 -0.3923  0.7439  0.6044 -0.9145
-0.2882  0.1333  0.5673  1.1221  0.8594  0.3488  0.5764 -0.1420
"""
PRINTED_K = """
 0.1337  0.1884  0.2608  0.0804 -0.4088  0.2697 -0.0554  0.2315
 0.7615  0.6625 -0.1835  0.1656  0.8969  0.4457 -0.2870  0.5668
-0.6749 -0.9168 -0.1317  0.0897  1.0475  0.3863  1.2753 -0.6169
"""


def numpy_notebook(seed, n_tokens, d_model):
    """The notebook that computes with NumPy: X, then the three maps, from one global stream."""
    random = np.random.RandomState(seed)
    X = random.randn(n_tokens, d_model)
    W_Q = random.randn(d_model, d_model) * 0.1
    W_K = random.randn(d_model, d_model) * 0.1
    W_V = random.randn(d_model, d_model) * 0.1
    return tuple(torch.from_numpy(array) for array in (X, X @ W_Q, X @ W_K, X @ W_V))


def batch_notebook(sentence):
    """The notebook with a batch of two sentences: key, query and value layers in this order."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(1337)
        x = torch.randn(2, 4, 8)
        key, query, value = (nn.Linear(8, 8, bias=False) for _ in range(3))
        return tuple(tensor[sentence - 1] for tensor in (x, query(x), key(x), value(x)))


def modules_notebook():
    """The notebook that uses modules: an embedding, then layers for queries, keys and values."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(42)
        x = nn.Embedding(50, 8)(torch.tensor([5, 12, 31, 7]))
        W_Q, W_K, W_V = (nn.Linear(8, 6, bias=False) for _ in range(3))
        return x, W_Q(x), W_K(x), W_V(x)


NOTEBOOKS = {
    "search": lambda: numpy_notebook(42, 4, 8),
    "mat": lambda: numpy_notebook(123, 6, 16),
    "batch 1": lambda: batch_notebook(1),
    "batch 2": lambda: batch_notebook(2),
    "modules": modules_notebook,
}


def preset(name, **choices):
    """The example of this name; a number behind the name says which sentence of the batch."""
    source, _, sentence = name.partition(" ")
    return Example(source=source, sentence_of_batch=int(sentence or 1), **choices)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scaling", [False, True])
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_preset_is_what_its_notebook_computes(name, scaling, causal):
    x, q, k, v = NOTEBOOKS[name]()
    scores = q @ k.T
    scaled = scores / math.sqrt(k.shape[-1]) if scaling else scores
    hidden = torch.triu(torch.ones(scores.shape), diagonal=1).bool()
    masked = scaled.masked_fill(hidden, float("-inf")) if causal else scaled
    weights = torch.softmax(masked, dim=-1)

    trace = run_example(preset(name, causal=causal, scaling=scaling))
    head = trace.heads.select(0)
    assert trace.heads.weights.shape[0] == 1
    assert torch.equal(trace.x, x.float())
    expected = {"q": q, "k": k, "v": v, "scores": scores, "scaled": scaled, "masked": masked, "weights": weights}
    for key, tensor in expected.items():
        assert_close_for_size(getattr(head, key), tensor, *([scaled] if key == "weights" else []))
    assert_close_for_size(head.output, weights @ v, scaled, v)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_maps_are_used_from_the_right(name):
    trace = run_example(preset(name))
    head = trace.heads.select(0)
    for projected, W in ((head.q, trace.W_q), (head.k, trace.W_k), (head.v, trace.W_v)):
        torch.testing.assert_close(projected, trace.x @ W)


@pytest.mark.parametrize(("key", "seed", "before"), [("batch", 1337, 2 * 4 * 8), ("modules", 42, 50 * 8)])
def test_the_maps_are_those_of_linear_layers_transposed(key, seed, before):
    random = generator(seed)
    torch.randn(before, generator=random)
    trace = run_example(Example(source=key))
    order = ("W_k", "W_q", "W_v") if key == "batch" else ("W_q", "W_k", "W_v")
    for name in order:
        assert_close_for_size(getattr(trace, name), default_weight(trace.example.d_k, 8, random).T)


@pytest.mark.parametrize(("matrix", "printed"), [("x", PRINTED_X), ("q", PRINTED_Q), ("k", PRINTED_K)])
def test_the_batch_is_what_the_notebook_prints_to_the_last_printed_digit(matrix, printed):
    trace = run_example(Example(source="batch"))
    tensor = trace.x if matrix == "x" else getattr(trace.heads.select(0), matrix)
    lines = printed.strip().splitlines()
    for i, line in enumerate(lines):
        assert tensor[i].tolist() == as_printed([*map(float, line.split())])
    assert len(lines) >= 3


def test_the_journey_prints_what_the_notebook_prints():
    """Before there are any maps, the notebook scores the vectors against each other; X is the same."""
    x = run_example(Example()).x
    assert torch.equal(x, torch.tensor(JOURNEY_X))
    scores = x @ x[1]
    weights = torch.softmax(scores, dim=0)
    assert scores.tolist() == as_printed([0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865])
    assert weights.tolist() == as_printed([0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581])


@pytest.mark.parametrize("query", range(4))
def test_the_softmax_of_three_times_the_scores_is_on_the_page_of_the_softmax(query):
    """The notebook that searches exaggerates its unscaled scores so, to show why they are divided."""
    _, q, k, _ = numpy_notebook(42, 4, 8)
    trace = run_example(preset("search", scaling=False, causal=False))
    rows = {m.key: m for f in softmax.screen(trace, 0, softmax.Choices(query)).figures[1:] for m in f.matrices}
    scores = q @ k.T * 3
    assert_close_for_size(rows["multiplied"].values[0], torch.softmax(scores, dim=-1)[query], scores)
    assert render(rows["multiplied"].title) == "all scores × 3"


def test_what_attention_costs_is_written_as_the_notebook_writes_it():
    sizes = LayerSizes(tokens=6, d_model=16, n_heads=1, n_kv_heads=1, d_k=16, d_v=16)
    assert r"O(n^2 \cdot d)" in cost_formula(sizes)


def test_the_tokens_and_ids_are_the_notebooks():
    traces = {key: run_example(Example(source=key)) for key in FIXED}
    assert traces["search"].tokens == ("position 0", "position 1", "position 2", "position 3")
    assert traces["mat"].tokens == ("The", "cat", "sat", "on", "the", "mat")
    assert traces["mat"].ids == (0, 1, 2, 3, 4, 5)
    assert traces["modules"].tokens == ("The", "cat", "sat", "down")
    assert traces["modules"].ids == (5, 12, 31, 7)
    assert len(traces["batch"].tokens) == 4
    assert not any(trace.notes for trace in traces.values())


def test_the_two_sentences_of_the_batch_share_their_maps_and_nothing_else():
    one, two = (run_example(Example(source="batch", sentence_of_batch=i)) for i in (1, 2))
    assert torch.equal(one.W_q, two.W_q) and torch.equal(one.W_k, two.W_k) and torch.equal(one.W_v, two.W_v)
    assert not torch.isclose(one.x, two.x).any()


# What is fixed, and what is not


@pytest.mark.parametrize("key", FIXED)
def test_the_trace_carries_the_sizes_that_were_used(key):
    trace = run_example(Example(source=key))
    head = trace.heads.select(0)
    assert trace.example.d_model == trace.x.shape[-1] == trace.W_q.shape[0]
    assert trace.example.d_k == head.q.shape[-1] == head.k.shape[-1]
    assert trace.example.d_v == head.v.shape[-1] == head.output.shape[-1]
    assert trace.example.n_heads == trace.heads.q.shape[0]
    assert trace.scale == 1 / math.sqrt(trace.example.d_k)


@pytest.mark.parametrize("key", FIXED)
def test_what_the_learner_chose_elsewhere_changes_nothing(key):
    other = Example(
        source=key, text="another", unit="characters", d_model=3, d_k=7, d_v=1, n_heads=4, seed=9, weight_kind="normal"
    )
    here, there = run_example(Example(source=key)), run_example(other)
    assert here.example == replace(there.example, text=here.example.text, unit=here.example.unit)
    assert torch.equal(here.x, there.x) and torch.equal(here.heads.output, there.heads.output)


@pytest.mark.parametrize("key", FIXED)
def test_a_preset_may_be_asked_for_with_its_own_sizes(key):
    settled = run_example(Example(source=key)).example
    assert run_example(settled).example == settled


@pytest.mark.parametrize("source", PRESETS)
def test_sizes_that_neither_the_limits_nor_the_notebook_allow_are_errors(source):
    for name, value in (("d_k", 9), ("d_v", 0), ("d_model", 17), ("n_heads", 5), ("sentence_of_batch", 3)):
        if value != getattr(PRESETS[source].fixed, name, None):
            limit = LIMITS[name]
            with pytest.raises(ValueError, match=f"{name} goes from {limit.least} to {limit.most}, but got {value}"):
                Example(source=source, **{name: value})


@pytest.mark.parametrize("source", ["journey", "sentence", "modules"])
def test_the_sizes_of_one_notebook_are_not_allowed_elsewhere(source):
    with pytest.raises(ValueError, match="d_k goes from 1 to 8, but got 16"):
        Example(source=source, d_k=16)


@pytest.mark.parametrize("key", PRESETS)
def test_presets_know_their_name_and_have_a_title_of_their_own(key):
    assert PRESETS[key].key == key
    assert [preset.title for preset in PRESETS.values()].count(PRESETS[key].title) == 1


@pytest.mark.parametrize("key", FIXED)
def test_no_global_random_state_is_touched(key):
    torch_before, numpy_before = torch.random.get_rng_state(), np.random.get_state()[1].copy()
    run_example(Example(source=key))
    assert torch.equal(torch.random.get_rng_state(), torch_before)
    assert np.array_equal(np.random.get_state()[1], numpy_before)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scaling", [False, True])
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_stage_has_a_caption_and_every_cell_its_arithmetic(name, scaling, causal):
    trace = run_example(preset(name, causal=causal, scaling=scaling))
    assert all(notice_stage(stage, trace, 0) for stage in STAGES)
    for matrix in matrices_of(trace.example).values():
        rows, columns = matrix.values.shape
        assert all(render(matrix.step(i, j).meaning) for i in range(rows) for j in range(columns))
