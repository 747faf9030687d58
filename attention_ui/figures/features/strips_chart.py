"""The template of strips: X at the left, what a head makes of it at its right; on a phone below it.

A number has the same width in all of them, a whole pixel where there is room. A row is one path.
"""

import functools

from attention_ui.figures.features.strips import LONGEST
from attention_ui.figures.pixels import SERIF, layer, picture, rect, text

NARROW = 600  # pixels of the picture: below it Q, K and V stand below X
TOP = 46  # of the titles
ROW = {"narrow": 18, "wide": 24}


def strips_signals(n_tokens: int, wide: int, others: int, letters: int) -> dict[str, str | float | bool]:
    """The sizes of everything: X is so many numbers `wide`, and the others are that many together."""
    return {
        "narrow": f"width < {NARROW}",
        "fl": f"narrow ? 13 : {max(16, letters)}",
        "small": f"narrow ? 13 : {max(13, letters)}",
        "x0": f"narrow ? 68 : {96 + 2 * letters}",
        "numbers": f"narrow ? {wide} : {wide + others}",
        "room": f"narrow ? width - x0 : width - x0 - {150 + 3 * letters}",
        "unit": "room >= 2 * numbers ? 2 : room >= numbers ? 1 : room / numbers",
        "gap": f"narrow ? 0 : clamp((width - x0 - 24 - unit * numbers) / 3, 34, {64 + 2 * letters})",
        "row": f"narrow ? {ROW['narrow']} : max({ROW['wide']}, {2 * LONGEST + 2} * unit)",
        "block": f"{TOP} + {n_tokens} * row",
        "height": "narrow ? 2 * block + 20 : block + 4",
    }


def strip_left(widths: tuple[int, ...]) -> str:
    """Where a strip begins: those after X in one line with it, or below it in equal places."""
    wide = "x0"
    for place in range(1, len(widths)):
        wide = f"datum.strip === {place} ? x0 + {place} * gap + {sum(widths[:place])} * unit : {wide}"
    equal = f"x0 + max(datum.strip - 1, 0) * (width - x0) / {len(widths) - 1}"
    return f"(narrow ? {equal} : {wide})"


@functools.lru_cache(maxsize=32)
def strips_template(widths: tuple[int, ...], n_tokens: int, letters: int) -> dict:
    """The whole specification, without data. Shared by all: never change it."""
    left = strip_left(widths)
    below = "(narrow && datum.strip > 0 ? block + 20 : 0)"
    middle = f"({TOP} + (datum.i + 0.5) * row + {below})"
    lookup = [{"lookup": "strip", "from": {"data": {"name": "titles"}, "key": "strip", "fields": ["features"]}}]
    words = {"role": "datum.tone", "font": SERIF, "align": "right", "look": {"limit": {"expr": "x0 - 8"}}}
    place = f"{TOP} + (datum.i + 0.5) * row"
    layers = [
        rect(
            "lit",
            "lit",
            f"{left} - 4",
            f"{left} + datum.features * unit + 4",
            f"{middle} - row / 2 + 0.5",
            f"{middle} + row / 2 - 0.5",
            role="datum.tone",
            steps=lookup,
            opacity=0.16,
            look={"cornerRadius": 4},
        ),
        layer(
            "point",
            "bars",
            "bars",
            role="datum.tone",
            look={"filled": True, "strokeWidth": 0},
            shape="datum.path",
            x=left,
            y=middle,
            size="4 * unit * unit",
        ),
        text("tokens", "tokens", "datum.word", "x0 - 10", place, "fl", **words),
        text("tokens_below", "tokens", "datum.word", "x0 - 10", f"{place} + block + 20", "fl", where="narrow", **words),
        text("names", "titles", "datum.name", left, f"13 + {below}", "fl", role="datum.tone", weight="600"),
        text("shapes", "titles", "datum.shape", f"{left} + fl * 1.1", f"13 + {below}", "small", role="'muted'"),
        text("cuts", "titles", "datum.cut", left, f"32 + {below}", "small", role="'muted'"),
    ]
    return picture(layers, strips_signals(n_tokens, widths[0], sum(widths[1:]), letters))
