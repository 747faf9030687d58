"""The small models that are trained here: what may be chosen about one, and its first weights."""

import functools
import math
from dataclasses import dataclass, replace
from typing import Literal

from jaxtyping import Float

from attention_core.base.arrays import Array, namespace
from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.randomness import Generator, draw_linear, generator
from attention_core.model.parts import LayerNorm, Mlp
from attention_core.model.transformer import Block, Transformer
from attention_core.model.weights import named_weights, of_vector, with_weights
from attention_core.one_head.attention import mask_scores
from attention_core.one_head.distances import alibi_biases, distances
from attention_core.one_head.heads import MultiHeadAttention, SlicedHeads, features_per_head
from attention_core.one_head.masks import causal_mask, full_mask
from attention_core.text.embeddings import Rotary, fixed_vectors, sinusoidal_positions

MAX_CONTEXT = 256
MAX_D_MODEL = 64
MAX_LAYERS = 4
MAX_QUERY_FEATURES = 512  # of all heads together; values too


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """The size and the parts of a small `Transformer`. Raises InputError for sizes that cannot be built.

    `positions`: "learned" and "sinusoidal" vectors are added to the embedding; "qk" are learned vectors added to the
    input of queries and keys, in every layer, but never to that of values; "rotary" rotates queries and keys; "alibi"
    lowers each score for every step between query and key.
    """

    vocabulary: int
    context: int  # the most tokens it can see at once
    d_model: int = 16  # enough for a few dozen tokens, and trained within a second
    n_heads: int = 2  # the fewest that can differ
    n_layers: int = 1  # one layer is all that a single attention lesson needs
    d_k: int | None = None  # features of each head's queries and keys; None means d_model / n_heads, as usual
    d_v: int | None = None  # features of each head's values; None means d_model / n_heads, whatever d_k is
    heads: Literal["projected", "sliced"] = "projected"  # `MultiHeadAttention`; "sliced" for comparison
    positions: Literal["learned", "none", "sinusoidal", "rotary", "alibi", "qk"] = "learned"  # as in GPT-2
    causal: bool = True  # what predicts the next token must not see it
    scaling: bool = True  # scores are divided by √d_k; without it a large d_k makes softmax too hard to train
    residual: bool = True  # x + attention(x): gradients reach the first layer as they are
    layer_norm: bool = False  # one layer as small as ours trains without; deep ones do not
    mlp: bool = False  # left out, all that is learned is learned by attention
    sink: bool = False  # each head may attend to nothing, for a score that it learns: see `softmax_with_sink`
    embedding_std: float = 1.0  # as `nn.Embedding` draws; the tasks choose smaller ones, which train sooner
    output: Literal["scores", "vectors"] = "scores"  # "vectors": gives fixed token vectors back, as a notebook does

    def __post_init__(self):
        check_range("context", self.context, 1, MAX_CONTEXT)
        check_range("d_model", self.d_model, 1, MAX_D_MODEL)
        check_range("n_layers", self.n_layers, 1, MAX_LAYERS)
        check_range("embedding_std", self.embedding_std, 0, 100)
        if self.vocabulary < 2:
            raise TechnicalError(
                "a model needs at least 2 different tokens to choose from, but got {count}", count=self.vocabulary
            )
        check_head_features(self)

    @property
    def unembedding(self) -> Literal["own", "none"]:
        """Whether the model has a map that scores the tokens of the vocabulary ("own"), or outputs vectors ("none")."""
        return "own" if self.output == "scores" else "none"

    @property
    def query_features(self) -> int:
        """The number of features of each head's queries and keys, d_k."""
        return features_per_head(self.d_model, self.n_heads) if self.d_k is None else self.d_k

    @property
    def value_features(self) -> int:
        """The number of features of each head's values, d_v."""
        return features_per_head(self.d_model, self.n_heads) if self.d_v is None else self.d_v


def check_range(name: str, value: int | float, least: int, most: int) -> None:
    """Raise InputError unless the value is a finite number from `least` to `most`."""
    if not (math.isfinite(value) and least <= value <= most):
        ends = {"least": least, "most": most}
        raise InputError("{name} goes from {least} to {most}, but got {value}", name=name, value=value, **ends)


