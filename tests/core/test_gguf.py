"""Files of llama.cpp: small random models, written by the package `gguf`, read here and computed by `transformers`."""

import numpy as np
import pytest
import torch
from gguf_files import gguf_bytes, gguf_of, random_llama, settings_of, tensors_of

from attention_core.base.errors import InputError
from attention_core.model import transformer
from attention_core.stored.few_bits import few_bits_model
from attention_core.stored.gguf_file import read_gguf
from attention_core.stored.gguf_llama import gguf_model
from tests.rounding import LAYERS, assert_close_for_size

IDS = torch.tensor([3, 1, 50, 17, 3, 52, 0, 9])


def check_alike(model, theirs, ids=IDS):
    """The weights of all heads and what leaves the model are those of `transformers`, but for rounding."""
    with torch.inference_mode():
        trace, found = model(ids), theirs(ids[None], output_attentions=True)
    for layer, (weights,) in zip(trace.layers, found.attentions, strict=True):
        heads = layer.attention.heads
        assert heads.weights.shape == weights.shape
        assert_close_for_size(heads.weights, weights, heads.scaled / 2)
    (last,) = found.logits if "logits" in found else found.last_hidden_state
    assert trace.logits.shape == last.shape
    assert_close_for_size(trace.logits, last, rounding=LAYERS)


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_as_transformers_computes_it(tied):
    theirs = random_llama(tie_word_embeddings=tied)
    tensors = [(name, weight) for name, weight in tensors_of(theirs) if not (tied and name == "output.weight")]
    model = gguf_model(read_gguf(gguf_bytes(settings_of(theirs.config), tensors)))
    assert model.config.unembedding == ("tied" if tied else "own")
    check_alike(model, theirs)


def test_what_a_file_need_not_say():
    theirs = random_llama(num_key_value_heads=6, head_dim=7 * 2, hidden_size=84)
    said = settings_of(theirs.config)
    for name in ("attention.head_count_kv", "attention.key_length", "attention.value_length", "rope.dimension_count"):
        del said["llama." + name]
    check_alike(gguf_model(read_gguf(gguf_bytes(said, tensors_of(theirs)))), theirs)


@pytest.mark.parametrize("kind, rough", [("F16", 1e-2), ("BF16", 0.05), ("Q8_0", 0.05), ("Q4_1", 0.3), ("Q4_0", 0.4)])
def test_models_of_few_bits(kind, rough):
    theirs = random_llama(hidden_size=64, intermediate_size=96, num_attention_heads=2, head_dim=32)
    model = gguf_model(read_gguf(gguf_of(theirs, kind)))
    W_up = theirs.model.layers[1].mlp.up_proj.weight.detach().T
    difference = float((model.layers[1].mlp.W_up - W_up).abs().max())
    assert 0 < difference < rough
    with torch.no_grad():  # the very numbers that were read, computed by both
        theirs.load_state_dict(hub_names(model, theirs))
    check_alike(model, theirs)


def hub_names(model, theirs):
    """The weights of a model by the names of `transformers`, in its order of queries and keys."""
    halves = lambda W, n: W.mT.reshape(n, -1, 2, W.shape[0]).swapaxes(1, 2).reshape(W.mT.shape)  # noqa: E731
    config = theirs.config
    named = {
        "model.embed_tokens.weight": model.token_table,
        "model.norm.weight": model.norm.gain,
        "lm_head.weight": model.token_table if model.W_unembed is None else model.W_unembed.mT,
    }
    for i, layer in enumerate(model.layers):
        attention, mlp = layer.attention, layer.mlp
        own = {
            "input_layernorm": layer.norm.gain,
            "self_attn.q_proj": halves(attention.W_q, config.num_attention_heads),
            "self_attn.k_proj": halves(attention.W_k, config.num_key_value_heads),
            "self_attn.v_proj": attention.W_v.mT,
            "self_attn.o_proj": attention.W_o.mT,
            "post_attention_layernorm": layer.mlp_norm.gain,
            "mlp.gate_proj": mlp.W_gate.mT,
            "mlp.up_proj": mlp.W_up.mT,
            "mlp.down_proj": mlp.W_down.mT,
        }
        named |= {f"model.layers.{i}.{name}.weight": weight for name, weight in own.items()}
    return named


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_kept_in_half_the_memory_compute_in_32_bits(dtype):
    data = read_gguf(gguf_of(random_llama()))
    half, whole = gguf_model(data, dtype), gguf_model(data)
    assert half.layers[0].attention.W_q.dtype == dtype and half.token_table.dtype == dtype
    trace = half(IDS)
    assert trace.logits.dtype == torch.float32 and trace.layers[0].attention.heads.weights.dtype == torch.float32
    assert 0 < float((trace.logits - whole(IDS).logits).abs().max()) < 1


