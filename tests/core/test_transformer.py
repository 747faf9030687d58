"""The family: the model of the lessons is a member, every way of building computes what its formula says."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from attention_core.base.errors import InputError
from attention_core.base.randomness import generator
from attention_core.model.cache import present
from attention_core.model.family import TransformerConfig, build_transformer, weight_shapes
from attention_core.model.parts import ACTIVATIONS
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.model.weights import named_weights
from attention_core.text.embeddings import Rotary
from tests.rounding import LAYERS, assert_close_for_size

SIZES = {"vocabulary": 31, "context": 13, "d_model": 14, "n_layers": 3, "d_hidden": 19}
HEADS = {"n_heads": 6, "kv_heads": 3, "d_head": 4}
IDS = torch.tensor([[5, 30, 0, 5, 7, 11, 2], [1, 2, 3, 4, 5, 6, 7]])


def config_with(**changed):
    return TransformerConfig(**SIZES | HEADS | changed)


def drawn(config, seed=0):
    """A model with random weights."""
    random = generator(seed)
    return build_transformer(
        config, {name: torch.randn(shape, generator=random) / 3 for name, shape in weight_shapes(config).items()}
    )


def as_numpy(model):
    return build_transformer(model.config, {name: weight.numpy() for name, weight in named_weights(model)})


FAMILY = {
    "llama": {},
    "bert": {
        **{"norm": "layer", "norm_place": "after", "activation": "gelu", "gated": False, "positions": "learned"},
        **{"causal": False, "token_types": 2, "embedding_norm": True, "final_norm": False, "unembedding": "none"},
        **{"qkv_bias": True, "output_bias": True, "mlp_bias": True},
    },
    "gpt2": {
        **{"norm": "layer", "activation": "gelu_tanh", "gated": False, "positions": "learned", "unembedding": "tied"},
        **{"qkv_bias": True, "output_bias": True, "mlp_bias": True},
    },
    "neox": {
        **{"norm": "layer", "activation": "gelu", "gated": False, "parallel": True, "rotary": Rotary(features=2)},
        **{"qkv_bias": True, "output_bias": True, "mlp_bias": True},
    },
    "qwen3": {"qk_norm": True, "unembedding": "tied"},
    "2017": {"norm": "layer", "norm_place": "after", "gated": False, "activation": "relu", "positions": "sinusoidal"},
    "bare": {"positions": "none", "final_norm": False, "unembedding_bias": True},
}


@pytest.mark.parametrize("name", FAMILY)
def test_names_and_shapes_of_weights_are_those_of_the_model(name):
    model = drawn(config_with(**FAMILY[name]))
    assert {name: tuple(weight.shape) for name, weight in named_weights(model)} == weight_shapes(model.config)


@pytest.mark.parametrize("name", FAMILY)
def test_numpy_and_torch_compute_the_same(name):
    model = drawn(config_with(**FAMILY[name]))
    trace, other = model(IDS), as_numpy(model)(IDS.numpy())
    assert isinstance(other.logits, np.ndarray) and other.logits.dtype == np.float32
    assert_close_for_size(trace.logits, other.logits, rounding=LAYERS)
    for layer, its in zip(trace.layers, other.layers, strict=True):
        heads = layer.attention.heads
        assert_close_for_size(heads.weights, its.attention.heads.weights, heads.scaled / 2)


@pytest.mark.parametrize("name", [name for name in FAMILY if FAMILY[name].get("causal", True)])
def test_writing_with_a_cache_is_reading_the_whole_text(name):
    model = drawn(config_with(**FAMILY[name]))
    whole = model(IDS)
    kept = present(model(IDS[:, :3]))
    for end in range(4, IDS.shape[1] + 1):
        newest = model(IDS[:, end - 1 : end], past=kept)
        kept = present(newest)
        assert_close_for_size(newest.logits[:, 0], whole.logits[:, end - 1], rounding=LAYERS)
        weights, heads = newest.layers[-1].attention.heads.weights[..., 0, :], whole.layers[-1].attention.heads
        assert_close_for_size(weights, heads.weights[..., end - 1, :end], heads.scaled / 2)


def the_same_of_the_family(model):
    """A model of the lessons as a member of the family."""
    config = model.config
    weights = dict(named_weights(model))
    family = TransformerConfig(
        vocabulary=config.vocabulary,
        context=config.context,
        d_model=config.d_model,
        n_layers=config.n_layers,
        d_hidden=4 * config.d_model,
        n_heads=config.n_heads,
        kv_heads=config.n_heads,
        d_head=config.query_features,
        norm="layer",
        gated=False,
        activation="relu",
        positions=config.positions,
        causal=config.causal,
        mlp_bias=True,
        unembedding_bias=True,
    )
    return build_transformer(family, weights)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "none"])
def test_the_model_of_the_lessons_is_one_of_the_family(positions, causal):
    config = ModelConfig(
        vocabulary=11, context=7, d_model=10, n_heads=3, d_k=4, d_v=4, n_layers=2, causal=causal,
        positions=positions, layer_norm=True, mlp=True,
    )  # fmt: skip
    model = draw_model(config, generator(5))
    ids, off = torch.tensor([3, 10, 0, 3, 1]), ((1, 2), (0, 0))
    ours, family = model(ids, off), the_same_of_the_family(model)(ids, off)
    assert torch.allclose(ours.logits, family.logits, atol=1e-6)
    for layer, its in zip(ours.layers, family.layers, strict=True):
        assert torch.equal(layer.attention.concatenated, its.attention.concatenated) or torch.allclose(
            layer.attention.concatenated, its.attention.concatenated, atol=1e-6
        )
        for name in ("x", "normed", "after_attention", "output"):
            assert torch.allclose(getattr(layer, name), getattr(its, name), atol=1e-6), name


def test_a_switched_off_head_is_missing_from_what_follows_and_nowhere_else():
    model = drawn(config_with())
    whole, less = model(IDS), model(IDS, [(1, 4)])
    for i in range(3):
        same = torch.equal(whole.layers[i].output, less.layers[i].output)
        assert same == (i == 0)
    missing = whole.layers[1].attention.concatenated[..., 16:20] @ model.layers[1].attention.W_o[16:20]
    after = whole.layers[1].after_attention - less.layers[1].after_attention
    assert_close_for_size(after, missing, whole.layers[1].after_attention)


def head_of(trace, layer, head):
    return trace.layers[layer].attention.heads.output[..., head, :, :]


@pytest.mark.parametrize("as_weights", [lambda model: model, as_numpy], ids=["torch", "NumPy"])
def test_a_patched_head_has_what_it_found_in_another_text(as_weights):
    model = as_weights(drawn(config_with()))
    here, there = (np.asarray(ids) if as_weights is as_numpy else ids for ids in IDS)
    one, other = model(here), model(there)
    patched = model(here, patched={(1, 4): head_of(other, 1, 4)})
    outputs = np.stack([np.asarray(head_of(other if head == 4 else one, 1, head)) for head in range(6)])
    assert np.array_equal(patched.layers[1].attention.concatenated, outputs.swapaxes(0, 1).reshape(7, -1))
    assert np.array_equal(patched.layers[1].attention.heads.output, one.layers[1].attention.heads.output)
    assert np.abs(np.asarray(patched.logits - one.logits)).max() > 1e-3
    zero = model(here, patched={(1, 4): 0 * head_of(other, 1, 4)})
    assert np.allclose(zero.logits, model(here, ablated=[(1, 4)]).logits)
    assert np.array_equal(model(here, patched={(1, 4): head_of(one, 1, 4)}).logits, one.logits)


def test_all_heads_of_a_layer_patched_add_what_they_add_in_the_other_text():
    model = drawn(config_with(n_layers=1))
    here, there = IDS
    other = model(there)
    (patched,) = model(here, patched={(0, head): head_of(other, 0, head) for head in range(6)}).layers
    assert_close_for_size(patched.attention.output, other.layers[0].attention.output)


def test_a_head_that_does_not_exist_cannot_be_patched():
    model = drawn(config_with())
    with pytest.raises(InputError, match=r"layers go from 0 to 2 and heads from 0 to 5, but got \(1, 6\)"):
        model(IDS[0], patched={(1, 6): torch.zeros(7, 4)})


def test_activations_by_their_formulas():
    x = torch.linspace(-6, 6, 49)
    functional = torch.nn.functional
    by_torch = {
        "silu": functional.silu(x),
        "gelu": functional.gelu(x),
        "gelu_tanh": functional.gelu(x, approximate="tanh"),
        "relu": functional.relu(x),
    }
    assert by_torch.keys() == ACTIVATIONS.keys()
    for name, activate in ACTIVATIONS.items():
        for found in (activate(x), activate(x.numpy())):
            assert_close_for_size(found, by_torch[name])
    assert float(ACTIVATIONS["gelu"](torch.tensor(1.0))) == pytest.approx((1 + math.erf(1 / math.sqrt(2))) / 2)


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"kv_heads": 4}, "6 heads cannot share 4"),
        ({"d_head": 0}, "d_head is a whole number of at least 1, but got 0"),
        ({"parallel": True, "norm_place": "after"}, "side by side have their norms before them"),
        ({"epsilon": math.nan}, "the ε of a norm is a small number from 0 on, but got nan"),
        ({"d_head": 5}, "pairs of the 5 features of a head, but of 5 features"),
    ],
)
def test_what_cannot_be_built(changed, sentence):
    with pytest.raises(InputError, match=sentence):
        config_with(**changed)


def test_weights_that_do_not_belong_together():
    config = config_with()
    weights = {name: torch.zeros(shape) for name, shape in weight_shapes(config).items()}
    with pytest.raises(InputError, match=r"layers.2.attention.W_o has the shape \(24, 14\), but got \(14, 24\)"):
        build_transformer(config, weights | {"layers.2.attention.W_o": torch.zeros(14, 24)})
    with pytest.raises(InputError, match="W_more has the shape of no weight of this model, but got"):
        build_transformer(config, weights | {"W_more": torch.zeros(1)})
    with pytest.raises(InputError, match=r"token_table has the shape \(31, 14\), but got none"):
        build_transformer(config, {name: weight for name, weight in weights.items() if name != "token_table"})
    with pytest.raises(ValueError, match="sees 1 to 13 tokens at once, but got 14"):
        build_transformer(config, weights)(torch.zeros(14, dtype=torch.long))


def test_sizes_far_beyond_what_the_app_trains():
    config = dataclasses.replace(config_with(), d_model=300, d_hidden=1000, n_layers=9, n_heads=12, d_head=64)
    assert drawn(config)(IDS).logits.shape == (2, 7, 31)


@pytest.mark.parametrize("scored", [slice(-1, None), slice(2, 3), slice(1, 5), slice(None)])
def test_only_the_positions_that_are_asked_for_get_logits(scored):
    for model in (drawn(config_with()), as_numpy(drawn(config_with()))):
        ids = IDS if isinstance(model.token_table, torch.Tensor) else IDS.numpy()
        some, whole = model(ids, scored=scored), model(ids)
        assert_close_for_size(some.logits, whole.logits[:, scored])
        assert some.logits.shape == whole.logits[:, scored].shape and len(some.layers) == len(whole.layers)
