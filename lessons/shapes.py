"""The shapes of a trace, read off its own annotations."""

from dataclasses import fields


def shape_table(trace: object) -> list[dict[str, str]]:
    """For each tensor of a trace: its name, its axes as annotated, and their sizes now."""
    return [
        {
            "tensor": field.name,
            "axes": field.type.dim_str,
            "shape": " × ".join(map(str, getattr(trace, field.name).shape)),
        }
        for field in fields(trace)
        if hasattr(field.type, "dim_str")
    ]
