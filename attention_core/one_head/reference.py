"""Two more computations of attention, to check `attend`: with plain loops, number by number, and with NumPy.

Both take the mask as True where a query may attend to a key, and both return weights and output of one head.
"""

import math

import numpy as np
from jaxtyping import Bool, Float

Rows = list[list[float]]


def attend_with_loops(q: Rows, k: Rows, v: Rows, visible: list[list[bool]], scale: float) -> tuple[Rows, Rows]:
    """Compute weights and output of one head, number by number."""
    weights, output = [], []
    for query, may_see in zip(q, visible, strict=True):
        scores = []
        for key in k:
            score = 0.0
            for query_feature, key_feature in zip(query, key, strict=True):
                score += query_feature * key_feature
            scores.append(score * scale)
        largest = max(score for score, seen in zip(scores, may_see, strict=True) if seen)
        powers = [math.exp(score - largest) if seen else 0.0 for score, seen in zip(scores, may_see, strict=True)]
        row = [power / sum(powers) for power in powers]
        weights.append(row)
        mixture = [0.0] * len(v[0])
        for weight, value in zip(row, v, strict=True):
            for feature, number in enumerate(value):
                mixture[feature] += weight * number
        output.append(mixture)
    return weights, output


def attend_with_numpy(
    q: Float[np.ndarray, "queries d_k"],
    k: Float[np.ndarray, "keys d_k"],
    v: Float[np.ndarray, "keys d_v"],
    visible: Bool[np.ndarray, "queries keys"],
    scale: float,
) -> tuple[Float[np.ndarray, "queries keys"], Float[np.ndarray, "queries d_v"]]:
    """Compute weights and output of one head, matrix by matrix."""
    scores = np.where(visible, q @ k.T * scale, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights, weights @ v
