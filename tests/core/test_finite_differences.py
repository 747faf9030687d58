"""The loss near some weights, against runs of the model one by one and against autograd."""

import numpy as np
import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.backward import loss_backward, model_backward
from attention_core.learning.finite_differences import central_differences, losses_at
from attention_core.learning.steps import gradient_by_autograd, predict
from attention_core.learning.tasks import NO_TARGET, Batch
from attention_core.model.small_model import ModelConfig, draw_model, model_with
from attention_core.model.weights import weights_of

CONFIGS = [
    ModelConfig(vocabulary=5, context=7, d_model=6, n_heads=2, n_layers=1, d_k=3),
    ModelConfig(vocabulary=9, context=4, d_model=4, n_heads=1, n_layers=2, layer_norm=True, mlp=True, causal=False),
]
SENTENCES, TOKENS = 3, 4


def vector_and_batch(config):
    """Weights in double precision, and sentences of which not every position counts."""
    weights = weights_of(draw_model(config, generator(11))).double().numpy()
    random = np.random.default_rng(12)
    inputs, targets = random.integers(0, config.vocabulary, (2, SENTENCES, TOKENS))
    targets[:, 0] = NO_TARGET
    return weights, Batch(inputs, targets)


def by_the_chain_rule(config, weights, batch):
    """The gradient, all weights in one vector."""
    model = model_with(config, weights)
    trace, loss = predict(model, batch)
    return weights_of(model_backward(model, trace, loss_backward(loss))[1])


def loss_at(config, weights, batch):
    """One run of the model."""
    return float(predict(model_with(config, weights), batch)[1].loss)


@pytest.mark.parametrize("config", CONFIGS)
def test_many_weights_at_once_are_as_one_by_one(config):
    weights, batch = vector_and_batch(config)
    several = np.stack([weights, weights * 0.5, -weights, weights + 0.1, weights * 2])
    assert losses_at(config, several, batch) == pytest.approx([loss_at(config, one, batch) for one in several])


@pytest.mark.parametrize("config", CONFIGS)
def test_differences_are_the_gradient(config):
    weights, batch = vector_and_batch(config)
    gradient = by_the_chain_rule(config, weights, batch)
    _, by_autograd = gradient_by_autograd(model_with(config, weights), batch)
    which = np.array([0, 5, len(weights) // 2, len(weights) - 1])
    found = central_differences(config, weights, which, 1e-5, batch)
    assert found == pytest.approx(gradient[which], abs=1e-8)
    assert gradient == pytest.approx(by_autograd, abs=1e-12)


def test_the_error_falls_with_the_square_of_the_step():
    config = CONFIGS[0]
    weights, batch = vector_and_batch(config)
    gradient = by_the_chain_rule(config, weights, batch)
    which = np.array([int(np.abs(gradient).argmax())])
    far, near = (
        abs(float((central_differences(config, weights, which, h, batch) - gradient[which])[0])) for h in (0.1, 0.01)
    )
    assert far / near == pytest.approx(100, rel=0.05)


def test_for_torch_as_for_numpy():
    config = CONFIGS[1]
    weights, batch = vector_and_batch(config)
    tensors = Batch(torch.tensor(batch.inputs), torch.tensor(batch.targets))
    which, several = np.array([3, 17]), np.stack([weights, weights * 0.2, -weights])
    found = losses_at(config, torch.tensor(several), tensors)
    assert isinstance(found, torch.Tensor) and found.numpy() == pytest.approx(losses_at(config, several, batch))
    differences = central_differences(config, torch.tensor(weights), torch.tensor(which), 1e-4, tensors)
    assert differences.numpy() == pytest.approx(central_differences(config, weights, which, 1e-4, batch))
