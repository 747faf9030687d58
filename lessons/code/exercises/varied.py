"""Attention in which something else was done than what is asked: the mistakes that many exercises share.

Each is a change of one step, named by a keyword of `varied_heads`; two changes of different steps go together.
"""

import math

import torch
from torch import Tensor

from lessons.code.exercises.base import Mistake, Outputs
from lessons.screen import message

DIVISORS = {
    "√d_k": lambda q, k, v: math.sqrt(k.shape[-1]),
    "nothing": lambda q, k, v: 1.0,
    "d_k": lambda q, k, v: k.shape[-1],
    "1/√d_k": lambda q, k, v: k.shape[-1] ** -0.5,
    "√n": lambda q, k, v: math.sqrt(k.shape[-2]),
    "√queries": lambda q, k, v: math.sqrt(q.shape[-2]),
    "√d_v": lambda q, k, v: math.sqrt(v.shape[-1]),
    "√heads": lambda q, k, v: math.sqrt(k.shape[-3]),
    "√d_model": lambda q, k, v: math.sqrt(k.shape[-1] * k.shape[-3]),
}
NORMS = {
    "softmax": lambda s, dim: s.softmax(dim),
    "none": lambda s, dim: s,
    "twice": lambda s, dim: s.softmax(dim).softmax(dim),
    "exp": lambda s, dim: s.exp(),
    "no keepdim": lambda s, dim: s.exp() / s.exp().sum(dim),
    "log": lambda s, dim: s.log_softmax(dim),
    "sum": lambda s, dim: s / s.sum(dim, keepdim=True),
}


def transposed(x: Tensor, turn: str) -> Tensor:
    """The last two axes exchanged; or only the shape changed, as `view` does."""
    return x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2]) if turn == "view" else x.mT


def varied_scores(
    q: Tensor, k: Tensor, v: Tensor, by: str = "√d_k", pair: str = "qk", turn: str = "mT"
) -> tuple[Tensor, float]:
    """Scores not yet divided, and the divisor."""
    left, right = ({"q": q, "k": k, "v": v}[name] for name in pair)
    return left @ transposed(right, turn), DIVISORS[by](q, k, v)


def masked(scores: Tensor, hidden: Tensor, fill: float | str) -> Tensor:
    """Hidden scores are filled, or made so in a way that fails."""
    if isinstance(fill, str):  # "0·∞"
        return scores + hidden.to(scores.dtype) * -math.inf
    return scores.masked_fill(hidden, fill)


def varied_heads(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    hidden: Tensor | None = None,
    *,
    by: str = "√d_k",
    when: str = "before",
    pair: str = "qk",
    turn: str = "mT",
    dim: int = -1,
    norm: str = "softmax",
    mixes: str = "v",
    masks: str = "before",
    fill: float | str = -math.inf,
    gives: str = "weights",
) -> Outputs:
    """Output and weights of attention, in which some steps were done in another way. `hidden` marks masked scores."""
    scores, divisor = varied_scores(q, k, v, by, pair, turn)
    scores = scores / divisor if when == "before" else scores
    if hidden is not None and masks == "before":
        scores = masked(scores, hidden, fill)
    weights = NORMS[norm](scores, dim)
    if hidden is not None and masks.startswith("after"):
        weights = weights.masked_fill(hidden, -math.inf if masks == "after, −∞" else 0.0)
    weights = weights / divisor if when == "after" else weights
    output = weights @ {"v": v, "k": k, "q": q}[mixes]
    output = output / divisor if when == "output" else output
    return output, {"weights": weights, "scores": scores, "mean": weights.mean(0) if weights.dim() > 2 else weights}[
        gives
    ]


