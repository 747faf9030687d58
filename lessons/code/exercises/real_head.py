"""The last exercise: one's own code on a head of the real model, and the numbers of the model itself."""

import math
from functools import cache

from torch import Tensor

from attention_core.one_head.masks import causal_mask
from lessons.code.exercises.attention import ONE_W_TWICE
from lessons.code.exercises.base import Case, Exercise, Mistake, Outputs, Shown
from lessons.code.exercises.rows import varied_turn
from lessons.code.exercises.varied import (
    AFTER_SOFTMAX,
    CHANGED_MASKS,
    CHANGED_STEPS,
    DOWN_COLUMNS,
    INFINITE_WEIGHTS,
    MASKS,
    varied_heads,
)
from lessons.example.layer_on_text import LayerOnText, shipped_layer
from lessons.example.real_model import DEFAULT_HEAD, DEFAULT_LAYER, DEFAULT_TEXT, head_name
from lessons.screen import message

BASE = 100_000.0  # of the rotary positions of this model


@cache
def real_cases() -> tuple[Case, ...]:
    """One case, always the same: what layer 13 reads of the sentence, and the maps of head 13.8."""
    at = shipped_layer()
    return (Case(arguments=(at.x, *maps_of_head(at))),)


def maps_of_head(at: LayerOnText) -> list[Tensor]:
    """W_q, W_k and W_v of the head."""
    maps, n_heads = at.attention, at.attention.n_heads
    return [W.reshape(len(W), n_heads, -1)[:, DEFAULT_HEAD] for W in (maps.W_q, maps.W_k, maps.W_v)]


def head_in_model(*_: Tensor) -> Outputs:
    """What this head of the model itself finds: context vectors and weights."""
    at = shipped_layer()
    _, trace = at.attention(at.x, causal_mask(len(at.x)))
    head = trace.heads.select(DEFAULT_HEAD)
    return head.output, head.weights


@cache
def projected() -> dict[str, Tensor]:
    """Queries, keys and values before they are turned, in double precision; kept, as all mistakes begin with them."""
    at = shipped_layer()
    return {role: at.x.double() @ W.double() for role, W in zip("qkv", maps_of_head(at), strict=True)}


def varied_real(
    x: Tensor,
    *_: Tensor,
    uses: str = "qkv",
    turns: str = "qk",
    pairs: str = "neighbours",
    hides: str = "future",
    **changes,
) -> Outputs:
    """The head with something else done: `uses` says which W make q, k and v, `turns` which of them are turned."""
    made = {role: projected()[name] for role, name in zip("qkv", uses, strict=True)}
    q, k, v = (varied_turn(row, BASE, pairs=pairs) if role in turns else row for role, row in made.items())
    if changes.get("by") == "√d_model":
        changes["by"], q = "nothing", q / math.sqrt(x.shape[1])
    return varied_heads(q, k, v, MASKS[hides](len(x)) if hides else None, **changes)


ROTATE = """def rotate(x, base=100000.0):
    # Rotary positions as this model has them; x: shape [tokens, d_k]
    speeds = base ** (-torch.arange(0, x.shape[1], 2) / x.shape[1])
    angles = torch.outer(torch.arange(x.shape[0]).float(), speeds)
    cos, sin = torch.cos(angles), torch.sin(angles)
    first, second = x[:, 0::2], x[:, 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)

"""  # given: it is an exercise of its own
REAL_HEAD = Exercise(
    key="real_head",
    title=message("A head of a real model"),
    lesson="read",
    asks=message(
        "Head {head} of SmolLM2 reads “{text}”. X is what enters its layer, one row for each of the 10 "
        "tokens; the head's own maps take 576 features to 64. Compute its context vectors and its "
        "weights. Queries and keys are turned by `rotate`, which is already written; the mask is "
        "causal, and scores are divided by √d_k. Your numbers are compared with those of the model.",
        head=head_name(DEFAULT_LAYER, DEFAULT_HEAD),
        text=DEFAULT_TEXT,
    ),
    entry="real_head",
    takes=(
        Shown("X", "tokens", "features"),
        Shown("W_q", "features", "features", "q"),
        Shown("W_k", "features", "features", "k"),
        Shown("W_v", "features", "features", "v"),
    ),
    returns=(Shown("context", "queries", "features", "v"), Shown("weights", "queries", "keys", "weight", "weight")),
    starter=ROTATE
    + """def real_head(X, W_q, W_k, W_v):
    # X: shape [10, 576]; W_q, W_k, W_v: shape [576, 64]
    weights = None  # Your code
    context = None  # Your code
    return context, weights
""",
    solution=ROTATE
    + """def real_head(X, W_q, W_k, W_v):
    Q, K, V = rotate(X @ W_q), rotate(X @ W_k), X @ W_v
    scores = Q @ K.T / math.sqrt(K.shape[-1])
    future = torch.triu(torch.ones(len(X), len(X)), diagonal=1).bool()
    weights = torch.softmax(scores.masked_fill(future, -math.inf), dim=-1)
    return weights @ V, weights
""",
    draw=lambda g: real_cases(),
    answer=head_in_model,
    varied=varied_real,
    drawn=False,
    mistakes=(
        Mistake(message("Queries and keys are not turned yet: rotate(X @ W_q), rotate(X @ W_k)."), {"turns": ""}),
        Mistake(message("The keys are not turned yet. Queries and keys are, values are not."), {"turns": "q"}),
        Mistake(message("The queries are not turned yet. Queries and keys are, values are not."), {"turns": "k"}),
        Mistake(
            message("The values were turned as well. Only queries and keys carry their positions."), {"turns": "qkv"}
        ),
        Mistake(
            message("This pairs feature p with p + d_k / 2. These maps have their pairs side by side: 2p and 2p + 1."),
            {"pairs": "halves"},
        ),
        Mistake(message("The causal mask is missing: a token would see those after it."), {"hides": ""}),
        Mistake(
            message("You divided by √d_model. Divide by the root of the width of the keys, √d_k."), {"by": "√d_model"}
        ),
        Mistake(AFTER_SOFTMAX, {"masks": "after"}),
        Mistake(INFINITE_WEIGHTS, {"masks": "after, −∞"}),
        *CHANGED_MASKS,
        *CHANGED_STEPS,
        Mistake(DOWN_COLUMNS, {"dim": 0}),
        *(Mistake(ONE_W_TWICE, {"uses": uses}, alone=True) for uses in ("qqv", "kkv", "qkk", "qkq")),
    ),
)
