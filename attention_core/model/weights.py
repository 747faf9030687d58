"""The weights of a model: by name, in one vector, and in another library or precision.

A vector is quicker to update than many arrays. Runs that train together have one vector each, as rows of an array; then
each array of the model has an axis of runs in front.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from jaxtyping import Float

from attention_core.base.arrays import Array, namespace
from attention_core.base.inputs import is_float

FIXED = {"trained": False}  # of a field that belongs to the task or to the sizes, and is never changed


def named_weights(part: object, prefix: str = "") -> Iterator[tuple[str, Array]]:
    """Yield all trained arrays with names such as "layers.0.attention.W_q", in the order of the fields that hold them.

    `part` is a model, a part of one such as its heads, or a tuple of parts.
    """
    if hasattr(part, "shape"):
        yield prefix, part
    else:
        for name, child in enumerate(part) if isinstance(part, tuple) else trained_fields(part):
            yield from named_weights(child, f"{prefix}.{name}" if prefix else f"{name}")


def collect_weights(part: object, weights: list[Array]) -> list[Array]:
    """Append the arrays of `named_weights` to a list and return it: faster, and without names."""
    if hasattr(part, "shape"):
        weights.append(part)
    else:
        for child in (
            part if isinstance(part, tuple) else [getattr(part, name) for name in names_of_trained(type(part))]
        ):
            if child is not None:
                collect_weights(child, weights)
    return weights


def trained_fields(part: Any) -> Iterator[tuple[str, Any]]:
    """Return the name and the value of each trained field of a part, its own fields before inherited ones."""
    return ((name, getattr(part, name)) for name in names_of_trained(type(part)))


@functools.cache
def names_of_trained(kind: type) -> tuple[str, ...]:
    """Return the names of the trained fields of a class; none, where the class is no part of a model."""
    if not is_dataclass(kind):
        return ()
    inherited = {field.name for base in kind.__mro__[1:] if is_dataclass(base) for field in fields(base)}
    in_order = sorted(fields(kind), key=lambda field: field.name in inherited)
    return tuple(field.name for field in in_order if field.metadata.get("trained", True))


def replace_weights(part: Any, **weights: Any) -> Any:
    """Return the part with some weights, or some parts, replaced: `dataclasses.replace`, but quick.

    Each step of training makes several such copies.
    """
    other = object.__new__(type(part))
    vars(other).update(vars(part), **weights)
    return other


def count_weights(part: object) -> int:
    """Count the trained numbers of a model, or of a part of one."""
    return sum(math.prod(weight.shape) for _, weight in named_weights(part))


def weights_of(model: Any) -> Float[Array, "*runs parameters"]:
    """Copy all weights of a model, or all gradients, into one vector for each run, in the order of `named_weights`."""
    return in_one_vector(collect_weights(model, []), model.run_axes)


def in_one_vector(arrays: list[Array], run_axes: int = 0) -> Float[Array, "*runs parameters"]:
    """Join arrays, one after the other, into one vector, or into one vector for each run."""
    flat = [array.reshape(*array.shape[:run_axes], -1) for array in arrays]
    return namespace(flat[0]).concat(flat, axis=-1)


def of_vector(model: Any, vector: Float[Array, "*runs parameters"]) -> Any:
    """Return the model with views of a vector as its weights, of its library and with its axes of runs.

    It undoes `weights_of`.
    """
    return with_weights(model, pieces(model, vector), vector)


def pieces(model: Any, vector: Float[Array, "*runs parameters"]) -> Iterator[Array]:
    """Yield the piece of the vector that belongs to each weight, in the shape of the weight."""
    begin, axes = 0, model.run_axes
    for weight in collect_weights(model, []):
        shape = weight.shape[axes:]
        end = begin + math.prod(shape)
        yield vector[..., begin:end].reshape(*vector.shape[:-1], *shape)
        begin = end


def with_weights(part: Any, arrays: Iterator[Array], like: Array) -> Any:
    """Return the part with these arrays as its weights, in order; fixed arrays move to the library of `like`."""
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
    """Return a fixed array in the library of `like` and, unless it is a boolean mask, in its precision."""
    xp = namespace(like)
    return xp.asarray(fixed, dtype=like.dtype if is_float(fixed) else None)


def widened(part: Any) -> Any:
    """Return a part, or an array, with weights of fewer than 32 bits widened to 32; others stay as they are."""
    if hasattr(part, "shape"):
        if part.dtype.itemsize >= 4:
            return part
        return part.widen() if hasattr(part, "widen") else namespace(part).asarray(part, dtype=namespace(part).float32)
    if part is None or all(weight.dtype.itemsize >= 4 for _, weight in named_weights(part)):
        return part
    weights = [widened(weight) for _, weight in named_weights(part)]
    return with_weights(part, iter(weights), weights[0])
