"""How the heads of the lesson were computed, step by step: what its program does."""

from attention_core.attention import AttentionTrace, attend
from attention_core.head_measures import total_variation
from attention_core.heads import SlicedHeads, drop_weights, linear, merge_heads, split_heads
from attention_core.masks import causal_mask
from attention_core.randomness import generator
from attention_core.weights import count_weights
from lessons.head_reach import head_reach
from lessons.heads_example import HeadsTrace, SideBySide, dropped_out, tensors_of_heads
from lessons.heads_slices import reach_of_heads
from lessons.program import Ran

MOST_WRITTEN = 2000  # numbers of a module; a larger one is drawn again from its seed


def ran_heads(trace: SideBySide, step: str) -> Ran:
    """The lines of one step, and what they gave."""
    values, lines, uses = beginning(trace)
    if step == "dropout":
        values |= {"p": trace.example.dropout, "seed": trace.example.seed}
        lines += ('dropped = drop_weights(heads, p, generator(seed, "dropout"))',)
        return Ran(values, lines, {"dropped.weights": dropped_out(trace).weights}, (*uses, drop_weights, generator))
    if not isinstance(trace, HeadsTrace):
        return Ran(values, lines, {"heads.weights": trace.heads.weights}, uses)
    further, shows, others = of_step(trace, step)
    if step == "attend" and trace.n_heads > 1:
        further += ("apart = total_variation(heads.weights[0], heads.weights[1])",)
        shows["apart"] = total_variation(trace.heads.weights[0], trace.heads.weights[1])
    if step == "slices":
        values |= {"features": reach_of_heads(trace).features, "seed": trace.example.seed}
    return Ran(values, (*lines, *further), shows, (*uses, *others))


def beginning(trace: SideBySide) -> tuple[dict[str, object], tuple[str, ...], tuple]:
    """Where every step begins: what was drawn, and the attention of all heads."""
    mask = causal_mask(len(trace.tokens)) if trace.example.causal else None
    values: dict[str, object] = {"may_attend": mask, "scale": trace.scale}
    if not isinstance(trace, HeadsTrace):
        drawn = {name: getattr(trace.heads, name) for name in "qkv"}
        return drawn | values, ("heads = attend(q, k, v, may_attend, scale=scale)",), (attend,)
    lines = ("output, trace = module(x, may_attend, scale=scale)", "heads = trace.heads")
    if count_weights(trace.module) > MOST_WRITTEN:
        return (
            {"example": trace.example} | values,
            ("x, module = tensors_of_heads(example)", *lines),
            (tensors_of_heads,),
        )
    return {"x": trace.x, "module": trace.module} | values, lines, ()


def of_step(trace: HeadsTrace, step: str) -> tuple[tuple[str, ...], dict[str, object], tuple]:
    """What else a step calls, and what stands on its screen."""
    heads: AttentionTrace = trace.heads
    match step:
        case "project":
            lines = tuple(f"{role} = linear(x, module.W_{role}, module.b_{role})" for role in "qkv")
            return lines, {role: getattr(trace, role) for role in "qkv"}, (linear,)
        case "split":
            lines = tuple(
                f"{role} = split_heads(linear(x, module.W_{role}, module.b_{role}), module.n_heads)" for role in "qkv"
            )
            return lines, {role: getattr(heads, role) for role in "qkv"}, (linear, split_heads)
        case "concatenate":
            return ("joined = merge_heads(heads.output)",), {"joined": trace.concatenated}, (merge_heads,)
        case "output":
            return (), {"trace.concatenated": trace.concatenated, "output": trace.output}, ()
        case "slices":
            reach, sizes = reach_of_heads(trace), "x.shape[-1], module.n_heads"
            lines = (
                f"sliced_heads = SlicedHeads.draw({sizes}, generator=generator(seed))",
                "projected = head_reach(module, x, features, may_attend, scale)",
                "sliced = head_reach(sliced_heads, x, features, may_attend, scale)",
            )
            return lines, {"projected": reach.projected, "sliced": reach.sliced}, (SlicedHeads, head_reach, generator)
        case _:
            return (), {"heads.weights": heads.weights}, (total_variation,)
