"""A small transformer whose attention is the `attend` of the first lesson.

    ids → embedding + position → blocks of attention and MLP → a score for each next token

Each block is pre-norm: x + Attention(Norm(x)), then x + MLP(Norm(x)). (Xiong et al. 2020,
https://arxiv.org/abs/2002.04745.) Norms, MLP and shortcuts can be left out, to see what each is worth.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from jaxtyping import Float, Int

from attention_core.base.arrays import Array, Positions, Tokens, align_runs, namespace, row_products, row_sum
from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.inputs import check_heads, check_ids
from attention_core.base.randomness import Generator, draw_linear
from attention_core.base.traces import Trace
from attention_core.one_head.attention import Mask, mask_scores
from attention_core.one_head.distances import alibi_biases, distances
from attention_core.one_head.heads import (
    KeyValues,
    MultiHeadAttention,
    MultiHeadTrace,
    SlicedHeads,
    add_rows,
    features_per_head,
    linear,
)
from attention_core.one_head.masks import causal_mask, full_mask
from attention_core.text.embeddings import Rotary, embed, fixed_vectors, one_hot, sinusoidal_positions

MAX_CONTEXT = 256
MAX_D_MODEL = 64
MAX_LAYERS = 4
MAX_QUERY_FEATURES = 512  # of all heads together; values too
MOST_ONE_HOT = 512  # tokens of a vocabulary; with more, rows of zeros with a single 1 are slow and large


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig:
    """The size and the parts of a `TinyTransformer`. Raises InputError for what cannot be built.

    `positions`: "learned" and "sinusoidal" vectors are added to the embedding; "qk" are learned vectors added to what
    queries and keys are made of, in every layer, but never to the values; "rotary" rotates queries and keys; "alibi"
    takes something off each score for every step between query and key.
    """

    vocabulary: int
    context: int  # the most tokens it can see at once
    d_model: int = 16  # enough for a few dozen tokens, and trained within a second
    n_heads: int = 2  # the fewest that can differ
    n_layers: int = 1  # one layer is all that a single attention lesson needs
    d_k: int | None = None  # features of each head's queries and keys; None means d_model / n_heads, as usual
    d_v: int | None = None  # features of each head's values; None means the same
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
    def query_features(self) -> int:
        """d_k: the features of each head's queries and keys."""
        return features_per_head(self.d_model, self.n_heads) if self.d_k is None else self.d_k

    @property
    def value_features(self) -> int:
        """d_v: the features of each head's values."""
        return features_per_head(self.d_model, self.n_heads) if self.d_v is None else self.d_v


def check_range(name: str, value: int | float, least: int, most: int) -> None:
    """Raises InputError unless the value is a finite number from `least` to `most`."""
    if not (math.isfinite(value) and least <= value <= most):
        ends = {"least": least, "most": most}
        raise InputError("{name} goes from {least} to {most}, but got {value}", name=name, value=value, **ends)


def check_head_features(config: ModelConfig) -> None:
    """Raises InputError when queries or values cannot have so many features, or the heads not share them evenly."""
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


FIXED = {"trained": False}  # what belongs to the task or to the sizes, and is never changed


@dataclass(slots=True, eq=False, repr=False)
class BlockTrace(Trace):
    """The tokens on their way through one layer, with its attention."""

    x: Tokens
    normed: Tokens
    attention: MultiHeadTrace
    after_attention: Tokens
    mlp: "MlpTrace | None"
    output: Tokens


@dataclass(slots=True, eq=False, repr=False)
class MlpTrace(Trace):
    """The tokens on their way through an MLP."""

    normed: Tokens
    hidden: Float[Array, "*batch tokens d_hidden"]
    output: Tokens


@dataclass(slots=True, eq=False, repr=False)
class ModelTrace(Trace):
    """What the model computes: its layers, and a score for each token that could come next."""

    ids: Int[Array, "*batch tokens"]
    one_hot: Float[Array, "*batch tokens vocabulary"] | None  # None for a large vocabulary
    layers: tuple[BlockTrace, ...]
    normed: Tokens
    logits: Float[Array, "*batch scored d_output"]


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """x̂ · gain + shift, with x̂ the features of each token brought to mean 0 and variance 1."""

    gain: Float[Array, "*runs d_model"]
    shift: Float[Array, "*runs d_model"]
    epsilon: float = 1e-5

    def __call__(self, x: Tokens) -> Tokens:
        """The normed tokens."""
        x_hat, _ = standardise(x, self.epsilon)
        return x_hat * align_runs(self.gain, x, 1) + align_runs(self.shift, x, 1)


