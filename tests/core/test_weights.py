"""Weights in one vector, and models made of such a vector."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.tasks import TASKS
from attention_core.learning.training import draw_batches, recommended
from attention_core.model.small_model import draw_model, model_with
from attention_core.model.weights import count_weights, named_weights, weights_of

CONFIG = recommended(TASKS["characters"]).model
WEIGHTS = weights_of(draw_model(CONFIG, generator(3)))


def test_a_model_follows_the_vector_it_is_made_of():
    for weights in (WEIGHTS.clone(), WEIGHTS.numpy().copy()):
        model = model_with(CONFIG, weights)
        assert weights_of(model).tolist() == WEIGHTS.tolist()
        weights[:] = 0
        assert count_weights(model) == len(WEIGHTS)
        assert all((weight == 0).all() for _, weight in named_weights(model))


def test_a_vector_of_weights_is_a_copy():
    model = draw_model(CONFIG, generator(3))
    weights_of(model)[:] = 0
    assert torch.equal(weights_of(model), WEIGHTS)


def test_the_weights_stand_in_the_order_of_the_computation():
    config = replace(CONFIG, n_layers=2, layer_norm=True, mlp=True)
    names = [name for name, _ in named_weights(draw_model(config, generator(3)))]
    layer = ["attention.W_q", "attention.W_k", "attention.W_v", "attention.W_o"]
    layer += ["norm.gain", "norm.shift", "mlp_norm.gain", "mlp_norm.shift"]
    layer += ["mlp.W_up", "mlp.b_up", "mlp.W_down", "mlp.b_down"]
    layers = [f"layers.{i}.{name}" for i in range(2) for name in layer]
    after = ["norm.gain", "norm.shift", "W_unembed", "b_unembed"]
    assert names == ["token_table", "position_table", *layers, *after]


@pytest.mark.parametrize("name", ["characters", "induction", "pronoun", "vectors"])
def test_models_side_by_side_compute_what_each_computes_alone(name):
    settings = recommended(TASKS[name], 7)
    weights = np.stack([weights_of(draw_model(settings.model, generator(seed))) for seed in range(3)])
    inputs = np.stack([next(draw_batches(settings, generator(seed))).inputs for seed in range(3)])
    together = model_with(settings.model, weights)(inputs)
    for i in range(3):
        alone = model_with(settings.model, weights[i])(inputs[i])
        assert np.array_equal(together.logits[i], alone.logits)
        assert np.array_equal(together.layers[0].attention.heads.weights[i], alone.layers[0].attention.heads.weights)


@pytest.mark.parametrize("name", TASKS)
def test_weights_come_back_from_a_model_made_of_them(name):
    settings = recommended(TASKS[name], 7)
    inputs = next(draw_batches(settings, generator(1))).inputs
    original = draw_model(settings.model, generator(5))
    model = model_with(settings.model, weights_of(original))
    assert torch.equal(weights_of(model), weights_of(original))
    assert torch.equal(model(inputs).logits, original(inputs).logits)
