"""Does attention know the order of its tokens? Permute them and see, without positions and with them.

Without a mask and without positions attention is equivariant: permuting the tokens permutes the rows of the output. It
is not invariant: the rows do move. The difference between "permute, then attend" and "attend, then permute" is called
the residual here. It is either mere rounding, or a sign that attention knows the order.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.arrays import Array
from attention_core.base.errors import InputError, TechnicalError
from attention_core.base.inputs import check_whole
from attention_core.base.randomness import generator
from attention_core.one_head.attention import AttentionTrace, Mask, Number
from attention_core.one_head.head import one_head
from attention_core.one_head.masks import causal_mask
from attention_core.text.embeddings import Rotary
from attention_core.text.positions import USUAL, PositionedRows, PositionKind, add_positions, kinds_for

Permutation = tuple[int, ...]  # the old positions of the tokens, counted from 0, in their new order
ROUNDING = 1e-9  # a residual in double precision below this is rounding: that of an order is far above


def random_permutation(n_tokens: int, seed: int) -> Permutation:
    """Draw a random order of the tokens from the seed; never the order they have, where there is another.

    Raises InputError unless the number of tokens is whole and not below 0.
    """
    check_whole("n_tokens", n_tokens, least=0)
    random = generator(seed, "shuffle")
    own = list(range(n_tokens))
    drawn = own
    while drawn == own and n_tokens > 1:
        drawn = torch.randperm(n_tokens, generator=random).tolist()
    return tuple(drawn)


def read_permutation(text: str, n_tokens: int) -> Permutation:
    """Read a permutation typed as positions that count from 1, such as "3 1 2".

    Raises InputError, with a sentence, unless each position comes exactly once.
    """
    positions = {str(i + 1): i for i in range(n_tokens)}
    typed = text.replace(",", " ").split()
    like = " ".join(reversed(positions))
    for word in typed:
        shown = word if len(word) <= 12 else f"{word[:12]}…"
        if word not in positions:
            raise InputError(
                "an order names the positions 1 to {n_tokens}, such as {like}, but got “{shown}”",
                n_tokens=n_tokens,
                like=like,
                shown=shown,
            )
        if typed.count(word) > 1:
            raise InputError(
                "each position appears once, as in {like}, but {word} appears {count} times",
                like=like,
                word=word,
                count=typed.count(word),
            )
    if missing := [word for word in positions if word not in typed]:
        raise InputError(
            "each position appears once, as in {like}; missing: {missing}", like=like, missing=", ".join(missing)
        )
    return tuple(positions[word] for word in typed)


def check_order(order: Permutation, n_tokens: int) -> None:
    """Raise InputError unless an order has each position exactly once."""
    if sorted(order) != list(range(n_tokens)):
        raise TechnicalError(
            "an order has each of the positions 0 to {last} once, but got {order}", last=n_tokens - 1, order=str(order)
        )


@dataclass(slots=True, eq=False)
class PositionedHead(PositionedRows):
    """One head on tokens with positions: the rows added to X, the rows that enter the head, and its trace."""

    head: AttentionTrace


def attend_with_positions(
    x: Float[Array, "tokens d_model"],
    W_q: Float[Array, "d_model d_k"],
    W_k: Float[Array, "d_model d_k"],
    W_v: Float[Array, "d_model d_v"],
    may_attend: Mask | None,
    scale: Number,
    kind: PositionKind,
    seed: int,
    rotary: Rotary = USUAL,
) -> PositionedHead:
    """Run one head on tokens with positions.

    Sinusoidal and learned positions are added to x before it is projected; rotary ones rotate queries and keys. Raises
    InputError for rotary positions when the number of features is odd.
    """
    rows = add_positions(x, kind, seed)
    turned = rotary if kind == "rotary" else None
    head = one_head(rows.going_in, W_q, W_k, W_v, may_attend, scale, rotary=turned)
    return PositionedHead(rows.positions, rows.going_in, head)


@dataclass(slots=True, eq=False)
class BothOrders:
    """Attention to the tokens in two orders, and weights and output of the first order, permuted afterwards."""

    own: PositionedHead  # attend
    shuffled: PositionedHead  # shuffle, then attend
    weights: Float[Array, "queries keys"]  # attend, then shuffle: queries and keys move, so rows and columns do
    output: Float[Array, "queries d_v"]

    @property
    def residual(self) -> float:
        """The largest difference between any number of "permute, then attend" and of "attend, then permute"."""
        return float((self.shuffled.head.output - self.output).abs().max())


def attend_in_both_orders(
    x: Float[Array, "tokens d_model"],
    W_q: Float[Array, "d_model d_k"],
    W_k: Float[Array, "d_model d_k"],
    W_v: Float[Array, "d_model d_v"],
    order: Permutation,
    may_attend: Mask | None,
    scale: Number,
    kind: PositionKind,
    seed: int,
    rotary: Rotary = USUAL,
) -> BothOrders:
    """Attend to the tokens as they stand, and shuffled. The tokens move; mask and positions stay where they are.

    Raises InputError unless the order has each position exactly once.
    """
    check_order(order, len(x))
    moved = list(order)
    own = attend_with_positions(x, W_q, W_k, W_v, may_attend, scale, kind, seed, rotary)
    shuffled = attend_with_positions(x[moved], W_q, W_k, W_v, may_attend, scale, kind, seed, rotary)
    return BothOrders(own, shuffled, own.head.weights[moved][:, moved], own.head.output[moved])


@dataclass(frozen=True)
class Residual:
    """The residual of a permutation, for one kind of positions, with the causal mask or without."""

    kind: PositionKind
    causal: bool
    residual: float
    precise: float  # the same computed in double precision: rounding shrinks, an order does not

    @property
    def knows_order(self) -> bool:
        """Whether the residual is more than rounding."""
        return self.precise > ROUNDING


def measure_residuals(
    x: Float[Tensor, "tokens d_model"],
    W_q: Float[Tensor, "d_model d_k"],
    W_k: Float[Tensor, "d_model d_k"],
    W_v: Float[Tensor, "d_model d_v"],
    order: Permutation,
    scale: Number,
    seed: int,
    rotary: Rotary = USUAL,
) -> tuple[Residual, ...]:
    """Measure the residual for every kind of positions that a head can have, with the causal mask and without.

    Each residual is computed in single and in double precision.
    """
    single = x, W_q, W_k, W_v
    double = x.double(), W_q.double(), W_k.double(), W_v.double()
    measured = []
    for kind in kinds_for(W_q.shape[-1]):
        for causal in (False, True):
            options = order, causal_mask(len(x)) if causal else None, scale, kind, seed, rotary
            residuals = (attend_in_both_orders(*arrays, *options).residual for arrays in (single, double))
            measured.append(Residual(kind, causal, *residuals))
    return tuple(measured)
