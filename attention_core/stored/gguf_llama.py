"""A model of the kind of Llama in a GGUF file: the meaning of its settings, and the names of its weights."""

import math
from collections.abc import Iterator, Mapping

import torch

from attention_core.base.errors import TechnicalError
from attention_core.model.family import TransformerConfig, build_transformer, weight_shapes
from attention_core.model.transformer import Transformer
from attention_core.stored.gguf_file import GgufFile, Setting, StoredTensor
from attention_core.stored.naming import check_layers, check_names, check_stored, is_map, name_there
from attention_core.stored.room import check_room
from attention_core.text.embeddings import Rotary

# The file has the features of queries and keys in neighbouring pairs, as `rotate` expects them.
GGUF_NAMES = {
    "token_table": "token_embd.weight",
    "norm.gain": "output_norm.weight",
    "W_unembed": "output.weight",
    "layers.*.norm.gain": "blk.*.attn_norm.weight",
    "layers.*.attention.W_q": "blk.*.attn_q.weight",
    "layers.*.attention.b_q": "blk.*.attn_q.bias",
    "layers.*.attention.W_k": "blk.*.attn_k.weight",
    "layers.*.attention.b_k": "blk.*.attn_k.bias",
    "layers.*.attention.W_v": "blk.*.attn_v.weight",
    "layers.*.attention.b_v": "blk.*.attn_v.bias",
    "layers.*.attention.W_o": "blk.*.attn_output.weight",
    "layers.*.attention.b_o": "blk.*.attn_output.bias",
    "layers.*.mlp_norm.gain": "blk.*.ffn_norm.weight",
    "layers.*.mlp.W_gate": "blk.*.ffn_gate.weight",
    "layers.*.mlp.b_gate": "blk.*.ffn_gate.bias",
    "layers.*.mlp.W_up": "blk.*.ffn_up.weight",
    "layers.*.mlp.b_up": "blk.*.ffn_up.bias",
    "layers.*.mlp.W_down": "blk.*.ffn_down.weight",
    "layers.*.mlp.b_down": "blk.*.ffn_down.bias",
}
# Settings that a file may have besides the sizes, and the only values under which they do not change the numbers.
AS_COMPUTED = {
    "llama.rope.scaling.type": ("none",),
    "llama.rope.scaling.factor": (1.0, 0.0),
    "llama.rope.scale_linear": (1.0, 0.0),
    "llama.rope.scaling.finetuned": (False,),
    "llama.expert_count": (0,),
    "llama.expert_used_count": (0,),
    "llama.use_parallel_residual": (False,),
}
SIZES = (
    *("vocab_size", "context_length", "embedding_length", "block_count", "feed_forward_length"),
    *("attention.head_count", "attention.head_count_kv", "attention.key_length", "attention.value_length"),
    *("attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.dimension_count"),
)


def gguf_model(file: GgufFile, dtype: torch.dtype = torch.float32, room: int | None = None) -> Transformer:
    """Build the model of a file, with its weights in the precision `dtype`.

    `room` is how many bytes there are for the model: see `room`. Raises InputError for another architecture, for
    settings that are not computed here, and for odd shapes.
    """
    config, weights = gguf_weights(file, dtype)
    check_room(sum(map(math.prod, weight_shapes(config).values())) * dtype.itemsize, room)
    return build_transformer(config, dict(weights))


def gguf_weights(
    file: GgufFile, dtype: torch.dtype = torch.float32
) -> tuple[TransformerConfig, Iterator[tuple[str, torch.Tensor]]]:
    """Return the sizes of a file's model, and its weights by our names, each made only when it is needed.

    Code that takes the weights one after the other never has the whole model in memory. Raises InputError as
    `gguf_model`.
    """
    config, tensors = gguf_tensors(file)
    return config, ((name, as_here(name, tensor, dtype)) for name, tensor in tensors.items())