def standardise(
    x: Float[Array, "*batch d_model"], epsilon: float = 1e-5
) -> tuple[Float[Array, "*batch d_model"], Float[Array, "*batch 1"]]:
    """x̂ = (x − mean) / deviation, and the deviation √(variance + ε) of the features of each token."""
    xp = namespace(x)
    centred = x - row_sum(x) / x.shape[-1]
    deviation = xp.sqrt(row_products(centred, centred)[..., None] / x.shape[-1] + epsilon)
    return centred / deviation, deviation


@dataclass(frozen=True, eq=False, kw_only=True)
class Mlp:
    """Four times as many features, a nonlinearity, and back: each token for itself."""

    norm: LayerNorm | None
    W_up: Float[Array, "*runs d_model d_hidden"]
    b_up: Float[Array, "*runs d_hidden"]
    W_down: Float[Array, "*runs d_hidden d_model"]
    b_down: Float[Array, "*runs d_model"]

    @classmethod
    def draw(cls, config: ModelConfig, generator: Generator) -> "Mlp":
        """New weights, drawn in the order of the computation."""
        W_up, b_up = draw_linear(config.d_model, 4 * config.d_model, bias=True, generator=generator)
        W_down, b_down = draw_linear(4 * config.d_model, config.d_model, bias=True, generator=generator)
        return cls(norm=new_norm(config), W_up=W_up, b_up=b_up, W_down=W_down, b_down=b_down)

    def __call__(self, x: Tokens) -> MlpTrace:
        """The tokens after the MLP, without the shortcut."""
        normed = x if self.norm is None else self.norm(x)
        xp = namespace(x)
        hidden = xp.maximum(linear(normed, self.W_up, self.b_up), xp.zeros((), dtype=x.dtype))
        return MlpTrace(normed, hidden, linear(hidden, self.W_down, self.b_down))


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """One layer: attention, then perhaps an MLP, each with its norm before and its shortcut around."""

    attention: MultiHeadAttention | SlicedHeads
    norm: LayerNorm | None
    mlp: Mlp | None
    scale: float | None  # of the scores; None means 1/√d_k
    residual: bool

    @classmethod
    def draw(cls, config: ModelConfig, generator: Generator) -> "Block":
        """New weights, drawn in the order of the computation."""
        rotary = Rotary() if config.positions == "rotary" else None
        sizes = {"d_model": config.d_model, "n_heads": config.n_heads, "rotary": rotary}
        if config.heads == "projected":
            heads = MultiHeadAttention.draw(**sizes, d_k=config.d_k, d_v=config.d_v, generator=generator)
        else:
            heads = SlicedHeads.draw(**sizes, generator=generator)
        return cls(
            attention=replace(heads, sink=namespace(None).zeros(config.n_heads)) if config.sink else heads,
            norm=new_norm(config),
            mlp=Mlp.draw(config, generator) if config.mlp else None,
            scale=None if config.scaling else 1.0,
            residual=config.residual,
        )

    def __call__(
        self,
        x: Tokens,
        may_attend: Mask | None,
        positions: Positions | None = None,
        ablated: Collection[int] = (),
        past: KeyValues | None = None,
    ) -> BlockTrace:
        """Everything this layer computes, the tokens it hands on among it."""
        normed = x if self.norm is None else self.norm(x)
        attended, attention = self.attention(
            normed, may_attend, scale=self.scale, positions=positions, ablated=ablated, past=past
        )
        output = after_attention = x + attended if self.residual else attended
        mlp = None if self.mlp is None else self.mlp(after_attention)
        if mlp is not None:
            output = after_attention + mlp.output if self.residual else mlp.output
        return BlockTrace(x, normed, attention, after_attention, mlp, output)


