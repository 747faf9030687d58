"""Parts of a whole as an SVG file: the places and colours of their tables, drawn once more for a learning platform.

See `figures/matrices/picture.py` for why they are drawn here, and in which colours.
"""

from collections.abc import Iterable
from xml.sax.saxutils import escape

from attention_ui.figures.roles import role_colours
from attention_ui.figures.shares.parts import BAR_PANEL_WIDTH, TALL, parts_table
from attention_ui.figures.shares.sharing import DEEP, LABEL_LETTER, WHOLE, sharing_table
from lessons.screen.format import NOT_IN_XML
from lessons.screen.screen import Parts
from lessons.screen.softmax_parts import Sharing
from lessons.screen.text_width import letters

SLOT, EDGE = 110, 8  # pixels: of a key, and around all
LETTERS, LARGE = 14, 16  # pixels
BAR_WIDTH, BAR = 170, 0.75  # pixels of a bar of 100%; how much of its line it takes
DASHED = 'fill="none" stroke-width="1.5" stroke-dasharray="3 3"'


def picture_of_sharing(figure: Sharing, empty: bool) -> bytes:
    """Numbers that become parts of one whole; where it is `empty`, the numbers alone."""
    rows = sharing_table(figure, covered=empty).to_pylist()
    names = LABEL_LETTER * max(letters(row["text"]) for row in rows if row["kind"] in ("labels", "ways"))
    drawn = [sharing_thing(row, names) for row in rows if row["wide"] and not (empty and row["told"])]
    drawn += [] if empty else ribbons_of(rows, names)
    return svg_of(drawn, names + SLOT * len(figure.portions), WHOLE + DEEP + 34)


def sharing_thing(row: dict, names: float) -> str:
    """A bar, a frame or a text of the table; nothing where it is a piece of a ribbon, or there to be pointed at."""
    kind, tone = row["kind"], colour(row["tone"])
    left, right, says = names + SLOT * row["x"], names + SLOT * row["x2"], said(row["say"])
    if kind in ("numbers", "sizes", "whole"):
        return box(left, row["y"], right, row["y2"], f'fill="{tone}"', says)
    if kind == "frames":
        return box(left, row["y"], right, row["y2"], f'{DASHED} stroke="{tone}"', says)
    if kind in ("ribbons", "touch"):
        return ""
    if kind in ("labels", "ways"):
        return text(row["text"], 0, row["y"], tone, "start", weight=700 if kind == "labels" else 400)
    return text(row["text"], left, row["y"], tone, size=LARGE if kind in ("names", "inside") else LETTERS)


def ribbons_of(rows: Iterable[dict], names: float) -> list[str]:
    """From the foot of each bar to its part."""
    edges: dict[int, list[dict]] = {}
    for row in rows:
        if row["kind"] == "ribbons":
            edges.setdefault(row["key"], []).append(row)
    shapes = []
    for pieces in edges.values():
        ends = [(piece["x"], piece["y"]) for piece in pieces] + [(piece["x2"], piece["y"]) for piece in pieces[::-1]]
        way = " ".join(f"{names + SLOT * x:.1f},{y:.1f}" for x, y in ends)
        shapes.append(f'<polygon points="{way}" fill="{colour("weight")}" fill-opacity="0.25"/>')
    return shapes


def picture_of_parts(figure: Parts, empty: bool) -> bytes | None:
    """Parts of one whole, a panel for each row; nothing where it is `empty`: all of it is told by an answer."""
    if empty:
        return None
    rows = parts_table(figure).to_pylist()
    names = max(letters(row["text"]) for row in rows if row["kind"] == "name") * LABEL_LETTER
    high = TALL * (1 + len(figure.parts))
    drawn = [parts_thing(row, names) for row in rows]
    return svg_of(drawn, names + BAR_WIDTH * BAR_PANEL_WIDTH * len(figure.rows), high)


def parts_thing(row: dict, names: float) -> str:
    """A name, a title, or a bar with what is written beside it."""
    left, right = (names + LETTERS + BAR_WIDTH * row[end] for end in ("from", "to"))
    middle, tone, kind = TALL * (row["line"] + 0.5), colour(row["tone"]), row["kind"]
    if kind in ("name", "title"):
        at, anchor = (left - LETTERS / 2, "end") if kind == "name" else (left, "start")
        return text(row["text"], at, middle, tone, anchor, weight=700)
    look = f'{DASHED} stroke="{tone}"' if kind == "dropped" else f'fill="{tone}"'
    bar = box(left, middle - TALL * BAR / 2, right, middle + TALL * BAR / 2, look, said(row["say"]))
    return bar + text(row["text"], right + LETTERS / 2, middle, colour("ink"), "start")


# What all of them are drawn with.


def svg_of(drawn: Iterable[str], wide: float, high: float) -> bytes:
    """The file."""
    size = f'width="{wide + 2 * EDGE:.0f}" height="{high + 2 * EDGE:.0f}"'
    box = f'viewBox="{-EDGE} {-EDGE} {wide + 2 * EDGE:.0f} {high + 2 * EDGE:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="sans-serif">'
    lines = "\n".join(filter(None, drawn))
    return NOT_IN_XML.sub("", f"{head}\n{lines}\n</svg>\n").encode()


def box(left: float, top: float, right: float, bottom: float, look: str, says: str) -> str:
    """A rectangle between two corners, whichever of them is above the other."""
    top, bottom = sorted((top, bottom))
    size = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return f'<rect {size} rx="2" {look}>{says}</rect>'


def text(
    words: str, x: float, y: float, tone: str, anchor: str = "middle", size: int = LETTERS, weight: int = 400
) -> str:
    """Words whose middle stands at this height."""
    look = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{tone}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" dy="0.35em" {look}>{escape(words)}</text>'


def said(words: str) -> str:
    """What pointing at a thing says."""
    return f"<title>{escape(words)}</title>" if words else ""


def colour(role: str) -> str:
    """The colour of a role, as on a light page."""
    return role_colours("light")[role]
