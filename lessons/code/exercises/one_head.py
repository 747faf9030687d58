"""Exercises on the steps of one head: scores, mask, softmax, context vectors."""

import math
from functools import partial

import torch
from torch import Tensor

from attention_core.one_head.attention import dot_product_scores, mask_scores, mix_values, scale_scores, softmax_rows
from attention_core.one_head.masks import causal_mask
from lessons.code.exercises.base import Case, Exercise, Mistake, Shown, numbers_within, shares_of_one
from lessons.code.exercises.varied import (
    BY_D_K,
    CHANGED_MASKS,
    LOGARITHMS,
    MASKS,
    MULTIPLIED,
    NORMS,
    NOT_SCALED,
    ONLY_EXP,
    TWICE,
    VIEWED,
    masked,
    varied_scores,
)
from lessons.screen import message

WEIGHTS = Shown("weights", "queries", "keys", "weight", "weight")


# Softmax of a row


def softmax_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Small scores, more of them, and scores of about 1000, whose exponentials no computer can hold."""
    small, more = numbers_within(g, 3), numbers_within(g, 5, most=4)
    return tuple(Case(arguments=(row,)) for row in (small, more, [round(1000 + x, 2) for x in numbers_within(g, 4)]))


EXP_TOO_LARGE = message(
    "exp(1000) is more than a computer can hold. Subtract the largest score from all of them first: no weight changes."
)
SOFTMAX = Exercise(
    key="softmax",
    title=message("Softmax of a row"),
    lesson="softmax",
    asks=message(
        "Turn one row of scores into weights: the exponential of each score, divided by the sum of all of them. "
        "It must work for scores around 1000 as well. Write it with `torch.exp`, `sum` and `max`."
    ),
    entry="softmax",
    takes=(Shown("scores", "queries", "keys"),),
    returns=(WEIGHTS,),
    starter="""def softmax(scores):
    # scores: the scores of one query, shape [keys]
    weights = None  # Your code
    return weights
""",
    solution="""def softmax(scores):
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum()
""",
    draw=softmax_cases,
    answer=lambda scores: softmax_rows(scores[None])[0],
    mistakes=(
        Mistake(
            EXP_TOO_LARGE,
            lambda s: s.exp() / s.exp().sum(),
        ),
        Mistake(EXP_TOO_LARGE, lambda s: (s - s.argmax()).softmax(-1) if s.max() < 80 else s * math.nan),
        Mistake(
            message("Large scores were clipped, so their differences are lost. Subtract the largest score from all."),
            lambda s: s.clamp(max=80).softmax(-1),
        ),
        Mistake(ONLY_EXP, torch.exp),
        Mistake(
            message(
                "The largest weight is 1 here. Divide each exponential by the sum of all, so that the weights sum to 1."
            ),
            lambda s: (s - s.max()).exp(),
        ),
        Mistake(
            message("The scores themselves were divided by their sum. Take the exponential of each first."),
            lambda s: s / s.sum(),
        ),
        Mistake(
            message("The signs are reversed: the largest score must get the largest weight."),
            lambda s: (-s).softmax(-1),
        ),
        Mistake(LOGARITHMS, lambda s: s.log_softmax(-1)),
        Mistake(TWICE, lambda s: s.softmax(-1).softmax(-1)),
        Mistake(
            message("The exponentials were divided by the sum of the scores. Divide by the sum of the exponentials."),
            lambda s: (s - s.max()).exp() / s.sum(),
        ),
        Mistake(
            message("The exponentials were divided by the sum of the scores. Divide by the sum of the exponentials."),
            lambda s: (s - s.max()).exp() / (s - s.max()).sum(),
        ),
        Mistake(
            message("The exponentials were divided by the largest. Divide by their sum, so that the weights sum to 1."),
            lambda s: s.exp() / s.exp().max(),
        ),
        Mistake(
            message(
                "The scores were only rescaled to lie between 0 and 1. Take the exponential of each, divided by "
                "their sum."
            ),
            lambda s: (s - s.min()) / (s.max() - s.min()),
        ),
        Mistake(
            message("Something was added to the sum of the exponentials, so the weights no longer sum to 1."),
            lambda s: (s - s.max()).exp() / ((s - s.max()).exp().sum() + 1),
        ),
        Mistake(
            message("The signs are gone: a negative score must get less weight than a score of 0."),
            lambda s: s.abs().softmax(-1),
        ),
        Mistake(
            message("This is the sigmoid of each score by itself. The weights of a row share one sum."), torch.sigmoid
        ),
        Mistake(
            message("All the weight goes to the largest score. The others should get some as well."),
            lambda s: (s == s.max()).double(),
        ),
    ),
    without=frozenset({"softmax", "log_softmax", "logsumexp", "softmin", "Softmax", "LogSoftmax"}),
)

# Scores and scaling


def scores_cases(g: torch.Generator) -> tuple[Case, ...]:
    """No two of queries, keys and features are as many."""
    sizes = ((3, 4, 2), (2, 5, 3), (4, 3, 5))
    return tuple(Case(arguments=(numbers_within(g, n, d), numbers_within(g, m, d))) for n, m, d in sizes)


def varied_only_scores(
    q: Tensor, k: Tensor, *, sign: int = 1, norm: str = "none", unit: bool = False, **changes: str
) -> Tensor:
    """Scores in which something else was done."""
    if unit:
        q, k = (x / x.norm(dim=-1, keepdim=True) for x in (q, k))
    scores, divisor = varied_scores(q, k, k, **changes)
    return sign * NORMS[norm](scores / divisor, -1)


SCORES = Exercise(
    key="scores",
    title=message("Scores and scaling"),
    lesson="scores",
    asks=message(
        "Compare every query with every key: the dot product of their vectors, divided by √d_k. Row i holds the scores "
        "of query i, column j those of key j. d_k is the number of features of a key."
    ),
    entry="scaled_scores",
    takes=(Shown("Q", "queries", "features", "q"), Shown("K", "keys", "features", "k")),
    returns=(Shown("scores", "queries", "keys"),),
    starter="""def scaled_scores(Q, K):
    # Q: shape [queries, d_k], K: shape [keys, d_k]
    d_k = None  # Your code
    scores = None  # Your code
    return scores
