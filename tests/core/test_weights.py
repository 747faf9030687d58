"""Weights in one vector, and models that hold such a vector for a while."""

import threading
from dataclasses import fields, is_dataclass, replace

import pytest
import torch

from attention_core.model import TinyTransformer
from attention_core.randomness import generator
from attention_core.tasks import TASKS
from attention_core.training import draw_batches, recommended
from attention_core.weights import IdleModels, model_with, pack_weights, weights_of

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
def test_what_a_borrowed_model_computes_is_right_and_stays(name):
    settings = recommended(TASKS[name], 7)
    inputs = next(draw_batches(settings, generator(1))).inputs
    weights = weights_of(TinyTransformer(settings.model, generator(5)))
    models = IdleModels()
    with torch.inference_mode(), models.borrow(settings.model, weights) as model:
        trace = model(inputs)
    with models.borrow(settings.model, torch.full_like(weights, torch.nan)) as model:
        assert torch.isnan(model(inputs).logits).all()
    expected = tensors_in(model_with(settings.model, weights)(inputs))
    assert len(expected) > 10
    for found, wanted in zip(tensors_in(trace), expected, strict=True):
        assert torch.equal(found, wanted)


def tensors_in(trace):
    """All tensors that a trace holds, in their order."""
    if isinstance(trace, torch.Tensor):
        return [trace.detach()]
    parts = trace if isinstance(trace, tuple) else ()
    parts = [getattr(trace, field.name) for field in fields(trace)] if is_dataclass(trace) else parts
    return [tensor for part in parts for tensor in tensors_in(part)]


def test_the_weights_that_are_lent_are_a_copy():
    weights = WEIGHTS.clone()
    with IdleModels().borrow(CONFIG, weights) as model, torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert torch.equal(weights, WEIGHTS)


def test_a_model_is_used_again_for_the_same_sizes_alone():
    models = IdleModels()
    with models.borrow(CONFIG, WEIGHTS) as first:
        pass
    with models.borrow(OTHER, weights_of(TinyTransformer(OTHER, generator(0)))) as other:
        assert other is not first and other.config == OTHER
    with models.borrow(replace(CONFIG), WEIGHTS) as again:
        assert again is first


def test_two_who_borrow_at_a_time_have_two_models():
    models, other = IdleModels(), torch.zeros_like(WEIGHTS)
    inside, found = threading.Barrier(2, timeout=30), []

    def borrow():
        with models.borrow(CONFIG, other) as model:
            inside.wait()
            found.append(weights_of(model))
            inside.wait()

    thread = threading.Thread(target=borrow)
    thread.start()
    with models.borrow(CONFIG, WEIGHTS) as model:
        inside.wait()
        assert torch.equal(weights_of(model), WEIGHTS)
        inside.wait()
    thread.join()
    assert torch.equal(found[0], other)


def test_a_model_is_not_used_again_after_an_error():
    models = IdleModels()
    with pytest.raises(RuntimeError, match="broken"), models.borrow(CONFIG, WEIGHTS) as first:
        raise RuntimeError("broken")
    with models.borrow(CONFIG, WEIGHTS) as second:
        assert second is not first


def test_a_model_built_where_no_gradients_are_can_be_trained_elsewhere():
    models = IdleModels()
    with torch.inference_mode(), models.borrow(CONFIG, WEIGHTS):
        pass
    with models.borrow(CONFIG, WEIGHTS) as model:
        model(IDS).logits.sum().backward()
        assert all(parameter.grad is not None for parameter in model.parameters())


def test_few_models_stand_idle_and_small_ones():
    def borrow(config):
        with models.borrow(config, weights_of(TinyTransformer(config, generator(0)))) as model:
            return id(model), model

    models = IdleModels(most=2)
    first, second, third = (borrow(config) for config in (CONFIG, OTHER, replace(CONFIG, mlp=True)))
    assert borrow(OTHER) == second and borrow(replace(CONFIG, mlp=True)) == third
    assert borrow(CONFIG) != first

    models = IdleModels(most_bytes=WEIGHTS.nbytes)
    first = borrow(CONFIG)
    assert borrow(CONFIG) == first
    assert borrow(replace(CONFIG, d_model=2 * CONFIG.d_model)) and borrow(CONFIG) != first
    models = IdleModels(most_bytes=WEIGHTS.nbytes - 1)
    assert borrow(CONFIG) != borrow(CONFIG)
