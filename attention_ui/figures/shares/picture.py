"""Parts of a whole as an SVG file: the places and colours of their tables, drawn once more for a learning platform.

See `figures/matrices/picture.py` for why they are drawn here. Nobody can point at them there: the numbers are all seen.
"""

from collections.abc import Iterable
from xml.sax.saxutils import escape

from attention_ui.figures.shares.parts import BAR_PANEL_WIDTH, TALL, parts_table
from attention_ui.figures.shares.sharing import DEEP, WHOLE, WIDE, sharing_table
from attention_ui.figures.svg import hue, svg_file
from lessons.screen import Parts, Sharing, letters

LEAST_SLOT, EDGE, APART = 110, 16, 8  # pixels: of a key at least, around all, and between a bar and its words
LETTERS, LARGE = 14, 16  # pixels
LETTER = 0.6  # of its height is a letter wide
BAR_WIDTH, FILLED = 170, 0.75  # pixels of a bar of 100%; how much of its line it takes
DASHED = 'fill="none" stroke-width="1.5" stroke-dasharray="3 3"'


def picture_of_sharing(figure: Sharing, empty: bool) -> bytes:
    """Numbers that become parts of one whole; where it is `empty`, the numbers alone."""
    n = len(figure.portions)
    rows, slot = sharing_table(figure, covered=empty).to_pylist(), max(LEAST_SLOT, WIDE / n)
    names = max(width_of(row["text"], LETTERS) for row in rows if row["kind"] in ("labels", "ways")) + EDGE
    seen = [row for row in rows if row["wide"] and not (empty and row["told"])]
    drawn = [*ribbons_of(seen, names, slot), *(sharing_thing(row, names, slot) for row in seen)]
    return svg_file(drawn, -EDGE, names + n * slot + 2 * EDGE, WHOLE + DEEP + 50)


def sharing_thing(row: dict, names: float, slot: float) -> str:
    """A bar, a frame or a text of the table; nothing of a ribbon, nor where something is there to be pointed at."""
    kind, tone = row["kind"], hue(row["tone"])
    left, right = names + slot * row["x"], names + slot * row["x2"]
    if kind in ("numbers", "sizes", "whole"):
        return box(left, row["y"], right, row["y2"], f'fill="{tone}"')
    if kind == "frames":
        return box(left, row["y"], right, row["y2"], f'{DASHED} stroke="{tone}"')
    if kind in ("ribbons", "touch"):
        return ""
    if kind in ("labels", "ways"):
        return text(row["text"], 0, row["y"], tone, "start", weight=700 if kind == "labels" else 400)
    if kind in ("names", "inside"):  # the part of a key may be narrower than its name, and `x2` is how wide that is
        room = slot if kind == "names" else slot * row["x2"]
        return text(cut(row["text"], room - APART, LARGE), left, row["y"], tone, size=LARGE)
    return text(row["text"], left, row["y"], tone)


def ribbons_of(rows: Iterable[dict], names: float, slot: float) -> list[str]:
    """From the foot of each bar to its part."""
    edges: dict[int, list[dict]] = {}
    for row in rows:
        if row["kind"] == "ribbons":
            edges.setdefault(row["key"], []).append(row)
    shapes = []
    for pieces in edges.values():
        ends = [(piece["x"], piece["y"]) for piece in pieces] + [(piece["x2"], piece["y"]) for piece in pieces[::-1]]
        way = " ".join(f"{names + slot * x:.1f},{y:.1f}" for x, y in ends)
        shapes.append(f'<polygon points="{way}" fill="{hue("weight")}" fill-opacity="0.25"/>')
    return shapes


def picture_of_parts(figure: Parts, empty: bool) -> bytes | None:
    """Parts of one whole, a panel for each row; nothing where it is `empty`: all of it is told by an answer."""
    if empty:
        return None
    rows = parts_table(figure).to_pylist()
    names = max(width_of(row["text"], LETTERS) for row in rows if row["kind"] == "name") + EDGE
    drawn = (parts_thing(row, names) for row in rows)
    panels = BAR_WIDTH * BAR_PANEL_WIDTH * len(figure.rows)
    return svg_file(drawn, -EDGE, names + panels + 2 * EDGE, TALL * (1 + len(figure.parts)) + APART)


def parts_thing(row: dict, names: float) -> str:
    """A name, a title, or a bar with what is written beside it."""
    left, right = (names + BAR_WIDTH * row[end] for end in ("from", "to"))
    middle, tone, kind = TALL * (row["line"] + 0.5), hue(row["tone"]), row["kind"]
    if kind in ("name", "title"):
        at, anchor = (left - APART, "end") if kind == "name" else (left, "start")
        return text(row["text"], at, middle, tone, anchor, weight=700)
    look = f'{DASHED} stroke="{tone}"' if kind == "dropped" else f'fill="{tone}"'
    bar = box(left, middle - TALL * FILLED / 2, right, middle + TALL * FILLED / 2, look)
    return bar + text(row["text"], right + APART, middle, hue("ink"), "start")


def box(left: float, top: float, right: float, bottom: float, look: str) -> str:
    """A rectangle between two corners, whichever of them is above the other."""
    top, bottom = sorted((top, bottom))
    size = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return f'<rect {size} rx="2" {look}/>'


def text(
    words: str, x: float, y: float, tone: str, anchor: str = "middle", size: int = LETTERS, weight: int = 400
) -> str:
    """Words whose middle stands at this height."""
    look = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{tone}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" dy="0.35em" {look}>{escape(words)}</text>'


def cut(words: str, room: float, size: int) -> str:
    """As many letters as there is room for."""
    if width_of(words, size) <= room:
        return words
    kept = words
    while kept and width_of(f"{kept}…", size) > room:
        kept = kept[:-1]
    return f"{kept}…"


def width_of(words: str, size: int) -> float:
    """Pixels that words take in letters of this size, in any usual font."""
    return LETTER * size * letters(words)
