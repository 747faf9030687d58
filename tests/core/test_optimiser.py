"""The update rule against PyTorch's own."""

import pytest
import torch

from attention_core.optimiser import AdamW
from attention_core.randomness import generator


@pytest.mark.parametrize("weight_decay", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("learning_rate", [1e-3, 0.3])
def test_every_update_is_that_of_pytorch(learning_rate, weight_decay):
    random = generator(3)
    start = torch.randn(17, generator=random)
    ours, theirs = start.clone(), torch.nn.Parameter(start.clone())
    mine = AdamW(ours, learning_rate, weight_decay=weight_decay)
    reference = torch.optim.AdamW([theirs], learning_rate, weight_decay=weight_decay)
    for _ in range(23):
        gradient = torch.randn(17, generator=random)
        mine.take(gradient)
        ours = mine.step(ours)
        theirs.grad = gradient
        reference.step()
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-5, atol=1e-6)


def test_the_first_update_moves_each_weight_by_the_learning_rate():
    before = torch.zeros(3)
    optimiser = AdamW(before, 0.1, weight_decay=0.0)
    optimiser.take(torch.tensor([5.0, -0.01, 2e3]))
    torch.testing.assert_close(optimiser.step(before), torch.tensor([-0.1, 0.1, -0.1]))
    assert torch.equal(before, torch.zeros(3))
