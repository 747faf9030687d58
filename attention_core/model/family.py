"""The transformers of today as one family: the sizes of a model, its weights by name, and how it is put together.

Weights may be kept in half precision, or in few bits (`stored.few_bits`), to take less memory: each layer is widened to
32 bits while it computes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from attention_core.base.arrays import Array
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_whole
from attention_core.model.parts import Activation, LayerNorm, Mlp, Norm, RmsNorm
from attention_core.model.transformer import Block, Transformer
from attention_core.one_head.heads import MultiHeadAttention
from attention_core.text.embeddings import Rotary, sinusoidal_positions

Unembedding = Literal["own", "tied", "none"]
WHOLE = Rotary()  # all features of queries and keys are rotated


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformerConfig:
    """The sizes of a `Transformer` and what it is built of. Raises InputError for what cannot be built.

    The defaults are those of Llama, Touvron et al. 2023, https://arxiv.org/abs/2302.13971. Sizes have no upper limit,
    unlike those of the models that the app trains: see `small_model`.
    """

    vocabulary: int
    context: int  # the most tokens it can see at once
    d_model: int
    n_layers: int
    d_hidden: int  # features between both halves of the MLP
    n_heads: int
    kv_heads: int  # fewer than n_heads where heads share keys and values
    d_head: int  # of queries, keys and values; d_model / n_heads, or another size
    norm: Literal["rms", "layer"] = "rms"
    norm_place: Literal["before", "after"] = "before"  # of attention and MLP; "after" as in 2017, and in BERT
    epsilon: float = 1e-5  # of every norm
    qk_norm: bool = False  # queries and keys are normed, too, head by head
    gated: bool = True  # the MLP multiplies what it lets through: Shazeer 2020, https://arxiv.org/abs/2002.05202
    activation: Activation = "silu"
    positions: Literal["rotary", "learned", "sinusoidal", "none"] = "rotary"
    rotary: Rotary = WHOLE
    causal: bool = True
    window: int | None = None  # how many tokens each token sees, itself among them; None where it sees all
    parallel: bool = False  # attention and MLP read the same tokens, side by side, as in GPT-NeoX
    token_types: int = 0  # first and second sentence in BERT; 0 where tokens have no types
    embedding_norm: bool = False
    final_norm: bool = True
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    unembedding: Unembedding = "own"  # "tied" to the embedding; "none": gives vectors
    unembedding_bias: bool = False

    def __post_init__(self):
        sizes = ("vocabulary", "context", "d_model", "n_layers", "d_hidden", "n_heads", "kv_heads", "d_head")
        for name in sizes:
            check_whole(name, getattr(self, name), least=1)
        if self.n_heads % self.kv_heads:
            raise TechnicalError(
                "heads share keys and values in groups of one size, but {n_heads} heads cannot share {kv_heads}",
                n_heads=self.n_heads,
                kv_heads=self.kv_heads,
            )
        turned = self.d_head if self.rotary.features is None else self.rotary.features
        if self.positions == "rotary" and (turned % 2 or turned > self.d_head):
            raise TechnicalError(
                "rotary positions turn pairs of the {d_head} features of a head, but of {turned} features",
                d_head=self.d_head,
                turned=turned,
            )
        if self.parallel and self.norm_place == "after":
            raise TechnicalError(
                "attention and MLP side by side have their norms before them, but got norms after them"
            )
        if not 0 <= self.epsilon < math.inf:
            raise TechnicalError(
                "the ε of a norm is a small number from 0 on, but got {epsilon}", epsilon=repr(self.epsilon)
            )


def config_of(settings: Mapping[str, Any]) -> TransformerConfig:
    """Return the sizes of a model from settings in the form that JSON keeps."""
    return TransformerConfig(**{**settings, "rotary": Rotary(**settings["rotary"])})


def weight_shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Return the name and the shape of each weight of a model, such as "layers.0.attention.W_q": (576, 576)."""
    d_model, vocabulary = config.d_model, config.vocabulary
    shapes = {"token_table": (vocabulary, d_model)}
    if config.positions == "learned":
        shapes["position_table"] = (config.context, d_model)
    if config.token_types:
        shapes["type_table"] = (config.token_types, d_model)
    shapes |= norm_shapes("embedding_norm", config) if config.embedding_norm else {}
    for i in range(config.n_layers):
        shapes |= {f"layers.{i}.{name}": shape for name, shape in layer_shapes(config).items()}
    shapes |= norm_shapes("norm", config) if config.final_norm else {}
    if config.unembedding == "own":
        shapes["W_unembed"] = (d_model, vocabulary)
    if config.unembedding_bias:
        shapes["b_unembed"] = (vocabulary,)
    return shapes


