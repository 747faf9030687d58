"""What tells attention where a token stands: positions that are added or turned, and how alike they are over distance.

sinusoidal, learned    a vector for each position, added to X before it is projected
rotary                 queries and keys are turned by their positions: see `rotate`
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.base.arrays import Array, namespace
from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import shown
from attention_core.base.randomness import generator
from attention_core.text.embeddings import (
    Rotary,
    embedding_table,
    rotate,
    rotation_angles,
    sinusoidal_positions,
    turn_pairs,
)

PositionKind = Literal["none", "sinusoidal", "learned", "rotary"]
N_POSITIONS, FURTHEST = 64, 32  # for similarities: how many positions are compared, and over which distances
USUAL = Rotary()  # how rotary positions turn unless a model turns in another way


def kinds_for(d_k: int) -> tuple[PositionKind, ...]:
    """The kinds of positions that a head with d_k features can have: rotary ones turn pairs, so d_k must be even."""
    return tuple(kind for kind in get_args(PositionKind) if kind != "rotary" or d_k % 2 == 0)


@dataclass(slots=True, eq=False)
class PositionedRows:
    """What is added to X, where anything is, and what goes in."""

    positions: Float[Array, "tokens d_model"] | None
    going_in: Float[Array, "tokens d_model"]


def add_positions(x: Float[Array, "tokens d_model"], kind: PositionKind, seed: int) -> PositionedRows:
    """X and a row for each position; where nothing is added, X alone."""
    if kind in ("none", "rotary"):
        return PositionedRows(None, x)
    n_tokens, d_model = x.shape
    positions = added_positions(kind, n_tokens, d_model, seed, like=x)
    return PositionedRows(positions, x + positions)


def added_positions(
    kind: Literal["sinusoidal", "learned"], n_tokens: int, d_model: int, seed: int, like: Array | None = None
) -> Float[Array, "tokens d_model"]:
    """A row for each position. Library and precision are `like`'s; left out, torch's.

    Learned positions are a table like that of the tokens; here they stand as they are before any training.
    """
    if kind == "sinusoidal":
        return sinusoidal_positions(n_tokens, d_model, like)
    if kind != "learned":
        raise TechnicalError("positions that are added are sinusoidal or learned, but got {kind}", kind=shown(kind))
    table = embedding_table(n_tokens, d_model, generator(seed, "positions"))
    return table if like is None else namespace(like).asarray(table, dtype=like.dtype)


@dataclass(slots=True, eq=False)
class TurnedVectors:
    """Queries and keys before and after they are turned, and by which angles."""

    q: Float[Array, "queries d_k"]
    k: Float[Array, "keys d_k"]
    angles: Float[Array, "tokens pairs"]
    q_turned: Float[Array, "queries d_k"]
    k_turned: Float[Array, "keys d_k"]


def turn_vectors(
    x: Float[Array, "tokens d_model"],
    W_q: Float[Array, "d_model d_k"],
    W_k: Float[Array, "d_model d_k"],
    rotary: Rotary = USUAL,
) -> TurnedVectors:
    """Queries and keys, each turned pair by pair by the angles of its position."""
    q, k = x @ W_q, x @ W_k
    angles = rotation_angles(len(q), turned_features(q.shape[-1], rotary), rotary.base, like=x)
    if rotary.stretch != 1:
        angles = angles / rotary.stretch
    return TurnedVectors(q, k, angles, turn_pairs(q, angles), turn_pairs(k, angles))


def turned_features(d_k: int, rotary: Rotary) -> int:
    """How many of the features of a query or key turn."""
    return d_k if rotary.features is None else rotary.features


@dataclass(frozen=True)
class Similarity:
    """Cosines between positions, for each distance: the mean over all pairs that far apart, the least and the most."""

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


def similarity_of_rows(kind: Literal["sinusoidal", "learned"], d_model: int, seed: int) -> Similarity:
    """How alike the rows are that are added at different positions."""
    rows = added_positions(kind, N_POSITIONS, d_model, seed)
    return over_distance(rows, rows)


def similarity_of_query_and_key(
    row: Float[Tensor, " d_model"],
    W_q: Float[Tensor, "d_model d_k"],
    W_k: Float[Tensor, "d_model d_k"],
    kind: Literal["none", "rotary"],
    rotary: Rotary = USUAL,
) -> Similarity:
    """How well a token's query fits its key when both are set at every position, turned by rotary ones if asked."""
    queries, keys = ((row @ W).expand(N_POSITIONS, -1) for W in (W_q, W_k))
    if kind == "rotary":
        queries, keys = rotate(queries, how=rotary), rotate(keys, how=rotary)
    return over_distance(queries, keys)


def scores_by_distance(
    query: Float[Tensor, " d_k"], key: Float[Tensor, " d_k"], scale: float, rotary: Rotary
) -> Float[Tensor, " distances"]:
    """The scaled score of a key that stands so many positions before a query, from 0 on; neither is turned yet."""
    queries, keys = (rotate(vector.expand(N_POSITIONS + 1, -1), how=rotary) for vector in (query, key))
    return (keys @ queries[-1] * scale).flip(0)


def over_distance(
    rows: Float[Tensor, "positions features"], columns: Float[Tensor, "positions features"]
) -> Similarity:
    """Cosines of all rows with all columns, gathered along the diagonals: distance = column − row."""
    cosines = torch.nn.functional.normalize(rows, dim=-1) @ torch.nn.functional.normalize(columns, dim=-1).mT
    distances = tuple(range(-FURTHEST, FURTHEST + 1))
    pairs = [cosines.diagonal(distance) for distance in distances]
    return Similarity(
        distances,
        mean=tuple(float(pair.mean()) for pair in pairs),
        least=tuple(float(pair.min()) for pair in pairs),
        most=tuple(float(pair.max()) for pair in pairs),
    )


def wavelengths(d_model: int, base: float = USUAL.base) -> list[float]:
    """After how many positions each pair of features has turned once: 2π / ω_i."""
    return [2 * math.pi / angle for angle in rotation_angles(2, d_model, base)[1].tolist()]
