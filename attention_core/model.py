"""A small transformer whose attention is the `attend` of the first lesson.

tokens → embedding + position → layers of attention (and MLP) → a score for each next token
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_core.gradients import layer_norm_backward, linear_backward
from attention_core.heads import MultiHeadAttention, MultiHeadTrace, SlicedHeads, features_per_head, linear
from attention_core.masks import causal_mask, full_mask

MAX_CONTEXT = 64
MAX_D_MODEL = 64
MAX_LAYERS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """The size and the parts of a `TinyTransformer`. Raises ValueError for what cannot be built."""

    vocabulary: int
    context: int  # the most tokens it can see at once
    d_model: int = 16
    n_heads: int = 2
    n_layers: int = 1
    heads: Literal["projected", "sliced"] = "projected"
    positions: Literal["learned", "none"] = "learned"
    causal: bool = True
    scaling: bool = True
    residual: bool = True
    layer_norm: bool = False
    mlp: bool = False
    embedding_std: float = 1.0

    def __post_init__(self):
        for name, value, most in (
            ("context", self.context, MAX_CONTEXT),
            ("d_model", self.d_model, MAX_D_MODEL),
            ("n_layers", self.n_layers, MAX_LAYERS),
        ):
            if not 1 <= value <= most:
                raise ValueError(f"{name} goes from 1 to {most}, but got {value}")
        if self.vocabulary < 2:
            raise ValueError(f"a model needs at least 2 different tokens to choose from, but got {self.vocabulary}")
        if not (math.isfinite(self.embedding_std) and 0 <= self.embedding_std <= 100):
            raise ValueError(f"embedding_std goes from 0 to 100, but got {self.embedding_std}")
        features_per_head(self.d_model, self.n_heads)


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
        kind = MultiHeadAttention if config.heads == "projected" else SlicedHeads
        self.norm = nn.LayerNorm(config.d_model) if config.layer_norm else None
        self.attention = kind(config.d_model, config.n_heads, generator=generator)
        self.mlp = Mlp(config, generator) if config.mlp else None
        self.scale = None if config.scaling else 1.0
        self.residual = config.residual

    def forward(self, x: Float[Tensor, "*batch tokens d_model"], may_attend: Tensor | None) -> BlockTrace:
        """Everything this layer computes, the tokens it hands on among it."""
        normed = x if self.norm is None else self.norm(x)
        attended, attention = self.attention(normed, may_attend, scale=self.scale)
        after_attention = x + attended if self.residual else attended
        output = after_attention
        if self.mlp is not None:
            thought = self.mlp(after_attention)
            output = after_attention + thought if self.residual else thought
        return BlockTrace(x, normed, attention, after_attention, output)

    def backward(
        self, trace: BlockTrace, d_output: Float[Tensor, "*batch tokens d_model"]
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """From the gradient of the output to that of x; fills the gradients of the weights."""
        d_after = d_output
        if self.mlp is not None:
            d_thought = self.mlp.backward(trace.after_attention, d_output)
            d_after = d_output + d_thought if self.residual else d_thought
        d_x = self.attention.backward(trace.normed, trace.attention, d_after, self.scale)
        if self.norm is not None:
            d_x = layer_norm_backward(self.norm, trace.x, d_x)
        return d_after + d_x if self.residual else d_x


class Mlp(nn.Module):
    """Four times as many features, a nonlinearity, and back: each token for itself."""

    def __init__(self, config: ModelConfig, generator: torch.Generator):
        super().__init__()
        d_model = config.d_model
        self.norm = nn.LayerNorm(d_model) if config.layer_norm else None
        self.up = linear(d_model, 4 * d_model, bias=True, generator=generator)
        self.down = linear(4 * d_model, d_model, bias=True, generator=generator)

    def forward(self, x: Float[Tensor, "*batch tokens d_model"]) -> Float[Tensor, "*batch tokens d_model"]:
        """The tokens after the MLP, without the shortcut."""
        normed = x if self.norm is None else self.norm(x)
        return self.down(torch.relu(self.up(normed)))

    def backward(
        self, x: Float[Tensor, "*batch tokens d_model"], d_output: Float[Tensor, "*batch tokens d_model"]
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """From the gradient of the output to that of x; fills the gradients of the weights."""
        normed = x if self.norm is None else self.norm(x)
        hidden = torch.relu(self.up(normed))
        d_hidden = linear_backward(self.down, hidden, d_output) * (hidden > 0)
        d_x = linear_backward(self.up, normed, d_hidden)
        return d_x if self.norm is None else layer_norm_backward(self.norm, x, d_x)


class TinyTransformer(nn.Module):
    """Token and position embedding, layers of attention, and a linear map to the vocabulary.

    All weights are drawn from `generator`, in the order of the computation.
    """

    def __init__(self, config: ModelConfig, generator: torch.Generator):
        super().__init__()
        self.config = config
        std, d_model = config.embedding_std, config.d_model
        self.token_table = nn.Parameter(torch.randn(config.vocabulary, d_model, generator=generator) * std)
        self.position_table = None
        if config.positions == "learned":
            self.position_table = nn.Parameter(torch.randn(config.context, d_model, generator=generator) * std)
        self.layers = nn.ModuleList(Block(config, generator) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(d_model) if config.layer_norm else None
        self.unembed = linear(d_model, config.vocabulary, bias=True, generator=generator)
        self.may_attend = causal_mask(config.context) if config.causal else full_mask(config.context)

    def forward(self, ids: Int[Tensor, "*batch tokens"]) -> ModelTrace:
        """Everything the model computes for these tokens.

        Raises ValueError when there are more tokens than the model can see.
        """
        n_tokens = ids.shape[-1]
        if not 1 <= n_tokens <= self.config.context:
            raise ValueError(f"this model sees 1 to {self.config.context} tokens at once, but got {n_tokens}")
        x = nn.functional.embedding(ids, self.token_table)
        if self.position_table is not None:
            x = x + self.position_table[:n_tokens]
        layers = []
        for layer in self.layers:
            layers.append(layer(x, self.may_attend[:n_tokens, :n_tokens]))
            x = layers[-1].output
        normed = x if self.norm is None else self.norm(x)
        return ModelTrace(ids, tuple(layers), normed, self.unembed(normed))

    def backward(self, trace: ModelTrace, d_logits: Float[Tensor, "*batch tokens vocabulary"]) -> None:
        """Fill the gradient of every weight, from the gradient of the logits: the chain rule, last step first."""
        d_x = linear_backward(self.unembed, trace.normed, d_logits)
        if self.norm is not None:
            d_x = layer_norm_backward(self.norm, trace.layers[-1].output, d_x)
        for layer, layer_trace in zip(reversed(self.layers), reversed(trace.layers), strict=True):
            d_x = layer.backward(layer_trace, d_x)
        d_rows = d_x.reshape(-1, d_x.shape[-1])
        self.token_table.grad = torch.zeros_like(self.token_table).index_add_(0, trace.ids.reshape(-1), d_rows)
        if self.position_table is not None:
            d_places = d_x.reshape(-1, *d_x.shape[-2:]).sum(dim=0)
            self.position_table.grad = torch.zeros_like(self.position_table)
            self.position_table.grad[: len(d_places)] = d_places