def layer_shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight of one layer, by its name within the layer."""
    d_model, d_hidden = config.d_model, config.d_hidden
    d_q, d_kv = config.n_heads * config.d_head, config.kv_heads * config.d_head
    shapes = norm_shapes("norm", config)
    for name, d_out in (("q", d_q), ("k", d_kv), ("v", d_kv)):
        shapes |= map_shapes("attention", name, d_model, d_out, config.qkv_bias)
    if config.qk_norm:
        shapes |= {"attention.q_gain": (config.d_head,), "attention.k_gain": (config.d_head,)}
    shapes |= map_shapes("attention", "o", d_q, d_model, config.output_bias)
    shapes |= norm_shapes("mlp_norm", config)
    for name in ("gate", "up") if config.gated else ("up",):
        shapes |= map_shapes("mlp", name, d_model, d_hidden, config.mlp_bias)
    return shapes | map_shapes("mlp", "down", d_hidden, d_model, config.mlp_bias)


def map_shapes(part: str, name: str, d_in: int, d_out: int, bias: bool) -> dict[str, tuple[int, ...]]:
    """Return the shape of W and, if there is a bias, of b."""
    return {f"{part}.W_{name}": (d_in, d_out)} | ({f"{part}.b_{name}": (d_out,)} if bias else {})


def norm_shapes(name: str, config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of a norm's gain and, for a layer norm, of its shift."""
    parts = ("gain", "shift") if config.norm == "layer" else ("gain",)
    return {f"{name}.{part}": (config.d_model,) for part in parts}


def build_transformer(config: TransformerConfig, weights: Mapping[str, Array]) -> Transformer:
    """Build a model from weights with the names of `weight_shapes`. Raises InputError unless names and shapes agree."""
    check_weights(weight_shapes(config), {name: tuple(weight.shape) for name, weight in weights.items()})
    waves = None
    if config.positions == "sinusoidal":
        waves = sinusoidal_positions(config.context, config.d_model, like=weights["token_table"])
    return Transformer(
        config=config,
        layers=tuple(build_layer(config, part_of(weights, f"layers.{i}")) for i in range(config.n_layers)),
        embedding_norm=build_norm(config, part_of(weights, "embedding_norm")) if config.embedding_norm else None,
        norm=build_norm(config, part_of(weights, "norm")) if config.final_norm else None,
        waves=waves,
        **{name: weight for name, weight in weights.items() if "." not in name},
    )


def build_layer(config: TransformerConfig, weights: Mapping[str, Array]) -> Block:
    """Build one layer from weights by their names within the layer."""
    attention = MultiHeadAttention(
        **part_of(weights, "attention"),
        n_heads=config.n_heads,
        rotary=config.rotary if config.positions == "rotary" else None,
        epsilon=config.epsilon,
        window=None if config.window is None else (config.window - 1, None),
    )
    return Block(
        norm=build_norm(config, part_of(weights, "norm")),
        attention=attention,
        mlp_norm=build_norm(config, part_of(weights, "mlp_norm")),
        mlp=Mlp(**part_of(weights, "mlp"), activation=config.activation),
        norm_place=config.norm_place,
        parallel=config.parallel,
    )


def build_norm(config: TransformerConfig, weights: Mapping[str, Array]) -> Norm:
    """Build a norm from its weights."""
    norm = LayerNorm if config.norm == "layer" else RmsNorm
    return norm(**weights, epsilon=config.epsilon)


def part_of(weights: Mapping[str, Array], name: str) -> dict[str, Array]:
    """Return the weights whose names begin with `name` and a dot, by the rest of their names."""
    return {key.removeprefix(name + "."): weight for key, weight in weights.items() if key.startswith(name + ".")}


def check_weights(expected: Mapping[str, tuple[int, ...]], came: Mapping[str, tuple[int, ...]]) -> None:
    """Raise InputError unless each expected weight is there, in its shape, and no other."""
    for name in expected.keys() | came.keys():
        if expected.get(name) != came.get(name):
            raise TechnicalError(
                "the weight {name} has the shape {expected}, but got {came}",
                name=name,
                expected=str(expected.get(name, "of no weight of this model")),
                came=str(came.get(name, "none")),
            )