@pytest.mark.parametrize("kind, tied", [("Q8_0", True), ("Q4_1", False), ("F16", True)])
def test_weights_that_stay_in_the_file_compute_the_very_same(kind, tied, tmp_path, monkeypatch):
    theirs = random_llama(hidden_size=64, intermediate_size=96, num_attention_heads=2, head_dim=32)
    tensors = [(name, weight) for name, weight in tensors_of(theirs) if not (tied and name == "output.weight")]
    (tmp_path / "model.gguf").write_bytes(gguf_bytes(settings_of(theirs.config), tensors, kind))
    kept = gguf_model(read_gguf((tmp_path / "model.gguf").read_bytes()))
    monkeypatch.setattr(transformer, "MOST_WIDENED", 17)  # parts of a vocabulary of 53
    model, _ = few_bits_model(tmp_path / "model.gguf")
    assert torch.equal(model.token_table[[3, 50]], kept.token_table[[3, 50]])
    both = torch.stack([IDS, IDS.flip(0)])
    for ids in (IDS, both):
        trace, expected = model(ids), kept(ids)
        heads, same = (read.layers[-1].attention.heads for read in (trace, expected))
        assert_close_for_size(heads.weights, same.weights, same.scaled / 2)
        assert_close_for_size(trace.logits, expected.logits, rounding=LAYERS)


def test_a_file_that_is_cut_short_anywhere():
    data = gguf_of(random_llama(num_hidden_layers=1))
    for end in (*range(0, 3000, 7), *range(3000, len(data) - 40, 997)):
        with pytest.raises(InputError, match=r"cut short|begins with GGUF"):
            read_gguf(data[:end])


def test_files_of_another_kind():
    data = gguf_of(random_llama(num_hidden_layers=1))
    with pytest.raises(InputError, match="begins with GGUF, but this begins with b'PK"):
        read_gguf(b"PK\x03\x04" + data[4:])
    with pytest.raises(InputError, match="version 2 or 3, but this says 1"):
        read_gguf(data[:4] + b"\1" + data[5:])
    other = gguf_bytes({"gpt2.block_count": 1}, [("a", np.ones((2, 3), np.float32))], architecture="gpt2")
    with pytest.raises(InputError, match="is a llama, but this is a 'gpt2'"):
        gguf_model(read_gguf(other))


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"llama__rope__scaling__type": "linear"}, r"llama.rope.scaling.type = 'linear' changes what a model computes"),
        ({"llama__expert_count": 8}, "llama.expert_count = 8 changes"),
        ({"llama__something_new": 1.5}, "llama.something_new = 1.5 changes"),
        ({"llama__block_count": 0}, "llama.block_count is a whole number from 1 on, but the file says 0"),
        ({"llama__attention__head_count": [1, 2, 6]}, "head_count is a number"),
        ({"llama__rope__freq_base": "high"}, "llama.rope.freq_base is a number, but the file says 'high'"),
        ({"llama__attention__value_length": 8}, r"value_length the shape \(10,\), but it has \(8,\)"),
        ({"llama__embedding_length": 41}, r"token_embd.weight the shape \(53, 41\), but it has \(53, 42\)"),
        ({"llama__attention__head_count_kv": 5}, "6 heads cannot share 5"),
        ({"llama__block_count": 4}, r"holds the tensor blk.3.attn_norm.weight, but there is none"),
        ({"llama__block_count": 4_000_000_000}, "there are 4000000000 layers and 30 tensors"),
        ({"llama__block_count": 2}, "there is none, such as blk.2.attn_k.weight"),
        ({"llama__rope__dimension_count": 9}, "pairs of the 10 features of a head, but of 9 features"),
        ({"llama__rope__dimension_count": 12}, "pairs of the 10 features of a head, but of 12 features"),
        ({"llama__rope__scaling__type": "none", "llama__expert_count": 0}, None),
    ],
)
def test_settings_that_are_not_computed_here_and_those_that_do_not_belong_together(changed, sentence):
    def read_and_run():
        return gguf_model(read_gguf(gguf_of(random_llama(), **changed)))(IDS)

    if sentence is None:
        read_and_run()
    else:
        with pytest.raises(InputError, match=sentence):
            read_and_run()


def test_a_tensor_without_a_place_and_kinds_that_nobody_knows():
    theirs = random_llama()
    scaled = gguf_of(theirs, more=[("rope_freqs.weight", np.ones(5, np.float32))])
    with pytest.raises(InputError, match=r"for 1 there is none, such as rope_freqs.weight"):
        gguf_model(read_gguf(scaled))
    data = gguf_bytes({}, [("odd", np.ones((2, 3), np.float32))])
    at = data.index(b"odd") + 3 + 4 + 2 * 8
    with pytest.raises(InputError, match="those of odd are of the kind 99"):
        read_gguf(data[:at] + b"\x63" + data[at + 1 :])
    with pytest.raises(InputError, match=r"kind Q4_1 have a multiple of 32 numbers, but odd has .*\(2, 3\)"):
        read_gguf(data[:at] + b"\3" + data[at + 1 :])


def test_a_model_larger_than_the_memory():
    data = read_gguf(gguf_of(random_llama()))
    with pytest.raises(InputError, match=r"fit the free memory, 0.0 GB, but these take 0.0 GB"):
        gguf_model(data, room=1000)
    assert gguf_model(data, room=10**9).config.d_model == 42
