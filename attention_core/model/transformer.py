"""The transformer: from ids to a score for each token that could come next.

    ids → embedding + position → layers of attention and MLP → scores

One class serves the small models that are trained here (`small_model`) and those that others have trained (`family`).
All maps are used as x @ W. Weights may be torch tensors or NumPy arrays. In small models they may have axes of runs in
front; then ids, and all tensors computed from them, have those axes too.
"""

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jaxtyping import Float, Int

from attention_core.base.arrays import Array, Positions, Tokens, namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_heads, check_ids
from attention_core.base.traces import Trace
from attention_core.model.parts import Mlp, MlpTrace, Norm
from attention_core.model.weights import FIXED, named_weights, widened
from attention_core.one_head.attention import Mask
from attention_core.one_head.distances import distances
from attention_core.one_head.heads import KeyValues, MultiHeadAttention, MultiHeadTrace, SlicedHeads, add_rows, linear
from attention_core.text.embeddings import embed, one_hot

MOST_ONE_HOT = 512  # tokens of a vocabulary; with more, one-hot rows are slow and large
MOST_WIDENED = 4096  # tokens whose columns of the unembedding are widened to 32 bits at once

HeadOutputs = Mapping[int, Float[Array, "*batch tokens d_head"]]


@dataclass(slots=True, eq=False, repr=False)
class BlockTrace(Trace):
    """The tensors that one layer computes, in order, those of its attention and its MLP among them."""

    x: Tokens
    normed: Tokens
    attention: MultiHeadTrace
    after_attention: Tokens
    mlp: MlpTrace | None
    output: Tokens


