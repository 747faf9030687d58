"""The shapes of a trace, read off its own annotations."""

from dataclasses import fields
from typing import Any


def shape_table(trace: Any) -> list[dict[str, str]]:
    """For each tensor of a trace: its name, its axes as annotated, and their sizes now."""
    tensors: dict[str, Any] = {field.name: field.type for field in fields(trace) if hasattr(field.type, "dim_str")}
    shapes = {name: " × ".join(map(str, getattr(trace, name).shape)) for name in tensors}
    return [{"tensor": name, "axes": kind.dim_str, "shape": shapes[name]} for name, kind in tensors.items()]
