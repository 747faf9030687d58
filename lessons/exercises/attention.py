"""The exercise on one whole head: scaled dot-product attention, the first of the first notebook."""

import math
from functools import partial

import torch
from torch import Tensor

from attention_core.attention import attend
from lessons.exercises.base import Case, Exercise, Mistake, Outputs, Shown, numbers_within
from lessons.exercises.one_head import BY_D_K, DIVISORS, MULTIPLIED, NOT_SCALED
from lessons.screen.message import message


def attention_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens, d_model, d_k, d_v; once a single token."""
    sizes = ((4, 3, 2, 2), (5, 4, 3, 2), (1, 2, 4, 3))
    shapes = (((t, d), (d, k), (d, k), (d, v)) for t, d, k, v in sizes)
    return tuple(Case(arguments=tuple(numbers_within(g, *shape) for shape in each)) for each in shapes)


def one_head_of(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Outputs:
    """Context vectors and weights, as the app computes them."""
    trace = attend(x @ w_q, x @ w_k, x @ w_v)
    return trace.output, trace.weights


def other_attention(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, by: str = "√d_k", dim: int = -1, swapped: bool = False
) -> Outputs:
    """Attention in which something else was done."""
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    divisor = math.sqrt(x.shape[1]) if by == "√d_model" else DIVISORS[by](k.shape[1], k.shape[0])
    weights = ((k @ q.T if swapped else q @ k.T) / divisor).softmax(dim)
    return weights @ v, weights


ATTENTION = Exercise(
    key="attention",
    title=message("Scaled dot-product attention"),
    lesson="output",
    asks=message(
        "One whole head: queries, keys and values from X; scores Q Kᵀ / √d_k; the softmax of each row; and the context "
        "vectors, weights times V. Return the context vectors and the weights."
    ),
    entry="scaled_dot_product_attention",
    takes=(
        Shown("X", "tokens", "features"),
        Shown("W_q", "features", "features", "q"),
        Shown("W_k", "features", "features", "k"),
        Shown("W_v", "features", "features", "v"),
    ),
    returns=(
        Shown("context", "queries", "features", "v"),
        Shown("attn_weights", "queries", "keys", "weight", "weight"),
    ),
    starter="""def scaled_dot_product_attention(X, W_q, W_k, W_v):
    # 1. Project inputs to Q, K, V
    Q = None  # Your code
    K = None  # Your code
    V = None  # Your code

    # 2. Scaled scores: Q @ K^T / sqrt(d_k)
    d_k = None  # Your code
    attn_scores = None  # Your code

    # 3. Softmax
    attn_weights = None  # Your code

    # 4. Context vectors
    context = None  # Your code

    return context, attn_weights
""",
    solution="""def scaled_dot_product_attention(X, W_q, W_k, W_v):
    Q = X @ W_q
    K = X @ W_k
    V = X @ W_v
    d_k = K.shape[-1]
    attn_scores = Q @ K.T / math.sqrt(d_k)
    attn_weights = torch.softmax(attn_scores, dim=-1)
    context = attn_weights @ V
    return context, attn_weights
""",
    draw=attention_cases,
    answer=one_head_of,
    mistakes=(
        Mistake(NOT_SCALED, partial(other_attention, by="nothing")),
        Mistake(BY_D_K, partial(other_attention, by="d_k")),
        Mistake(
            message("You divided by √d_model. Divide by the root of the width of the keys, √d_k."),
            partial(other_attention, by="√d_model"),
        ),
        Mistake(MULTIPLIED, partial(other_attention, by="1/√d_k")),
        Mistake(
            message("The softmax ran down the columns. The row of each query must sum to 1: dim=-1."),
            partial(other_attention, dim=0),
        ),
        Mistake(message("The scores are K Qᵀ. Rows belong to queries: Q Kᵀ."), partial(other_attention, swapped=True)),
    ),
)
