"""Does attention know the order of its tokens? Permute them and see, without positions and with them.

Without a mask and without positions attention is equivariant: permuting the tokens permutes the rows of the
output. It is not invariant: the rows do move. The difference between "permute, then attend" and "attend, then
permute" is called the residual here: mere rounding, or the trace of an order.
"""

import functools
import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from attention_core.embeddings import embedding_table, rotate, rotation_angles, sinusoidal_positions
from attention_core.errors import InputError
from attention_core.masks import causal_mask
from attention_core.randomness import generator

PositionKind = Literal["none", "sinusoidal", "learned", "rotary"]
Permutation = tuple[int, ...]  # the old positions of the tokens, counted from 0, in their new order

N_POSITIONS, FURTHEST = 64, 32  # for similarities: how many positions are compared, and over which distances
ROUNDING = 1e-9  # a residual in double precision below this is rounding: that of an order is far above


def random_permutation(n_tokens: int, seed: int) -> Permutation:
    """The same for the same seed; never the tokens' own order where there is another."""
    random = generator(seed, "shuffle")
    own = list(range(n_tokens))
    drawn = own
    while drawn == own and n_tokens > 1:
        drawn = torch.randperm(n_tokens, generator=random).tolist()
    return tuple(drawn)


def read_permutation(text: str, n_tokens: int) -> Permutation:
    """A permutation typed as positions that count from 1, such as "3 1 2".

    Raises ValueError, with a sentence, unless each position comes exactly once.
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
                "each position comes once, as in {like}, but {word} comes {count} times",
                like=like,
                word=word,
                count=typed.count(word),
            )
    if missing := [word for word in positions if word not in typed]:
        raise InputError(
            "each position comes once, as in {like}; missing: {missing}", like=like, missing=", ".join(missing)
        )
    return tuple(positions[word] for word in typed)


@dataclass(frozen=True, eq=False)
class Projections:
    """What one head is made of: its projections, used as x @ W, and the factor of its scores."""

    W_q: Float[Tensor, "d_model d_k"]
    W_k: Float[Tensor, "d_model d_k"]
    W_v: Float[Tensor, "d_model d_v"]
    scale: float

    def double(self) -> "Projections":
        """The same in double precision."""
        return Projections(self.W_q.double(), self.W_k.double(), self.W_v.double(), self.scale)


def kinds_for(d_k: int) -> tuple[PositionKind, ...]:
    """The kinds of positions that a head with d_k features can have: rotary ones turn pairs, so d_k must be even."""
    return tuple(kind for kind in get_args(PositionKind) if kind != "rotary" or d_k % 2 == 0)


def added_positions(kind: PositionKind, n_tokens: int, d_model: int, seed: int) -> Float[Tensor, "tokens d_model"]:
    """What is added to X: a row for each position, or zeros where nothing is.

    Learned positions are a table like that of the tokens; here they stand as they are before any training.
    """
    if kind == "sinusoidal":
        return sinusoidal_positions(n_tokens, d_model)
    if kind == "learned":
        return embedding_table(n_tokens, d_model, generator(seed, "positions"))
    return torch.zeros(n_tokens, d_model)


def attend_with_positions(
    x: Float[Tensor, "tokens d_model"],
    head: Projections,
    kind: PositionKind,
    seed: int,
    may_attend: Bool[Tensor, "tokens tokens"] | None = None,
) -> AttentionTrace:
    """One head whose tokens have positions.

    Sinusoidal and learned positions are added to x before it is projected; rotary ones turn queries and keys.
    Raises ValueError for rotary positions when the number of features is odd.
    """
    positioned = x + added_positions(kind, *x.shape, seed)
    q, k, v = positioned @ head.W_q, positioned @ head.W_k, positioned @ head.W_v
    if kind == "rotary":
        q, k = rotate(q), rotate(k)
    return attend(q, k, v, may_attend, scale=head.scale)


@dataclass(frozen=True, eq=False)
class BothOrders:
    """The same tokens attended to in two orders; `permutation[i]` is the old position of the token now at i."""

    permutation: Permutation
    plain: AttentionTrace  # in the sentence's own order
    permuted: AttentionTrace  # permute, then attend

    @property
    def output_permuted(self) -> Float[Tensor, "tokens d_v"]:
        """Attend, then permute: the rows of the output."""
        return self.plain.output[list(self.permutation)]

    @property
    def weights_permuted(self) -> Float[Tensor, "tokens tokens"]:
        """Attend, then permute: queries and keys move, so rows and columns do."""
        return self.plain.weights[list(self.permutation)][:, list(self.permutation)]

    @property
    def residual(self) -> float:
        """The largest difference of any number of the output between the two."""
        return float((self.permuted.output - self.output_permuted).abs().max())


def attend_in_both_orders(
    x: Float[Tensor, "tokens d_model"],
    head: Projections,
    permutation: Permutation,
    kind: PositionKind,
    seed: int,
    may_attend: Bool[Tensor, "tokens tokens"] | None = None,
) -> BothOrders:
    """Attend to the tokens as they stand, and permuted. The tokens move; mask and positions stay where they are."""
    moved = x[list(permutation)]
    plain, permuted = (attend_with_positions(tokens, head, kind, seed, may_attend) for tokens in (x, moved))
    return BothOrders(permutation, plain, permuted)


@dataclass(frozen=True)
class Residual:
    """What a permutation leaves of a difference, for one kind of positions, with the causal mask or without."""

    kind: PositionKind
    causal: bool
    residual: float
    precise: float  # the same computed in double precision: rounding shrinks, an order does not

    @property
    def knows_order(self) -> bool:
        """True when the difference is more than rounding."""
        return self.precise > ROUNDING


def measure_residual(
    x: Float[Tensor, "tokens d_model"],
    head: Projections,
    permutation: Permutation,
    kind: PositionKind,
    seed: int,
    causal: bool,
) -> Residual:
    """Permute in single and in double precision."""
    mask = causal_mask(len(permutation)) if causal else None
    single = attend_in_both_orders(x, head, permutation, kind, seed, mask)
    double = attend_in_both_orders(x.double(), head.double(), permutation, kind, seed, mask)
    return Residual(kind, causal, single.residual, double.residual)


def measure_residuals(
    x: Float[Tensor, "tokens d_model"], head: Projections, permutation: Permutation, seed: int
) -> tuple[Residual, ...]:
    """Every kind of positions that this head can have, without a mask and with the causal one."""
    return tuple(
        measure_residual(x, head, permutation, kind, seed, causal)
        for kind in kinds_for(head.W_q.shape[-1])
        for causal in (False, True)
    )


@dataclass(frozen=True)
class Similarity:
    """Cosines between positions, for each distance: the mean over all pairs that far apart, the least and the most."""

    kind: PositionKind
    distances: tuple[int, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    def at(self, distance: int) -> float:
        """The mean cosine at this distance."""
        return self.mean[self.distances.index(distance)]

    @property
    def variation(self) -> float:
        """How far two pairs at the same distance may lie apart; 0 when the distance is all that counts."""
        return max(most - least for most, least in zip(self.most, self.least, strict=True))


@functools.lru_cache(maxsize=64)
def similarity_of_rows(kind: PositionKind, d_model: int, seed: int) -> Similarity:
    """How alike the rows are that are added at different positions."""
    rows = added_positions(kind, N_POSITIONS, d_model, seed)
    return over_distance(kind, rows, rows)


def similarity_of_query_and_key(kind: PositionKind, q: Float[Tensor, " d_k"], k: Float[Tensor, " d_k"]) -> Similarity:
    """How well one query fits one key when both are set at every position, turned by rotary positions if asked."""
    queries, keys = q.expand(N_POSITIONS, -1), k.expand(N_POSITIONS, -1)
    if kind == "rotary":
        queries, keys = rotate(queries), rotate(keys)
    return over_distance(kind, queries, keys)


def over_distance(
    kind: PositionKind, rows: Float[Tensor, "positions features"], columns: Float[Tensor, "positions features"]
) -> Similarity:
    """Cosines of all rows with all columns, gathered along the diagonals: distance = column − row."""
    cosines = torch.nn.functional.normalize(rows, dim=-1) @ torch.nn.functional.normalize(columns, dim=-1).mT
    distances = tuple(range(-FURTHEST, FURTHEST + 1))
    pairs = [cosines.diagonal(distance) for distance in distances]
    return Similarity(
        kind,
        distances,
        mean=tuple(float(pair.mean()) for pair in pairs),
        least=tuple(float(pair.min()) for pair in pairs),
        most=tuple(float(pair.max()) for pair in pairs),
    )


def wavelengths(d_model: int) -> list[float]:
    """After how many positions each pair of features has turned once: 2π / ω_i."""
    return [2 * math.pi / angle for angle in rotation_angles(2, d_model)[1].tolist()]
