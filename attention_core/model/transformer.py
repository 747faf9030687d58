"""The transformers of today as one family, with one forward pass: those that the app reads, of any size.

    ids → embedding, position, type → layers of attention and MLP → a score for each next token

It stands beside `model` because what the app trains has axes of runs in front of every weight and a gradient for every
step, and what it reads has neither, but more ways to be built. Both are made of the same `MultiHeadAttention`, and so
of the same `attend`, and leave the same trace; `model` is the member that the tests compare with.

Weights may be kept in half precision, or in few bits (`stored.few_bits`), to take less memory: each layer is widened
to 32 bits while it computes.
"""

import functools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jaxtyping import Float, Int

from attention_core.base.arrays import Array, Tokens, align_runs, namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_heads, check_ids, check_whole
from attention_core.model.model import FIXED, BlockTrace, LayerNorm, MlpTrace, ModelTrace, check_length
from attention_core.model.weights import named_weights, with_weights
from attention_core.one_head.attention import Mask
from attention_core.one_head.distances import distances
from attention_core.one_head.heads import KeyValues, MultiHeadAttention, linear, unit_rms
from attention_core.text.embeddings import Rotary, embed, sinusoidal_positions

Activation = Literal["silu", "gelu", "gelu_tanh", "relu"]
Unembedding = Literal["own", "tied", "none"]
MOST_WIDENED = 4096  # tokens of a vocabulary
WHOLE = Rotary()  # all features of queries and keys turn


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformerConfig:
    """The sizes of a `Transformer` and what it is built of. Raises InputError for what cannot be built.

    The defaults are those of Llama, Touvron et al. 2023, https://arxiv.org/abs/2302.13971. Nothing limits the sizes:
    what limits there are concern what the app trains, see `model`.
    """

    vocabulary: int
    context: int  # the most tokens it can see at once
    d_model: int
    n_layers: int
    d_hidden: int  # features between both halves of the MLP
    n_heads: int
    kv_heads: int  # fewer than n_heads where heads share keys and values
    d_head: int  # of queries, keys and values; d_model / n_heads, or a size of its own
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
    """The sizes of a model, as JSON keeps them."""
    return TransformerConfig(**{**settings, "rotary": Rotary(**settings["rotary"])})


def silu(x: Array) -> Array:
    """x · sigmoid(x): Elfwing et al. 2017, https://arxiv.org/abs/1702.03118."""
    return x / (1 + namespace(x).exp(-x))


