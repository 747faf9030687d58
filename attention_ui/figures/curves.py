"""A figure of curves as tables for a template that fits its shape: between two pictures only the tables change."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lessons.formatting import spoken
from lessons.screen import Curves, Line

MOST_POINTS = 400  # of a line: more than a screen can show
AXIS, TITLE_HEIGHT = 68, 22  # pixels of the height that the x axis and a title take
NAME_HEIGHT, LETTERS_OF_NAMES = 12, 11
# Pixels from the end of a line to its name, the best first.
ABOVE, BELOW = (-9, 14, -22, 28, -35, 42), (14, -9, 28, -22, 42, -35)
HALFWAY = 0.5  # along the x axis: a mark from there on has its name at its left
ROOM_FOR_NAMES = 0.45  # of the x axis: before that a name stands at the right of its line's end


class CurveShape(NamedTuple):
    """All of a figure of curves that is not in its tables: a template is built once for each."""

    width: int
    height: int
    x: str
    y: str
    logarithmic: bool
    whole: bool
    percent: bool
    above: bool
    x_domain: tuple[float, float] | None
    y_domain: tuple[float, float] | None
    banded: bool
    named: bool
    levelled: bool
    chosen: bool
    marked: bool
    logarithmic_y: bool = False
    unnumbered: bool = False  # the y axis is a line without numbers
    film: str = ""  # where the curves stand above a film: what their tables are called by
    letters: int = 0  # pixels of the smallest letters, where these must be larger than usual


def shape_of(figure: Curves, film: str = "") -> CurveShape:
    """The shape of a figure."""
    ends = [x for line in figure.lines if len(line.x) for x in (line.x[0], line.x[-1])]
    return CurveShape(
        figure.width, figure.height, spoken(figure.x), spoken(figure.y), figure.logarithmic,
        all(float(x).is_integer() for x in ends), figure.percent, figure.above,
        figure.x_domain, figure.y_domain, any(line.low is not None for line in figure.lines),
        len(paths(figure)) > 1, bool(levels_of(figure)), figure.chosen is not None,
        bool(figure.marks), figure.logarithmic_y, film=film,
    )  # fmt: skip


def covered_shape(figure: Curves) -> CurveShape:
    """Its shape while its heights are covered: with ranges of its own, for Vega would look for those of no numbers."""
    shape = shape_of(figure)
    x_domain = shape.x_domain or reach([float(x) for line in figure.lines for x in line.x])
    y_domain = shape.y_domain or (1.0, 10.0)  # any will do
    return shape._replace(x_domain=x_domain, y_domain=y_domain, unnumbered=shape.y_domain is None)


def paths(figure: Curves) -> list[Line]:
    """The lines whose points belong together."""
    return [line for line in figure.lines if line.style != "dots"]


def curves_tables(figure: Curves, letters: int = 0, *, axes_within: bool = True) -> dict[str, pa.Table]:
    """The points of all lines, the names at their ends and the levels; of letters of so many pixels at least.

    The height of a figure has its axes within it, but not where curves stand among others in a film.
    """
    points = pa.concat_tables(map(points_of, figure.lines))
    stretch = max(1.0, letters / LETTERS_OF_NAMES)
    plot = figure.height - stretch * (AXIS + TITLE_HEIGHT * figure.above) * axes_within
    chosen = pa.array([x == figure.chosen for x in points["x"].to_pylist()], pa.bool_())
    return {
        "curves": points.append_column("chosen", chosen),
        "names": pa.Table.from_pylist(list(line_names(figure, stretch, plot)) if len(paths(figure)) > 1 else [], NAMES),
        "levels": pa.Table.from_pylist(levels_of(figure), LEVELS),
        "marks": pa.Table.from_pylist(list(marks_of(figure, stretch)), MARKS),
    }


def points_of(line: Line) -> pa.Table:
    """One line, thinned evenly to what a screen can show; its last point stays."""
    last = len(line.x) - 1
    kept = np.append(np.arange(0, last, -(-last // (MOST_POINTS - 1)) or 1), last) if last > 0 else np.arange(last + 1)
    low, high = (line.y if edge is None else edge for edge in (line.low, line.high))
    numbers = {"x": line.x, "y": line.y, "low": low, "high": high}
    words = {"line": spoken(line.name), "tone": line.colour, "style": line.style}
    return pa.table(
        {name: pa.array(np.asarray(column, np.float32)[kept]) for name, column in numbers.items()}
        | {name: pa.array([word] * len(kept), pa.string()).dictionary_encode() for name, word in words.items()}
        | {"dot": pa.array([line.points or line.style == "dots"] * len(kept), pa.bool_())}
    )


def levels_of(figure: Curves) -> list[dict[str, object]]:
    """The levels, and the line between negative and positive where both fit the picture."""
    named = [{"name": spoken(name), "y": float(y)} for name, y in figure.levels]
    low, high = figure.y_domain or (0, 0)
    return [{"name": "", "y": 0.0}, *named] if low < 0 < high else named


def marks_of(figure: Curves, stretch: float = 1.0) -> Iterator[dict[str, object]]:
    """The marks, and where their names stand: below each other in the widest gap between levels, on the free side.

    Letters that are larger than usual `stretch` the distances.
    """
    least, most = figure.y_domain or reach(
        [0.0, *(y for line in figure.lines for y in line.y), *(y for _, y in figure.levels)]
    )
    edges = sorted({0.0, 1.0, *(1 - part(y, least, most) for _, y in figure.levels)})  # from the top of the plot
    gap, top = max((low - high, high) for high, low in pairwise(edges))
    for place, (name, x) in enumerate(figure.marks):
        along, line = along_axis(figure, x), NAME_HEIGHT * stretch
        yield {
            "x": float(x), "from_top": top + gap / 2, "down": line * (2 * place + 1 - len(figure.marks)) / 2,
            "name": "" if name is None else spoken(name), "tone": "ink",
            "align": "right" if along >= HALFWAY else "left", "away": -6 if along >= HALFWAY else 6,
        }  # fmt: skip


LEVELS = pa.schema([("name", pa.string()), ("y", pa.float32())])
MARKS = pa.schema(
    [(name, pa.float32()) for name in ("x", "from_top", "down", "away")]
    + [(name, pa.string()) for name in ("name", "tone", "align")]
)
NAMES = pa.schema(
    [("x", pa.float32()), ("y", pa.float32()), ("away", pa.int16())]
    + [(name, pa.string()) for name in ("name", "tone", "align")]
)


def line_names(figure: Curves, stretch: float, plot: float) -> Iterator[dict[str, object]]:
    """The name of each line near its end: off the line, in a plot so high, clear of the names before, and above or
    below these as its line is.

    Those nearest to an edge of the picture, where there is least choice, have theirs first. Letters that are larger
    than usual `stretch` all lengths.
    """
    least = [] if figure.logarithmic_y else [0.0]
    y_range = figure.y_domain or reach([*least, *(y for line in figure.lines for y in line.y)])
    top = -10 if figure.above else 4  # a title above leaves room below it
    taken = []
    ends = [
        (plot * (1 - part(float(line.y[-1]), *y_range, logarithmic=figure.logarithmic_y)), line)
        for line in paths(figure) if len(line.x)
    ]  # fmt: skip
    for from_top, line in sorted(ends, key=lambda end: min(end[0], plot - end[0])):
        x, y = float(line.x[-1]), float(line.y[-1])
        places = [round(a * stretch) for a in (BELOW if line.y[len(line.y) // 2] > y else ABOVE)]
        free = [a for a in places if top <= from_top + a <= plot - 4
                and all(abs(from_top + a - other) >= NAME_HEIGHT * stretch for _, other in taken)]  # fmt: skip
        in_order = [a for a in free if all((from_top - end) * (from_top + a - other) >= 0 for end, other in taken)]
        away = (in_order or free or places)[0]
        taken.append((from_top, from_top + away))
        yield {
            "x": x, "y": y, "away": away, "name": spoken(line.name), "tone": line.colour,
            "align": "right" if along_axis(figure, x) >= ROOM_FOR_NAMES else "left",
        }  # fmt: skip


def reach(values: Sequence[float]) -> tuple[float, float]:
    """The least and the largest of some numbers."""
    return min(values), max(values)


def along_axis(figure: Curves, x: float) -> float:
    """Where an x lies on its axis, from 0 to 1."""
    x_range = figure.x_domain or reach([x for line in figure.lines for x in line.x])
    return part(x, *x_range, logarithmic=figure.logarithmic)


def part(value: float, low: float, high: float, *, logarithmic: bool = False) -> float:
    """Where a number lies between two others, from 0 to 1."""
    if logarithmic:
        value, low, high = map(math.log, (value, low, high))
    return (value - low) / (high - low) if high > low else 1.0


def curves_numbers(figures: Sequence[Curves]) -> pa.Table:
    """All the numbers of figures that belong together, for a spreadsheet: a line for each point."""
    tables = []
    for figure in figures:
        for line in figure.lines:
            columns = {"measure": [spoken(figure.y)] * len(line.x), "curve": [spoken(line.name)] * len(line.x)}
            numbers = {"x": line.x, "value": line.y, "low": line.low, "high": line.high}
            columns |= {name: np.asarray(values, float) for name, values in numbers.items() if values is not None}
            tables.append(pa.table(columns))
    return pa.concat_tables(tables, promote_options="default")
