import itertools
import math

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from attention_core.attention import attend
from attention_core.backward import (
    attend_backward,
    cross_entropy_backward,
    heads_backward,
    linear_backward,
    mean_shares,
    model_backward,
    norm_backward,
    softmax_backward,
    squared_error_backward,
)
from attention_core.heads import MultiHeadAttention, SlicedHeads
from attention_core.masks import causal_mask
from attention_core.model import ModelConfig, TinyTransformer
from attention_core.randomness import generator

BATCH, QUERIES, KEYS, D_K, D_V, VOCABULARY = 2, 5, 7, 3, 11, 13


def random(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def tokens_of(targets):
    """The right tokens as training gives them: any where none counts."""
    return targets.clamp(min=0)[..., None]


def shares_of(targets, dtype=torch.float64):
    """What each place counts, where all there are make one batch."""
    return mean_shares(targets.reshape(-1, targets.shape[-1])).to(dtype).reshape(*targets.shape, 1)


def autograd(output, direction, *inputs):
    """The gradients that autograd finds for the sum of output · direction."""
    return torch.autograd.grad((output * direction).sum(), inputs)


@pytest.mark.parametrize("batch", [(), (BATCH,), (13, BATCH)], ids=str)
@pytest.mark.parametrize("scale", [None, 0.37])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_backwards(batch, scale, masked):
    shapes = (QUERIES, D_K), (KEYS, D_K), (KEYS, D_V)
    q, k, v = (random(*batch, *shape, seed=i).requires_grad_() for i, shape in enumerate(shapes))
    may_attend = torch.ones(QUERIES, KEYS, dtype=torch.bool).tril(1) if masked else None
    trace = attend(q, k, v, may_attend, scale=scale)
    direction = random(*batch, QUERIES, D_V, seed=9)
    expected = autograd(trace.output, direction, q, k, v)
    for ours, reference in zip(attend_backward(trace, direction, scale), expected, strict=True):
        torch.testing.assert_close(ours.detach(), reference)


def test_softmax_backwards():
    scores = random(BATCH, QUERIES, KEYS).requires_grad_()
    weights, direction = scores.softmax(-1), random(BATCH, QUERIES, KEYS, seed=1)
    torch.testing.assert_close(softmax_backward(weights, direction), *autograd(weights, direction, scores))


def test_a_weight_of_zero_passes_no_gradient_on():
    weights = torch.tensor([[0.0, 0.25, 0.75]])
    d_scores = softmax_backward(weights, torch.tensor([[100.0, 1.0, -1.0]]))
    assert d_scores[0, 0] == 0
    assert d_scores[0, 1] == 0.25 * (1 - (0.25 - 0.75))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch", [(), (BATCH,), (13, BATCH)], ids=str)
def test_a_linear_map_backwards(bias, batch):
    layer = nn.utils.skip_init(nn.Linear, D_K, D_V, bias=bias).double()
    with torch.no_grad():
        for i, parameter in enumerate(layer.parameters()):
            parameter.copy_(random(*parameter.shape, seed=i + 5))
    x, direction = random(*batch, QUERIES, D_K).requires_grad_(), random(*batch, QUERIES, D_V, seed=1)
    d_x, *d_parameters = autograd(layer(x), direction, x, *layer.parameters())
    torch.testing.assert_close(linear_backward(layer, x, direction).detach(), d_x)
    for parameter, expected in zip(layer.parameters(), d_parameters, strict=True):
        torch.testing.assert_close(parameter.grad, expected)


@pytest.mark.parametrize("batch", [(), (BATCH,), (13, BATCH)], ids=str)
def test_a_layer_norm_backwards(batch):
    layer = nn.LayerNorm(D_V).double()
    with torch.no_grad():
        layer.weight.copy_(random(D_V, seed=5))
        layer.bias.copy_(random(D_V, seed=6))
    x, direction = random(*batch, QUERIES, D_V).requires_grad_(), random(*batch, QUERIES, D_V, seed=1)
    d_x, d_gain, d_shift = autograd(layer(x), direction, x, layer.weight, layer.bias)
    torch.testing.assert_close(norm_backward(layer, x, direction).detach(), d_x)
    torch.testing.assert_close(layer.weight.grad, d_gain)
    torch.testing.assert_close(layer.bias.grad, d_shift)


@pytest.mark.parametrize("batch", [(QUERIES,), (BATCH, QUERIES)], ids=str)
def test_cross_entropy_backwards(batch):
    logits = random(*batch, VOCABULARY).requires_grad_()
    targets = torch.randint(VOCABULARY, batch, generator=generator(1))
    loss = cross_entropy(logits.reshape(-1, VOCABULARY), targets.flatten())
    (expected,) = torch.autograd.grad(loss, [logits])
    ours = cross_entropy_backward(logits.detach(), tokens_of(targets), shares_of(targets))
    torch.testing.assert_close(ours, expected)


def test_the_gradient_of_cross_entropy_is_the_surprise():
    logits = torch.tensor([[0.0, math.log(3)]])
    d_logits = cross_entropy_backward(logits, torch.tensor([[0]]), torch.ones(1, 1))
    torch.testing.assert_close(d_logits, torch.tensor([[-0.75, 0.75]]))


def test_each_batch_has_its_own_mean_over_the_places_that_count():
    targets = torch.tensor([[[-100, 3], [7, -100]], [[-100, -100], [-100, 0]], [[1, 2], [2, 4]]])
    half, whole, quarter = 1 / 2, 1.0, 1 / 4
    expected = [[[0.0, half], [half, 0.0]], [[0.0, 0.0], [0.0, whole]], [[quarter, quarter], [quarter, quarter]]]
    assert mean_shares(targets).squeeze(-1).tolist() == expected


@pytest.mark.parametrize("kind", [MultiHeadAttention, SlicedHeads])
@pytest.mark.parametrize("batch", [(), (BATCH,), (13, BATCH)], ids=str)
@pytest.mark.parametrize("scale", [None, 1.0])
def test_several_heads_backwards(kind, batch, scale):
    heads = kind(6, 3, generator=generator(1)).double()
    x, direction = random(*batch, QUERIES, 6).requires_grad_(), random(*batch, QUERIES, 6, seed=1)
    output, trace = heads(x, causal_mask(QUERIES), scale=scale)
    d_x, *d_parameters = autograd(output, direction, x, *heads.parameters())
    torch.testing.assert_close(heads_backward(heads, x, trace, direction, scale)[0].detach(), d_x)
    for parameter, expected in zip(heads.parameters(), d_parameters, strict=True):
        torch.testing.assert_close(parameter.grad, expected)


@pytest.mark.parametrize("heads", ["projected", "sliced"])
@pytest.mark.parametrize("positions", ["learned", "none", "sinusoidal", "rotary", "qk"])
@pytest.mark.parametrize("n_layers", [1, 2])
def test_the_whole_model_backwards(heads, positions, n_layers):
    for causal, scaling, residual, layer_norm, mlp in itertools.product([True, False], repeat=5):
        config = ModelConfig(
            vocabulary=VOCABULARY,
            context=7,
            d_model=6,
            n_heads=3,  # d_k = 2
            n_layers=n_layers,
            heads=heads,
            positions=positions,
            causal=causal,
            scaling=scaling,
            residual=residual,
            layer_norm=layer_norm,
            mlp=mlp,
        )
        compare_with_autograd(config, n_tokens=5)  # shorter than the context


@pytest.mark.parametrize("positions", ["learned", "rotary", "qk"])
@pytest.mark.parametrize("d_k", [2, 10])
@pytest.mark.parametrize("scaling", [False, True])
def test_the_whole_model_backwards_with_queries_of_another_width(positions, d_k, scaling):
    choices = {"d_model": 9, "n_heads": 3, "n_layers": 2, "d_k": d_k, "positions": positions, "scaling": scaling}
    compare_with_autograd(ModelConfig(vocabulary=VOCABULARY, context=7, **choices), n_tokens=5)


@pytest.mark.parametrize("heads", ["projected", "sliced"])
@pytest.mark.parametrize("positions", ["none", "rotary", "qk"])
def test_the_whole_model_backwards_in_the_precision_it_trains_in(heads, positions):
    choices = {"d_model": 6, "n_heads": 3, "n_layers": 2, "heads": heads, "positions": positions, "layer_norm": True}
    config = ModelConfig(vocabulary=VOCABULARY, context=7, mlp=True, **choices)
    compare_with_autograd(config, n_tokens=5, dtype=torch.float32)


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("positions", ["none", "learned", "qk"])
def test_a_model_that_gives_vectors_backwards(n_layers, residual, positions):
    choices = {"d_model": 6, "n_heads": 3, "n_layers": n_layers, "residual": residual, "positions": positions}
    config = ModelConfig(vocabulary=VOCABULARY, context=7, output="vectors", layer_norm=True, **choices)
    model = TinyTransformer(config, generator(3)).double()
    ids = torch.randint(VOCABULARY, (2, 5), generator=generator(4))
    trace = model(ids)
    wanted = model.token_table[ids.flip(1)]
    nn.functional.mse_loss(trace.logits, wanted).backward()
    expected = {name: parameter.grad for name, parameter in model.named_parameters()}
    assert "token_table" not in expected
    with torch.inference_mode():
        model_backward(model, trace, squared_error_backward(trace.logits, wanted))
    for name, parameter in model.named_parameters():
        assert expected[name].abs().sum() > 0, name
        torch.testing.assert_close(parameter.grad, expected[name], msg=name)


def test_places_that_do_not_count_have_no_gradient():
    logits = random(BATCH, QUERIES, VOCABULARY).requires_grad_()
    targets = torch.tensor([[-100, 3, 7, -100, 0], [5, -100, -100, 2, -100]])
    loss = cross_entropy(logits.reshape(-1, VOCABULARY), targets.flatten())
    (expected,) = torch.autograd.grad(loss, [logits])
    ours = cross_entropy_backward(logits.detach(), tokens_of(targets), shares_of(targets))
    torch.testing.assert_close(ours, expected)
    assert (ours[targets == -100] == 0).all()


def compare_with_autograd(config, n_tokens, batch=(2,), dtype=torch.float64):
    model = TinyTransformer(config, generator(3)).to(dtype)
    shake_norms(model)
    random_ids = generator(4)
    ids, targets = (torch.randint(config.vocabulary, (*batch, n_tokens), generator=random_ids) for _ in range(2))
    trace = model(ids)
    cross_entropy(trace.logits.reshape(-1, config.vocabulary), targets.flatten()).backward()
    expected = {name: parameter.grad for name, parameter in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = None
    with torch.inference_mode():
        d_logits = cross_entropy_backward(trace.logits, tokens_of(targets), shares_of(targets, dtype))
        model_backward(model, trace, d_logits)
    for name, parameter in model.named_parameters():
        message = f"{name} of {config}"
        assert parameter.grad is not None, message
        assert expected[name].abs().sum() > 0, message
        torch.testing.assert_close(parameter.grad, expected[name], msg=message)


def shake_norms(model):
    """Norms start as ones and zeros, which would hide a gain or a shift that is forgotten."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.add_(random(*module.weight.shape, seed=7) * 0.3)
                module.bias.add_(random(*module.bias.shape, seed=8) * 0.3)


@pytest.mark.parametrize("batch", [(), (3, 2)], ids=str)
@pytest.mark.parametrize("heads", ["projected", "sliced"])
def test_the_whole_model_backwards_with_other_batches(batch, heads):
    config = ModelConfig(vocabulary=VOCABULARY, context=7, d_model=6, heads=heads, layer_norm=True, mlp=True)
    compare_with_autograd(config, n_tokens=7, batch=batch)


def test_ids_that_come_several_times_add_up_their_gradients():
    config = ModelConfig(vocabulary=3, context=7, d_model=6, positions="none")
    compare_with_autograd(config, n_tokens=7)


def test_gradients_are_replaced_and_not_added_up():
    config = ModelConfig(vocabulary=3, context=5, d_model=6)
    model = TinyTransformer(config, generator(3))
    ids = torch.tensor([[0, 1, 2, 0]])
    with torch.inference_mode():
        trace = model(ids)
        direction = cross_entropy_backward(trace.logits, tokens_of(ids), mean_shares(ids))
        model_backward(model, trace, direction)
        once = [parameter.grad.clone() for parameter in model.parameters()]
        model_backward(model, trace, direction)
    for parameter, expected in zip(model.parameters(), once, strict=True):
        assert torch.equal(parameter.grad, expected)


def test_gradients_through_dropped_weights_are_right_or_refused():
    heads = MultiHeadAttention(6, 3, dropout=0.5, generator=generator(1)).double()
    x, direction = random(QUERIES, 6).requires_grad_(), random(QUERIES, 6, seed=1)
    output, trace = heads(x)
    (expected,) = autograd(output, direction, x)
    try:
        ours, _ = heads_backward(heads, x, trace, direction)
    except (ValueError, RuntimeError) as refusal:
        assert "dropout" in str(refusal)
    else:
        torch.testing.assert_close(ours.detach(), expected)