@dataclass(slots=True, eq=False, repr=False)
class ModelTrace(Trace):
    """The tensors that a model computes: those of its layers, and a score for each token that could come next."""

    ids: Int[Array, "*batch tokens"]
    one_hot: Float[Array, "*batch tokens vocabulary"] | None  # None for a large vocabulary
    layers: tuple[BlockTrace, ...]
    normed: Tokens
    logits: Float[Array, "*batch scored d_output"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """One layer: attention, then an MLP, each with a norm and a residual connection. Only attention is always there.

    The norm comes before its part, x + part(norm(x)), as in Xiong et al. 2020, https://arxiv.org/abs/2002.04745; or
    after the residual connection, norm(x + part(x)), as in Vaswani et al. 2017. With `parallel`, attention and MLP read
    the same tokens, and neither reads `after_attention` of the trace.
    """

    attention: MultiHeadAttention | SlicedHeads
    norm: Norm | None = None
    mlp_norm: Norm | None = None
    mlp: Mlp | None = None
    scale: float | None = None  # of the scores; None means 1/√d_k
    residual: bool = True  # whether there are residual connections
    norm_place: Literal["before", "after"] = "before"
    parallel: bool = False

    def __call__(
        self,
        x: Tokens,
        may_attend: Mask | None,
        positions: Positions | None = None,
        ablated: Collection[int] = (),
        past: KeyValues | None = None,
        patched: HeadOutputs | None = None,
    ) -> BlockTrace:
        """Compute one layer. `Heads` explains the arguments."""
        edits = {"ablated": ablated, "past": past, "patched": patched}
        normed = self.normed_input(self.norm, x)
        found, attention = self.attention(normed, may_attend, scale=self.scale, positions=positions, **edits)
        after_attention = self.add_residual(x, found, self.norm)
        if self.mlp is None:
            return BlockTrace(x, normed, attention, after_attention, None, after_attention)
        mlp = self.mlp(self.normed_input(self.mlp_norm, x if self.parallel else after_attention))
        output = self.add_residual(after_attention, mlp.output, self.mlp_norm)
        return BlockTrace(x, normed, attention, after_attention, mlp, output)

    def normed_input(self, norm: Norm | None, x: Tokens) -> Tokens:
        """Return the input of a part: the tokens, normed if the norm comes first."""
        return x if norm is None or self.norm_place == "after" else norm(x)

    def add_residual(self, x: Tokens, found: Tokens, norm: Norm | None) -> Tokens:
        """Return the output of a part, added to the tokens if `residual`, and normed if the norm comes last."""
        x = x + found if self.residual else found
        return x if norm is None or self.norm_place == "before" else norm(x)


@dataclass(frozen=True, eq=False, kw_only=True)
class Transformer:
    """A transformer: its weights, and the computation from ids to scores. A part that the model lacks is None.

    `fixed_table`, `waves` and `may_attend` are never trained: token vectors of a task, sines and cosines for the
    positions, and a mask (for ALiBi a bias for each head). Where `may_attend` is None, the mask follows from whether
    the model is causal. Without `W_unembed` the embedding scores the tokens, too, or the model outputs vectors.
    """

    config: Any = field(metadata=FIXED)  # ModelConfig of a small model, or TransformerConfig
    fixed_table: Float[Array, "vocabulary d_model"] | None = field(default=None, metadata=FIXED)
    token_table: Float[Array, "*runs vocabulary d_model"] | None
    position_table: Float[Array, "*runs context d_model"] | None = None
    waves: Float[Array, "context d_model"] | None = field(default=None, metadata=FIXED)
    type_table: Float[Array, "token_types d_model"] | None = None
    embedding_norm: Norm | None = None
    layers: tuple[Block, ...]
    norm: Norm | None = None
    W_unembed: Float[Array, "*runs d_model vocabulary"] | None = None
    b_unembed: Float[Array, "*runs vocabulary"] | None = None
    may_attend: Mask | None = field(default=None, metadata=FIXED)

    def __call__(
        self,
        ids: Int[Array, "*batch tokens"],
        ablated: Collection[tuple[int, int]] = (),
        past: Sequence[KeyValues] = (),
        types: Int[Array, "*batch tokens"] | None = None,
        patched: Mapping[tuple[int, int], Float[Array, "*batch tokens d_head"]] | None = None,
        scored: slice | None = None,
    ) -> ModelTrace:
        """Compute the scores of the token after each position, and keep every tensor on the way.

        `ablated` lists the (layer, head) pairs whose output is set to zero; `patched` gives some pairs another output.
        `past` has for each layer the keys and values of earlier tokens: see `cache`. `types` are the types of the
        tokens, by default all 0. Only the positions in `scored` get logits: over a large vocabulary logits take more
        memory than all other tensors. Raises InputError for ids and heads that the model does not have, and for more
        tokens than it can see.
        """
        check_ids(ids, self.config.vocabulary)
        check_heads((*ablated, *(patched or ())), self.config.n_layers, self.config.n_heads)
        begin = past[0].k.shape[-2] if past else 0
        end = begin + ids.shape[-1]
        check_length(end, self.config.context)
        added, in_attention = self.positions(end, begin)  # *runs tokens d_model, or None
        picked, x = self.embed(ids, added, types)  # *batch tokens vocabulary; *batch tokens d_model
        may_attend = self.visible(x, begin)  # queries keys
        layers = []
        for i, layer in enumerate(self.layers):
            off = [head for where, head in ablated if where == i]
            other = {head: output for (where, head), output in (patched or {}).items() if where == i}
            layer = widened(layer) if self.is_narrow else layer
            layers.append(layer(x, may_attend, in_attention, off, past[i] if past else None, other))
            x = layers[-1].output
        normed = self.normed(x)
        logits = self.unembed(normed if scored is None else normed[..., scored, :])
        return ModelTrace(ids, picked, tuple(layers), normed, logits)

    @property
    def table(self) -> Float[Array, "*runs vocabulary d_model"]:
        """The vector of each token: learned, or fixed."""
        return self.fixed_table if self.token_table is None else self.token_table

    @property
    def run_axes(self) -> int:
        """The number of axes of runs in front of each weight."""
        return self.layers[0].attention.W_o.ndim - 2

    @functools.cached_property
    def is_narrow(self) -> bool:
        """Whether some weights are kept in fewer than 32 bits; cached, since a walk over all weights takes time."""
        return any(weight.dtype.itemsize < 4 for _, weight in named_weights(self))

    def positions(self, end: int, begin: int = 0) -> tuple[Positions | None, Positions | None]:
        """Return the position vectors for the embedding of tokens `begin` to `end` − 1, and those for queries and keys.

        Each of the two is None where no vectors are added there.
        """
        table = self.waves if self.position_table is None else self.position_table  # sines and cosines, or learned
        rows = None if table is None else widened(table[..., begin:end, :])
        return (None, rows) if self.config.positions == "qk" else (rows, None)

    def embed(
        self, ids: Int[Array, "*batch tokens"], added: Positions | None, types: Int[Array, "*batch tokens"] | None
    ) -> tuple[Float[Array, "*batch tokens vocabulary"] | None, Tokens]:
        """Return the one-hot rows of tokens, and the input of the first layer: vectors for token, position and type.

        A large vocabulary has no one-hot rows, so None comes first. A small one picks token vectors by a product with
        them.
        """
        if self.config.vocabulary > MOST_ONE_HOT:
            picked, x = None, widened(embed(ids, self.table))
        else:
            table = widened(self.table)
            picked = one_hot(ids, self.config.vocabulary, table)
            x = linear(picked, table)
        x = add_rows(x, added)
        if self.type_table is not None:
            x = x + widened(self.type_table[0] if types is None else embed(types, self.type_table))
        return picked, x if self.embedding_norm is None else widened(self.embedding_norm)(x)

    def visible(self, x: Tokens, begin: int = 0) -> Mask | None:
        """Return the mask: a row for each of these tokens, a column for each of the `begin` tokens before them and of
        themselves. In a causal model each attends to those up to itself; without a mask, to all.
        """
        end = begin + x.shape[-2]
        if self.may_attend is not None:
            return self.may_attend[..., begin:end, :end]
        return distances(end - begin, end, begin, like=x) <= 0 if self.config.causal else None

    def normed(self, x: Tokens) -> Tokens:
        """Return the tokens after the last norm, if there is one."""
        if self.norm is None:
            return x
        return (widened(self.norm) if self.is_narrow else self.norm)(x)

    def unembed(self, normed: Tokens) -> Float[Array, "*batch tokens d_output"]:
        """Return a score for each token of the vocabulary, or the vectors as they are."""
        if self.config.unembedding == "none":
            return normed
        W = self.token_table.mT if self.W_unembed is None else self.W_unembed
        if self.is_narrow and self.b_unembed is None:  # a part at a time: as 32 bits it is the largest of all weights
            parts = range(0, W.shape[-1], MOST_WIDENED)
            scores = [linear(normed, widened(W.mT[at : at + MOST_WIDENED]).mT) for at in parts]
            return namespace(normed).concat(scores, axis=-1)
        return linear(normed, widened(W), widened(self.b_unembed))


def check_length(n_tokens: int, context: int) -> None:
    """Raise InputError for more tokens than the model can see, and for none."""
    if not 1 <= n_tokens <= context:
        raise TechnicalError(
            "this model sees 1 to {context} tokens at once, but got {n_tokens}", context=context, n_tokens=n_tokens
        )
