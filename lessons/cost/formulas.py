"""What one layer of attention costs: multiplications, numbers moved, parameters, and what a cache keeps.

Every count is a formula in the sizes of the layer, written out once: `FORMULAS` with their names, and with numbers in
the place of the names it is the arithmetic of the count.
"""

from dataclasses import asdict, dataclass
from typing import Literal

CostStep = Literal["projections", "scores", "softmax", "mix", "join"]
GROWS_SQUARED: tuple[CostStep, ...] = ("scores", "softmax", "mix")  # with the square of the number of tokens
SHORT_NAMES = {"tokens": "n", "d_model": "d_model", "n_heads": "h", "n_kv_heads": "g", "d_k": "d_k", "d_v": "d_v"}


@dataclass(frozen=True, kw_only=True)
class LayerSizes:
    """The sizes of one layer. Several query heads may share the keys and values of one of `n_kv_heads`."""

    tokens: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    d_k: int
    d_v: int


def multiplications(s: LayerSizes) -> dict[CostStep, int]:
    """Multiplications of each step: a product of a × b and b × c numbers takes a · b · c of them.

    The softmax multiplies each score by the scale and divides each exponential by the sum of its row; a division counts
    as a multiplication. What is masked is computed all the same.
    """
    pairs = s.n_heads * s.tokens * s.tokens
    return {
        "projections": s.tokens * s.d_model * (s.n_heads * s.d_k + s.n_kv_heads * (s.d_k + s.d_v)),
        "scores": pairs * s.d_k,
        "softmax": pairs * 2,
        "mix": pairs * s.d_v,
        "join": s.tokens * s.n_heads * s.d_v * s.d_model,
    }


def numbers_moved(s: LayerSizes) -> dict[CostStep, int]:
    """Numbers that each step reads and writes, where it reads all that it needs once and writes its result once.

    Keys and values are read once for all query heads that share them; the mask is computed, not read.
    """
    n, d, heads, pairs = s.tokens, s.d_model, s.n_heads, s.n_heads * s.tokens * s.tokens
    features = heads * s.d_k + s.n_kv_heads * (s.d_k + s.d_v)  # of queries, keys and values
    return {
        "projections": 3 * n * d + d * features + n * features,
        "scores": n * (heads + s.n_kv_heads) * s.d_k + pairs,
        "softmax": 2 * pairs,
        "mix": pairs + n * s.n_kv_heads * s.d_v + n * heads * s.d_v,
        "join": n * heads * s.d_v + heads * s.d_v * d + n * d,
    }


def layer_parameters(s: LayerSizes) -> int:
    """The entries of W_q, W_k, W_v and W_o."""
    return s.d_model * (s.n_heads * s.d_k + s.n_kv_heads * (s.d_k + s.d_v) + s.n_heads * s.d_v)


def cached_numbers(s: LayerSizes) -> int:
    """The keys and values of all tokens, which a cache keeps for those to come."""
    return s.tokens * s.n_kv_heads * (s.d_k + s.d_v)


def squared_from(s: LayerSizes) -> int:
    """The least number of tokens at which the steps that grow with its square take more than half the multiplications.

    n · linear < n² · squared where n > linear / squared.
    """
    linear = s.d_model * (s.n_heads * s.d_k + s.n_kv_heads * (s.d_k + s.d_v) + s.n_heads * s.d_v)
    squared = s.n_heads * (s.d_k + 2 + s.d_v)
    return linear // squared + 1


FORMULAS: dict[str, dict[str, str]] = {
    "multiplications": {
        "projections": "{tokens}·{d_model}·({n_heads}·{d_k} + {n_kv_heads}·({d_k} + {d_v}))",
        "scores": "{n_heads}·{tokens}·{tokens}·{d_k}",
        "softmax": "{n_heads}·{tokens}·{tokens}·2",
        "mix": "{n_heads}·{tokens}·{tokens}·{d_v}",
        "join": "{tokens}·{n_heads}·{d_v}·{d_model}",
    },
    "numbers moved": {
        "projections": "3·{tokens}·{d_model} + ({d_model} + {tokens})·({n_heads}·{d_k} + {n_kv_heads}·({d_k} + {d_v}))",
        "scores": "{tokens}·({n_heads} + {n_kv_heads})·{d_k} + {n_heads}·{tokens}·{tokens}",
        "softmax": "2·{n_heads}·{tokens}·{tokens}",
        "mix": "{n_heads}·{tokens}·{tokens} + {tokens}·({n_kv_heads} + {n_heads})·{d_v}",
        "join": "({tokens} + {d_model})·{n_heads}·{d_v} + {tokens}·{d_model}",
    },
    "kept": {
        "parameters": "{d_model}·({n_heads}·{d_k} + {n_kv_heads}·({d_k} + {d_v}) + {n_heads}·{d_v})",
        "cache": "{tokens}·{n_kv_heads}·({d_k} + {d_v})",
    },
}


def counts_of(s: LayerSizes) -> dict[str, dict[str, int]]:
    """Every count that has a formula."""
    kept = {"parameters": layer_parameters(s), "cache": cached_numbers(s)}
    return {"multiplications": multiplications(s), "numbers moved": numbers_moved(s), "kept": kept}


def named_formula(of: str, step: str) -> str:
    """The formula of a count with the names of the sizes."""
    return FORMULAS[of][step].format_map(SHORT_NAMES)


def arithmetic_of(of: str, step: str, s: LayerSizes) -> str:
    """The formula of a count with the sizes themselves."""
    return FORMULAS[of][step].format_map(asdict(s))
