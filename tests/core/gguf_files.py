"""GGUF files for tests: a small model of the kind of Llama, written as llama.cpp's converter does."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize
from transformers import LlamaConfig, LlamaForCausalLM

TENSORS = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def random_llama(seed=0, **sizes):
    """A small model with random weights, as `transformers` builds and computes it."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        **{
            "vocab_size": 53,
            "hidden_size": 42,
            "intermediate_size": 37,
            "num_hidden_layers": 3,
            "num_attention_heads": 6,
            "num_key_value_heads": 2,
            "head_dim": 10,
            "rms_norm_eps": 1e-4,
            "max_position_embeddings": 29,
            "rope_parameters": {"rope_type": "default", "rope_theta": 500.0},
            "tie_word_embeddings": False,
        }
        | sizes
    )
    model = LlamaForCausalLM._from_config(config, attn_implementation="eager").eval()
    for weight in model.parameters():
        weight.data = torch.randn(weight.shape) * (0.3 if weight.ndim > 1 else 1)
    return model


def neighbours(weight, n_heads):
    """Queries or keys as llama.cpp's converter orders them."""
    d_head = weight.shape[0] // n_heads
    return weight.reshape(n_heads, 2, d_head // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def settings_of(config):
    """What such a file says, by its names."""
    return {
        "llama.block_count": config.num_hidden_layers,
        "llama.context_length": config.max_position_embeddings,
        "llama.embedding_length": config.hidden_size,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.attention.head_count": config.num_attention_heads,
        "llama.attention.head_count_kv": config.num_key_value_heads,
        "llama.attention.key_length": config.head_dim,
        "llama.attention.value_length": config.head_dim,
        "llama.rope.dimension_count": config.head_dim,
        "llama.vocab_size": config.vocab_size,
        "llama.rope.freq_base": config.rope_parameters["rope_theta"],
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
    }


def tensors_of(model):
    """All weights, by the names of GGUF."""
    heads = {"q_proj": model.config.num_attention_heads, "k_proj": model.config.num_key_value_heads}
    for name, weight in model.state_dict().items():
        stem, _, part = name.rpartition(".")
        if stem.split(".")[-1] in heads:
            weight = neighbours(weight, heads[stem.split(".")[-1]])
        if stem.startswith("model.layers."):
            number, _, stem = stem.removeprefix("model.layers.").partition(".")
            yield f"blk.{number}.{TENSORS[stem]}.{part}", weight.numpy()
        else:
            yield f"{TENSORS[stem]}.{part}", weight.numpy()


def gguf_bytes(settings, tensors, kind="F32", architecture="llama"):
    """The file: matrices of this kind of numbers, vectors of 32 bits."""
    with tempfile.TemporaryDirectory() as folder:
        writer = GGUFWriter(Path(folder) / "model.gguf", architecture)
        add = {
            bool: writer.add_bool,
            int: writer.add_uint32,
            float: writer.add_float32,
            str: writer.add_string,
            list: writer.add_array,
        }
        for name, value in settings.items():
            add[type(value)](name, value)
        for name, weight in tensors:
            stored = GGMLQuantizationType[kind if weight.ndim > 1 else "F32"]
            writer.add_tensor(name, quantize(np.ascontiguousarray(weight), stored), raw_dtype=stored)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return (Path(folder) / "model.gguf").read_bytes()


def gguf_of(model, kind="F32", more=(), **changed):
    """The file of such a model, with changed settings and more tensors."""
    settings = settings_of(model.config) | {name.replace("__", "."): value for name, value in changed.items()}
    return gguf_bytes(settings, [*tensors_of(model), *more], kind)
