"""All weights of a model in one vector, and back.

A vector is quicker to update than many arrays. Runs that train together have their vectors in rows; then each array of
the model has an axis of runs in front.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from jaxtyping import Float

from attention_core.base.arrays import Array, namespace
from attention_core.base.randomness import generator
from attention_core.model.model import ModelConfig, TinyTransformer


def named_weights(part: object, prefix: str = "") -> Iterator[tuple[str, Array]]:
    """All arrays that are trained, in the order of the computation, with names such as "layers.0.attention.W_q".

    `part` is a model, a part of one such as its heads, or a tuple of parts.
    """
    if hasattr(part, "shape"):
        yield prefix, part
    elif isinstance(part, tuple) or is_dataclass(part):
        for name, child in enumerate(part) if isinstance(part, tuple) else trained_fields(part):
            yield from named_weights(child, f"{prefix}.{name}" if prefix else f"{name}")


def trained_fields(part: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a part of a model, without those that are fixed: its own first, then those that it inherits."""
    return ((name, getattr(part, name)) for name in names_of_trained(type(part)))


@functools.cache
def names_of_trained(kind: type) -> tuple[str, ...]:
    """The names of these fields, for every part of a kind."""
    inherited = {field.name for base in kind.__mro__[1:] if is_dataclass(base) for field in fields(base)}
    in_order = sorted(fields(kind), key=lambda field: field.name in inherited)
    return tuple(field.name for field in in_order if field.metadata.get("trained", True))


def count_weights(part: object) -> int:
    """How many numbers of a model, or of a part of one, are trained."""
    return sum(math.prod(weight.shape) for _, weight in named_weights(part))


def weights_of(model: TinyTransformer) -> Float[Array, "*runs parameters"]:
    """A copy of all weights in the order of the computation."""
    return in_one_vector([weight for _, weight in named_weights(model)], model.run_axes)


def in_one_vector(arrays: list[Array], run_axes: int = 0) -> Float[Array, "*runs parameters"]:
    """Arrays one after the other in one vector, or in one vector for each run."""
    flat = [array.reshape(*array.shape[:run_axes], -1) for array in arrays]
    return namespace(flat[0]).concat(flat, axis=-1)


def model_with(config: ModelConfig, weights: Float[Array, "*runs parameters"]) -> TinyTransformer:
    """A model of these sizes whose arrays are views of `weights`, of its library and with its axes of runs."""
    return with_weights(blank(config), views(config, weights), weights)


def views(config: ModelConfig, weights: Float[Array, "*runs parameters"]) -> Iterator[Array]:
    """The piece of the vector that belongs to each weight of the model, in its shape."""
    begin = 0
    for _, weight in named_weights(blank(config)):
        end = begin + math.prod(weight.shape)
        yield weights[..., begin:end].reshape(*weights.shape[:-1], *weight.shape)
        begin = end


def with_weights(part: Any, arrays: Iterator[Array], like: Array) -> Any:
    """The part with these arrays as its weights, in order; what is fixed is brought to the library of `like`."""
    if hasattr(part, "shape"):
        return next(arrays)
    if isinstance(part, tuple):
        return tuple(with_weights(child, arrays, like) for child in part)
    if not is_dataclass(type(part)):
        return part
    changed = {name: with_weights(child, arrays, like) for name, child in trained_fields(part)}
    others = {field.name: getattr(part, field.name) for field in fields(part) if field.name not in changed}
    return replace(part, **changed, **{name: as_in(like, it) for name, it in others.items() if hasattr(it, "shape")})


def as_in(like: Array, fixed: Array) -> Array:
    """Something fixed in the library of another array and, unless it is a mask, in its precision."""
    xp = namespace(like)
    return xp.asarray(fixed, dtype=like.dtype if fixed.is_floating_point() else None)


@functools.lru_cache(maxsize=256)
def blank(config: ModelConfig) -> TinyTransformer:
    """A model of these sizes for its structure and for what is fixed: each weight is one 0 that pretends its shape."""
    import torch

    with torch.inference_mode(False):  # it is kept, so it must be fit for every use
        drawn = TinyTransformer.draw(config, generator(0))
        zeros = (torch.zeros(()).expand(weight.shape) for _, weight in named_weights(drawn))
        return with_weights(drawn, zeros, torch.zeros(()))
