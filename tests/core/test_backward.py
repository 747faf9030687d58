"""Every gradient against autograd, on the very same forward functions."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import BATCHES, models
from torch import nn

from attention_core.base.randomness import generator
from attention_core.learning.backward import (
    attend_backward,
    block_backward,
    cross_entropy_backward,
    heads_backward,
    linear_backward,
    loss_backward,
    mlp_backward,
    model_backward,
    norm_backward,
    softmax_backward,
    squared_error_backward,
)
from attention_core.learning.evaluation import loss_of
from attention_core.learning.losses import cross_entropy, squared_error
from attention_core.learning.tasks import NO_TARGET
from attention_core.model.family import TransformerConfig, build_transformer, weight_shapes
from attention_core.model.parts import LayerNorm, Mlp
from attention_core.model.small_model import ModelConfig, draw_model, model_with
from attention_core.model.weights import count_weights, named_weights, weights_of
from attention_core.one_head.attention import attend
from attention_core.one_head.heads import MultiHeadAttention, SlicedHeads, linear
from attention_core.one_head.masks import causal_mask

BATCH, QUERIES, KEYS, D_K, D_V, VOCABULARY = 2, 5, 7, 3, 11, 13
ALL_BATCHES = [(), (BATCH,), (13, BATCH)]
EXACT = {"rtol": 0, "atol": 1e-12}  # for numbers of size 1 in double precision


def random(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def autograd(output, direction, *inputs):
    """The gradients that autograd finds for the sum of output · direction."""
    return torch.autograd.grad((output * direction).sum(), inputs)


def close(ours, expected, message=""):
    """Equal to twelve digits."""
    size = max(1.0, float(expected.abs().max()))
    np.testing.assert_allclose(ours.detach().numpy() / size, expected.numpy() / size, **EXACT, err_msg=message)


# Attention


@pytest.mark.parametrize("batch", ALL_BATCHES, ids=str)
@pytest.mark.parametrize("scale", [None, 0.37])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_backwards_every_tensor_of_it(batch, scale, masked):
    shapes = (QUERIES, D_K), (KEYS, D_K), (KEYS, D_V)
    q, k, v = (random(*batch, *shape, seed=i).requires_grad_() for i, shape in enumerate(shapes))
    may_attend = torch.ones(QUERIES, KEYS, dtype=torch.bool).tril(1) if masked else None
    trace = attend(q, k, v, may_attend, scale=scale)
    direction = random(*batch, QUERIES, D_V, seed=9)
    names = ("v", "weights", "masked", "scaled", "scores", "q", "k")
    expected = autograd(trace.output, direction, *(getattr(trace, name) for name in names))
    ours = attend_backward(trace, direction, scale)
    assert ours.d_output is direction
    for name, reference in zip(names, expected, strict=True):
        close(getattr(ours, f"d_{name}"), torch.nan_to_num(reference), name)


def test_softmax_backwards():
    scores = random(BATCH, QUERIES, KEYS).requires_grad_()
    weights, direction = scores.softmax(-1), random(BATCH, QUERIES, KEYS, seed=1)
    close(softmax_backward(weights, direction), *autograd(weights, direction, scores))


def test_a_weight_of_zero_passes_no_gradient_on():
    weights = torch.tensor([[0.0, 0.25, 0.75]])
    d_scores = softmax_backward(weights, torch.tensor([[100.0, 1.0, -1.0]]))
    assert d_scores[0, 0] == 0
    assert d_scores[0, 1] == 0.25 * (1 - (0.25 - 0.75))


# Maps and norms


@pytest.mark.parametrize("batch", ALL_BATCHES, ids=str)
@pytest.mark.parametrize("runs", [(), (3,)], ids=str)
def test_a_linear_map_backwards(runs, batch):
    W, b = random(*runs, D_K, D_V, seed=5).requires_grad_(), random(*runs, D_V, seed=6).requires_grad_()
    x, direction = random(*runs, *batch, QUERIES, D_K).requires_grad_(), random(*runs, *batch, QUERIES, D_V, seed=1)
    d_x, d_W, d_b = autograd(linear(x, W, b), direction, x, W, b)
    for ours, expected in zip(linear_backward(x, W, b, direction), (d_x, d_W, d_b), strict=True):
        close(ours, expected)
    assert linear_backward(x, W, None, direction)[2] is None


@pytest.mark.parametrize("batch", ALL_BATCHES, ids=str)
@pytest.mark.parametrize("runs", [(), (3,)], ids=str)
def test_a_layer_norm_backwards(runs, batch):
    norm = LayerNorm(random(*runs, D_V, seed=5).requires_grad_(), random(*runs, D_V, seed=6).requires_grad_())
    x, direction = random(*runs, *batch, QUERIES, D_V).requires_grad_(), random(*runs, *batch, QUERIES, D_V, seed=1)
    d_x, d_gain, d_shift = autograd(norm(x), direction, x, norm.gain, norm.shift)
    our_d_x, d_norm = norm_backward(norm, x, direction)
    close(our_d_x, d_x)
    close(d_norm.gain, d_gain)
    close(d_norm.shift, d_shift)


@pytest.mark.parametrize(
    ("kind", "bias"), [(MultiHeadAttention, False), (MultiHeadAttention, True), (SlicedHeads, None)]
)
@pytest.mark.parametrize("batch", ALL_BATCHES, ids=str)
@pytest.mark.parametrize("scale", [None, 1.0])
def test_several_heads_backwards(kind, batch, scale, bias):
    heads = in_double(kind.draw(6, 3, generator=generator(1), **({} if bias is None else {"bias": bias})))
    x, direction = random(*batch, QUERIES, 6).requires_grad_(), random(*batch, QUERIES, 6, seed=1)
    output, trace = heads(x, causal_mask(QUERIES), scale=scale)
    names, weights = zip(*named_weights(heads), strict=True)
    d_x, *expected = autograd(output, direction, x, *weights)
    our_d_x, _, d_heads = heads_backward(heads, x, trace, direction, scale)
    close(our_d_x, d_x)
    for name, (their_name, mine), reference in zip(names, named_weights(d_heads), expected, strict=True):
        assert name == their_name
        close(mine, reference, name)


def in_double(heads):
    """The same heads in double precision, with weights that want a gradient."""
    weights = {name: weight.double().requires_grad_() for name, weight in named_weights(heads)}
    return type(heads)(**weights, n_heads=heads.n_heads, rotary=heads.rotary, dropout=heads.dropout)


def test_gradients_through_dropped_weights_are_refused():
    heads = in_double(MultiHeadAttention.draw(6, 3, dropout=0.5, generator=generator(1)))
    x, direction = random(QUERIES, 6).requires_grad_(), random(QUERIES, 6, seed=1)
    _, trace = heads(x, drop=generator(2))
    with pytest.raises(ValueError, match="dropout"):
        heads_backward(heads, x, trace, direction)
    _, trace = heads(x)
    heads_backward(heads, x, trace, direction)


# The loss


@pytest.mark.parametrize("batch", [(QUERIES,), (BATCH, QUERIES)], ids=str)
def test_cross_entropy_is_pytorch_s_forwards_and_backwards(batch):
    logits = random(*batch, VOCABULARY).requires_grad_()
    targets = torch.randint(VOCABULARY, batch, generator=generator(1))
    reference = nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), targets.flatten())
    trace = cross_entropy(logits, targets)
    close(trace.loss, reference.detach())
    close(cross_entropy_backward(trace), *torch.autograd.grad(reference, [logits]))


def test_the_gradient_of_cross_entropy_is_the_surprise():
    trace = cross_entropy(torch.tensor([[0.0, math.log(3)]]), torch.tensor([0]))
    torch.testing.assert_close(cross_entropy_backward(trace), torch.tensor([[-0.75, 0.75]]))


def test_each_run_has_its_own_mean_over_the_places_that_count():
    targets = torch.tensor([[[-100, 3], [7, -100]], [[-100, -100], [-100, 0]], [[1, 2], [2, 4]]])
    half, whole, quarter = 1 / 2, 1.0, 1 / 4
    expected = [[[0.0, half], [half, 0.0]], [[0.0, 0.0], [0.0, whole]], [[quarter, quarter], [quarter, quarter]]]
    trace = cross_entropy(random(3, 2, 2, VOCABULARY), targets, run_axes=1)
    assert trace.shares.tolist() == expected
    assert trace.loss.shape == (3,)


def test_places_that_do_not_count_have_no_gradient():
    logits = random(BATCH, QUERIES, VOCABULARY).requires_grad_()
    targets = torch.tensor([[-100, 3, 7, -100, 0], [5, -100, -100, 2, -100]])
    loss = nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), targets.flatten())
    (expected,) = torch.autograd.grad(loss, [logits])
    ours = cross_entropy_backward(cross_entropy(logits, targets))
    close(ours, expected)
    assert (ours[targets == NO_TARGET] == 0).all()


def test_the_loss_stays_finite_where_a_probability_is_too_small_for_a_float():
    trace = cross_entropy(torch.tensor([[0.0, 300.0]]), torch.tensor([0]))
    assert trace.loss == 300


def test_squared_error_is_pytorch_s_forwards_and_backwards():
    output, wanted = random(BATCH, QUERIES, D_V).requires_grad_(), random(BATCH, QUERIES, D_V, seed=1)
    reference, trace = nn.functional.mse_loss(output, wanted), squared_error(output, wanted)
    close(trace.loss, reference.detach())
    close(squared_error_backward(trace), *torch.autograd.grad(reference, [output]))


# Whole models


def shaken(config, runs=(), seed=3):
    """Weights in double precision, norms among them: their ones and zeros would hide a gain or a shift forgotten."""
    model = draw_model(config, generator(seed))
    size = count_weights(model)
    return weights_of(model).double() + 0.1 * random(*runs, size, seed=seed + 1)


def some_batch(config, *shape, seed=4):
    """Ids and targets, some of which do not count."""
    drawn = generator(seed)
    ids, targets = (torch.randint(config.vocabulary, shape, generator=drawn) for _ in range(2))
    if config.output == "scores":
        targets[..., 1] = NO_TARGET
    return ids, targets


def both_gradients(config, weights, ids, targets):
    """All gradients by autograd and by the chain rule; the sum over runs keeps those of each run apart."""
    weights = weights.clone().requires_grad_()
    model = model_with(config, weights)
    trace = model(ids)
    loss = loss_of(model, trace, targets)
    (expected,) = torch.autograd.grad(loss.loss.sum(), weights)
    with torch.no_grad():
        return model_backward(model, trace, loss_backward(loss))[1], expected


@given(config=models(), batch=BATCHES, n_tokens=st.sampled_from([5, 7]))
def test_every_model_backwards(config, batch, n_tokens):
    gradients, expected = both_gradients(config, shaken(config), *some_batch(config, *batch, n_tokens))
    assert (expected != 0).any()
    close(weights_of(gradients), expected, str(config))


@given(config=models())
def test_every_model_backwards_with_runs_side_by_side(config):
    weights, (ids, targets) = shaken(config, runs=(3,)), some_batch(config, 3, 2, 5)
    gradients, expected = both_gradients(config, weights, ids, targets)
    together = weights_of(gradients)
    close(together, expected, str(config))
    for run in range(3):
        _, alone = both_gradients(config, weights[run], ids[run], targets[run])
        close(together[run], alone, str(config))


@given(config=models())
def test_numpy_computes_what_torch_computes(config):
    weights, (ids, targets) = shaken(config, runs=(3,)).float(), some_batch(config, 3, 2, 5)
    gradients, _ = both_gradients(config, weights, ids, targets)
    model = model_with(config, weights.numpy())
    trace = model(ids.numpy())
    loss = loss_of(model, trace, targets.numpy())
    ours = weights_of(model_backward(model, trace, loss_backward(loss))[1])
    assert ours.dtype == trace.logits.dtype == loss.loss.dtype == np.float32
    reference = weights_of(gradients).numpy()
    np.testing.assert_allclose(ours, reference, rtol=0, atol=2e-5 * max(1, np.abs(reference).max()))


def test_the_gradient_of_a_model_is_a_model_that_names_the_same_weights():
    config = ModelConfig(vocabulary=VOCABULARY, context=7, d_model=6, n_heads=3, n_layers=2, layer_norm=True, mlp=True)
    model = model_with(config, shaken(config).requires_grad_())
    ids, targets = some_batch(config, 2, 5)
    trace = model(ids)
    loss = loss_of(model, trace, targets)
    d_x, d_model = model_backward(model, trace, loss_backward(loss))
    names, weights = zip(*named_weights(model), strict=True)
    expected_d_x, *expected = torch.autograd.grad(loss.loss, [trace.layers[0].x, *weights])
    close(d_x, expected_d_x)
    for name, (their_name, mine), reference in zip(names, named_weights(d_model), expected, strict=True):
        assert name == their_name
        close(mine, reference, name)


def test_an_mlp_of_another_kind_is_left_to_autograd():
    W = random(D_V, 4, seed=1)
    for options in ({"activation": "gelu"}, {"activation": "relu", "W_gate": W}):
        mlp = Mlp(W_up=W, W_down=W.mT, **options)
        x = random(QUERIES, D_V)
        with pytest.raises(ValueError, match="use autograd"):
            mlp_backward(mlp, mlp(x), x)


@pytest.mark.parametrize("options", [{"norm_place": "after"}, {"parallel": True}])
def test_layers_of_another_kind_are_left_to_autograd(options):
    config = ModelConfig(vocabulary=VOCABULARY, context=7, d_model=6, n_heads=3, layer_norm=True, mlp=True)
    block = replace(draw_model(config, generator(1)).layers[0], **options)
    x = random(QUERIES, 6).float()
    with pytest.raises(ValueError, match="use autograd"):
        block_backward(block, block(x, None), x)


def test_a_model_with_a_tied_unembedding_is_left_to_autograd():
    config = TransformerConfig(
        vocabulary=VOCABULARY, context=7, d_model=6, n_layers=1, d_hidden=5, n_heads=3, kv_heads=3, d_head=2,
        norm="layer", gated=False, activation="relu", unembedding="tied",
    )  # fmt: skip
    model = build_transformer(config, {name: random(*shape) for name, shape in weight_shapes(config).items()})
    trace = model(torch.tensor([1, 0, 2]))
    with pytest.raises(ValueError, match="use autograd"):
        model_backward(model, trace, trace.logits)


def test_ids_that_come_several_times_add_up_their_gradients():
    config = ModelConfig(vocabulary=3, context=7, d_model=6, positions="none")
    gradients, expected = both_gradients(config, shaken(config), *some_batch(config, 2, 7))
    close(weights_of(gradients), expected)


def test_fixed_vectors_have_no_gradient():
    config = ModelConfig(vocabulary=VOCABULARY, context=7, d_model=6, output="vectors", positions="none")
    gradients, _ = both_gradients(config, shaken(config), *some_batch(config, 2, 5))
    assert gradients.token_table is None and gradients.W_unembed is None
