"""The update rule against PyTorch's own."""

import numpy as np
import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.optimiser import adamw, clipped
from tests.rounding import assert_close_for_size


@pytest.mark.parametrize("weight_decay", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("learning_rate", [1e-3, 0.3])
def test_every_update_is_that_of_pytorch(learning_rate, weight_decay):
    random = generator(3)
    start = torch.randn(17, generator=random)
    ours, theirs = start.numpy()[None].copy(), torch.nn.Parameter(start.clone())
    means = np.zeros_like(ours), np.zeros_like(ours)
    reference = torch.optim.AdamW([theirs], learning_rate, weight_decay=weight_decay)
    for update in range(1, 24):
        gradient = torch.randn(17, generator=random)
        adamw(ours, gradient.numpy()[None], means, [update], [learning_rate], [weight_decay])
        theirs.grad = gradient
        reference.step()
        assert_close_for_size(ours[0], theirs)


def test_the_first_update_moves_each_weight_by_the_learning_rate():
    weights = np.zeros((1, 3), np.float32)
    means = np.zeros_like(weights), np.zeros_like(weights)
    gradient = np.array([[5.0, -0.01, 2e3]], np.float32)
    adamw(weights, gradient, means, [1], [0.1], [0.0])
    np.testing.assert_allclose(weights, [[-0.1, 0.1, -0.1]], rtol=1e-5)
    assert gradient.tolist() == np.array([[5.0, -0.01, 2e3]], np.float32).tolist(), "the gradient is only read"


def test_each_run_is_updated_with_rates_and_a_count_of_its_own():
    random = np.random.RandomState(3)
    start, gradient = (random.randn(3, 17).astype(np.float32) for _ in range(2))
    updates, rates, decays = [1, 7, 300], [0.1, 0.003, 1e-4], [0.0, 0.5, 0.01]
    together, means = start.copy(), tuple(random.rand(3, 17).astype(np.float32) for _ in range(2))
    alone, alone_means = start.copy(), tuple(mean.copy() for mean in means)
    adamw(together, gradient, means, updates, rates, decays)
    for i in range(3):
        row = slice(i, i + 1)
        adamw(alone[row], gradient[row], tuple(m[row] for m in alone_means), updates[row], rates[row], decays[row])
    assert np.array_equal(together, alone) and np.array_equal(means, alone_means)
    shortened = clipped(gradient, [0.5, 1e9, 2.0])
    for i, longest in enumerate([0.5, 1e9, 2.0]):
        assert np.array_equal(shortened[i], clipped(gradient[i : i + 1], [longest])[0])
