"""Computations of the core, on arrays that remember and on plain ones: one setting for each kind of attention."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch

from attention_core.base.traced import Traced
from attention_core.learning import backward, losses
from attention_core.learning.tasks import NO_TARGET
from attention_core.model import weights
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.one_head import attention, online_softmax
from attention_core.one_head.heads import MultiHeadAttention, SlicedHeads
from attention_core.text.embeddings import Rotary, embed

Give = Callable[..., Any]  # (values, name, axes) → an array: `given`, or the plain values


def plain(values: Any, name: str, axes: Any = ()) -> np.ndarray:
    return np.array(values)


def attention_setting(seed: int, give: Give, mask: str = "causal", heads: bool = True, **options: Any) -> list:
    """One attention, forwards and backwards. `sink` may be "number", "heads" or absent."""
    r = np.random.RandomState(seed)
    batch, n, d = ((2, 3) if heads else ()), 4, 3
    q, k, v = (give(r.randn(*batch, n, d), name) for name in "qkv")
    bias = np.where(np.tri(n, dtype=bool), r.randn(3, n, n) if heads else r.randn(n, n), -np.inf)
    masks = {
        "causal": np.tri(n, dtype=bool),
        "float": bias,
        "padding": np.array([[[[1, 1, 1, 0]]], [[[1, 1, 0, 0]]]]) > 0,
    }
    may = None if mask == "none" else give(masks[mask], "bias" if mask == "float" else "may_attend")
    sink = {"heads": give(r.randn(3), "sink"), "number": 0.3, "off": -float("inf")}.get(options.pop("sink", ""))
    trace = attention.attend(q, k, v, may, sink=sink, **options)
    d_output = give(r.randn(*batch, n, d), "d_output")
    return [trace, backward.attend_backward(trace, d_output, options.get("scale"), options.get("soft_cap"))]


def heads_setting(seed: int, give: Give, kind: type = MultiHeadAttention, mask: str = "causal", **options: Any) -> list:
    """`MultiHeadAttention.__call__` or `SlicedHeads`, and the way back."""
    r, torch_r = np.random.RandomState(seed), torch.Generator().manual_seed(seed)
    n, d_model, n_heads, call = 4, 8, 4, {}
    call["ablated"] = options.pop("ablated", ())
    added, cached = options.pop("positions", False), options.pop("past", False)
    drawn = {key: options.pop(key) for key in ("rotary", "kv_heads", "d_k", "bias") if key in options}
    heads = kind.draw(d_model, n_heads, **drawn, generator=torch_r)
    if options.pop("sink", False):
        heads = replace(heads, sink=torch.from_numpy(r.randn(n_heads)))
    norm = options.pop("qk_norm", False)
    if norm:
        options["q_gain"], options["k_gain"] = (torch.ones(heads.W_q.shape[-1] // n_heads) * 1.5 for _ in "qk")
    named = [(f.name, getattr(heads, f.name)) for f in fields(heads)]
    arrays = {name: w for name, w in [*named, *options.items()] if hasattr(w, "shape")}
    heads = replace(heads, **options)
    heads = replace(heads, **{name: give(w.numpy().astype(float), name) for name, w in arrays.items()})
    x = give(r.randn(2, n, d_model), "x", ("tokens", "d_model"))
    if added:
        call["positions"] = give(r.randn(n, d_model), "positions")
    may = give(np.tri(n, dtype=bool), "may_attend") if mask == "causal" else give(r.randn(n_heads, n, n), "bias")
    if cached:  # the first two tokens, then the others with what was kept of them
        _, before = heads(x[:, :2], may[:2, :2], **call)
        return [heads, before, heads(x[:, 2:], may[2:], past=before.present, **call)[1]]
    output, trace = heads(x, may, **call)
    if norm:
        return [heads, trace]
    return [
        heads,
        trace,
        backward.heads_backward(
            heads, x, trace, give(r.randn(*output.shape), "d_output"), positions=call.get("positions")
        ),
    ]


def model_setting(seed: int, give: Give, n_tokens: int = 5, ablated: tuple = (), runs: int = 0, **options: Any) -> list:
    """A whole model, its loss, and every gradient; with axes of runs in front of all where several train together."""
    sizes = {"vocabulary": 7, "context": 6, "d_model": 8, "n_heads": 2, "n_layers": 2, "layer_norm": True, "mlp": True}
    config = ModelConfig(**(sizes | options))
    drawn = draw_model(config, torch.Generator().manual_seed(seed))
    named = list(weights.named_weights(drawn))
    r = np.random.RandomState(seed)
    own = [w.numpy().astype(float) for _, w in named]
    own = [w + 0.1 * r.randn(runs, *w.shape) for w in own] if runs else own
    arrays = [give(w, name) for w, (name, _) in zip(own, named, strict=True)]
    model = weights.with_weights(drawn, iter(arrays), arrays[0])
    ids = r.randint(0, config.vocabulary, (runs, n_tokens) if runs else n_tokens)
    trace = model(ids, ablated)
    if config.output == "vectors":
        loss = losses.squared_error(trace.logits, give(r.randn(n_tokens, config.d_model), "wanted"))
    else:
        targets = np.roll(ids, -1, axis=-1)
        targets[..., -1] = NO_TARGET if seed % 2 else 1
        loss = losses.cross_entropy(trace.logits, targets, 1 if runs else 0)
    parts = [model, trace, loss]
    return parts if ablated else [*parts, backward.model_backward(model, trace, backward.loss_backward(loss))]


def online_setting(seed: int, give: Give, block: int = 2, **options: Any) -> list:
    """The online softmax, and `attend` on the same numbers."""
    r = np.random.RandomState(seed)
    q, k, v = (give(r.randn(2, 5, 3), name) for name in "qkv")
    may = give(np.tri(5, dtype=bool), "may_attend") if options.pop("mask", True) else None
    sink = give(r.randn(2), "sink") if options.pop("sink", False) else None
    steps = list(online_softmax.attend_in_blocks(q, k, v, may, block=block, sink=sink, **options))
    return [*steps, {"output": steps[-1].output}]


def gather_setting(seed: int, give: Give) -> list:
    """Rows of a table by ids, as for a large vocabulary, through one attention."""
    r = np.random.RandomState(seed)
    x = embed(np.array([2, 0, 2]), give(r.randn(600, 4), "table"))
    return [attention.attend(x, x, x, None)]


def long_setting(seed: int, give: Give) -> list:
    """Sums of more than 16 terms: 20 tokens, 24 features, d_k as in a real model."""
    r = np.random.RandomState(seed)
    q, k, v = (give(r.randn(20, 24), name) for name in "qkv")
    trace = attention.attend(q, k, v, give(np.tri(20, dtype=bool), "may_attend"))
    return [trace, backward.attend_backward(trace, give(r.randn(20, 24), "d_output"))]


MHA, CAP = MultiHeadAttention, {"soft_cap": 1.5}
SETTINGS: dict[str, Callable[[int, Give], list]] = {
    "attend 2-D": lambda s, g: attention_setting(s, g, heads=False),
    "attend, no mask, batch and heads": lambda s, g: attention_setting(s, g, mask="none"),
    "attend, causal": lambda s, g: attention_setting(s, g),
    "attend, padding": lambda s, g: attention_setting(s, g, mask="padding"),
    "attend, float mask per head": lambda s, g: attention_setting(s, g, mask="float"),
    "attend, soft cap, scale": lambda s, g: attention_setting(s, g, **CAP, scale=0.9),
    "attend, sink per head": lambda s, g: attention_setting(s, g, sink="heads"),
    "attend, all": lambda s, g: attention_setting(s, g, mask="float", sink="number", **CAP),
    "attend, sink −∞": lambda s, g: attention_setting(s, g, sink="off"),
    "heads": lambda s, g: heads_setting(s, g),
    "heads, rotary, kv heads, bias": lambda s, g: heads_setting(s, g, rotary=Rotary(), kv_heads=2, bias=True),
    "heads, part rotary, d_k": lambda s, g: heads_setting(s, g, rotary=Rotary(features=2, stretch=2.0), d_k=4),
    "heads, window, sink, cap": lambda s, g: heads_setting(s, g, window=(1, 0), sink=True, **CAP),
    "heads, window on a float mask": lambda s, g: heads_setting(s, g, mask="float", window=(1, None)),
    "heads, ablated": lambda s, g: heads_setting(s, g, ablated=(1,)),
    "heads, QK norm": lambda s, g: heads_setting(s, g, qk_norm=True),
    "heads, positions added": lambda s, g: heads_setting(s, g, positions=True),
    "heads, rotary, with a cache": lambda s, g: heads_setting(s, g, rotary=Rotary(), kv_heads=1, past=True),
    "sliced heads": lambda s, g: heads_setting(s, g, SlicedHeads),
    "model": lambda s, g: model_setting(s, g),
    "model, rotary, sink": lambda s, g: model_setting(s, g, positions="rotary", sink=True),
    "model, ALiBi, bare": lambda s, g: model_setting(s, g, positions="alibi", layer_norm=False, mlp=False),
    "model, positions in qk": lambda s, g: model_setting(s, g, positions="qk", residual=False, scaling=False),
    "model, waves, sliced, vectors": lambda s, g: model_setting(
        s, g, positions="sinusoidal", heads="sliced", output="vectors"
    ),
    "model, two runs together": lambda s, g: model_setting(s, g, runs=2, n_layers=1),
    "model, head 0.1 ablated": lambda s, g: model_setting(s, g, ablated=((0, 1),)),
    "online softmax": lambda s, g: online_setting(s, g),
    "online softmax, sink, cap": lambda s, g: online_setting(s, g, sink=True, mask=False, **CAP),
    "rows by ids": gather_setting,
    "long sums": long_setting,
}


def arrays_in(part: Any) -> Iterator[Any]:
    """All arrays in dataclasses, tuples, lists and dictionaries, in order."""
    if isinstance(part, Traced | np.ndarray | np.generic):
        yield part
    elif is_dataclass(part):
        for field in fields(part):
            yield from arrays_in(getattr(part, field.name))
    elif isinstance(part, tuple | list | dict):
        for child in part.values() if isinstance(part, dict) else part:
            yield from arrays_in(child)
