"""A small transformer whose attention is the `attend` of the first lesson.

tokens → embedding + position → layers of attention (and MLP) → a score for each next token
"""

import functools
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_core.embeddings import embedding_table, sinusoidal_positions
from attention_core.gradients import layer_norm_backward, linear_backward
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

    `positions`: a learned vector for each place, or Vaswani's sines and cosines, added to the embedding;
    `qk`, learned vectors added to what queries and keys are made of, in every layer, never to the values;
    `rotary`, queries and keys turned by their places. `output`: scores for the vocabulary, or the vectors
    themselves; the token vectors are then fixed, as in the notebook that copies four of them.
    """

    vocabulary: int
    context: int  # the most tokens it can see at once
    d_model: int = 16
    n_heads: int = 2
    n_layers: int = 1
    d_k: int | None = None  # features of each head's queries and keys; None means d_model / n_heads
    heads: Literal["projected", "sliced"] = "projected"
    positions: Literal["learned", "none", "sinusoidal", "rotary", "qk"] = "learned"
    causal: bool = True
    scaling: bool = True
    residual: bool = True
    layer_norm: bool = False
    mlp: bool = False
    embedding_std: float = 1.0
    output: Literal["scores", "vectors"] = "scores"

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
        self._check_queries(features_per_head(self.d_model, self.n_heads))

    @property
    def query_features(self) -> int:
        """d_k: the features of each head's queries and keys."""
        return self.d_model // self.n_heads if self.d_k is None else self.d_k

    def _check_queries(self, d_head: int) -> None:
        most = MAX_QUERY_FEATURES // self.n_heads
        if not 1 <= self.query_features <= most:
            raise ValueError(f"d_k goes from 1 to {most} with {self.n_heads} heads, but got {self.d_k}")
        if self.heads == "sliced" and self.query_features != d_head:
            raise ValueError(
                f"a head that reads only its slice has d_k = {d_head}, but got {self.d_k}; let the heads project"
            )
        if self.positions == "rotary" and self.query_features % 2:
            raise ValueError(
                f"rotary positions turn pairs of features, so d_k must be even, but it is {self.query_features}"
            )


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
        rotary = config.positions == "rotary"
        if config.heads == "projected":
            self.attention = MultiHeadAttention(
                config.d_model, config.n_heads, d_k=config.d_k, rotary=rotary, generator=generator
            )
        else:
            self.attention = SlicedHeads(config.d_model, config.n_heads, rotary=rotary, generator=generator)
        self.norm = nn.LayerNorm(config.d_model) if config.layer_norm else None
        self.mlp = Mlp(config, generator) if config.mlp else None
        self.scale = None if config.scaling else 1.0
        self.residual = config.residual

    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        may_attend: Tensor | None,
        places: Float[Tensor, "tokens d_model"] | None = None,
        without: Collection[int] = (),
    ) -> BlockTrace:
        """Everything this layer computes, the tokens it hands on among it."""
        normed = x if self.norm is None else self.norm(x)
        attended, attention = self.attention(normed, may_attend, scale=self.scale, places=places, without=without)
        after_attention = x + attended if self.residual else attended
        output = after_attention
        if self.mlp is not None:
            thought = self.mlp(after_attention)
            output = after_attention + thought if self.residual else thought
        return BlockTrace(x, normed, attention, after_attention, output)

    def backward(
        self,
        trace: BlockTrace,
        d_output: Float[Tensor, "*batch tokens d_model"],
        places: Float[Tensor, "tokens d_model"] | None = None,
    ) -> tuple[Float[Tensor, "*batch tokens d_model"], Float[Tensor, "*batch tokens d_model"] | None]:
        """From the gradient of the output to that of x, and of the places; fills the gradients of the weights."""
        d_after = d_output
        if self.mlp is not None:
            d_thought = self.mlp.backward(trace.after_attention, d_output)
            d_after = d_output + d_thought if self.residual else d_thought
        d_places = None
        if places is None:
            d_x = self.attention.backward(trace.normed, trace.attention, d_after, self.scale)
        else:
            d_places, d_given = self.attention.backward_parts(
                trace.normed, trace.attention, d_after, self.scale, places
            )
            d_x = d_places + d_given
        if self.norm is not None:
            d_x = layer_norm_backward(self.norm, trace.x, d_x)
        return (d_after + d_x if self.residual else d_x), d_places


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
        self.norm = nn.LayerNorm(d_model) if config.layer_norm else None
        scores = config.output == "scores"
        self.unembed = linear(d_model, config.vocabulary, bias=True, generator=generator) if scores else None
        self.may_attend = causal_mask(config.context) if config.causal else full_mask(config.context)

    def forward(self, ids: Int[Tensor, "*batch tokens"], without: Collection[tuple[int, int]] = ()) -> ModelTrace:
        """Everything the model computes for these tokens. `without` lists (layer, head) pairs to switch off.

        Raises ValueError when there are more tokens than the model can see.
        """
        n_tokens = ids.shape[-1]
        if not 1 <= n_tokens <= self.config.context:
            raise ValueError(f"this model sees 1 to {self.config.context} tokens at once, but got {n_tokens}")
        x = self.token_table[ids]
        # A slice of the whole would cost as much as an operation of so small a model.
        added = self.added_positions()
        if added is not None:
            x = x + (added if n_tokens == self.config.context else added[:n_tokens])
        may_attend = self.may_attend if n_tokens == self.config.context else self.may_attend[:n_tokens, :n_tokens]
        places, layers = self.places_of_queries(n_tokens), []
        for i, layer in enumerate(self.layers):
            off = [head for where, head in without if where == i]
            layers.append(layer(x, may_attend, places, off))
            x = layers[-1].output
        normed = x if self.norm is None else self.norm(x)
        return ModelTrace(ids, tuple(layers), normed, normed if self.unembed is None else self.unembed(normed))

    @functools.cached_property
    def weights(self) -> tuple[nn.Parameter, ...]:
        """All weights in their order. Looking for them in every layer anew would cost more than an update does."""
        return tuple(self.parameters())

    def added_positions(self) -> Float[Tensor, "context d_model"] | None:
        """What is added to the embedding of the tokens, place by place."""
        return self.position_table if self.config.positions == "learned" else self.waves

    def places_of_queries(self, n_tokens: int) -> Float[Tensor, "tokens d_model"] | None:
        """What is added to the input of queries and keys alone."""
        return self.position_table[:n_tokens] if self.config.positions == "qk" else None

    def backward(self, trace: ModelTrace, d_logits: Float[Tensor, "*batch tokens vocabulary"]) -> None:
        """Fill the gradient of every weight, from the gradient of the logits: the chain rule, last step first."""
        d_x = d_logits if self.unembed is None else linear_backward(self.unembed, trace.normed, d_logits)
        if self.norm is not None:
            d_x = layer_norm_backward(self.norm, trace.layers[-1].output, d_x)
        places, d_places = self.places_of_queries(trace.ids.shape[-1]), []
        for layer, layer_trace in zip(reversed(self.layers), reversed(trace.layers), strict=True):
            d_x, d_place = layer.backward(layer_trace, d_x, places)
            d_places.append(d_place)
        if self.config.output == "scores":
            nothing = torch.zeros_like(self.token_table)
            self.token_table.grad = nothing.index_put_((trace.ids,), d_x, accumulate=True)
        if self.position_table is not None:
            d_added = d_x if places is None else torch.stack(d_places).sum(dim=0)
            summed = d_added.reshape(-1, *d_added.shape[-2:]).sum(dim=0)
            unseen = self.config.context - summed.shape[0]
            self.position_table.grad = nn.functional.pad(summed, (0, 0, 0, unseen)) if unseen else summed
