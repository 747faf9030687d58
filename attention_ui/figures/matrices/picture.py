"""A figure of matrices as an SVG file: the places, numbers and colours of its table, drawn once more for a slide, or
for a learning platform.

Vega draws in the browser and could save SVG from a menu of its own, but Streamlit leaves that menu out (it embeds with
`actions: false`, and of a chart's embedOptions it passes on theme, renderer and padding alone); what it has is a PNG.
The colours are those of the light theme.
"""

import math
from collections.abc import Iterable
from xml.sax.saxutils import escape

import pyarrow as pa

from attention_ui.figures.matrices.grid import NAME_FONT, NUMBER_FONT, TITLE_FONT, font_size
from attention_ui.figures.roles import BELOW_NUMBER, FIELD, FULL, SCORE_DOMAIN, TINT, TIP, WITHOUT_NUMBER
from attention_ui.figures.svg import hue, svg_file
from lessons.screen import letters

CELLS = {"score", "change", "weight", "gradient", "masked", "ghost"}
DRAWN_KINDS = CELLS | {"changed", "title", "shape", "row", "axis", "column", "letter"}
UNDRAWN = {"hint"}  # what belongs to the screen alone
SAVED_CELL = 40  # pixels
RIGHTWARD = {"title", "shape", "column"}  # the kinds of texts that begin at their place
INNER = 0.94  # of a place is the cell, the rest is the gap
FILLED_BY_NUMBER, USUAL_WIDTH = 0.88, 0.55  # of a cell by its number; of the size of its letters by one of them


def can_be_drawn(table: pa.Table) -> bool:
    """Whether everything in the figure is drawn here."""
    return set(table["kind"].unique().to_pylist()) <= DRAWN_KINDS | UNDRAWN


def svg_of(table: pa.Table, cell: int = SAVED_CELL) -> bytes:
    """The picture, with cells of this many pixels. Each number says what its table says of it when it is pointed at."""
    things = [thing for thing in table.to_pylist() if is_drawn(thing)]
    size = common_size(things, cell)
    wide = cell + max(right_end(thing, cell) for thing in things) + cell // 4  # names of rows may begin left of 0
    high = (1 + max(thing["gy"] for thing in things)) * cell + cell // 2
    return svg_file((drawn_thing(thing, cell, size) for thing in things), -cell, wide, high)


def is_drawn(thing: dict) -> bool:
    """True for cells, marks and texts; an empty text keeps a place on the screen alone."""
    return thing["kind"] in CELLS | {"changed"} or (thing["kind"] in DRAWN_KINDS and bool(thing["text"]))


def right_end(thing: dict, cell: int) -> float:
    """Where a thing ends: of a text by the usual width of letters, even where it is slanted."""
    font = TITLE_FONT if thing["kind"] == "title" else NAME_FONT
    reach = USUAL_WIDTH * font_size(font, cell) * letters(thing["text"]) if thing["kind"] in RIGHTWARD else 0.0
    return thing["gx"] * cell + max(cell, reach)


def common_size(things: Iterable[dict], cell: int) -> float:
    """The size of all numbers: that of the screen, unless the longest would not fit its cell in any usual font."""
    longest = max((len(thing["text"]) for thing in things if thing["kind"] in CELLS), default=0)
    return min(font_size(NUMBER_FONT, cell), FILLED_BY_NUMBER * cell / (USUAL_WIDTH * max(longest, 1)))


def drawn_thing(thing: dict, cell: int, letters: float) -> str:
    """One row of the table as elements of SVG; `letters` is the size of numbers."""
    x, y, size, kind = thing["gx"] * cell, thing["gy"] * cell, INNER * cell, thing["kind"]
    if kind in CELLS:
        return drawn_cell(thing, x, y, size, cell, letters)
    if kind == "changed":
        side = 0.28 * cell
        corner = f"M{x + size - side:.1f},{y}h{side:.1f}v{side:.1f}Z"
        return f'<path d="{corner}" fill="{hue("ink")}"/>'
    look, shift, turn = name_look(kind, cell, font_size(NAME_FONT, cell))
    middle_x, middle_y = x + size / 2, y + size / 2
    place = (
        f'transform="translate({middle_x:.1f},{middle_y:.1f}) rotate({turn}) translate({shift[0]:.1f},{shift[1]:.1f})"'
    )
    return f'<text {place} dy="0.35em" {look} fill="{hue(thing["tone"])}">{escape(thing["text"])}</text>'