def gguf_tensors(file: GgufFile) -> tuple[TransformerConfig, dict[str, StoredTensor]]:
    """Return the sizes of a file's model, and its tensors by our names, as stored.

    Raises InputError as `gguf_model` does.
    """
    config = gguf_config(file)
    check_layers(config.n_layers, len(file.tensors))
    shapes = weight_shapes(config)
    names = {name: name_there(name, GGUF_NAMES) for name in shapes}
    check_names(file.tensors, names.values())
    for name, there in names.items():
        expected = shapes[name][::-1] if is_map(name) else shapes[name]
        check_stored(there, file.tensors[there].shape if there in file.tensors else None, expected)
    return config, {name: file.tensors[there] for name, there in names.items()}


def as_here(name: str, tensor: StoredTensor, dtype: torch.dtype) -> torch.Tensor:
    """Return the numbers of a tensor in the orientation in which they are used."""
    weight = torch.from_numpy(tensor.numbers()).to(dtype)
    return weight.mT if is_map(name) else weight


def gguf_config(file: GgufFile) -> TransformerConfig:
    """Return the sizes of a file's model from the settings. Raises InputError for what is not computed here."""
    architecture = file.settings.get("general.architecture")
    if architecture != "llama":
        raise TechnicalError("the model of a GGUF file is a llama, but this is a {it}", it=repr(architecture))
    check_settings(file.settings)
    d_model, n_heads = (size(file.settings, name) for name in ("embedding_length", "attention.head_count"))
    d_head = size(file.settings, "attention.key_length", d_model // n_heads)
    check_stored("llama.attention.value_length", (size(file.settings, "attention.value_length", d_head),), (d_head,))
    return TransformerConfig(
        vocabulary=vocabulary_of(file),
        context=size(file.settings, "context_length"),
        d_model=d_model,
        n_layers=size(file.settings, "block_count"),
        d_hidden=size(file.settings, "feed_forward_length"),
        n_heads=n_heads,
        kv_heads=size(file.settings, "attention.head_count_kv", n_heads),
        d_head=d_head,
        epsilon=float(number(file.settings, "attention.layer_norm_rms_epsilon")),
        rotary=Rotary(
            base=float(number(file.settings, "rope.freq_base", 10000.0)),
            features=size(file.settings, "rope.dimension_count", d_head),
        ),
        qkv_bias="blk.0.attn_q.bias" in file.tensors,
        output_bias="blk.0.attn_output.bias" in file.tensors,
        mlp_bias="blk.0.ffn_up.bias" in file.tensors,
        unembedding="own" if "output.weight" in file.tensors else "tied",
    )


def check_settings(settings: Mapping[str, Setting]) -> None:
    """Raise InputError for a setting of the model with a value that is not computed here."""
    for name, value in settings.items():
        if not name.startswith("llama.") or name.removeprefix("llama.") in SIZES:
            continue
        if value not in AS_COMPUTED.get(name, ()):
            raise TechnicalError(
                "the setting {name} = {value} changes what a model computes, and is not computed here",
                name=name,
                value=repr(value),
            )


def vocabulary_of(file: GgufFile) -> int:
    """Return the number of tokens: that of rows of the embedding. Raises InputError where the file has no embedding."""
    if "token_embd.weight" not in file.tensors:
        raise TechnicalError("a model begins with the tensor token_embd.weight, but the file has none: it is not whole")
    return file.tensors["token_embd.weight"].shape[0]


def size(settings: Mapping[str, Setting], name: str, default: int | None = None) -> int:
    """Return a whole number of the settings; missing, the default. Raises InputError unless it is 1 or more."""
    value = number(settings, name, default)
    if not isinstance(value, int) or value < 1:
        raise TechnicalError(
            "llama.{name} is a whole number from 1 on, but the file says {value}", name=name, value=repr(value)
        )
    return value


def number(settings: Mapping[str, Setting], name: str, default: int | float | None = None) -> int | float:
    """Return a number of the settings; missing, the default. Raises InputError for anything else."""
    value = settings.get("llama." + name, default)
    if value is None:
        raise TechnicalError("a llama has the setting llama.{name}, but the file does not say it", name=name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TechnicalError("llama.{name} is a number, but the file says {value}", name=name, value=repr(value)[:80])
    return value
