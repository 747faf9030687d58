"""Weights in one vector, and models made of such a vector."""

from dataclasses import replace

import pytest
import torch

from attention_core.model import TinyTransformer
from attention_core.randomness import generator
from attention_core.tasks import TASKS
from attention_core.training import draw_batches, recommended
from attention_core.weights import model_with, pack_weights, weights_of

CONFIG = recommended(TASKS["characters"]).model
OTHER = replace(CONFIG, n_heads=1)
WEIGHTS = weights_of(TinyTransformer(CONFIG, generator(3)))
IDS = torch.tensor([[0, 1, 2]])


def test_packed_weights_are_the_weights_of_the_model():
    model = TinyTransformer(CONFIG, generator(0))
    before = model(IDS).logits.detach().clone()
    weights = pack_weights(model)
    assert torch.equal(model(IDS).logits, before)
    with torch.no_grad():
        weights.zero_()
    assert all(parameter.abs().sum() == 0 for parameter in model.parameters())


def test_a_model_of_its_own_follows_nobody():
    weights = WEIGHTS.clone()
    model = model_with(CONFIG, weights)
    weights.zero_()
    assert torch.equal(weights_of(model), WEIGHTS)


@pytest.mark.parametrize("name", TASKS)
def test_weights_come_back_from_a_model_made_of_them(name):
    settings = recommended(TASKS[name], 7)
    inputs = next(draw_batches(settings, generator(1))).inputs
    original = TinyTransformer(settings.model, generator(5))
    model = model_with(settings.model, weights_of(original))
    assert torch.equal(weights_of(model), weights_of(original))
    assert torch.equal(model(inputs).logits, original(inputs).logits)
