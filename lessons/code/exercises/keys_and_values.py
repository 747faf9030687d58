"""Exercises on keys and values: kept for the next token, and shared by several heads."""

from collections.abc import Callable

import torch
from torch import Tensor

from attention_core.one_head.attention import attend
from attention_core.one_head.heads import share_heads
from lessons.code.exercises.base import Case, Exercise, Mistake, Outputs, Shown, numbers_within
from lessons.code.exercises.many_heads import OVER_HEADS
from lessons.code.exercises.varied import (
    BY_D_V,
    CHANGED_STEPS,
    LOGARITHMS,
    NO_KEEPDIM,
    OF_QUERIES,
    ONLY_EXP,
    SCORES_GIVEN,
    TURNED,
    varied_heads,
)
from lessons.screen import message

# One token after the other, with a cache


def cache_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens that are kept, d_k and d_v, all different."""
    sizes = ((4, 3, 2), (3, 2, 5), (2, 4, 3))
    return tuple(
        Case(arguments=tuple(numbers_within(g, *shape) for shape in ((k,), (k,), (v,), (n, k), (n, v))))
        for n, k, v in sizes
    )


def attend_with_cache(q: Tensor, k: Tensor, v: Tensor, kept_k: Tensor, kept_v: Tensor) -> Outputs:
    """The context vector of the new token, and the keys and values of all, as the app computes them."""
    keys, values = torch.cat((kept_k, k[None])), torch.cat((kept_v, v[None]))
    return attend(q[None], keys, values).output[0], keys, values


JOINED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {  # what is kept, and the new row
    "after": lambda kept, row: torch.cat((kept, row[None])),
    "before": lambda kept, row: torch.cat((row[None], kept)),
    "in place of the last": lambda kept, row: torch.cat((kept[:-1], row[None])),
    "in place of the first": lambda kept, row: torch.cat((kept[1:], row[None])),
    "old": lambda kept, row: kept,
    "new": lambda kept, row: row[None],
}


def varied_next(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    kept_k: Tensor,
    kept_v: Tensor,
    *,
    joins: str = "after",
    sees: str = "",
    gives: str = "",
    swapped: bool = False,
    row: bool = False,
    **changes,
) -> Outputs:
    """The next token with something else done: `sees` says which keys it looks at, `gives` what is kept of all."""
    keys, values = JOINED[joins](kept_k, k), JOINED[joins](kept_v, v)
    seen = [JOINED[sees or joins](kept, row) for kept, row in ((kept_k, k), (kept_v, v))]
    context = varied_heads(q[None], *seen, **changes)[0]
    context = context if row else context[0]
    if gives:
        keys, values = JOINED[gives](kept_k, k), JOINED[gives](kept_v, v)
    return context, *((values, keys) if swapped else (keys, values))


DO_NOT_FIT = (
    NO_KEEPDIM,
    OF_QUERIES,
    SCORES_GIVEN,
    TURNED,
    ONLY_EXP,
    LOGARITHMS,
)  # with one query and no weights to show
CACHE = Exercise(
    key="cache",
    title=message("Generation with a cache"),
    lesson="generate",
    asks=message(
        "A model writes one token after another. You are given the query, key and value of the new "
        "token, and the cache, which holds the keys and values of all tokens before it. Put the new key "
        "and value at its end, and let the new token attend to all. Return its context vector, the last "
        "row of causal attention over all tokens, and the longer cache. No other row is computed again."
    ),
    entry="attend_next",
    takes=(
        Shown("q", "queries", "features", "q"),
        Shown("k", "keys", "features", "k"),
        Shown("v", "keys", "features", "v"),
        Shown("kept_K", "keys", "features", "k"),
        Shown("kept_V", "keys", "features", "v"),
    ),
    returns=(
        Shown("context", "queries", "features", "v"),
        Shown("K", "keys", "features", "k"),
        Shown("V", "keys", "features", "v"),
    ),
    starter="""def attend_next(q, k, v, kept_K, kept_V):
    # q, k: shape [d_k], v: shape [d_v]; kept_K: shape [tokens, d_k], kept_V: shape [tokens, d_v]
    K = None  # Your code: shape [tokens + 1, d_k]
    V = None  # Your code
    context = None  # Your code: shape [d_v]
    return context, K, V
""",
    solution="""def attend_next(q, k, v, kept_K, kept_V):
    K = torch.cat([kept_K, k.unsqueeze(0)])
    V = torch.cat([kept_V, v.unsqueeze(0)])
    weights = torch.softmax(K @ q / math.sqrt(k.shape[-1]), dim=-1)
    return weights @ V, K, V
