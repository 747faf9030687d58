"""Keys and values that are kept: the same numbers and the same text as without."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import models

from attention_core.base.randomness import generator
from attention_core.measured.sliding import measure_sliding
from attention_core.model.cache import SLIDING_POSITIONS, present, read_newest
from attention_core.model.sampling import continue_text
from attention_core.model.small_model import ModelConfig, draw_model, model_with
from attention_core.model.weights import weights_of

POSITIONS = ["learned", "none", "sinusoidal", "rotary", "alibi", "qk"]


def in_double(config, seed=0):
    model = draw_model(config, generator(seed))
    return model_with(config, weights_of(model).double())


def some_ids(n, vocabulary=13, seed=1):
    return torch.randint(vocabulary, (n,), generator=generator(seed))


@given(models(causal=True, output="scores"), st.integers(1, 6))
def test_a_token_read_with_the_cache_is_what_reading_all_gives(config, n_first):
    model, ids = in_double(config), some_ids(7)
    whole, trace = model(ids), model(ids[:n_first])
    for end in range(n_first + 1, 8):
        trace = read_newest(model, ids[:end], present(trace))
        assert trace.logits.shape[-2] == 1
        torch.testing.assert_close(trace.logits[-1], whole.logits[end - 1], rtol=0, atol=1e-12)
    for kept, layer in zip(present(trace), whole.layers, strict=True):
        for one, all_at_once in zip(kept, layer.attention.present, strict=True):
            torch.testing.assert_close(one, all_at_once, rtol=0, atol=1e-12)


@given(models(causal=True, output="scores"), st.integers(2, 5))
def test_several_tokens_may_follow_the_past_at_once(config, n_past):
    model, ids = in_double(config), some_ids(7)
    trace = model(ids[n_past:], past=present(model(ids[:n_past])))
    torch.testing.assert_close(trace.logits, model(ids).logits[n_past:], rtol=0, atol=1e-12)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("array", ["torch", "numpy"])
def test_the_same_text_with_and_without(positions, array):
    config = ModelConfig(vocabulary=13, context=31, d_model=6, n_heads=3, n_layers=3, positions=positions)
    model = in_double(config)
    if array == "numpy":
        model = model_with(config, weights_of(model).numpy())
    with_cache, without = (
        continue_text(model, [3, 1], 29, generator=generator(5), cached=cached) for cached in (True, False)
    )
    assert with_cache.tolist() == without.tolist() and len(set(with_cache.tolist())) > 3


def test_runs_side_by_side_keep_keys_of_their_own():
    config = ModelConfig(vocabulary=13, context=11, d_model=6, n_heads=3, n_layers=2, positions="rotary")
    stack = torch.stack([weights_of(in_double(config, seed)) for seed in range(3)])
    together = continue_text(model_with(config, stack), [3, 1], 9, generator=generator(5), cached=True)
    for run, ids in zip(stack, together, strict=True):
        alone = continue_text(model_with(config, run), [3, 1], 9, generator=generator(5))
        assert ids.tolist() == alone.tolist()


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("n_layers", [1, 3])
def test_when_the_window_slides_only_deeper_layers_remember(positions, n_layers):
    config = ModelConfig(vocabulary=13, context=7, d_model=6, n_heads=3, n_layers=n_layers, positions=positions)
    measured = measure_sliding(in_double(config), some_ids(12))
    assert measured.n == 5
    if positions in SLIDING_POSITIONS:
        assert measured.keys[0] < 1e-12 and (measured.keys[1:] > 1e-3).all()
        assert (measured.moved < 1e-12) == (n_layers == 1)
    else:  # read anew
        assert not measured.keys.any() and measured.moved == 0 and measured.same == 1


def test_the_measurement_of_a_slide_is_that_of_a_plain_loop():
    config = ModelConfig(vocabulary=13, context=5, d_model=6, n_heads=2, n_layers=2, positions="none")
    model, ids = in_double(config), some_ids(8)
    layer = model.layers[1].attention
    moved = []
    for last in range(5, 8):
        # what token t of the kept ones saw: the four before it, and through them, so on to the beginning
        rows = [model.layers[0](model.table[ids[max(0, t - 4) : t + 1]], None).output[-1] for t in range(last + 1)]
        x = torch.stack(rows[last - 4 :])
        attended, _ = layer(x[-1:], key_value=x)
        out = x[-1] + attended[0]
        kept = (out @ model.W_unembed + model.b_unembed).softmax(-1)
        anew = model(ids[last - 4 : last + 1]).logits[-1].softmax(-1)
        moved.append(float((kept - anew).abs().sum()) / 2)
    assert measure_sliding(model, ids).moved == pytest.approx(sum(moved) / 3, abs=1e-12)


def test_what_cannot_be_kept_is_an_error_that_says_why():
    config = ModelConfig(vocabulary=13, context=7, d_model=6, causal=False)
    model, ids = in_double(config), some_ids(5)
    with pytest.raises(ValueError, match="not causal; read the whole text instead"):
        read_newest(model, ids, present(model(ids[:4])))
    with pytest.raises(ValueError, match="slides after 7 tokens, but the text has 5"):
        measure_sliding(model, ids)
