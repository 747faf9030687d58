"""How the heads of the lesson were computed, step by step: what its program does."""

from torch import Tensor

from attention_core.attention import attend
from attention_core.heads import MultiHeadAttention
from attention_core.masks import causal_mask
from attention_core.randomness import generator
from attention_core.weights import count_weights
from lessons.heads.example import NOTEBOOK_SEED, HeadsTrace, SideBySide, planted_heads, wide_heads

DRAWN_AGAIN = {"wide": wide_heads, "planted": planted_heads}  # by these functions
MOST_WRITTEN = 2000  # numbers of a module; a larger one is drawn again from its seed
MOST_WRITTEN_OF_MODEL = 5000  # of one that was trained; of a larger one only what a step needs is written


def is_wide(trace: SideBySide) -> bool:
    """True for the heads of a model that are too many numbers to write, and cannot be drawn again."""
    return trace.trained is not None and count_weights(trace.module) > MOST_WRITTEN_OF_MODEL


def entering(trace: HeadsTrace) -> dict[str, Tensor]:
    """X, and the positions that queries and keys are made of besides."""
    return {"x": trace.x} | ({} if trace.added is None else {"p": trace.added})


def beginning(trace: SideBySide) -> tuple[dict[str, object], tuple[str, ...], tuple]:
    """Where every step begins: what was drawn, and the attention of all heads."""
    mask = causal_mask(len(trace.tokens)) if trace.example.causal else None
    values: dict[str, object] = {"may_attend": mask, "scale": trace.scale}
    if not isinstance(trace, HeadsTrace) or is_wide(trace):
        drawn = {name: getattr(trace.heads, name) for name in "qkv"}
        return drawn | values, ("heads = attend(q, k, v, may_attend, scale=scale)",), (attend,)
    positions = "" if trace.added is None else ", positions=p"
    lines = (f"output, trace = module(x, may_attend, scale=scale{positions})", "heads = trace.heads")
    if trace.trained is None and count_weights(trace.module) > MOST_WRITTEN:
        drawn, drawing, uses = drawn_again(trace)
        return drawn | values, (drawing, *lines), uses
    return entering(trace) | {"module": trace.module} | values, lines, ()


def drawn_again(trace: HeadsTrace) -> tuple[dict[str, object], str, tuple]:
    """How a module is drawn once more that is too many numbers to write, and its vectors with it."""
    example = trace.example
    if example.source in DRAWN_AGAIN:
        draw = DRAWN_AGAIN[example.source]
        values = {"n_tokens": len(trace.tokens), "dropout": example.dropout, "first_seed": NOTEBOOK_SEED}
        return values, f"x, module = {draw.__name__}(n_tokens, dropout, first_seed)", (draw,)
    values = {
        "x": trace.x,
        "sizes": (example.d_model, example.n_heads),
        "bias": example.bias,
        "dropout": example.dropout,
        "first_seed": example.seed,
    }
    drawing = "MultiHeadAttention.draw(*sizes, bias=bias, dropout=dropout, generator=generator(first_seed))"
    return values, f"module = {drawing}", (MultiHeadAttention, generator)