""",
    draw=cache_cases,
    answer=attend_with_cache,
    varied=varied_next,
    mistakes=(
        Mistake(
            message("The new token does not see itself. It must attend to its own key and value as well."),
            {"sees": "old"},
        ),
        Mistake(message("The new token sees only itself. It must attend to all kept keys as well."), {"sees": "new"}),
        Mistake(
            message("You returned the cache as it came in. Return it with the new key and value at its end."),
            {"gives": "old"},
        ),
        Mistake(
            message("Only the new key and value are returned. Return all: the kept ones, then the new ones."),
            {"gives": "new"},
        ),
        Mistake(
            message("The new key and value are in front. Put them at the end, where the token is."),
            {"joins": "before"},
        ),
        Mistake(
            message("The new key and value overwrite the last ones. The cache grows by one row: torch.cat."),
            {"joins": "in place of the last"},
        ),
        Mistake(
            message("The first token was dropped. The cache keeps all and grows by one row."),
            {"joins": "in place of the first"},
        ),
        Mistake(
            message("The cache did not grow. Put the new key and value at its end, then attend to all."),
            {"joins": "old"},
        ),
        Mistake(message("Keys and values have changed places: return context, K, V."), {"swapped": True}),
        Mistake(message("The context vector is in a matrix of one row. Return the row itself: [0]."), {"row": True}),
        *(it for it in CHANGED_STEPS if it.hint not in DO_NOT_FIT),
        Mistake(BY_D_V, {"by": "√d_v"}, alone=True),
        Mistake(
            message(
                "All weights are 1: the softmax ran over queries, of which there is one. It must run over the keys."
            ),
            {"dim": 0},
        ),
        Mistake(
            message(
                "A mask hid all keys but the first: torch.triu takes the new token for the first one. The cache holds "
                "nothing later, so no mask is needed."
            ),
            lambda q, k, v, kept_k, kept_v: (kept_v[0], *attend_with_cache(q, k, v, kept_k, kept_v)[1:]),
        ),
    ),
)

# Several heads of queries share keys and values


def grouped_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Heads, those that have keys and values, tokens and features."""
    sizes = ((4, 2, 3, 5), (6, 3, 4, 2), (6, 2, 2, 3))
    return tuple(
        Case(arguments=tuple(numbers_within(g, heads, t, d) for heads in (n_heads, kv_heads, kv_heads)))
        for n_heads, kv_heads, t, d in sizes
    )


def attend_in_groups(q: Tensor, k: Tensor, v: Tensor) -> Outputs:
    """Output and weights, as the app computes them."""
    trace = attend(q, share_heads(k, len(q)), share_heads(v, len(q)))
    return trace.output, trace.weights


SHARED: dict[str, Callable[[Tensor, int], Tensor]] = {  # keys or values, for so many heads
    "neighbours": share_heads,
    "in turn": lambda x, n_heads: x.repeat(n_heads // len(x), 1, 1),
    "first": lambda x, n_heads: x[:1].expand(n_heads, -1, -1),
    "mean": lambda x, n_heads: x.mean(0, keepdim=True).expand(n_heads, -1, -1),
    "backwards": lambda x, n_heads: share_heads(x.flip(0), n_heads),
    "by tokens": lambda x, n_heads: x.repeat_interleave(n_heads // len(x), 1).reshape(n_heads, *x.shape[1:]),
}


def varied_groups(q: Tensor, k: Tensor, v: Tensor, *, keys: str = "", values: str = "", both: str = "", **changes):
    """Grouped queries in which something else was done: in which way `keys`, `values` or `both` are shared."""
    k, v = (SHARED[way or both or "neighbours"](x, len(q)) for x, way in ((k, keys), (v, values)))
    return varied_heads(q, k, v, **changes)


IN_TURN = message(
    "The heads take the keys and values in turn: 0, 1, 0, 1. Neighbours share: 0, 0, 1, 1. Use repeat_interleave."
)
SHARED_OTHERWISE = message("Keys are shared in one way, values in another. A head that uses K[1] must use V[1].")
GROUPED = Exercise(
    key="grouped",
    title=message("Grouped queries"),
    lesson="variants",
    asks=message(
        "Every head has its own queries, but neighbouring heads share keys and values, so that a cache keeps fewer. "
        "Q has shape [n_heads, tokens, d_k], K and V [n_kv_heads, tokens, d_k]: the first n_heads / n_kv_heads heads "
        "use K[0] and V[0], the next ones K[1] and V[1], and so on. Return the output and the weights of all heads."
    ),
    entry="grouped_attention",
    takes=(
        Shown("Q", "queries", "features", "q"),
        Shown("K", "keys", "features", "k"),
        Shown("V", "keys", "features", "v"),
    ),
    returns=(Shown("output", "queries", "features", "v"), Shown("weights", "queries", "keys", "weight", "weight")),
    starter="""def grouped_attention(Q, K, V):
    # Q: shape [n_heads, tokens, d_k]; K, V: shape [n_kv_heads, tokens, d_k]
    shared_by = Q.shape[0] // K.shape[0]
    # 1. Keys and values for every head
    # 2. Attention, as ever
    weights = None  # Your code
    output = None  # Your code
    return output, weights
""",
    solution="""def grouped_attention(Q, K, V):
    shared_by = Q.shape[0] // K.shape[0]
    K = K.repeat_interleave(shared_by, dim=0)
    V = V.repeat_interleave(shared_by, dim=0)
    weights = torch.softmax(Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]), dim=-1)
    return weights @ V, weights
""",
    draw=grouped_cases,
    answer=attend_in_groups,
    varied=varied_groups,
    mistakes=(
        Mistake(IN_TURN, {"both": "in turn"}),
        *(Mistake(SHARED_OTHERWISE, {role: way}) for way in ("in turn", "first") for role in ("keys", "values")),
        Mistake(
            message("All heads use the first keys and values. Each group of neighbours has its own."), {"both": "first"}
        ),
        Mistake(
            message("This is the mean of all keys and values. Each group of neighbours has its own."), {"both": "mean"}
        ),
        Mistake(message("The groups are in another order: the first heads use K[0] and V[0]."), {"both": "backwards"}),
        Mistake(
            message("The tokens were repeated, which mixed them among the heads. Repeat along the heads: dim=0."),
            {"both": "by tokens"},
        ),
        *(it for it in CHANGED_STEPS if it.hint is not NO_KEEPDIM),  # whose shapes do not fit here
        Mistake(
            message("You divided by the root of the number of heads. d_k is the size of the last axis."),
            {"by": "√heads"},
            alone=True,
        ),
        Mistake(message("The softmax ran over the queries. The row of each query must sum to 1: dim=-1."), {"dim": 1}),
        Mistake(OVER_HEADS, {"dim": 0}),
    ),
)
