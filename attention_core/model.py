"""A small transformer whose attention is the `attend` of the first lesson.

    ids → embedding + position → blocks of attention and MLP → a score for each next token

Each block is pre-norm: x + Attention(Norm(x)), then x + MLP(Norm(x)). (Xiong et al. 2020,
https://arxiv.org/abs/2002.04745.) Norms, MLP and shortcuts can be left out, to see what each is worth.
"""

import functools
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attention_core.embeddings import embedding_table, sinusoidal_positions
from attention_core.heads import MultiHeadAttention, MultiHeadTrace, SlicedHeads, features_per_head, linear
from attention_core.masks import causal_mask, full_mask
from attention_core.randomness import generator as make_generator

MAX_CONTEXT = 64
MAX_D_MODEL = 64
MAX_LAYERS = 4
MAX_QUERY_FEATURES = 512  # of all heads together
FIXED_VECTORS_SEED = 42


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """The size and the parts of a `TinyTransformer`. Raises ValueError for what cannot be built.

    `positions`: "learned" and "sinusoidal" vectors are added to the embedding; "qk" are learned vectors added to what
    queries and keys are made of, in every layer, but never to the values; "rotary" rotates queries and keys.
    """

    vocabulary: int
    context: int  # the most tokens it can see at once
    d_model: int = 16  # enough for a few dozen tokens, and trained within a second
    n_heads: int = 2  # the fewest that can differ
    n_layers: int = 1  # one layer is all that a single attention lesson needs
    d_k: int | None = None  # features of each head's queries and keys; None means d_model / n_heads, as usual
    heads: Literal["projected", "sliced"] = "projected"  # `MultiHeadAttention`; "sliced" for comparison
    positions: Literal["learned", "none", "sinusoidal", "rotary", "qk"] = "learned"  # as in GPT-2
    causal: bool = True  # what predicts the next token must not see it
    scaling: bool = True  # scores are divided by √d_k; without it a large d_k makes softmax too hard to train
    residual: bool = True  # x + attention(x): gradients reach the first layer as they are
    layer_norm: bool = False  # one layer as small as ours trains without; deep ones do not
    mlp: bool = False  # left out, all that is learned is learned by attention
    embedding_std: float = 1.0  # as `nn.Embedding` draws; the tasks choose smaller ones, which train sooner
    output: Literal["scores", "vectors"] = "scores"  # "vectors": gives fixed token vectors back, as a notebook does

    def __post_init__(self):
        check_range("context", self.context, 1, MAX_CONTEXT)
        check_range("d_model", self.d_model, 1, MAX_D_MODEL)
        check_range("n_layers", self.n_layers, 1, MAX_LAYERS)
        check_range("embedding_std", self.embedding_std, 0, 100)
        if self.vocabulary < 2:
            raise ValueError(f"a model needs at least 2 different tokens to choose from, but got {self.vocabulary}")
        check_query_features(self, features_per_head(self.d_model, self.n_heads))

    @property
    def query_features(self) -> int:
        """d_k: the features of each head's queries and keys."""
        return self.d_model // self.n_heads if self.d_k is None else self.d_k


def check_range(name: str, value: int | float, least: int, most: int) -> None:
    """Raises ValueError unless the value is a finite number from `least` to `most`."""
    if not (math.isfinite(value) and least <= value <= most):
        raise ValueError(f"{name} goes from {least} to {most}, but got {value}")


def check_query_features(config: ModelConfig, d_head: int) -> None:
    """Raises ValueError when queries cannot have so many features."""
    d_k, most = config.query_features, MAX_QUERY_FEATURES // config.n_heads
    if not 1 <= d_k <= most:
        raise ValueError(f"d_k goes from 1 to {most} with {config.n_heads} heads, but got {d_k}")
    if config.heads == "sliced" and d_k != d_head:
        raise ValueError(f"a head that reads only its slice has d_k = {d_head}, but got {d_k}; let the heads project")
    if config.positions == "rotary" and d_k % 2:
        raise ValueError(f"rotary positions turn pairs of features, so d_k must be even, but it is {d_k}")


def notebook_model(vocabulary: int) -> ModelConfig:
    """The model that the “hello world” notebook trains: sliced heads, nothing around the attention."""
    return ModelConfig(
        vocabulary=vocabulary, context=8, d_model=16, n_heads=2, heads="sliced", residual=False, embedding_std=1.0
    )


@dataclass(frozen=True, eq=False)
class BlockTrace:
    """The tokens on their way through one layer, with its attention."""

    x: Float[Tensor, "*batch tokens d_model"]
    normed: Float[Tensor, "*batch tokens d_model"]
    attention: MultiHeadTrace
    after_attention: Float[Tensor, "*batch tokens d_model"]
    output: Float[Tensor, "*batch tokens d_model"]


@dataclass(frozen=True, eq=False)
class ModelTrace:
    """What the model computes: its layers, and a score for each token that could come next."""

    ids: Int[Tensor, "*batch tokens"]
    layers: tuple[BlockTrace, ...]
    normed: Float[Tensor, "*batch tokens d_model"]
    logits: Float[Tensor, "*batch tokens vocabulary"]


