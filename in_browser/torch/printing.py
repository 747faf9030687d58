"""Tensors as torch prints them."""

import math

from .kinds import FLOAT, inf

LINE = 80  # characters


def printed(values, shape, dtype):
    """`tensor([[1., 2.], [3., 4.]])`, with its line breaks."""
    texts = numbers(values, dtype)
    if not shape:
        return "tensor(" + texts[0] + ")"
    width = max([len(text) for text in texts] + [0])
    cells = iter([" " * (width - len(text)) + text for text in texts])

    def rows(sizes, indent):
        if len(sizes) == 1:
            fit = max(1, (LINE - indent) // (width + 2))
            row = [next(cells) for _ in range(sizes[0])]
            lines = [", ".join(row[i : i + fit]) for i in range(0, len(row), fit)]
            return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
        gap = "," + "\n" * (len(sizes) - 1) + " " * (indent + 1)
        return "[" + gap.join([rows(sizes[1:], indent + 1) for _ in range(sizes[0])]) + "]"

    return "tensor(" + rows(shape, 7) + ")"


def numbers(values, dtype):
    """Whole numbers as `2.`; numbers of very unlike sizes with an exponent."""
    if dtype.rank != FLOAT:
        return [str(value) for value in values]
    sizes = [abs(value) for value in values if value == value and abs(value) != inf and value != 0]
    whole = all([size == math.floor(size) for size in sizes])
    low, high = (min(sizes), max(sizes)) if sizes else (1, 1)
    if high / low > 1000 or high > 1e8 or (not whole and low < 1e-4):
        form, end = "{:.4e}", ""
    else:
        form, end = ("{:.0f}", ".") if whole else ("{:.4f}", "")
    return [form.format(value) + (end if value == value and abs(value) != inf else "") for value in values]
