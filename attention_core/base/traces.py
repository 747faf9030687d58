"""What is computed on the way, kept under its names: a trace prints the shapes of its tensors, not their numbers."""

from dataclasses import fields


class Trace:
    """A dataclass of tensors in the order in which they are computed, and of the traces of its parts.

    >>> attend(q, k, v)
    AttentionTrace
        q        9 × 2
        k        9 × 2
        …
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """The name of each tensor with its shape, the parts indented."""
        wide = max(len(field.name) for field in fields(self))
        named = (f"{field.name:<{wide}}  {shape_of(getattr(self, field.name))}" for field in fields(self))
        return "\n".join((type(self).__name__, *("    " + line.replace("\n", "\n    ") for line in named)))


def shape_of(value: object) -> str:
    """The shape of a tensor; of several parts the first; anything else as Python writes it."""
    if hasattr(value, "shape"):
        return " × ".join(map(str, value.shape)) or "a number"
    if isinstance(value, tuple) and value and isinstance(value[0], Trace):
        return f"{len(value)}, each as the first: {value[0]!r}"
    if hasattr(value, "_fields"):
        return ", ".join(f"{name} {shape_of(part)}" for name, part in zip(value._fields, value, strict=True))
    return repr(value)