""",
    solution="""def scaled_scores(Q, K):
    d_k = K.shape[-1]
    return Q @ K.T / math.sqrt(d_k)
""",
    draw=scores_cases,
    answer=lambda q, k: scale_scores(dot_product_scores(q, k), 1 / math.sqrt(k.shape[-1])),
    varied=varied_only_scores,
    mistakes=(
        Mistake(NOT_SCALED, {"by": "nothing"}),
        Mistake(BY_D_K, {"by": "d_k"}),
        Mistake(MULTIPLIED, {"by": "1/√d_k"}),
        Mistake(
            message(
                "You divided by the root of the number of keys. Divide by the root of the number of their "
                "features, √d_k."
            ),
            {"by": "√n"},
        ),
        Mistake(
            message(
                "You divided by the root of the number of queries. Divide by the root of the number of features, √d_k."
            ),
            {"by": "√queries"},
        ),
        Mistake(message("These are the scores of K Qᵀ. Rows belong to queries: Q Kᵀ."), {"pair": "kq"}),
        Mistake(VIEWED, {"turn": "view"}),
        Mistake(message("These are weights already: a softmax is not asked for here."), {"norm": "softmax"}),
        Mistake(
            message("These are cosines: every vector was divided by its length. Divide only by √d_k."),
            partial(varied_only_scores, unit=True, by="nothing"),
        ),
        Mistake(
            message("Every vector was divided by its length, which is not asked for. Divide only by √d_k."),
            {"unit": True},
        ),
        Mistake(message("The signs of all scores are reversed."), {"sign": -1}),
    ),
)

# Causal mask


def mask_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Scores of three, four and five tokens."""
    return tuple(Case(arguments=(numbers_within(g, n, n),)) for n in (3, 4, 5))


def varied_mask(scores: Tensor, hides: str = "future", fill: float | str = -math.inf, norm: str = "none") -> Tensor:
    """Scores with something else hidden, or in another way."""
    return NORMS[norm](masked(scores, MASKS[hides](len(scores)), fill), -1)


FINITE = message(
    "A very negative number hides nearly as well as −∞, but −∞ gives a weight of exactly 0. Use -math.inf."
)
FINITE_FILLS = (-1e9, -1e4, -1e20, -1e10, -1e8, -1e7, -1e6, -1e5, -1e3, -1e2, -10.0, -1.0, -9999.0, -99999.0, -1e30)


