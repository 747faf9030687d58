"""The exercise on one whole head: scaled dot-product attention, the first of the first notebook."""

import math

import torch
from torch import Tensor

from attention_core.one_head.attention import attend
from lessons.code.exercises.base import Case, Exercise, Mistake, Outputs, Shown, numbers_within
from lessons.code.exercises.varied import BY_D_V, CHANGED_STEPS, DOWN_COLUMNS, MASKS, varied_heads
from lessons.screen import message


def attention_cases(g: torch.Generator) -> tuple[Case, ...]:
    """Tokens, d_model, d_k, d_v; once a single token."""
    sizes = ((4, 3, 2, 2), (5, 4, 3, 2), (1, 2, 4, 3))
    shapes = (((t, d), (d, k), (d, k), (d, v)) for t, d, k, v in sizes)
    return tuple(Case(arguments=tuple(numbers_within(g, *shape) for shape in each)) for each in shapes)


def one_head_of(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Outputs:
    """Context vectors and weights, as the app computes them."""
    trace = attend(x @ w_q, x @ w_k, x @ w_v)
    return trace.output, trace.weights


def varied_attention(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, uses: str = "qkv", hides: str = "", mixed: str = "", **changes
) -> Outputs:
    """Attention in which something else was done: `uses` says with which W queries, keys and values are made."""
    maps = {"q": w_q, "k": w_k, "v": w_v, "x": torch.eye(x.shape[1], dtype=x.dtype)}
    q, k, v = (x @ maps[name] for name in uses)
    if changes.get("by") == "√d_model":
        changes["by"] = "nothing"
        q = q / math.sqrt(x.shape[1])
    return varied_heads(q, k, x if mixed else v, MASKS[hides](len(x)) if hides else None, **changes)


ONE_W_TWICE = message("Two of Q, K and V were made with the same W. Each has its own: W_q, W_k, W_v.")


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
    varied=varied_attention,
    mistakes=(
        Mistake(
            message("You divided by √d_model. Divide by the root of the width of the keys, √d_k."), {"by": "√d_model"}
        ),
        *CHANGED_STEPS,
        Mistake(BY_D_V, {"by": "√d_v"}, alone=True),
        Mistake(DOWN_COLUMNS, {"dim": 0}),
        *(Mistake(ONE_W_TWICE, {"uses": uses}) for uses in ("qqv", "kkv", "qkk", "qkq")),
        Mistake(message("Q and K have changed places: queries are X W_q, keys are X W_k."), {"uses": "kqv"}),
        Mistake(message("The weights mix the rows of X. They should mix the values, V = X W_v."), {"mixed": "x"}),
        Mistake(message("A causal mask is not asked for here: every query sees every key."), {"hides": "future"}),
    ),
)
