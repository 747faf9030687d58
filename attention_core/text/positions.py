"""How attention learns the positions of tokens: by added vectors or by rotation, and how similar positions are.

sinusoidal, learned    a vector for each position, added to X before it is projected
rotary                 queries and keys are rotated by their positions: see `rotate`
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
USUAL = Rotary()  # the settings of rotary positions unless a model has others


def kinds_for(d_k: int) -> tuple[PositionKind, ...]:
    """Return the kinds of positions possible with d_k features: rotary ones rotate pairs, so d_k must be even."""
    return tuple(kind for kind in get_args(PositionKind) if kind != "rotary" or d_k % 2 == 0)


@dataclass(slots=True, eq=False)
class PositionedRows:
    """The rows added to X, or None where nothing is added, and the rows that enter the head."""

    positions: Float[Array, "tokens d_model"] | None
    going_in: Float[Array, "tokens d_model"]


def add_positions(x: Float[Array, "tokens d_model"], kind: PositionKind, seed: int) -> PositionedRows:
    """Add a row for each position to X. With the kinds "none" and "rotary" X stays as it is."""
    if kind in ("none", "rotary"):
        return PositionedRows(None, x)
    n_tokens, d_model = x.shape
    positions = added_positions(kind, n_tokens, d_model, seed, like=x)
    return PositionedRows(positions, x + positions)


def added_positions(
    kind: Literal["sinusoidal", "learned"], n_tokens: int, d_model: int, seed: int, like: Array | None = None
) -> Float[Array, "tokens d_model"]:
    """Return the row that is added at each position. Raises InputError for a kind of positions that is not added.

    Library and precision are those of `like`; without it, torch's. Learned positions are a table like that of the
    tokens; here they have the values drawn before any training.
    """
    if kind == "sinusoidal":
        return sinusoidal_positions(n_tokens, d_model, like)
    if kind != "learned":
        raise TechnicalError("positions that are added are sinusoidal or learned, but got {kind}", kind=shown(kind))
    table = embedding_table(n_tokens, d_model, generator(seed, "positions"))
    return table if like is None else namespace(like).asarray(table, dtype=like.dtype)


@dataclass(slots=True, eq=False)
class TurnedVectors:
    """Queries and keys before and after rotation, and the angles."""

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
    """Compute queries and keys, and rotate each pair of features by the angle of its position."""
    q, k = x @ W_q, x @ W_k
    angles = rotation_angles(len(q), turned_features(q.shape[-1], rotary), rotary.base, like=x)
    if rotary.stretch != 1:
        angles = angles / rotary.stretch
    return TurnedVectors(q, k, angles, turn_pairs(q, angles), turn_pairs(k, angles))


def turned_features(d_k: int, rotary: Rotary) -> int:
    """Return how many features of a query or key are rotated."""
    return d_k if rotary.features is None else rotary.features


@dataclass(frozen=True)
class Similarity:
    """Cosines between positions, for each distance: the mean over all pairs that far apart, the least and the most."""

    distances: tuple[int, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    def at(self, distance: int) -> float:
        """Return the mean cosine at a distance."""
        return self.mean[self.distances.index(distance)]

    @property
    def variation(self) -> float:
        """The largest difference between two pairs at the same distance; 0 when the distance is all that counts."""
        return max(most - least for most, least in zip(self.most, self.least, strict=True))


def similarity_of_rows(kind: Literal["sinusoidal", "learned"], d_model: int, seed: int) -> Similarity:
    """Measure how similar the rows are that are added at different positions."""
    rows = added_positions(kind, N_POSITIONS, d_model, seed)
    return over_distance(rows, rows)


def similarity_of_query_and_key(
    row: Float[Tensor, " d_model"],
    W_q: Float[Tensor, "d_model d_k"],
    W_k: Float[Tensor, "d_model d_k"],
    kind: Literal["none", "rotary"],
    rotary: Rotary = USUAL,
) -> Similarity:
    """Measure how well a token's query matches its key with both at every position, rotated if `kind` is "rotary"."""
    queries, keys = ((row @ W).expand(N_POSITIONS, -1) for W in (W_q, W_k))
    if kind == "rotary":
        queries, keys = rotate(queries, how=rotary), rotate(keys, how=rotary)
    return over_distance(queries, keys)


def scores_by_distance(
    query: Float[Tensor, " d_k"], key: Float[Tensor, " d_k"], scale: float, rotary: Rotary
) -> Float[Tensor, " distances"]:
    """Compute the scaled scores of a key at 0, 1, 2, … positions before a query; both are given before rotation."""
    queries, keys = (rotate(vector.expand(N_POSITIONS + 1, -1), how=rotary) for vector in (query, key))
    return (keys @ queries[-1] * scale).flip(0)


def over_distance(
    rows: Float[Tensor, "positions features"], columns: Float[Tensor, "positions features"]
) -> Similarity:
    """Summarise the cosines of all rows with all columns along each diagonal, where distance = column − row."""
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
    """Return after how many positions each pair of features has made one full rotation: 2π / ω_i."""
    return [2 * math.pi / angle for angle in rotation_angles(2, d_model, base)[1].tolist()]
