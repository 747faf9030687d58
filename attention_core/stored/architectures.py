"""What a folder of the hub says of a model: its settings, and the names of its weights.

Each line of a table is the name of a weight in the core and in a file. `fused` and `turned_halves` say what is undone
when a weight is read: see `hub_folder`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from attention_core.base.errors import TechnicalError
from attention_core.model.family import TransformerConfig, Unembedding
from attention_core.model.parts import Activation
from attention_core.text.embeddings import Rotary

Settings = Mapping[str, Any]  # of config.json

ACTIVATIONS_THERE: dict[str, Activation] = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
}

LLAMA_NAMES = {
    "token_table": "embed_tokens.weight",
    "norm.gain": "norm.weight",
    "W_unembed": "lm_head.weight",
    "layers.*.norm.gain": "layers.*.input_layernorm.weight",
    "layers.*.attention.W_q": "layers.*.self_attn.q_proj.weight",
    "layers.*.attention.b_q": "layers.*.self_attn.q_proj.bias",
    "layers.*.attention.W_k": "layers.*.self_attn.k_proj.weight",
    "layers.*.attention.b_k": "layers.*.self_attn.k_proj.bias",
    "layers.*.attention.W_v": "layers.*.self_attn.v_proj.weight",
    "layers.*.attention.b_v": "layers.*.self_attn.v_proj.bias",
    "layers.*.attention.q_gain": "layers.*.self_attn.q_norm.weight",
    "layers.*.attention.k_gain": "layers.*.self_attn.k_norm.weight",
    "layers.*.attention.W_o": "layers.*.self_attn.o_proj.weight",
    "layers.*.attention.b_o": "layers.*.self_attn.o_proj.bias",
    "layers.*.mlp_norm.gain": "layers.*.post_attention_layernorm.weight",
    "layers.*.mlp.W_gate": "layers.*.mlp.gate_proj.weight",
    "layers.*.mlp.b_gate": "layers.*.mlp.gate_proj.bias",
    "layers.*.mlp.W_up": "layers.*.mlp.up_proj.weight",
    "layers.*.mlp.b_up": "layers.*.mlp.up_proj.bias",
    "layers.*.mlp.W_down": "layers.*.mlp.down_proj.weight",
    "layers.*.mlp.b_down": "layers.*.mlp.down_proj.bias",
}
GPT2_NAMES = {
    "token_table": "wte.weight",
    "position_table": "wpe.weight",
    "norm.gain": "ln_f.weight",
    "norm.shift": "ln_f.bias",
    "W_unembed": "lm_head.weight",
    "layers.*.norm.gain": "h.*.ln_1.weight",
    "layers.*.norm.shift": "h.*.ln_1.bias",
    "layers.*.attention.W_q": "h.*.attn.c_attn.weight",
    "layers.*.attention.b_q": "h.*.attn.c_attn.bias",
    "layers.*.attention.W_k": "h.*.attn.c_attn.weight",
    "layers.*.attention.b_k": "h.*.attn.c_attn.bias",
    "layers.*.attention.W_v": "h.*.attn.c_attn.weight",
    "layers.*.attention.b_v": "h.*.attn.c_attn.bias",
    "layers.*.attention.W_o": "h.*.attn.c_proj.weight",
    "layers.*.attention.b_o": "h.*.attn.c_proj.bias",
    "layers.*.mlp_norm.gain": "h.*.ln_2.weight",
    "layers.*.mlp_norm.shift": "h.*.ln_2.bias",
    "layers.*.mlp.W_up": "h.*.mlp.c_fc.weight",
    "layers.*.mlp.b_up": "h.*.mlp.c_fc.bias",
    "layers.*.mlp.W_down": "h.*.mlp.c_proj.weight",
    "layers.*.mlp.b_down": "h.*.mlp.c_proj.bias",
}
NEOX_NAMES = {
    "token_table": "embed_in.weight",
    "norm.gain": "final_layer_norm.weight",
    "norm.shift": "final_layer_norm.bias",
    "W_unembed": "embed_out.weight",
    "layers.*.norm.gain": "layers.*.input_layernorm.weight",
    "layers.*.norm.shift": "layers.*.input_layernorm.bias",
    "layers.*.attention.W_q": "layers.*.attention.query_key_value.weight",
    "layers.*.attention.b_q": "layers.*.attention.query_key_value.bias",
    "layers.*.attention.W_k": "layers.*.attention.query_key_value.weight",
    "layers.*.attention.b_k": "layers.*.attention.query_key_value.bias",
    "layers.*.attention.W_v": "layers.*.attention.query_key_value.weight",
    "layers.*.attention.b_v": "layers.*.attention.query_key_value.bias",
    "layers.*.attention.W_o": "layers.*.attention.dense.weight",
    "layers.*.attention.b_o": "layers.*.attention.dense.bias",
    "layers.*.mlp_norm.gain": "layers.*.post_attention_layernorm.weight",
    "layers.*.mlp_norm.shift": "layers.*.post_attention_layernorm.bias",
    "layers.*.mlp.W_up": "layers.*.mlp.dense_h_to_4h.weight",
    "layers.*.mlp.b_up": "layers.*.mlp.dense_h_to_4h.bias",
    "layers.*.mlp.W_down": "layers.*.mlp.dense_4h_to_h.weight",
    "layers.*.mlp.b_down": "layers.*.mlp.dense_4h_to_h.bias",
}
BERT_NAMES = {
    "token_table": "embeddings.word_embeddings.weight",
    "position_table": "embeddings.position_embeddings.weight",
    "type_table": "embeddings.token_type_embeddings.weight",
    "embedding_norm.gain": "embeddings.LayerNorm.weight",
    "embedding_norm.shift": "embeddings.LayerNorm.bias",
    "layers.*.attention.W_q": "encoder.layer.*.attention.self.query.weight",
    "layers.*.attention.b_q": "encoder.layer.*.attention.self.query.bias",
    "layers.*.attention.W_k": "encoder.layer.*.attention.self.key.weight",
    "layers.*.attention.b_k": "encoder.layer.*.attention.self.key.bias",
    "layers.*.attention.W_v": "encoder.layer.*.attention.self.value.weight",
    "layers.*.attention.b_v": "encoder.layer.*.attention.self.value.bias",
    "layers.*.attention.W_o": "encoder.layer.*.attention.output.dense.weight",
    "layers.*.attention.b_o": "encoder.layer.*.attention.output.dense.bias",
    "layers.*.norm.gain": "encoder.layer.*.attention.output.LayerNorm.weight",
    "layers.*.norm.shift": "encoder.layer.*.attention.output.LayerNorm.bias",
    "layers.*.mlp.W_up": "encoder.layer.*.intermediate.dense.weight",
    "layers.*.mlp.b_up": "encoder.layer.*.intermediate.dense.bias",
    "layers.*.mlp.W_down": "encoder.layer.*.output.dense.weight",
    "layers.*.mlp.b_down": "encoder.layer.*.output.dense.bias",
    "layers.*.mlp_norm.gain": "encoder.layer.*.output.LayerNorm.weight",
    "layers.*.mlp_norm.shift": "encoder.layer.*.output.LayerNorm.bias",
}


def llama_config(settings: Settings, names: Collection[str]) -> TransformerConfig:
    """Return the sizes of a Llama, Mistral, Qwen 2 or Qwen 3. Raises InputError for settings not computed here."""
    kind, d_model, n_heads = (
        settings["model_type"],
        count(settings, "hidden_size"),
        count(settings, "num_attention_heads"),
    )
    d_head = count(settings, "head_dim", 128 if kind == "qwen3" else d_model // n_heads)
    bias = bool(settings.get("attention_bias", False))
    return TransformerConfig(
        vocabulary=count(settings, "vocab_size"),
        context=count(settings, "max_position_embeddings"),
        d_model=d_model,
        n_layers=count(settings, "num_hidden_layers"),
        d_hidden=count(settings, "intermediate_size"),
        n_heads=n_heads,
        kv_heads=count(settings, "num_key_value_heads", n_heads),
        d_head=d_head,
        epsilon=amount(settings, "rms_norm_eps", 1e-6),
        qk_norm=kind == "qwen3",
        activation=activation(settings, "hidden_act", "silu"),
        rotary=rotary(settings, d_head),
        window=window(settings),
        qkv_bias=kind == "qwen2" or bias,
        output_bias=kind != "qwen2" and bias,
        mlp_bias=bool(settings.get("mlp_bias", False)),
        unembedding=unembedding(settings, names, "lm_head.weight", tied=False),
    )


def gpt2_config(settings: Settings, names: Collection[str]) -> TransformerConfig:
    """Return the sizes of a GPT-2: Radford et al. 2019. Raises InputError for settings that are not computed here."""
    d_model, n_heads = count(settings, "n_embd"), count(settings, "n_head")
    return TransformerConfig(
        vocabulary=count(settings, "vocab_size"),
        context=count(settings, "n_positions"),
        d_model=d_model,
        n_layers=count(settings, "n_layer"),
        d_hidden=count(settings, "n_inner", 4 * d_model),
        n_heads=n_heads,
        kv_heads=n_heads,
        d_head=d_model // n_heads,
        norm="layer",
        epsilon=amount(settings, "layer_norm_epsilon", 1e-5),
        gated=False,
        activation=activation(settings, "activation_function", "gelu_new"),
        positions="learned",
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        unembedding=unembedding(settings, names, "lm_head.weight", tied=True),
    )


def neox_config(settings: Settings, names: Collection[str]) -> TransformerConfig:
    """Return the sizes of a GPT-NeoX or Pythia. Raises InputError for settings that are not computed here.

    Black et al. 2022, https://arxiv.org/abs/2204.06745.
    """
    d_model, n_heads = count(settings, "hidden_size"), count(settings, "num_attention_heads")
    bias = bool(settings.get("attention_bias", True))
    return TransformerConfig(
        vocabulary=count(settings, "vocab_size"),
        context=count(settings, "max_position_embeddings"),
        d_model=d_model,
        n_layers=count(settings, "num_hidden_layers"),
        d_hidden=count(settings, "intermediate_size"),
        n_heads=n_heads,
        kv_heads=n_heads,
        d_head=d_model // n_heads,
        norm="layer",
        epsilon=amount(settings, "layer_norm_eps", 1e-5),
        gated=False,
        activation=activation(settings, "hidden_act", "gelu"),
        rotary=rotary(settings, d_model // n_heads, share=0.25),
        parallel=bool(settings.get("use_parallel_residual", True)),
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=True,
        unembedding=unembedding(settings, names, "embed_out.weight", tied=False),
    )


def bert_config(settings: Settings, names: Collection[str]) -> TransformerConfig:
    """Return the sizes of a BERT, without the layers that a task adds on top of its vectors.

    Devlin et al. 2018, https://arxiv.org/abs/1810.04805. Raises InputError for settings that are not computed here.
    """
    d_model, n_heads = count(settings, "hidden_size"), count(settings, "num_attention_heads")
    return TransformerConfig(
        vocabulary=count(settings, "vocab_size"),
        context=count(settings, "max_position_embeddings"),
        d_model=d_model,
        n_layers=count(settings, "num_hidden_layers"),
        d_hidden=count(settings, "intermediate_size"),
        n_heads=n_heads,
        kv_heads=n_heads,
        d_head=d_model // n_heads,
        norm="layer",
        norm_place="after",
        epsilon=amount(settings, "layer_norm_eps", 1e-12),
        gated=False,
        activation=activation(settings, "hidden_act", "gelu"),
        positions="learned",
        causal=False,
        token_types=count(settings, "type_vocab_size", 2),
        embedding_norm=True,
        final_norm=False,
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
        unembedding="none",
    )


@dataclass(frozen=True)
class Architecture:
    """How a kind of model is stored.

    Names may begin with `prefix`. With `maps_turned`, maps are stored transposed. `fused` says that W_q, W_k and W_v
    are one tensor: thirds of the whole, or thirds of the part of each head. With `turned_halves`, the second feature of
    each rotated pair is stored half of the rotated features further on. Tensors whose names end in one of `unread` hold
    no weights of ours. `as_computed` has the settings that would change the numbers, and the only values under which
    they do not.
    """

    config: Callable[[Settings, Collection[str]], TransformerConfig]
    names: Mapping[str, str]
    prefix: str
    maps_turned: bool = True
    fused: Literal["thirds", "by_head"] | None = None
    turned_halves: bool = False
    unread: tuple[str, ...] = ()
    as_computed: Mapping[str, tuple[object, ...]] = field(default_factory=dict)


LLAMA = Architecture(
    config=llama_config,
    names=LLAMA_NAMES,
    prefix="model.",
    turned_halves=True,
    unread=("rotary_emb.inv_freq",),
    as_computed={"use_sliding_window": (False, None)},
)
ARCHITECTURES = {
    "llama": LLAMA,
    "mistral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": LLAMA,
    "gpt2": Architecture(
        config=gpt2_config,
        names=GPT2_NAMES,
        prefix="transformer.",
        maps_turned=False,
        fused="thirds",
        unread=(".attn.bias", ".attn.masked_bias"),
        as_computed={
            "scale_attn_weights": (True, None),
            "scale_attn_by_inverse_layer_idx": (False, None),
            "add_cross_attention": (False, None),
        },
    ),
    "gpt_neox": Architecture(
        config=neox_config,
        names=NEOX_NAMES,
        prefix="gpt_neox.",
        fused="by_head",
        turned_halves=True,
        unread=(".attention.bias", ".attention.masked_bias", "rotary_emb.inv_freq"),
    ),
    "bert": Architecture(
        config=bert_config,
        names=BERT_NAMES,
        prefix="bert.",
        unread=(
            *("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"),
            *("cls.predictions.bias", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"),
            *("cls.predictions.transform.dense.weight", "cls.predictions.transform.dense.bias"),
            *("cls.predictions.transform.LayerNorm.weight", "cls.predictions.transform.LayerNorm.bias"),
            *("cls.seq_relationship.weight", "cls.seq_relationship.bias"),
        ),
        as_computed={
            "position_embedding_type": ("absolute", None),
            "is_decoder": (False, None),
            "add_cross_attention": (False, None),
        },
    ),
}


def architecture_of(settings: Settings) -> Architecture:
    """Return how the model of these settings is stored. Raises InputError for one not known, or not computed here."""
    kind = settings.get("model_type")
    if not isinstance(kind, str) or kind not in ARCHITECTURES:
        raise TechnicalError(
            "a model of the hub can be one of {known}, but config.json says model_type = {kind}",
            known=", ".join(ARCHITECTURES),
            kind=repr(kind),
        )
    architecture = ARCHITECTURES[kind]
    for name, values in {"quantization_config": (None,), **architecture.as_computed}.items():
        if settings.get(name) not in values:
            raise not_computed(name, settings[name])
    return architecture


def not_computed(name: str, value: object) -> TechnicalError:
    """Return an InputError for a setting that changes the numbers and is not computed here."""
    return TechnicalError(
        "the setting {name} = {value} changes what a model computes, and is not computed here",
        name=name,
        value=repr(value)[:200],
    )


def count(settings: Settings, name: str, default: int | None = None) -> int:
    """Return a whole number of the settings; missing or null, the default. Raises InputError unless it is 1 or more."""
    value = default if settings.get(name) is None else settings[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TechnicalError(
            "{name} is a whole number from 1 on, but config.json says {value}", name=name, value=repr(value)[:80]
        )
    return value


def amount(settings: Settings, name: str, default: float) -> float:
    """Return a number of the settings; missing or null, the default. Raises InputError for anything else."""
    value = default if settings.get(name) is None else settings[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TechnicalError("{name} is a number, but config.json says {value}", name=name, value=repr(value)[:80])
    return float(value)


def activation(settings: Settings, name: str, default: str) -> Activation:
    """Return our name of the nonlinearity. Raises InputError for one that is not computed here."""
    value = settings.get(name, default)
    if not isinstance(value, str) or value not in ACTIVATIONS_THERE:
        raise not_computed(name, value)
    return ACTIVATIONS_THERE[value]


def rotary(settings: Settings, d_head: int, share: float | None = None) -> Rotary:
    """Return the settings of rotary positions: the base, and how many features are rotated.

    Older files use other names. `share` is the default share of the features; where it is None, all must be rotated.
    Raises InputError for settings that are not computed here.
    """
    said = settings.get("rope_parameters") or settings.get("rope_scaling") or {}
    if not isinstance(said, dict) or said.get("rope_type", said.get("type", "default")) != "default":
        raise not_computed("rope_scaling", said)
    older = {"rope_theta": settings.get("rotary_emb_base"), "partial_rotary_factor": settings.get("rotary_pct")}
    said = older | {name: each[name] for each in (settings, said) for name in older if each.get(name) is not None}
    turns = amount(said, "partial_rotary_factor", 1.0 if share is None else share)
    if share is None and turns != 1:
        raise not_computed("partial_rotary_factor", turns)
    return Rotary(base=amount(said, "rope_theta", 10000.0), features=int(d_head * turns))


def window(settings: Settings) -> int | None:
    """Return how many tokens each token sees, itself among them; None for all. Qwen ignores its own setting."""
    if settings["model_type"] != "mistral" or settings.get("sliding_window") is None:
        return None
    return count(settings, "sliding_window")


def unembedding(settings: Settings, names: Collection[str], name: str, *, tied: bool) -> Unembedding:
    """Return "own" for a separate map to the vocabulary, "tied" where the embedding serves, or "none"."""
    if name in names:
        return "own"
    return "tied" if settings.get("tie_word_embeddings", tied) else "none"
