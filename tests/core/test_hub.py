"""Folders of the hub: random models of every architecture, saved by `transformers`, read here, computed by both."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

from attention_core.base.errors import InputError
from attention_core.model.cache import present
from attention_core.stored.hub_folder import hub_model
from tests.rounding import LAYERS, assert_close_for_size

SIZES = {
    "vocab_size": 53,
    "hidden_size": 42,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "max_position_embeddings": 29,
}
LLAMA = SIZES | {"num_key_value_heads": 2, "head_dim": 10, "rms_norm_eps": 1e-4}
TURNING = {"rope_type": "default", "rope_theta": 300.0}
NEOX = SIZES | {"hidden_size": 48, "layer_norm_eps": 1e-3}
GPT2 = {"vocab_size": 53, "n_embd": 42, "n_layer": 3, "n_head": 6, "n_positions": 29}
BERT = SIZES | {"type_vocab_size": 3, "layer_norm_eps": 1e-3}
CASES = {
    "llama": ("llama", LLAMA | {"rope_parameters": TURNING}),
    "llama, biases, tied": ("llama", LLAMA | {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    "llama, gelu, heads for all": ("llama", SIZES | {"hidden_act": "gelu", "hidden_size": 36}),
    "mistral": ("mistral", LLAMA | {"sliding_window": None}),
    "mistral, a window": ("mistral", LLAMA | {"sliding_window": 3}),
    "qwen2": ("qwen2", SIZES | {"hidden_size": 36, "num_key_value_heads": 3, "rope_parameters": TURNING}),
    "qwen2, tied": ("qwen2", SIZES | {"hidden_size": 36, "num_key_value_heads": 3, "tie_word_embeddings": True}),
    "qwen3": ("qwen3", LLAMA | {"rope_parameters": TURNING}),
    "qwen3, biases": ("qwen3", LLAMA | {"attention_bias": True}),
    "gpt2": ("gpt2", GPT2),
    "gpt2, other sizes": ("gpt2", GPT2 | {"n_inner": 31, "activation_function": "relu", "layer_norm_epsilon": 1e-3}),
    "gpt_neox": ("gpt_neox", NEOX | {"rope_parameters": TURNING | {"partial_rotary_factor": 0.25}}),
    "gpt_neox, one after the other": (
        "gpt_neox",
        NEOX | {"use_parallel_residual": False, "attention_bias": False, "tie_word_embeddings": True},
    ),
    "gpt_neox, all features turn": ("gpt_neox", NEOX | {"rope_parameters": TURNING | {"partial_rotary_factor": 1.0}}),
    "bert": ("bert", BERT),
    "bert, gelu by tanh": ("bert", BERT | {"hidden_act": "gelu_new", "type_vocab_size": 1}),
}
IDS = torch.tensor([[3, 1, 50, 17, 3, 52, 0, 9, 9, 4, 31], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4]])


def random_model(kind, sizes, base=False):
    """A model as `transformers` builds it, with random numbers for all of its weights."""
    config = AutoConfig.for_model(kind, **sizes)
    auto = AutoModel if kind == "bert" or base else AutoModelForCausalLM
    model = auto.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    random = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=random) * (0.25 if weight.ndim > 1 else 1))
    return model


def compare(ours, theirs, **inputs):
    """Weights of all heads, what enters each layer and what leaves the model, but for rounding."""
    with torch.inference_mode():
        found = theirs(IDS, output_attentions=True, output_hidden_states=True, **inputs)
    trace = ours(IDS, types=inputs.get("token_type_ids"))
    for layer, weights in zip(trace.layers, found.attentions, strict=True):
        heads = layer.attention.heads
        assert heads.weights.shape == weights.shape
        assert_close_for_size(heads.weights, weights, heads.scaled / 2)
    for layer, x in zip(trace.layers, found.hidden_states, strict=False):
        assert_close_for_size(layer.x, x, rounding=LAYERS)
    last = found.last_hidden_state if "last_hidden_state" in found else found.logits
    assert trace.logits.shape == last.shape
    assert_close_for_size(trace.logits, last, rounding=LAYERS)
    assert float(torch.stack(found.attentions).std()) > 0.05  # heads that look at something


@pytest.mark.parametrize("case", CASES)
def test_a_folder_as_transformers_computes_it(case, tmp_path):
    theirs = random_model(*CASES[case])
    theirs.save_pretrained(tmp_path)
    compare(hub_model(tmp_path), theirs)


@pytest.mark.parametrize("case", ["llama", "gpt_neox", "mistral, a window", "qwen3"])
def test_writing_with_a_cache(case, tmp_path):
    random_model(*CASES[case]).save_pretrained(tmp_path)
    model = hub_model(tmp_path)
    whole, kept = model(IDS), present(model(IDS[:, :5]))
    for end in range(6, 12):
        newest = model(IDS[:, end - 1 : end], past=kept)
        kept = present(newest)
        assert_close_for_size(newest.logits[:, 0], whole.logits[:, end - 1], rounding=LAYERS)


@pytest.mark.parametrize("case", ["llama", "gpt2", "gpt_neox"])
def test_a_model_without_its_last_map(case, tmp_path):
    theirs = random_model(*CASES[case], base=True)
    theirs.save_pretrained(tmp_path)
    ours = hub_model(tmp_path)
    assert ours.config.unembedding == ("tied" if case == "gpt2" else "none")
    with torch.inference_mode():
        assert_close_for_size(ours(IDS).normed, theirs(IDS).last_hidden_state, rounding=LAYERS)


def test_types_of_tokens(tmp_path):
    theirs = random_model(*CASES["bert"])
    theirs.save_pretrained(tmp_path)
    compare(hub_model(tmp_path), theirs, token_type_ids=torch.tensor([[0] * 4 + [1] * 5 + [2] * 2] * 2))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_of_half_precision_stay_so_in_memory(dtype, tmp_path):
    random_model(*CASES["llama"]).to(dtype).save_pretrained(tmp_path)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32, attn_implementation="eager")
    ours = hub_model(tmp_path)
    assert ours.layers[0].mlp.W_up.dtype == dtype
    compare(ours, theirs)
    compare(hub_model(tmp_path, torch.float32), theirs)


def test_several_files_with_an_index(tmp_path):
    theirs = random_model(*CASES["gpt2"])
    theirs.save_pretrained(tmp_path, max_shard_size="20KB")
    files = sorted(tmp_path.glob("*.safetensors"))
    assert len(files) > 2 and (tmp_path / "model.safetensors.index.json").exists()
    compare(hub_model(tmp_path), theirs)
    files[1].unlink()
    with pytest.raises(InputError, match="the index names the file model-00002"):
        hub_model(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../../secret.safetensors"}}')
    with pytest.raises(InputError, match="names files beside it, but it does not"):
        hub_model(tmp_path)


def test_names_of_2018_and_tables_that_older_files_hold(tmp_path):
    theirs = random_model(*CASES["bert"])
    theirs.save_pretrained(tmp_path)
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): weight
        for name, weight in load_file(tmp_path / "model.safetensors").items()
    }
    old |= {"bert.embeddings.position_ids": torch.arange(29)[None], "cls.predictions.bias": torch.zeros(53)}
    save_file(old, tmp_path / "model.safetensors")
    compare(hub_model(tmp_path), theirs)


def test_settings_as_older_files_say_them(tmp_path):
    theirs = random_model(*CASES["gpt_neox"])
    theirs.save_pretrained(tmp_path)
    said = json.loads((tmp_path / "config.json").read_text())
    del said["rope_parameters"]
    (tmp_path / "config.json").write_text(
        json.dumps(said | {"rotary_pct": 0.25, "rotary_emb_base": 300, "rope_scaling": None})
    )
    compare(hub_model(tmp_path), theirs)


@pytest.mark.parametrize(
    "case, changed, sentence",
    [
        (
            "llama",
            {"rope_parameters": None, "rope_scaling": {"type": "linear", "factor": 2.0}},
            "rope_scaling = .*linear",
        ),
        ("llama", {"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}, "setting rope_scaling = .*llama3"),
        ("llama", {"hidden_act": "tanh"}, "setting hidden_act = 'tanh' changes what a model computes"),
        ("llama", {"quantization_config": {"bits": 4}}, r"setting quantization_config = \{'bits': 4\}"),
        ("llama", {"model_type": "gemma"}, "one of llama, mistral, .*, but config.json says model_type = 'gemma'"),
        ("llama", {"model_type": "bert"}, "there is none, such as lm_head.weight; it belongs to another"),
        ("llama", {"hidden_size": 41}, r"give .* the shape \(53, 41\), but it has \(53, 42\)"),
        ("llama", {"num_hidden_layers": 4}, r"holds the tensor layers.3.input_layernorm.weight, but there is none"),
        ("llama", {"num_hidden_layers": 10**9}, "there are 1000000000 layers and 30 tensors"),
        ("llama", {"num_hidden_layers": -1}, "num_hidden_layers is a whole number from 1 on, but config.json says -1"),
        ("llama", {"rms_norm_eps": "small"}, "rms_norm_eps is a number, but config.json says 'small'"),
        ("llama", {"hidden_act": ["silu"]}, r"setting hidden_act = \['silu'\]"),
        ("llama", {"model_type": None}, "config.json says model_type = None"),
        ("llama", {"rope_parameters": "default"}, "setting rope_scaling = 'default'"),
        ("llama", {"rope_parameters": {"rope_theta": "x"}}, "rope_theta is a number, but config.json says 'x'"),
        ("gpt_neox", {"rope_parameters": None, "rotary_pct": 0.4}, "pairs of the 8 features of a head, but of 3"),
        ("llama", {"partial_rotary_factor": 0.5}, "setting partial_rotary_factor = 0.5"),
        ("qwen3", {"rope_parameters": {"partial_rotary_factor": 0.5}}, "setting partial_rotary_factor = 0.5"),
        ("llama", {"num_attention_heads": 5}, "5 heads cannot share 2"),
        ("qwen2", {"use_sliding_window": True}, "setting use_sliding_window = True"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "setting scale_attn_by_inverse_layer_idx = True"),
        ("gpt2", {"n_embd": 36}, r"the shape \(53, 36\), but it has \(53, 42\)"),
        ("bert", {"position_embedding_type": "relative_key"}, "position_embedding_type = 'relative_key'"),
        ("bert", {"type_vocab_size": 2}, r"token_type_embeddings.weight the shape \(2, 42\), but it has \(3, 42\)"),
    ],
)
def test_what_is_not_computed_here_and_what_does_not_belong_together(case, changed, sentence, tmp_path):
    random_model(*CASES[case]).save_pretrained(tmp_path)
    said = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(said | changed))
    with pytest.raises(InputError, match=sentence):
        hub_model(tmp_path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"has the file config.json, but there is none"):
        hub_model(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"')
    with pytest.raises(InputError, match=r"config.json is written in JSON, but it cannot be read"):
        hub_model(tmp_path)
    (tmp_path / "config.json").write_text("[1]")
    with pytest.raises(InputError, match=r"config.json has settings by their names, but it has something else"):
        hub_model(tmp_path)
    random_model(*CASES["gpt2"]).save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    data = weights.read_bytes()
    for end in (0, 5, 700, len(data) - 1):
        weights.write_bytes(data[:end])
        with pytest.raises(
            InputError, match=r"model.safetensors is a whole file of safetensors, but it cannot be read"
        ):
            hub_model(tmp_path)
    weights.unlink()
    with pytest.raises(InputError, match=r"has the file model.safetensors, but there is none"):
        hub_model(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x02")
    with pytest.raises(InputError, match=r"has pytorch_model.bin, a pickle, which could run any program"):
        hub_model(tmp_path)


def test_a_tensor_without_a_place_whole_numbers_and_too_little_memory(tmp_path):
    random_model(*CASES["gpt2"]).save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file(weights | {"transformer.h.0.adapter.weight": torch.ones(2)}, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"for 1 there is none, such as h.0.adapter.weight"):
        hub_model(tmp_path)
    save_file(
        weights | {"transformer.wpe.weight": torch.ones(29, 42, dtype=torch.int8)}, tmp_path / "model.safetensors"
    )
    with pytest.raises(InputError, match=r"types float32, float16, bfloat16, but wpe.weight has int8"):
        hub_model(tmp_path)
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="fit the free memory"):
        hub_model(tmp_path, room=10_000)
