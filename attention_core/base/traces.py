"""Traces: the tensors of a computation by name. A trace prints the shapes of its tensors, not their numbers."""

from dataclasses import fields


class Trace:
    """The base of dataclasses that hold the tensors of a computation in order, and the traces of its parts.

    >>> attend(q, k, v)
    AttentionTrace
        q        9 × 2
        k        9 × 2
        …
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a line for each tensor with its name and shape, the parts indented."""
        wide = max(len(field.name) for field in fields(self))
        named = (f"{field.name:<{wide}}  {shape_of(getattr(self, field.name))}" for field in fields(self))
        return "\n".join((type(self).__name__, *("    " + line.replace("\n", "\n    ") for line in named)))


def shape_of(value: object) -> str:
    """Return the shape of a tensor; for several traces that of the first; for anything else what Python writes."""
    if hasattr(value, "shape"):
        return " × ".join(map(str, value.shape)) or "a number"
    if isinstance(value, tuple) and value and isinstance(value[0], Trace):
        return f"{len(value)}, each as the first: {value[0]!r}"
    if hasattr(value, "_fields"):
        return ", ".join(f"{name} {shape_of(part)}" for name, part in zip(value._fields, value, strict=True))
    return repr(value)
