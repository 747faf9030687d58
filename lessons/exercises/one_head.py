"""Exercises on the steps of one head: scores, mask, softmax, context vectors."""

import math
from functools import partial

import torch
from torch import Tensor

from attention_core.attention import dot_product_scores, mask_scores, mix_values, scale_scores, softmax_rows
from attention_core.masks import causal_mask
from lessons.exercises.base import Case, Exercise, Mistake, Shown, numbers_within, shares_of_one
from lessons.screen.message import message

WEIGHTS = Shown("weights", "queries", "keys", "weight", "weight")


# Softmax of a row


def softmax_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Small scores, more of them, and scores of about 1000, whose exponentials no computer can hold."""
    small, more = numbers_within(g, 3), numbers_within(g, 5, most=4)
    return tuple(Case(arguments=(row,)) for row in (small, more, [round(1000 + x, 2) for x in numbers_within(g, 4)]))


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
            message(
                "exp(1000) is more than a computer can hold. Subtract the largest score from all of them "
                "first: no weight changes."
            ),
            lambda s: s.exp() / s.exp().sum(),
        ),
        Mistake(message("These are the exponentials. Divide each by the sum of all."), torch.exp),
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
    ),
)

# Scores and scaling


def scores_cases(g: torch.Generator) -> tuple[Case, ...]:
    """No two of queries, keys and features are as many."""
    sizes = ((3, 4, 2), (2, 5, 3), (4, 3, 5))
    return tuple(Case(arguments=(numbers_within(g, n, d), numbers_within(g, m, d))) for n, m, d in sizes)


def other_scores(q: Tensor, k: Tensor, by: str = "√d_k", swapped: bool = False) -> Tensor:
    """Scores divided by something."""
    return (k @ q.T if swapped else q @ k.T) / DIVISORS[by](k.shape[1], k.shape[0])


DIVISORS = {
    "√d_k": lambda d_k, n: math.sqrt(d_k),
    "nothing": lambda d_k, n: 1.0,
    "d_k": lambda d_k, n: d_k,
    "1/√d_k": lambda d_k, n: d_k**-0.5,
    "√n": lambda d_k, n: math.sqrt(n),
}
NOT_SCALED = message("The scores are not divided by √d_k.")
BY_D_K = message("You divided by d_k. Divide by its square root, √d_k.")
MULTIPLIED = message("You multiplied by √d_k. Divide by it.")

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
    mistakes=(
        Mistake(NOT_SCALED, partial(other_scores, by="nothing")),
        Mistake(BY_D_K, partial(other_scores, by="d_k")),
        Mistake(MULTIPLIED, partial(other_scores, by="1/√d_k")),
        Mistake(
            message(
                "You divided by the root of the number of keys. Divide by the root of the number of their "
                "features, √d_k."
            ),
            partial(other_scores, by="√n"),
        ),
        Mistake(
            message("These are the scores of K Qᵀ. Rows belong to queries: Q Kᵀ."), partial(other_scores, swapped=True)
        ),
    ),
)

# Causal mask


def mask_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Scores of three, four and five tokens."""
    return tuple(Case(arguments=(numbers_within(g, n, n),)) for n in (3, 4, 5))


def other_mask(scores: Tensor, diagonal: int = 1, fill: float = -math.inf, past: bool = False) -> Tensor:
    """Scores with something else hidden, or in another way."""
    hidden = torch.ones_like(scores).triu(diagonal).bool()
    return scores.masked_fill(hidden.T if past else hidden, fill)


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
    mistakes=(
        Mistake(
            message("A token may look at itself: the mask begins one to the right of the diagonal, at diagonal=1."),
            partial(other_mask, diagonal=0),
        ),
        Mistake(
            message("This hides the past. Hide the future: the keys to the right of the diagonal."),
            partial(other_mask, past=True),
        ),
        Mistake(
            message("Hidden scores are 0 here. The softmax turns 0 into a positive weight; only −∞ gives exactly 0."),
            partial(other_mask, fill=0.0),
        ),
        Mistake(
            message(
                "A very negative number hides nearly as well as −∞, but −∞ gives a weight of exactly 0. Use -math.inf."
            ),
            partial(other_mask, fill=-1e9),
        ),
        Mistake(message("Nothing is hidden yet: these are the scores as they came in."), lambda scores: scores),
    ),
)

# Context vectors, by loops


def context_cases(g: torch.Generator) -> tuple[Case, ...]:
    """As many queries as keys, so that rows and columns can be mistaken for each other."""
    sizes = ((3, 2), (4, 3), (2, 5))
    return tuple(Case(arguments=(shares_of_one(g, n, n), numbers_within(g, n, d))) for n, d in sizes)


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
            message("Each turn of the loop overwrites the last one. Add to what is there: +=."),
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
            message("The context vectors are still zero."), lambda w, v: torch.zeros(len(w), v.shape[1], dtype=v.dtype)
        ),
    ),
)