@dataclass(frozen=True, eq=False, kw_only=True)
class TinyTransformer:
    """Token and position embedding, layers of attention, and a linear map to the vocabulary.

    A model that gives vectors back has fixed token vectors and no such map. The weights may be torch tensors, or
    NumPy arrays with or without axes of runs in front: then `ids` and all that is computed have those axes too.
    """

    config: ModelConfig = field(metadata=FIXED)
    fixed_table: Float[Array, "vocabulary d_model"] | None = field(metadata=FIXED)
    token_table: Float[Array, "*runs vocabulary d_model"] | None
    position_table: Float[Array, "*runs context d_model"] | None
    waves: Float[Array, "context d_model"] | None = field(metadata=FIXED)
    layers: tuple[Block, ...]
    norm: LayerNorm | None
    W_unembed: Float[Array, "*runs d_model vocabulary"] | None
    b_unembed: Float[Array, "*runs vocabulary"] | None
    may_attend: Mask = field(metadata=FIXED)  # of all positions; for ALiBi a bias for each head

    @classmethod
    def draw(cls, config: ModelConfig, generator: Generator) -> "TinyTransformer":
        """An untrained model of torch tensors; all weights are drawn from `generator`, in the order of the computation.

        Fixed token vectors are the same for every generator: they belong to the task, not to the model.
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
        layers = tuple(Block.draw(config, generator) for _ in range(config.n_layers))
        if config.output == "scores":
            W_unembed, b_unembed = draw_linear(d_model, config.vocabulary, bias=True, generator=generator)
        return cls(
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

    def __call__(
        self,
        ids: Int[Array, "*batch tokens"],
        ablated: Collection[tuple[int, int]] = (),
        past: Sequence[KeyValues] = (),
    ) -> ModelTrace:
        """Everything the model computes for these tokens. `ablated` lists the (layer, head) pairs to set to zero.

        `past` has for each layer the keys and values of the tokens before these: see `cache`.
        Raises InputError for ids and heads that it does not have, and for more tokens than it can see.
        """
        check_ids(ids, self.config.vocabulary)
        check_heads(ablated, self.config.n_layers, self.config.n_heads)
        begin = past[0].k.shape[-2] if past else 0
        end = begin + ids.shape[-1]
        check_length(end, self.config.context)
        added, in_attention = self.positions(end, begin)  # *runs tokens d_model, or None
        may_attend = self.may_attend[..., begin:end, :end]
        large = self.config.vocabulary > MOST_ONE_HOT  # such a model has no axes of runs
        rows = None if large else one_hot(ids, self.config.vocabulary, self.table)  # *batch tokens vocabulary
        x = embed(ids, self.table) if large else linear(rows, self.table)  # *batch tokens d_model
        x = add_rows(x, added)
        layers = []
        for i, layer in enumerate(self.layers):
            off = [head for where, head in ablated if where == i]
            layers.append(layer(x, may_attend, in_attention, off, past[i] if past else None))
            x = layers[-1].output
        normed = x if self.norm is None else self.norm(x)
        logits = normed if self.W_unembed is None else linear(normed, self.W_unembed, self.b_unembed)
        return ModelTrace(ids, rows, tuple(layers), normed, logits)

    @property
    def table(self) -> Float[Array, "*runs vocabulary d_model"]:
        """A vector for each token: learned, or fixed."""
        return self.fixed_table if self.token_table is None else self.token_table

    @property
    def run_axes(self) -> int:
        """How many axes of runs stand in front of those of each weight."""
        return self.layers[0].attention.W_o.ndim - 2

    def positions(self, end: int, begin: int = 0) -> tuple[Positions | None, Positions | None]:
        """What is added to the embedding of these tokens, and to what queries and keys of each layer are made of."""
        table = self.waves if self.position_table is None else self.position_table  # of sines, or learned
        rows = None if table is None else table[..., begin:end, :]
        return (None, rows) if self.config.positions == "qk" else (rows, None)


def new_norm(config: ModelConfig) -> LayerNorm | None:
    """A layer norm that leaves what it has normed as it is, or nothing where the model has none."""
    xp = namespace(None)
    return LayerNorm(xp.ones(config.d_model), xp.zeros(config.d_model)) if config.layer_norm else None


def check_length(n_tokens: int, context: int) -> None:
    """Raises InputError for more tokens than the model can see, and for none."""
    if not 1 <= n_tokens <= context:
        raise TechnicalError(
            "this model sees 1 to {context} tokens at once, but got {n_tokens}", context=context, n_tokens=n_tokens
        )