MASK = Exercise(
    key="mask",
    title=message("Causal mask"),
    lesson="mask",
    asks=message(
        "No query may look at a later key. Put −∞ (`-math.inf`) where the key comes later than the query, and "
        "leave every other score as it is. A token may look at itself."
    ),
    entry="causal_scores",
    takes=(Shown("scores", "queries", "keys"),),
    returns=(Shown("masked", "queries", "keys"),),
    starter="""def causal_scores(scores):
    # scores: shape [queries, keys], as many keys as queries
    n = scores.shape[0]
    future = None  # Your code: True where the key stands later than the query
    masked = None  # Your code
    return masked
""",
    solution="""def causal_scores(scores):
    n = scores.shape[0]
    future = torch.triu(torch.ones(n, n), diagonal=1).bool()
    return scores.masked_fill(future, -math.inf)
""",
    draw=mask_cases,
    answer=lambda scores: mask_scores(scores, causal_mask(len(scores))),
    varied=varied_mask,
    mistakes=(
        *CHANGED_MASKS,
        *(Mistake(FINITE, {"fill": fill}) for fill in FINITE_FILLS),
        Mistake(FINITE, {"fill": torch.finfo(torch.float32).min}),
        Mistake(
            message("Hidden scores are +∞ here: they would get all the weight. The minus sign is missing: −∞."),
            {"fill": math.inf},
        ),
        Mistake(message("These are weights already: a softmax is not asked for here."), {"norm": "softmax"}),
        Mistake(message("Nothing is hidden yet: these are the scores as they came in."), lambda scores: scores),
        Mistake(
            message("This is only the mask. Apply it to the scores: the other scores stay as they are."),
            lambda scores: masked(torch.zeros_like(scores), MASKS["future"](len(scores)), -math.inf),
        ),
        Mistake(
            message("This is only the mask. Apply it to the scores: the other scores stay as they are."),
            lambda scores: MASKS["future"](len(scores)).double(),
        ),
    ),
)

# Context vectors, by loops


def context_cases(g: torch.Generator) -> tuple[Case, ...]:
    """As many queries as keys, so that rows and columns can be mistaken for each other."""
    sizes = ((3, 2), (4, 3), (2, 5))
    return tuple(Case(arguments=(shares_of_one(g, n, n), numbers_within(g, n, d))) for n, d in sizes)


def up_to(queries: int, keys: int | None, features: int | None, w: Tensor, v: Tensor) -> Tensor:
    """Context vectors of which only the beginning was computed."""
    found = torch.zeros(len(w), v.shape[1], dtype=v.dtype)
    found[:queries, :features] = (w[:, :keys] @ v[:keys])[:queries, :features]
    return found


CONTEXT = Exercise(
    key="context",
    title=message("Context vectors, by loops"),
    lesson="output",
    asks=message(
        "The context vector of a query is the sum of all value vectors, each times the weight that the query gives its "
        "key. Write it number by number, with loops; then compare with one line of matrices."
    ),
    entry="context_vectors",
    takes=(WEIGHTS, Shown("V", "keys", "features", "v")),
    returns=(Shown("context", "queries", "features", "v"),),
    starter="""def context_vectors(weights, V):
    # weights: shape [queries, keys], V: shape [keys, features]
    n_queries, n_keys = weights.shape
    n_features = V.shape[1]
    context = torch.zeros(n_queries, n_features)
    for i in range(n_queries):
        for j in range(n_keys):
            for f in range(n_features):
                pass  # Your code
    return context
""",
    solution="""def context_vectors(weights, V):
    n_queries, n_keys = weights.shape
    n_features = V.shape[1]
    context = torch.zeros(n_queries, n_features)
    for i in range(n_queries):
        for j in range(n_keys):
            for f in range(n_features):
                context[i, f] += weights[i, j] * V[j, f]
    return context  # the same as weights @ V
""",
    draw=context_cases,
    answer=mix_values,
    mistakes=(
        Mistake(
            message("Each pass of the loop overwrites the last one. Add to what is there: +=."),
            lambda w, v: w[:, -1:] * v[-1:],
        ),
        Mistake(
            message("The weights of query i are in row i: weights[i, j], not weights[j, i]."), lambda w, v: w.T @ v
        ),
        Mistake(message("The values are added up without their weights."), lambda w, v: v.sum(0).expand(len(w), -1)),
        Mistake(
            message("This is the plain mean of the values. Each value counts with its own weight."),
            lambda w, v: v.mean(0).expand(len(w), -1),
        ),
        Mistake(
            message("This takes only the value with the largest weight. All values count, each with its weight."),
            lambda w, v: v[w.argmax(-1)],
        ),
        Mistake(
            message("The rows of V belong to keys: weights[i, j] · V[j, f], not V[i, f]."),
            lambda w, v: w.sum(-1, keepdim=True) * v,
        ),
        *(
            Mistake(message("Only the first rows are there: return is inside a loop. Return after the loops."), early)
            for early in (partial(up_to, 1, None, None), partial(up_to, 1, 1, None), partial(up_to, 1, 1, 1))
        ),
        Mistake(
            message("The first key is left out. Counting begins at 0: range(n_keys)."), lambda w, v: w[:, 1:] @ v[1:]
        ),
        Mistake(
            message("The last key is left out. range(n) ends at n − 1 by itself."), lambda w, v: w[:, :-1] @ v[:-1]
        ),
        Mistake(
            message("The sum was divided by the number of keys. The weights sum to 1 already."),
            lambda w, v: w @ v / len(v),
        ),
        Mistake(
            message("The context vectors are still zero."), lambda w, v: torch.zeros(len(w), v.shape[1], dtype=v.dtype)
        ),
    ),
    loops=True,
)