def check_head_features(config: ModelConfig) -> None:
    """Raise InputError when heads cannot have this d_k or d_v, or cannot share the features evenly.

    Sliced heads have d_k = d_v = d_model / n_heads, and rotary positions need an even d_k.
    """
    own = features_per_head(config.d_model, config.n_heads) if config.heads == "sliced" or config.n_heads < 1 else None
    for name, width in (("d_k", config.query_features), ("d_v", config.value_features)):
        n, most = config.n_heads, MAX_QUERY_FEATURES // config.n_heads
        asked = {"name": name, "most": most, "n": n, "width": width, "own": own}
        if not 1 <= width <= most:
            raise InputError("{name} goes from 1 to {most} with n_heads = {n}, but got {width}", **asked)
        if own is not None and width != own:
            raise InputError(
                "a head that reads only its slice has {name} = {own}; let the heads project all features instead",
                **asked,
            )
    if config.positions == "rotary" and (d_k := config.query_features) % 2:
        raise InputError("rotary positions turn pairs of features, so d_k must be even, but it is {d_k}", d_k=d_k)


def draw_model(config: ModelConfig, generator: Generator) -> Transformer:
    """Draw an untrained model of torch tensors.

    All weights are drawn from `generator`, in the order of the computation. Fixed token vectors are the same for every
    generator: they belong to the task, not to the model.
    """
    import torch

    std, context, d_model = config.embedding_std, config.context, config.d_model
    fixed_table = token_table = position_table = W_unembed = b_unembed = None
    if config.output == "vectors":
        fixed_table = fixed_vectors(config.vocabulary, d_model) * std
    else:
        token_table = torch.randn(config.vocabulary, d_model, generator=generator) * std
    if config.positions in ("learned", "qk"):
        position_table = torch.randn(context, d_model, generator=generator) * std
    may_attend = causal_mask(context) if config.causal else full_mask(context)
    if config.positions == "alibi":
        may_attend = mask_scores(alibi_biases(distances(context, context), config.n_heads), may_attend)
    layers = tuple(draw_layer(config, generator) for _ in range(config.n_layers))
    if config.output == "scores":
        W_unembed, b_unembed = draw_linear(d_model, config.vocabulary, bias=True, generator=generator)
    return Transformer(
        config=config,
        fixed_table=fixed_table,
        token_table=token_table,
        position_table=position_table,
        waves=sinusoidal_positions(context, d_model) if config.positions == "sinusoidal" else None,
        layers=layers,
        norm=new_norm(config),
        W_unembed=W_unembed,
        b_unembed=b_unembed,
        may_attend=may_attend,
    )


def draw_layer(config: ModelConfig, generator: Generator) -> Block:
    """Draw a layer with new weights, in the order of the computation."""
    rotary = Rotary() if config.positions == "rotary" else None
    sizes = {"d_model": config.d_model, "n_heads": config.n_heads, "rotary": rotary}
    if config.heads == "projected":
        heads = MultiHeadAttention.draw(**sizes, d_k=config.d_k, d_v=config.d_v, generator=generator)
    else:
        heads = SlicedHeads.draw(**sizes, generator=generator)
    return Block(
        attention=replace(heads, sink=namespace(None).zeros(config.n_heads)) if config.sink else heads,
        norm=new_norm(config),
        mlp_norm=new_norm(config) if config.mlp else None,
        mlp=draw_mlp(config.d_model, generator) if config.mlp else None,
        scale=None if config.scaling else 1.0,
        residual=config.residual,
    )


def draw_mlp(d_model: int, generator: Generator) -> Mlp:
    """Draw an MLP with new weights and four times as many hidden features."""
    W_up, b_up = draw_linear(d_model, 4 * d_model, bias=True, generator=generator)
    W_down, b_down = draw_linear(4 * d_model, d_model, bias=True, generator=generator)
    return Mlp(W_up=W_up, b_up=b_up, W_down=W_down, b_down=b_down, activation="relu")


def new_norm(config: ModelConfig) -> LayerNorm | None:
    """Return a layer norm with gain 1 and shift 0, or None where the model has no norms."""
    xp = namespace(None)
    return LayerNorm(xp.ones(config.d_model), xp.zeros(config.d_model)) if config.layer_norm else None


def model_with(config: ModelConfig, weights: Float[Array, "*runs parameters"]) -> Transformer:
    """Return a model of these sizes whose arrays are views of `weights`, of its library and with its axes of runs."""
    return of_vector(blank(config), weights)


@functools.lru_cache(maxsize=256)
def blank(config: ModelConfig) -> Transformer:
    """Return a model with structure and fixed arrays, but no memory for weights: each is a single 0, expanded."""
    import torch

    with torch.inference_mode(False):  # it is kept, so it must be fit for every use
        drawn = draw_model(config, generator(0))
        zeros = (torch.zeros(()).expand(weight.shape) for _, weight in named_weights(drawn))
        return with_weights(drawn, zeros, torch.zeros(()))