def drawn_cell(thing: dict, x: float, y: float, size: float, cell: int, letters: float) -> str:
    """A cell with its shape or pattern, its number, and what it says."""
    frame = f'<rect x="{x}" y="{y}" width="{size:.1f}" height="{size:.1f}" rx="3"'
    if thing["kind"] == "ghost":
        return f'{frame} fill="none" stroke="{hue("ghost")}"/>'
    says = f"<title>{escape(thing['say'])}</title>" if thing["say"] else ""
    if thing["kind"] == "masked":
        a, b, c = (f"{part * size:.1f}" for part in (0.2, 0.5, 0.8))
        lines = f"M{a},{c}L{c},{a}M{a},{b}L{b},{a}M{b},{c}L{c},{b}"
        hatch = f'<path transform="translate({x},{y})" d="{lines}" stroke="{hue("hatch")}"/>'
        return f'<g>{says}{frame} fill="none"/>{hatch}</g>'
    number = (
        f'<text x="{x + size / 2:.1f}" y="{y + size / 2:.1f}" dy="0.35em" text-anchor="middle" '
        f'font-size="{letters:.1f}" fill="{hue("ink")}">{escape(thing["text"])}</text>'
    )
    field = f'{frame} fill="{hue("ghost")}" fill-opacity="{FIELD}"/>'
    behind = thing["text"] and thing["kind"] == "weight"
    tint = (TINT["ink"] if thing["tone"] == "ink" else TINT["role"]) if behind else 1
    reach = BELOW_NUMBER if thing["text"] else WITHOUT_NUMBER
    shape = shape_of_number(thing["kind"], thing["v"], FULL * cell, reach, thing["most"])
    place = f'transform="translate({x + size / 2:.1f},{y + size / 2:.1f})"'
    return f'<g>{says}{field}<path {place} d="{shape}" fill="{hue(thing["tone"])}" fill-opacity="{tint}"/>{number}</g>'


def name_look(kind: str, cell: int, small: float) -> tuple[str, tuple[float, float], int]:
    """Attributes, shift and turn of titles, shapes and names, as they are on the screen."""
    half = cell / 2
    looks = {
        "title": (f'font-size="{font_size(TITLE_FONT, cell):.1f}" font-weight="bold"', (1 - half, 0), 0),
        "shape": (f'font-size="{small:.1f}"', (1 - half, 0), 0),
        "row": (f'font-size="{small:.1f}" text-anchor="end"', (half - 5, 0), 0),
        "axis": (f'font-size="{small:.1f}" text-anchor="end"', (half - 5, 0), 0),
        "column": (f'font-size="{small:.1f}"', (-0.4 * cell, 0), -45),
        "letter": (f'font-size="{small:.1f}" text-anchor="middle"', (0, 0), 0),
    }
    return looks[kind]


def shape_of_number(
    kind: str,
    value: float | None,
    whole: float,
    reach: tuple[float, float] = WITHOUT_NUMBER,
    most: float = SCORE_DOMAIN[1],
) -> str:
    """A square whose area is the weight, or a bar from the middle, to the right where the number is positive.

    A weight of 1 is a square as wide as `whole`, and the longest bars are half of that: of scores those that are
    `most`. One that goes on ends in a point. What is no number has no shape.
    """
    if value is None or math.isnan(value):
        return ""
    if kind == "weight":
        side = whole * math.sqrt(min(max(value, 0.0), 1.0))
        return f"M{-side / 2:.2f},{-side / 2:.2f}h{side:.2f}v{side:.2f}h{-side:.2f}Z"
    length = math.copysign(math.sqrt(abs(value)), value) if kind == "gradient" else value
    if kind == "score":
        length /= most
    end, (top, bottom) = whole / 2 * min(max(length, -1.0), 1.0), (whole / 2 * edge for edge in reach)
    if abs(length) > 1:
        before = (1 - TIP) * end
        return f"M0,{top:.2f}H{before:.2f}L{end:.2f},{(top + bottom) / 2:.2f}L{before:.2f},{bottom:.2f}H0Z"
    return f"M0,{top:.2f}h{end:.2f}V{bottom:.2f}h{-end:.2f}Z"
