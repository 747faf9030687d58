"""How the heads of the lesson were computed, step by step: what its program does."""

from torch import Tensor

from attention_core.attention import AttentionTrace, attend
from attention_core.head_measures import total_variation
from attention_core.heads import MultiHeadAttention, SlicedHeads, drop_weights, linear, merge_heads, split_heads
from attention_core.masks import causal_mask
from attention_core.randomness import generator
from attention_core.weights import count_weights
from lessons.heads.example import NOTEBOOK_SEED, HeadsTrace, SideBySide, dropped_out, planted_heads, wide_heads
from attention_core.head_measures import head_reach
from lessons.heads.slices_view import reach_of_heads
from lessons.screen.program import Ran

DRAWN_AGAIN = {"wide": wide_heads, "planted": planted_heads}  # by these functions
MOST_WRITTEN = 2000  # numbers of a module; a larger one is drawn again from its seed
MOST_WRITTEN_OF_MODEL = 5000  # of one that was trained; of a larger one only what a step needs is written


def ran_heads(trace: SideBySide, step: str) -> Ran:
    """The lines of one step, and what they gave."""
    values, lines, uses = beginning(trace)
    if step == "dropout":
        values |= {"p": trace.example.dropout, "seed": trace.example.seed}
        lines += ('dropped = drop_weights(heads, p, generator(seed, "dropout"))',)
        return Ran(values, lines, {"dropped.weights": dropped_out(trace).weights}, (*uses, drop_weights, generator))
    if not isinstance(trace, HeadsTrace):
        return Ran(values, lines, {"heads.weights": trace.heads.weights}, uses)
    if is_wide(trace):
        return ran_wide(trace, step, values)
    further, shows, others = of_step(trace, step)
    if step == "attend" and trace.n_heads > 1:
        further += ("apart = total_variation(heads.weights[0], heads.weights[1])",)
        shows["apart"] = total_variation(trace.heads.weights[0], trace.heads.weights[1])
    if step == "slices":
        values |= {"features": reach_of_heads(trace).features, "seed": trace.example.seed}
    return Ran(values, (*lines, *further), shows, (*uses, *others))


def is_wide(trace: SideBySide) -> bool:
    """True for the heads of a model that are too many numbers to write, and cannot be drawn again."""
    return trace.trained is not None and count_weights(trace.module) > MOST_WRITTEN_OF_MODEL


def ran_wide(trace: HeadsTrace, step: str, values: dict[str, object]) -> Ran:
    """One step of heads that are too wide to be written: from q, k and v on, or what is projected for head 1 alone."""
    if step in ("project", "split"):
        first = {role: slice(getattr(trace.heads, role).shape[-1]) for role in "qkv"}
        maps = {f"W_{role}": getattr(trace.module, f"W_{role}")[:, own] for role, own in first.items()}
        lines = tuple(f"{role} = linear({made_of(trace, role)}, W_{role})" for role in "qkv")
        shows = {role: getattr(trace, role)[:, own] for role, own in first.items()}
        return Ran(entering(trace) | maps, lines, shows, (linear,))
    attends = "heads = attend(q, k, v, may_attend, scale=scale)"
    match step:
        case "output":
            values |= {"W_o": trace.module.W_o, "b_o": trace.module.b_o}
            line, shows = "output = linear(merge_heads(heads.output), W_o, b_o)", {"output": trace.output}
            return Ran(values, (attends, line), shows, (attend, merge_heads, linear))
        case "concatenate":
            shows = {"joined": trace.concatenated}
            return Ran(values, (attends, "joined = merge_heads(heads.output)"), shows, (attend, merge_heads))
        case "slices":
            reach, line = reach_of_heads(trace), "sliced = head_reach(sliced_heads, x, features, may_attend, scale)"
            values |= {"x": trace.x, "n_heads": trace.n_heads, "features": reach.features, "seed": trace.example.seed}
            drawn = "sliced_heads = SlicedHeads.draw(x.shape[-1], n_heads, generator=generator(seed))"
            return Ran(
                {name: value for name, value in values.items() if name not in ("q", "k", "v")},
                (drawn, line),
                {"sliced": reach.sliced},
                (SlicedHeads, head_reach, generator),
            )
        case _:
            return Ran(values, (attends,), {"heads.weights": trace.heads.weights}, (attend, total_variation))


def entering(trace: HeadsTrace) -> dict[str, Tensor]:
    """X, and the positions that queries and keys are made of besides."""
    return {"x": trace.x} | ({} if trace.added is None else {"p": trace.added})


def made_of(trace: HeadsTrace, role: str) -> str:
    """What queries, keys or values are made of, as a program writes it."""
    return "x" if trace.added is None or role == "v" else "x + p"


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


def of_step(trace: HeadsTrace, step: str) -> tuple[tuple[str, ...], dict[str, object], tuple]:
    """What else a step calls, and what stands on its screen."""
    heads: AttentionTrace = trace.heads
    match step:
        case "project":
            made = {role: f"linear({made_of(trace, role)}, module.W_{role}, module.b_{role})" for role in "qkv"}
            lines = tuple(f"{role} = {line}" for role, line in made.items())
            return lines, {role: getattr(trace, role) for role in "qkv"}, (linear,)
        case "split":
            lines, _, uses = of_step(trace, "project")
            lines += tuple(f"{role} = split_heads({role}, module.n_heads)" for role in "qkv")
            split = {role: split_heads(getattr(trace, role), trace.n_heads) for role in "qkv"}
            return lines, split, (*uses, split_heads)
        case "concatenate":
            return ("joined = merge_heads(heads.output)",), {"joined": trace.concatenated}, (merge_heads,)
        case "output":
            return (), {"trace.concatenated": trace.concatenated, "output": trace.output}, ()
        case "slices":
            reach, sizes = reach_of_heads(trace), "x.shape[-1], module.n_heads"
            positions = "" if trace.added is None else ", p"
            lines = (
                f"sliced_heads = SlicedHeads.draw({sizes}, generator=generator(seed))",
                f"projected = head_reach(module, x, features, may_attend, scale{positions})",
                "sliced = head_reach(sliced_heads, x, features, may_attend, scale)",
            )
            return lines, {"projected": reach.projected, "sliced": reach.sliced}, (SlicedHeads, head_reach, generator)
        case _:
            return (), {"heads.weights": heads.weights}, (total_variation,)