NOT_SCALED = message("The scores are not divided by √d_k.")
BY_D_K = message("You divided by d_k. Divide by its square root, √d_k.")
MULTIPLIED = message("You multiplied by √d_k. Divide by it.")
BY_TOKENS = message("You divided by the root of the number of tokens. d_k is the size of the last axis.")
BY_D_V = message("You divided by the root of the width of the values. Divide by that of the keys, √d_k.")
SCALED_AFTER = message("You divided by √d_k after the softmax. Divide the scores, before it.")
TURNED = message("These scores are K Qᵀ. Rows belong to queries: Q Kᵀ.")
VIEWED = message("view and reshape change the shape and leave the numbers in their order. To exchange axes, transpose.")
NO_SOFTMAX = message("The softmax is missing: the weights of each row must be positive and sum to 1.")
TWICE = message("The softmax is taken twice. Take it once.")
ONLY_EXP = message("These are the exponentials. Divide each by their sum.")
LOGARITHMS = message("These are the logarithms of the weights: log_softmax. Take softmax.")
NO_KEEPDIM = message(
    "The sums lost their axis, so column j was divided by the sum of row j. Keep the axis: keepdim=True."
)
OF_KEYS = message("The weights mix the keys. They should mix the values: weights @ V.")
OF_QUERIES = message("The weights mix the queries. They should mix the values: weights @ V.")
SCORES_GIVEN = message("The second result holds the scores. Return the weights, after the softmax.")
DOWN_COLUMNS = message("The softmax ran down the columns. The row of each query must sum to 1: dim=-1.")
CHANGED_STEPS = (
    Mistake(NOT_SCALED, {"by": "nothing"}),
    Mistake(BY_D_K, {"by": "d_k"}),
    Mistake(MULTIPLIED, {"by": "1/√d_k"}),
    Mistake(BY_TOKENS, {"by": "√n"}),
    Mistake(SCALED_AFTER, {"when": "after"}),
    Mistake(SCALED_AFTER, {"when": "output"}, alone=True),
    Mistake(TURNED, {"pair": "kq"}),
    Mistake(VIEWED, {"turn": "view"}),
    Mistake(NO_SOFTMAX, {"norm": "none"}),
    Mistake(TWICE, {"norm": "twice"}),
    Mistake(ONLY_EXP, {"norm": "exp"}, alone=True),
    Mistake(NO_KEEPDIM, {"norm": "no keepdim"}),
    Mistake(LOGARITHMS, {"norm": "log"}, alone=True),
    Mistake(
        message("The scores themselves were divided by their sum. Take the exponential of each first."),
        {"norm": "sum"},
        alone=True,
    ),
    Mistake(OF_KEYS, {"mixes": "k"}),
    Mistake(OF_QUERIES, {"mixes": "q"}, alone=True),
    Mistake(SCORES_GIVEN, {"gives": "scores"}),
)

ITSELF = message("A token may look at itself: the mask begins one to the right of the diagonal, at diagonal=1.")
TOO_LATE = message("The next token can still be seen. The mask begins one to the right of the diagonal, at diagonal=1.")
HIDES_PAST = message("This hides the past. Hide the future: the keys to the right of the diagonal.")
COMPLEMENT = message("The mask is inverted: what may be seen is hidden, and what must be hidden is seen.")
FILLED_ZERO = message("Hidden scores are 0 here. The softmax turns 0 into a positive weight; only −∞ gives exactly 0.")
ZERO_TIMES_INFINITY = message("0 · ∞ is not a number: a mask times −∞ is NaN wherever the mask is 0. Use masked_fill.")
AFTER_SOFTMAX = message(
    "Weights were set to 0 after the softmax, so rows no longer sum to 1. Set hidden scores to −∞ before it."
)
INFINITE_WEIGHTS = message("Weights were set to −∞ after the softmax. Set hidden scores to −∞ before it.")
MASKS = {  # by name: what is hidden of n queries and keys
    "future": lambda n: torch.ones(n, n).triu(1).bool(),
    "itself": lambda n: torch.ones(n, n).triu(0).bool(),
    "too late": lambda n: torch.ones(n, n).triu(2).bool(),
    "past": lambda n: torch.ones(n, n).tril(-1).bool(),
    "complement": lambda n: torch.ones(n, n).tril(0).bool(),
    "same": lambda n: (torch.arange(n) > 0).expand(n, n),
    "last": lambda n: (torch.arange(n) == n - 1).expand(n, n),
}
SAME_FOR_ALL = message("The same keys are hidden from every query. Which keys come later differs from query to query.")
CHANGED_MASKS = (
    Mistake(ITSELF, {"hides": "itself"}),
    Mistake(TOO_LATE, {"hides": "too late"}),
    Mistake(HIDES_PAST, {"hides": "past"}),
    Mistake(COMPLEMENT, {"hides": "complement"}),
    Mistake(FILLED_ZERO, {"fill": 0.0}),
    Mistake(ZERO_TIMES_INFINITY, {"fill": "0·∞"}),
    Mistake(SAME_FOR_ALL, {"hides": "same"}, alone=True),
    Mistake(SAME_FOR_ALL, {"hides": "last"}, alone=True),
)