def gelu(x: Array) -> Array:
    """x · P(a standard normal number is below x): Hendrycks & Gimpel 2016, https://arxiv.org/abs/1606.08415."""
    return x * (1 + erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: Array) -> Array:
    """`gelu`, nearly, without erf: section 2 of the same paper, and GPT-2."""
    return x * (1 + namespace(x).tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def relu(x: Array) -> Array:
    """x where it is above 0, and 0 elsewhere."""
    return namespace(x).maximum(x, namespace(x).zeros((), dtype=x.dtype))


def erf(x: Array) -> Array:
    """The error function of each number. NumPy has none, so it borrows torch's."""
    import torch

    return torch.erf(x) if isinstance(x, torch.Tensor) else torch.erf(torch.asarray(x)).numpy()


ACTIVATIONS: dict[Activation, Callable[[Array], Array]] = {
    "silu": silu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "relu": relu,
}


@dataclass(frozen=True, eq=False)
class RmsNorm:
    """The features of each token divided by the root of the mean of their squares, times a gain for each.

    Zhang & Sennrich 2019, https://arxiv.org/abs/1910.07467.
    """

    gain: Float[Array, " d_model"]
    epsilon: float

    def __call__(self, x: Tokens) -> Tokens:
        """The normed tokens."""
        return unit_rms(x, self.epsilon) * align_runs(self.gain, x, 1)


Norm = LayerNorm | RmsNorm


@dataclass(frozen=True, eq=False, kw_only=True)
class FeedForward:
    """The MLP: more features, a nonlinearity, and back, each token for itself.

    With W_gate the features that go up are multiplied by the nonlinearity of others.
    """

    W_gate: Float[Array, "d_model d_hidden"] | None = None
    b_gate: Float[Array, " d_hidden"] | None = None
    W_up: Float[Array, "d_model d_hidden"]
    b_up: Float[Array, " d_hidden"] | None = None
    W_down: Float[Array, "d_hidden d_model"]
    b_down: Float[Array, " d_model"] | None = None
    activation: Activation

    def __call__(self, x: Tokens) -> MlpTrace:
        """The tokens on their way through, x among them as the MLP reads it."""
        activate, up = ACTIVATIONS[self.activation], linear(x, self.W_up, self.b_up)
        hidden = activate(up) if self.W_gate is None else activate(linear(x, self.W_gate, self.b_gate)) * up
        return MlpTrace(x, hidden, linear(hidden, self.W_down, self.b_down))


@dataclass(frozen=True, eq=False, kw_only=True)
class TransformerLayer:
    """Attention and MLP, each with a shortcut around, and with its norm before it or after the shortcut.

    Side by side, both read the same tokens, and what the trace has after attention is read by neither.
    """

    norm: Norm
    attention: MultiHeadAttention
    mlp_norm: Norm
    mlp: FeedForward
    norm_place: Literal["before", "after"]
    parallel: bool

    def __call__(
        self,
        x: Tokens,
        may_attend: Mask | None,
        ablated: Collection[int] = (),
        past: KeyValues | None = None,
        patched: Mapping[int, Float[Array, "*batch tokens d_head"]] | None = None,
    ) -> BlockTrace:
        """Everything this layer computes, the tokens it hands on among it."""
        before = self.norm_place == "before"
        normed = self.norm(x) if before else x
        attended, attention = self.attention(normed, may_attend, ablated=ablated, past=past, patched=patched)
        after_attention = x + attended if before else self.norm(x + attended)
        mlp_reads = x if self.parallel else after_attention
        mlp = self.mlp(self.mlp_norm(mlp_reads) if before else mlp_reads)
        output = after_attention + mlp.output
        return BlockTrace(x, normed, attention, after_attention, mlp, output if before else self.mlp_norm(output))


@dataclass(frozen=True, eq=False, kw_only=True)
class Transformer:
    """A member of the family: its weights, of torch or of NumPy, and what it computes of ids.

    All maps are used as x @ W. A model without unembedding gives vectors instead of scores.
    """

    config: TransformerConfig = field(metadata=FIXED)
    token_table: Float[Array, "vocabulary d_model"]
    position_table: Float[Array, "context d_model"] | None = None
    type_table: Float[Array, "token_types d_model"] | None = None
    embedding_norm: Norm | None = None
    layers: tuple[TransformerLayer, ...]
    norm: Norm | None = None
    W_unembed: Float[Array, "d_model vocabulary"] | None = None  # None where it is tied, too
    b_unembed: Float[Array, " vocabulary"] | None = None

    def __call__(
        self,
        ids: Int[Array, "*batch tokens"],
        ablated: Collection[tuple[int, int]] = (),
        past: Sequence[KeyValues] = (),
        types: Int[Array, "*batch tokens"] | None = None,
        patched: Mapping[tuple[int, int], Float[Array, "*batch tokens d_head"]] | None = None,
        scored: slice = slice(None),
    ) -> ModelTrace:
        """Everything the model computes for these tokens. `ablated` lists the (layer, head) pairs to set to zero, and
        `patched` has for some of them another output.

        `past` has for each layer the keys and values of the tokens before these: see `cache`. `types` are those of the
        tokens, all 0 where they are left out. Only the positions in `scored` get logits: over a large vocabulary they
        take more memory than all else. Raises InputError for ids and heads that the model does not have, and for more
        tokens than it can see.
        """
        check_ids(ids, self.config.vocabulary)
        check_heads((*ablated, *(patched or ())), self.config.n_layers, self.config.n_heads)
        begin = past[0].k.shape[-2] if past else 0
        check_length(begin + ids.shape[-1], self.config.context)
        x = self.embed(ids, begin, types)  # *batch tokens d_model
        may_attend = self.visible(x, begin)  # queries keys
        layers = []
        for i, layer in enumerate(self.layers):
            off = [head for where, head in ablated if where == i]
            other = {head: output for (where, head), output in (patched or {}).items() if where == i}
            layer = widened(layer) if self.is_half else layer
            layers.append(layer(x, may_attend, off, past[i] if past else None, other))
            x = layers[-1].output
        normed = x if self.norm is None else widened(self.norm)(x)
        return ModelTrace(ids, None, tuple(layers), normed, self.unembed(normed[..., scored, :]))

    @functools.cached_property
    def is_half(self) -> bool:
        """Whether some weights are kept in fewer than 32 bits; asked once: a walk over all weights takes its time."""
        return any(weight.dtype.itemsize < 4 for _, weight in named_weights(self))

    def embed(self, ids: Int[Array, "*batch tokens"], begin: int, types: Int[Array, "*batch tokens"] | None) -> Tokens:
        """What enters the first layer: a row for each token, for its position, and for its type."""
        end, x = begin + ids.shape[-1], widened(embed(ids, self.token_table))
        if self.position_table is not None:
            x = x + widened(self.position_table[begin:end])
        if self.config.positions == "sinusoidal":
            x = x + sinusoidal_positions(end, self.config.d_model, like=x)[begin:]
        if self.type_table is not None:
            x = x + widened(self.type_table[0] if types is None else embed(types, self.type_table))
        return x if self.embedding_norm is None else widened(self.embedding_norm)(x)

    def visible(self, x: Tokens, begin: int) -> Mask | None:
        """Which token sees which: in a causal model those up to itself, in another one all, and nothing is masked."""
        end = begin + x.shape[-2]
        return distances(end - begin, end, begin, like=x) <= 0 if self.config.causal else None

    def unembed(self, normed: Tokens) -> Float[Array, "*batch tokens d_output"]:
        """A score for each token of the vocabulary, or the vectors as they are."""
        if self.config.unembedding == "none":
            return normed
        W = self.token_table.mT if self.W_unembed is None else self.W_unembed
        if self.is_half and self.b_unembed is None:  # a part at a time: as 32 bits it is the largest of all weights
            parts = range(0, W.shape[-1], MOST_WIDENED)
            scores = [linear(normed, widened(W.mT[at : at + MOST_WIDENED]).mT) for at in parts]
            return namespace(normed).concat(scores, axis=-1)
        return linear(normed, widened(W), widened(self.b_unembed))


def widened(part: Any) -> Any:
    """The part, or the array, with weights of fewer bits as 32-bit numbers; others stay as they are."""
    if hasattr(part, "widen"):
        return part.widen()
    if hasattr(part, "shape"):
        xp = namespace(part)
        return part if part.dtype.itemsize >= 4 else xp.asarray(part, dtype=xp.float32)
    if part is None or all(weight.dtype.itemsize >= 4 for _, weight in named_weights(part)):
        return part
    weights = [widened(weight) for _, weight in named_weights(part)]
    return with_weights(part, iter(weights), weights[0])


def weight_shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """The name of each weight of such a model and its shape, such as "layers.0.attention.W_q": (576, 576)."""
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
    """The weights of one layer, by their names in it."""
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
    """W, and b if there is one."""
    return {f"{part}.W_{name}": (d_in, d_out)} | ({f"{part}.b_{name}": (d_out,)} if bias else {})


def norm_shapes(name: str, config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """A gain for each feature, and for a layer norm a shift."""
    parts = ("gain", "shift") if config.norm == "layer" else ("gain",)
    return {f"{name}.{part}": (config.d_model,) for part in parts}


def build_transformer(config: TransformerConfig, weights: Mapping[str, Array]) -> Transformer:
    """The model of these weights, by the names of `weight_shapes`. Raises InputError unless it is just these."""
    check_weights(weight_shapes(config), {name: tuple(weight.shape) for name, weight in weights.items()})
    return Transformer(
        config=config,
        layers=tuple(build_layer(config, part_of(weights, f"layers.{i}")) for i in range(config.n_layers)),
        embedding_norm=build_norm(config, part_of(weights, "embedding_norm")) if config.embedding_norm else None,
        norm=build_norm(config, part_of(weights, "norm")) if config.final_norm else None,
        **{name: weight for name, weight in weights.items() if "." not in name},
    )


def build_layer(config: TransformerConfig, weights: Mapping[str, Array]) -> TransformerLayer:
    """One layer of these weights, by their names in it."""
    attention = MultiHeadAttention(
        **part_of(weights, "attention"),
        n_heads=config.n_heads,
        rotary=config.rotary if config.positions == "rotary" else None,
        epsilon=config.epsilon,
        window=None if config.window is None else (config.window - 1, None),
    )
    return TransformerLayer(
        norm=build_norm(config, part_of(weights, "norm")),
        attention=attention,
        mlp_norm=build_norm(config, part_of(weights, "mlp_norm")),
        mlp=FeedForward(**part_of(weights, "mlp"), activation=config.activation),
        norm_place=config.norm_place,
        parallel=config.parallel,
    )


def build_norm(config: TransformerConfig, weights: Mapping[str, Array]) -> Norm:
    """The norm of these weights."""
    norm = LayerNorm if config.norm == "layer" else RmsNorm
    return norm(**weights, epsilon=config.epsilon)


def part_of(weights: Mapping[str, Array], name: str) -> dict[str, Array]:
    """The weights whose names begin so, by the rest of their names."""
    return {key.removeprefix(name + "."): weight for key, weight in weights.items() if key.startswith(name + ".")}


def check_weights(expected: Mapping[str, tuple[int, ...]], came: Mapping[str, tuple[int, ...]]) -> None:
    """Raise InputError unless there is each weight, in its shape, and no other."""
    for name in expected.keys() | came.keys():
        if expected.get(name) != came.get(name):
            raise TechnicalError(
                "the weight {name} has the shape {expected}, but got {came}",
                name=name,
                expected=str(expected.get(name, "of no weight of this model")),
                came=str(came.get(name, "none")),
            )
