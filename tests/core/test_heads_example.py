"""The lesson on heads: the notebooks' computation run again, and dropout."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attention_core.base.randomness import generator
from attention_core.measured.head_measures import head_contributions
from attention_core.measured.parity import compare_with_pytorch, shapes_of_batch
from attention_core.one_head.heads import MultiHeadAttention, split_heads
from attention_core.one_head.masks import causal_mask, full_mask
from lessons.example.edits import Edit
from lessons.example.example import Example, run_example
from lessons.example.presets import JOURNEY_X
from lessons.example.real_model import MAX_TOKENS
from lessons.model.heads.example import (
    HEADS_PRESETS,
    HeadsChosen,
    HeadsTrace,
    divisors,
    home_of,
    in_training,
    nearest_divisor,
    run_heads,
    shown_features,
)
from tests.rounding import assert_close_for_size

PRESETS = [key for key in HEADS_PRESETS if key != "sentence"]
WITH_MODULE = [key for key in HEADS_PRESETS if key != "drawn"]


def words(count, **choices):
    return Example(source="sentence", text=" ".join("abcdefghijkl"[:count]), **choices)


@st.composite
def examples(draw):
    d_model = draw(st.integers(1, 16))
    running = words(
        draw(st.integers(1, MAX_TOKENS)),
        seed=draw(st.integers(0, 10_000)),
        causal=draw(st.booleans()),
        scaling=draw(st.booleans()),
    )
    return running, HeadsChosen(
        d_model=d_model,
        n_heads=draw(st.sampled_from(divisors(d_model))),
        bias=draw(st.booleans()),
        dropout=draw(st.sampled_from([0.0, 0.1, 0.5, 0.9])),
    )


# The notebooks, as they are written there.


def heads_by_hand(x, layers, n_heads, causal):
    """Multi-head attention with `view` and `transpose`, as the notebooks write it: weights and output."""
    n, d_model = x.shape
    q, k, v = (layer(x).view(n, n_heads, d_model // n_heads).transpose(0, 1) for layer in layers[:3])
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_model // n_heads)
    if causal:
        scores = scores.masked_fill(torch.triu(torch.ones(n, n), diagonal=1).bool(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights, layers[3]((weights @ v).transpose(0, 1).reshape(n, d_model))


def journey_notebook():
    torch.manual_seed(42)
    inputs = torch.tensor(JOURNEY_X)
    return torch.cat([inputs, inputs], dim=-1), [nn.Linear(6, 6, bias=False) for _ in range(4)], 2


def modules_notebook():
    torch.manual_seed(42)
    x = nn.Embedding(50, 8)(torch.tensor([5, 12, 31, 7]))
    for _ in range(3):
        nn.Linear(8, 6, bias=False)
    return x, [nn.Linear(8, 8, bias=False) for _ in range(4)], 2


def journey_builtin_notebook():
    x, _, n_heads = journey_notebook()
    return x, nn.MultiheadAttention(embed_dim=6, num_heads=n_heads, batch_first=False, bias=False)


def modules_builtin_notebook():
    x, _, n_heads = modules_notebook()
    [nn.Linear(8, 8, bias=False) for _ in range(4)]  # the module that it trains
    return x, nn.MultiheadAttention(embed_dim=8, num_heads=n_heads, bias=False, batch_first=False)


def wide_notebook():
    torch.manual_seed(42)
    for _ in range(3):
        torch.randn(2, 4, 8)
    layers = [nn.Linear(512, 512) for _ in range(4)]
    return torch.randn(2, 10, 512)[0], layers, 8


def planted_notebook():
    wide_notebook()
    nn.MultiheadAttention(embed_dim=512, num_heads=8, dropout=0.1, batch_first=True)
    embeddings = torch.randn(1, 6, 64)
    embeddings[0, 1] = embeddings[0, 1] + 0.5 * embeddings[0, 4]
    embeddings[0, 2] = embeddings[0, 2] + 0.5 * embeddings[0, 5]
    return embeddings[0], [nn.Linear(64, 64) for _ in range(4)], 4


NOTEBOOKS = {
    "journey": journey_notebook,
    "modules": modules_notebook,
    "wide": wide_notebook,
    "planted": planted_notebook,
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("key", NOTEBOOKS)
def test_a_preset_is_what_its_notebook_computes(key, causal):
    with torch.random.fork_rng(), torch.no_grad():
        x, layers, n_heads = NOTEBOOKS[key]()
        weights, output = heads_by_hand(x, layers, n_heads, causal)
    trace = run_heads(Example(causal=causal), HeadsChosen(source=key))
    module = trace.module
    assert torch.equal(trace.x, x)
    for name, layer in zip("qkvo", layers, strict=True):
        W, b = getattr(module, f"W_{name}"), getattr(module, f"b_{name}")
        assert torch.equal(W, layer.weight.T)
        assert (b is None and layer.bias is None) or torch.equal(b, layer.bias)
    assert_close_for_size(trace.heads.weights, weights, trace.heads.scaled)
    assert_close_for_size(trace.output, output, trace.heads.scaled)
    assert trace.n_heads == n_heads and trace.tokens == HEADS_PRESETS[key].tokens


BUILT_IN = {"journey_builtin": journey_builtin_notebook, "modules_builtin": modules_builtin_notebook}


@pytest.mark.parametrize("key", BUILT_IN)
def test_a_built_in_preset_is_what_pytorchs_own_module_gives_in_its_notebook(key):
    with torch.random.fork_rng(), torch.no_grad():
        x, theirs = BUILT_IN[key]()
        batch = x.unsqueeze(1)
        output, averaged = theirs(batch, batch, batch)
    trace = run_heads(Example(causal=False), HeadsChosen(source=key))
    packed = [getattr(trace.module, f"W_{name}").T for name in "qkv"]
    assert torch.equal(trace.x, x) and trace.tokens == HEADS_PRESETS[key].tokens
    assert torch.equal(torch.cat(packed), theirs.in_proj_weight)
    assert torch.equal(trace.module.W_o, theirs.out_proj.weight.T)
    scores = trace.heads.scaled
    assert_close_for_size(trace.output, output.squeeze(1), scores)
    assert_close_for_size(trace.heads.weights.mean(dim=0), averaged.squeeze(0), scores)
    parity = compare_with_pytorch(trace.x, full_mask(len(x)), trace.module)
    assert_close_for_size(parity.averaged, averaged.squeeze(0), scores)
    assert shapes_of_batch(parity) == (batch.shape, output.shape, averaged.shape)


@pytest.mark.parametrize("causal", [False, True])
def test_two_sentences_at_once_are_the_drawn_queries_keys_and_values(causal):
    with torch.random.fork_rng():
        torch.manual_seed(42)
        q, k, v = (torch.randn(2, 4, 8) for _ in range(3))
    scores = q @ k.transpose(-2, -1) / math.sqrt(8)
    if causal:
        scores = scores.masked_fill(torch.tril(torch.ones(4, 4)) == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    trace = run_heads(Example(causal=causal), HeadsChosen(source="drawn"))
    assert not isinstance(trace, HeadsTrace) and trace.noun == "sentence" and trace.tokens[3] == "token 4"
    assert torch.equal(trace.heads.q, q) and torch.equal(trace.heads.k, k) and torch.equal(trace.heads.v, v)
    assert_close_for_size(trace.heads.weights, weights, trace.heads.scaled)
    assert_close_for_size(trace.heads.output, weights @ v, trace.heads.scaled, v)


def test_a_preset_leaves_mask_scaling_and_dropout_to_the_learner_and_fixes_the_rest():
    running = Example(source="sentence", text="a b", seed=7, causal=False, scaling=False)
    trace = run_heads(running, HeadsChosen(source="journey", dropout=0.3))
    assert trace.heads.visible.all() and trace.scale == 1.0
    assert (trace.chosen.dropout, trace.module.dropout) == (0.3, 0.3)
    assert (trace.x.shape[-1], trace.n_heads, trace.seed, trace.module.b_o) == (6, 2, 42, None)


@pytest.mark.parametrize("key", [key for key in WITH_MODULE if HEADS_PRESETS[key].fixed])
def test_what_a_notebook_fixes_is_drawn_once_and_each_has_a_dropout_of_its_own(key):
    one, other = (run_heads(Example(causal=p > 0.2, seed=5), HeadsChosen(source=key, dropout=p)) for p in (0.1, 0.3))
    assert one.module.W_o is other.module.W_o and one.x is other.x
    assert (one.module.dropout, other.module.dropout) == (0.1, 0.3)


def test_heads_are_computed_once_for_all_examples_of_which_they_take_the_same():
    example, by_hand = Example(seed=7, scaling=False), Edit("x", 0, 0, 1.0)
    for source, others in (("sentence", {}), ("journey", {"seed": 8, "source": "sentence"})):
        chosen = HeadsChosen(source=source)
        once, again = run_heads(example, chosen), run_heads(replace(example, edits=(by_hand,), **others), chosen)
        assert again is once and once.example.edits == ()
        assert run_heads(replace(example, causal=False), chosen) is not once
        assert run_heads(example, replace(chosen, dropout=0.3)) is not once


# The running example


def test_the_sentence_seed_mask_and_scaling_are_those_of_the_running_example():
    running = run_example(Example(source="sentence", text="no no yes", d_model=6, seed=11, causal=False, scaling=False))
    trace = run_heads(running.example, HeadsChosen(d_model=6, n_heads=3, bias=True))
    assert trace.tokens == ("no", "no", "yes") and trace.seed == 11
    assert torch.equal(trace.x, running.x)
    twin = MultiHeadAttention.draw(6, 3, bias=True, generator=generator(11))
    output, inside = twin(trace.x, scale=1.0)
    assert torch.equal(trace.output, output) and torch.equal(trace.heads.weights, inside.heads.weights)
    assert trace.heads.visible.all() and trace.scale == 1.0


@given(examples())
def test_every_tensor_follows_from_the_one_before(drawn):
    running, chosen = drawn
    trace = run_heads(running, chosen)
    n, d_model, h = len(trace.tokens), chosen.d_model, chosen.n_heads
    for role in "qkv":
        whole, W, b = getattr(trace, role), getattr(trace.module, f"W_{role}"), getattr(trace.module, f"b_{role}")
        torch.testing.assert_close(whole, trace.x @ W + (b if chosen.bias else 0))
        assert torch.equal(split_heads(whole, h), getattr(trace.heads, role))
    assert trace.heads.weights.shape == (h, n, n)
    for head in range(h):
        part = trace.concatenated[:, head * trace.d_head : (head + 1) * trace.d_head]
        assert torch.equal(part, trace.heads.output[head])
    assert trace.output.shape == (n, d_model)
    bias = trace.module.b_o if chosen.bias else 0
    contributions = head_contributions(trace.heads.output, trace.module.W_o)
    assert_close_for_size(contributions.sum(dim=0) + bias, trace.output, contributions)
    assert not trace.output.requires_grad


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"d_model": 17, "n_heads": 1}, "d_model goes from 1 to 16, but got 17"),
        ({"d_model": 0, "n_heads": 1}, "d_model goes from 1 to 16, but got 0"),
        ({"d_model": 7, "n_heads": 0}, "n_heads goes from 1 to 16, but got 0"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_what_can(choices, message):
    with pytest.raises(ValueError, match=message):
        HeadsChosen(**choices)


def test_heads_that_cannot_share_the_features_are_an_error():
    with pytest.raises(ValueError, match="d_model = 7 works with 1, 7 heads, but n_heads is 2"):
        run_heads(Example(), HeadsChosen(d_model=7, n_heads=2))


@given(d_model=st.integers(1, 40), n_heads=st.integers(1, 40))
def test_the_nearest_divisor_is_a_divisor_and_none_is_nearer(d_model, n_heads):
    found = nearest_divisor(d_model, n_heads)
    assert d_model % found == 0
    assert all(d_model % n or abs(found - n_heads) <= abs(n - n_heads) for n in range(1, d_model + 1))


@given(h=st.integers(1, 16), d_head=st.integers(1, 64))
def test_the_features_shown_are_the_first_of_every_head(h, d_head):
    shown = shown_features(h * d_head, h)
    assert shown == sorted(set(shown)) and len(shown) <= max(16, h)
    assert h * d_head > 16 or shown == list(range(h * d_head))
    homes = [home_of(feature, d_head) for feature in shown]
    assert homes == [(head, place) for head in range(h) for place in range(len(shown) // h)]


# Dropout


@given(examples())
def test_in_training_weights_are_dropped_or_enlarged(drawn):
    running, chosen = drawn
    trace = run_heads(running, chosen)
    dropped, p = in_training(trace).result.dropped, chosen.dropout
    kept = dropped.weights != 0
    torch.testing.assert_close(dropped.weights[kept], trace.heads.weights[kept] / (1 - p))
    assert torch.equal(in_training(trace).result.dropped.weights, dropped.weights), "the same again"
    assert p > 0 or torch.equal(dropped.weights, trace.heads.weights)


@pytest.mark.parametrize("key", WITH_MODULE)
def test_it_is_what_the_module_does_in_training_mode(key):
    trace = run_heads(Example(), HeadsChosen(source=key, dropout=0.3))
    random = generator(trace.seed, "dropout")
    _, training = trace.module(trace.x, causal_mask(len(trace.tokens)), drop=random)
    dropped = in_training(trace).result.dropped
    assert torch.equal(dropped.weights == 0, training.heads.weights == 0)
    assert_close_for_size(dropped.weights, training.heads.weights, training.heads.scaled)
    assert_close_for_size(dropped.output, training.heads.output, training.heads.scaled, training.heads.v)


def test_over_many_draws_the_rows_sum_to_1():
    sums = [
        in_training(run_heads(Example(seed=seed, causal=False), HeadsChosen(dropout=0.5)))
        .result.dropped.weights.sum(dim=-1)
        .mean()
        .item()
        for seed in range(200)
    ]
    assert sum(sums) / len(sums) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("key", WITH_MODULE)
def test_the_same_example_gives_the_same_numbers_and_leaves_global_randomness_alone(key):
    before = torch.random.get_rng_state()
    first, second = (run_heads(Example(), HeadsChosen(source=key)) for _ in range(2))
    assert torch.equal(first.output, second.output)
    assert torch.equal(torch.random.get_rng_state(), before)
