"""A figure of matrices as an SVG file, for a slide or for a learning platform: what its tables say, drawn once more.

The browser draws tables of HTML, which no other program shows. The colours are those of the light theme.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any
from xml.sax.saxutils import escape

from attention_ui.figures.roles import FIELD, FULL, TINT, TIP
from attention_ui.figures.svg import hue, svg_file
from lessons.screen import letters

WIDE, HIGH = 44, 34  # pixels from one cell to the next
GAP = 3  # between two
NUMBER, NAME, TITLE = 14, 13, 15  # pixels of letters
LETTER = 0.58  # of their size, its width
APART = 24  # pixels between matrices
FLOOR = 4  # pixels of what is drawn below a number
Box = tuple[float, float, float, float]


def svg_of(tables: dict[str, Any], *, says: bool = True) -> bytes:
    """The picture. Each number says what is said of it when one points at it, where one can."""
    made = [made_of_table(table if says else silent(table), tables) for table in tables["matrices"]]
    bands = [[None if place is None else made[place] for place in band] for band in tables["bands"]]
    widths = [max((one[1] for one in place if one), default=0) for place in zip_longest(*bands)]
    drawn, top, right = [], 0.0, 0.0
    for band in bands:
        high, left = max(one[2] for one in band if one), 0.0
        for one, width in zip(band, widths, strict=False):
            if one:
                drawn.append(f'<g transform="translate({left:.1f},{top + high - one[2]:.1f})">{one[0]}</g>')
                right = max(right, left + one[1])
            left += width + APART if width else 0
        top += high + APART
    return svg_file(drawn, 0, right, top)


def silent(table: dict[str, Any]) -> dict[str, Any]:
    """A matrix that nobody can point at."""
    return table | {"say": [[""] * len(line) for line in table["text"]]}


def in_full(tables: dict[str, Any]) -> dict[str, Any]:
    """Small maps with what one learns from them by pointing: their numbers, and the names of rows and columns."""
    if tables["numbered"]:
        return tables
    named = [
        table | {axis: table[axis] | {"named": True} for axis in ("rows", "columns")} for table in tables["matrices"]
    ]
    return tables | {"numbered": True, "matrices": named}


def made_of_table(table: dict[str, Any], tables: dict[str, Any]) -> tuple[str, float, float]:
    """One matrix, how wide and how high it is."""
    rows, columns = table["rows"], table["columns"]
    cell = WIDE if tables["numbered"] else HIGH
    wide = max(cell, letters_wide("0" * tables["letters"][0], NUMBER) + 2 * GAP)
    left = (
        max((letters_wide(name, NAME) for name in [*rows["labels"], rows["name"]] if rows["named"]), default=0)
        + 2 * GAP
    )
    slanted = any(len(name) > 2 for name in columns["labels"])
    above = max(letters_wide(name, NAME) for name in columns["labels"]) * 0.75 if slanted else NAME
    top = TITLE + 3 * GAP + ((above + 2 * GAP) if columns["named"] else 0)
    left = max(left, letters_wide(columns["name"], NAME) + 2 * GAP if columns["named"] else 0)
    look = f'font-size="{TITLE}" font-weight="bold" fill="{hue(table["role"])}"'
    after = left + 1.1 * letters_wide(table["title"], TITLE) + 6
    parts = [
        f'<text x="{left:.1f}" y="{TITLE}" {look}>{escape(table["title"])}</text>',
        name_text(table["note"], after, TITLE, "start"),
    ]
    if columns["named"]:
        parts.append(name_text(columns["name"], left - GAP, top - GAP - NAME - 2, "end"))
        for j, name in enumerate(columns["labels"]):
            x, y = left + (j + 0.5) * wide, top - 2 * GAP
            turn = f' transform="rotate(-45 {x:.1f} {y:.1f})"' if slanted else ""
            parts.append(name_text(name, x, y, "start" if slanted else "middle", turn))
    if rows["named"]:
        parts.append(name_text(rows["name"], left - GAP, top - GAP, "end"))
        for i, name in enumerate(rows["labels"]):
            parts.append(name_text(name, left - 2 * GAP, top + (i + 0.5) * HIGH + NAME / 3, "end"))
    for i, line in enumerate(table["text"]):
        for j in range(len(line)):
            box = left + j * wide, top + i * HIGH, wide - GAP, HIGH - GAP
            parts.append("".join(cell_parts(table, i, j, box, numbered=tables["numbered"])))
    n_rows, n_columns = len(table["text"]), len(table["text"][0])
    said = letters_wide(table["title"], TITLE) * 1.1 + letters_wide(table["note"], NAME) + 6
    reach = above if slanted and columns["named"] else 0
    return "".join(parts), left + max(n_columns * wide + reach, said), top + n_rows * HIGH


def letters_wide(text: str, size: float) -> float:
    """How wide a text is by the usual width of letters."""
    return LETTER * size * letters(text)


def name_text(text: str, x: float, y: float, anchor: str, more: str = "") -> str:
    """What a row, a column or an axis is called, where it is."""
    if not text:
        return ""
    look = f'text-anchor="{anchor}" font-size="{NAME}" fill="{hue("muted")}"{more}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'


def cell_parts(table: dict[str, Any], i: int, j: int, box: Box, *, numbered: bool) -> Iterator[str]:
    """A cell: field, bar or tint with the share of its floor, number and mark; or a pattern, or an empty frame."""
    x, y, wide, high = box
    text, share, says = table["text"][i][j], table["share"][i][j], table["say"][i][j]
    frame = f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="3"'
    yield f"<g><title>{escape(says)}</title>" if says else "<g>"
    if text is None:
        lines = (
            f"M{x + a * wide:.1f},{y + high:.1f}L{x + (a + 0.25) * wide:.1f},{y:.1f}" for a in (0, 0.25, 0.5, 0.75)
        )
        yield f'{frame} fill="none"/><path d="{"".join(lines)}" stroke="{hue("hatch")}"/></g>'
        return
    if not text:
        yield f'{frame} fill="none" stroke="{hue("ghost")}"/></g>'
        return
    yield f'{frame} fill="{hue("ghost")}" fill-opacity="{FIELD}"/>'
    colour = hue(table["role"])
    if share is not None:
        if table["scale"] == "areas" and numbered:
            tint = TINT["ink" if table["role"] == "ink" else "role"] * max(share, 0)
            yield f'{frame} fill="{colour}" fill-opacity="{tint:.3f}"/>'
        yield f'<path d="{shape_of_share(table["scale"], share, box, numbered=numbered)}" fill="{colour}"/>'
    if table["marked"] and table["marked"][i][j]:
        yield f'<path d="M{x + wide - 8:.1f},{y:.1f}h8v8Z" fill="{hue("ink")}"/>'
    if numbered:
        place = f'x="{x + wide / 2:.1f}" y="{y + high / 2:.1f}" dy="0.25em" text-anchor="middle"'
        yield f'<text {place} font-size="{NUMBER}" fill="{hue("ink")}">{escape(text)}</text>'
    yield "</g>"


def shape_of_share(scale: str, share: float, box: Box, *, numbered: bool) -> str:
    """How much a number is: a weight the share of its cell's floor, or without numbers the area of a square; any other
    a bar from the middle of its cell, to the right where it is positive. One that is too long for it ends in a point.
    """
    x, y, wide, high = box
    middle, floor = x + wide / 2, y + high
    if scale == "areas" and not numbered:
        side = FULL * high * max(share, 0) ** 0.5
        return f"M{middle - side / 2:.2f},{y + (high - side) / 2:.2f}h{side:.2f}v{side:.2f}h{-side:.2f}Z"
    if scale == "areas":
        return f"M{x:.2f},{floor - FLOOR:.2f}h{wide * max(share, 0):.2f}v{FLOOR}H{x:.2f}Z"
    length = wide / 2 * min(max(share, -1.0), 1.0)
    begin = (1 - TIP) * length if abs(share) > 1 else length
    tip = f"L{middle + length:.2f},{floor - 1 - FLOOR / 2:.2f}" if abs(share) > 1 else ""
    return f"M{middle:.2f},{floor - 1 - FLOOR:.2f}h{begin:.2f}{tip}L{middle + begin:.2f},{floor - 1:.2f}H{middle:.2f}Z"