class Block(nn.Module):
    """One layer: attention, then perhaps an MLP, each with its norm before and its shortcut around."""

    def __init__(self, config: ModelConfig, generator: torch.Generator):
        super().__init__()
        d_model, n_heads, rotary = config.d_model, config.n_heads, config.positions == "rotary"
        if config.heads == "projected":
            self.attention = MultiHeadAttention(d_model, n_heads, d_k=config.d_k, rotary=rotary, generator=generator)
        else:
            self.attention = SlicedHeads(d_model, n_heads, rotary=rotary, generator=generator)
        self.norm = norm_of(config)
        self.mlp = Mlp(config, generator) if config.mlp else None
        self.scale = None if config.scaling else 1.0
        self.residual = config.residual

    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        may_attend: Bool[Tensor, "tokens tokens"] | None,
        positions: Float[Tensor, "tokens d_model"] | None = None,
        ablated: Collection[int] = (),
    ) -> BlockTrace:
        """Everything this layer computes, the tokens it hands on among it."""
        normed = self.norm(x)
        attended, attention = self.attention(normed, may_attend, scale=self.scale, positions=positions, ablated=ablated)
        after_attention = x + attended if self.residual else attended
        output = after_attention
        if self.mlp is not None:
            processed = self.mlp(after_attention)
            output = after_attention + processed if self.residual else processed
        return BlockTrace(x, normed, attention, after_attention, output)


class Mlp(nn.Module):
    """Four times as many features, a nonlinearity, and back: each token for itself."""

    def __init__(self, config: ModelConfig, generator: torch.Generator):
        super().__init__()
        self.norm = norm_of(config)
        self.up = linear(config.d_model, 4 * config.d_model, bias=True, generator=generator)
        self.down = linear(4 * config.d_model, config.d_model, bias=True, generator=generator)

    def forward(self, x: Float[Tensor, "*batch tokens d_model"]) -> Float[Tensor, "*batch tokens d_model"]:
        """The tokens after the MLP, without the shortcut."""
        return self.down(torch.relu(self.up(self.norm(x))))


class TinyTransformer(nn.Module):
    """Token and position embedding, layers of attention, and a linear map to the vocabulary.

    All weights are drawn from `generator`, in the order of the computation. Fixed token vectors are the same
    for every generator: they belong to the task, not to the model.
    """

    def __init__(self, config: ModelConfig, generator: torch.Generator):
        super().__init__()
        self.config = config
        std, d_model = config.embedding_std, config.d_model
        if config.output == "vectors":
            fixed = embedding_table(config.vocabulary, d_model, make_generator(FIXED_VECTORS_SEED))
            self.register_buffer("token_table", fixed * std)
        else:
            self.token_table = nn.Parameter(torch.randn(config.vocabulary, d_model, generator=generator) * std)
        self.position_table = None
        if config.positions in ("learned", "qk"):
            self.position_table = nn.Parameter(torch.randn(config.context, d_model, generator=generator) * std)
        waves = sinusoidal_positions(config.context, d_model) if config.positions == "sinusoidal" else None
        self.register_buffer("waves", waves)
        self.layers = nn.ModuleList(Block(config, generator) for _ in range(config.n_layers))
        self.norm = norm_of(config)
        scores = config.output == "scores"
        self.unembed = linear(d_model, config.vocabulary, bias=True, generator=generator) if scores else nn.Identity()
        self.may_attend = causal_mask(config.context) if config.causal else full_mask(config.context)

    def forward(self, ids: Int[Tensor, "*batch tokens"], ablated: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these tokens. `ablated` lists the (layer, head) pairs to set to zero.

        Raises ValueError when there are more tokens than the model can see.
        """
        n_tokens = ids.shape[-1]
        check_length(n_tokens, self.config.context)
        added, in_attention = self.positions(n_tokens)  # tokens d_model, or None
        may_attend = first(self.may_attend, n_tokens, n_tokens)
        x = self.token_table[ids]  # *batch tokens d_model
        if added is not None:
            x = x + added
        layers = []
        for i, layer in enumerate(self.layers):
            layers.append(layer(x, may_attend, in_attention, [head for where, head in ablated if where == i]))
            x = layers[-1].output
        normed = self.norm(x)
        logits = self.unembed(normed)  # *batch tokens vocabulary
        return ModelTrace(ids, tuple(layers), normed, logits)

    def positions(
        self, n_tokens: int
    ) -> tuple[Float[Tensor, "tokens d_model"] | None, Float[Tensor, "tokens d_model"] | None]:
        """What is added to the embedding of the tokens, and to what the queries and keys of each layer are made of."""
        if self.config.positions == "learned":
            return first(self.position_table, n_tokens), None
        if self.config.positions == "sinusoidal":
            return first(self.waves, n_tokens), None
        if self.config.positions == "qk":
            return None, first(self.position_table, n_tokens)
        return None, None

    @functools.cached_property
    def weights(self) -> tuple[nn.Parameter, ...]:
        """All weights in their order. Looking for them in every layer anew would cost more than an update does."""
        return tuple(self.parameters())


def norm_of(config: ModelConfig) -> nn.Module:
    """A layer norm, or nothing where the model has none."""
    return nn.LayerNorm(config.d_model) if config.layer_norm else nn.Identity()


def first(table: Tensor, *sizes: int) -> Tensor:
    """The first rows of a table, or rows and columns. The whole as it is: a slice costs as much as an operation."""
    return table if table.shape[0] == sizes[0] else table[tuple(slice(size) for size in sizes)]


def check_length(n_tokens: int, context: int) -> None:
    """Raises ValueError for more tokens than the model can see, and for none."""
    if not 1 <= n_tokens <= context:
        raise ValueError(f"this model sees 1 to {context} tokens at once, but got {n_tokens}")
