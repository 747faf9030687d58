"""A figure of matrices as an SVG file: the places, numbers and colours of its table, drawn once more for a slide.

Vega draws in the browser and could save SVG from a menu of its own, but Streamlit leaves that menu out (it embeds with
`actions: false`, and of a chart's embedOptions it passes on theme, renderer and padding alone); what it has is a PNG.
The colours are those of the light theme.
"""

import functools
import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from attention_ui.figures.grid import NUMBER_FONT, TITLE_FONT, font_size
from attention_ui.figures.roles import COLOUR_ROLES, SCORE_DOMAIN, WEIGHT_DOMAIN

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
DRAWN_KINDS = {"score", "weight", "gradient", "masked", "ghost", "changed", "title", "shape", "row", "column", "letter"}
UNDRAWN = {"filler", "hint"}  # what belongs to the screen alone
INNER = 0.94  # of a place is the cell, the rest is the gap


def can_be_drawn(table: pa.Table) -> bool:
    """Whether everything in the figure is drawn here."""
    return set(table["kind"].unique().to_pylist()) <= DRAWN_KINDS | UNDRAWN


def svg_of(table: pa.Table, cell: int) -> bytes:
    """The picture, with cells of this many pixels. Each number says what it is when it is pointed at."""
    things = [thing for thing in table.to_pylist() if thing["kind"] in DRAWN_KINDS]
    width, height = ((1 + max(thing[axis] for thing in things)) * cell for axis in ("gx", "gy"))
    box = f"{-cell} 0 {width + 4 * cell} {height + cell // 2}"  # slanted and long names reach beyond their places
    drawn = "\n".join(drawn_thing(thing, cell) for thing in things)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif">'
    return f"{head}\n{drawn}\n</svg>\n".encode()


def drawn_thing(thing: dict, cell: int) -> str:
    """One row of the table as elements of SVG."""
    x, y, size, kind = thing["gx"] * cell, thing["gy"] * cell, INNER * cell, thing["kind"]
    if kind in ("score", "weight", "gradient", "masked", "ghost"):
        return drawn_cell(thing, x, y, size, cell)
    if kind == "changed":
        side = 0.28 * cell
        corner = f"M{x + size - side:.1f},{y}h{side:.1f}v{side:.1f}Z"
        return f'<path d="{corner}" fill="{hue("ink")}"/>'
    look, shift, turn = name_look(kind, cell, font_size(NUMBER_FONT, cell))
    middle_x, middle_y = x + size / 2, y + size / 2
    place = (
        f'transform="translate({middle_x:.1f},{middle_y:.1f}) rotate({turn}) translate({shift[0]:.1f},{shift[1]:.1f})"'
    )
    return f'<text {place} dy="0.35em" {look} fill="{hue(thing["tone"])}">{escape(thing["text"])}</text>'


def drawn_cell(thing: dict, x: float, y: float, size: float, cell: int) -> str:
    """A cell with its colour or pattern, its number, and what it says."""
    frame = f'<rect x="{x}" y="{y}" width="{size:.1f}" height="{size:.1f}" rx="3"'
    if thing["kind"] == "ghost":
        return f'{frame} fill="none" stroke="{hue("ghost")}"/>'
    says = f"<title>{escape(thing['say'])}</title>"
    if thing["kind"] == "masked":
        a, b, c = (f"{part * size:.1f}" for part in (0.2, 0.5, 0.8))
        lines = f"M{a},{c}L{c},{a}M{a},{b}L{b},{a}M{b},{c}L{c},{b}"
        hatch = f'<path transform="translate({x},{y})" d="{lines}" stroke="{hue("hatch")}"/>'
        return f'<g>{says}{frame} fill="none"/>{hatch}</g>'
    number = (
        f'<text x="{x + size / 2:.1f}" y="{y + size / 2:.1f}" dy="0.35em" text-anchor="middle" '
        f'font-size="{font_size(NUMBER_FONT, cell):.1f}" fill="{hue("ink")}">{escape(thing["text"])}</text>'
    )
    return f"<g>{says}{frame} fill={quoteattr(colour(thing['kind'], thing['v']))}/>{number}</g>"


def name_look(kind: str, cell: int, small: float) -> tuple[str, tuple[float, float], int]:
    """Attributes, shift and turn of titles, shapes and names, as they are on the screen."""
    half = cell / 2
    looks = {
        "title": (f'font-size="{font_size(TITLE_FONT, cell):.1f}" font-weight="bold"', (1 - half, 0), 0),
        "shape": (f'font-size="{small + 0.5:.1f}"', (1 - half, 0), 0),
        "row": (f'font-size="{small + 1.5:.1f}" text-anchor="end"', (half - 5, 0), 0),
        "column": (f'font-size="{small + 0.5:.1f}"', (-0.4 * cell, 0), -45),
        "letter": (f'font-size="{small + 1.5:.1f}" text-anchor="middle"', (0, 0), 0),
    }
    return looks[kind]


def colour(kind: str, value: float | None) -> str:
    """The colour of a number on the scale of its kind; what is no number has that of nothing."""
    name, (low, high) = ("Sequential", WEIGHT_DOMAIN) if kind == "weight" else ("Diverging", SCORE_DOMAIN)
    known = value is not None and not math.isnan(value)
    if known and kind == "gradient":
        value = math.copysign(high * math.sqrt(abs(value)), value)
    share = min(max((value - low) / (high - low), 0), 1) if known else 0.0
    return between(light_theme()[f"chart{name}Colors"], share) if known else hue("ghost")


def between(colours: Sequence[str], share: float) -> str:
    """The colour at this share of the way from the first to the last."""
    place = share * (len(colours) - 1)
    left = min(int(place), len(colours) - 2)
    ends = [[int(end[at : at + 2], 16) for at in (1, 3, 5)] for end in colours[left : left + 2]]
    mixed = (round(a + (b - a) * (place - left)) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def hue(role: str) -> str:
    """The colour of a role."""
    return light_theme()["chartCategoricalColors"][COLOUR_ROLES.index(role)]


@functools.cache
def light_theme() -> dict:
    """The colours of the light theme, from where the app has them."""
    return tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"]["light"]
