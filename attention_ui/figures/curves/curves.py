"""A figure of curves as tables for a template that fits its shape: between two pictures only the tables change."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from attention_ui.figures.curves.curve_names import (
    LETTERS_OF_NAMES,
    Plot,
    level_names,
    line_names,
    mark_names,
    paths,
    reach,
)
from lessons.screen import Curves, Line, render
from words import cached_by_language

MOST_TABLES = 32  # that are kept: a class that is led looks at the same figures all at once
MOST_POINTS = 400  # of a line: more than a screen can show
AXIS, TITLE_HEIGHT = 68, 22  # pixels of the height that the x axis and a title take
PAGE_OF_A_PHONE = 358  # pixels
LEAST_OF_WIDTH = 0.74  # of the width for which names are placed: in less of it they would meet lines
NARROW = "narrow_"  # before the columns that say where a name stands on a phone
ANY_HEIGHT = 72_001_700  # pixels: stands for the height of curves, and for nothing else
OF_A_PLACE = frozenset(("name", "away", "aside", "align", "from_top", "down"))
Y_NUMBERS = 56  # pixels of the width that the numbers of the y axis and its title take
LONG_Y_NUMBERS = 34  # so many more where they are powers of ten


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
    x_domain: tuple[float, float] | tuple[str, str] | None
    y_domain: tuple[float, float] | tuple[str, str] | None
    banded: bool
    named: bool
    levelled: bool
    chosen: bool
    marked: bool
    logarithmic_y: bool = False
    unnumbered: bool = False  # the y axis is a line without numbers
    letters: int = 0  # pixels of the smallest letters, where these must be larger than usual


def numbers_apart(shape: CurveShape) -> tuple[CurveShape, dict[str | int, object]]:
    """The shape with names for its height and the ends of its axes, and what these are: one template serves for all."""
    told: dict[str | int, object] = {ANY_HEIGHT: shape.height}
    shape = shape._replace(height=ANY_HEIGHT)
    for axis in ("x_domain", "y_domain"):
        if (domain := getattr(shape, axis)) is not None:
            names = f"{axis} from", f"{axis} to"
            told |= dict(zip(names, domain, strict=True))
            shape = shape._replace(**{axis: names})
    return shape, told


def shape_of(figure: Curves) -> CurveShape:
    """The shape of a figure."""
    ends = [x for line in figure.lines if len(line.x) for x in (line.x[0], line.x[-1])]
    return CurveShape(
        figure.width,
        figure.height,
        render(figure.x),
        render(figure.y),
        figure.logarithmic,
        all(float(x).is_integer() for x in ends),
        figure.percent,
        figure.above,
        figure.x_domain,
        figure.y_domain,
        any(line.low is not None for line in figure.lines),
        len(paths(figure)) > 1,
        bool(figure.levels) or parted(figure),
        figure.chosen is not None,
        bool(figure.marks),
        figure.logarithmic_y,
    )


def parted(figure: Curves) -> bool:
    """Whether a line stands between negative and positive."""
    low, high = figure.y_domain or (0, 0)
    return low < 0 < high


def covered_shape(figure: Curves) -> CurveShape:
    """Its shape while its heights are covered: with ranges of its own, for Vega would look for those of no numbers."""
    shape = shape_of(figure)
    x_domain = shape.x_domain or reach([float(x) for line in figure.lines for x in line.x])
    y_domain = shape.y_domain or (1.0, 10.0)  # any will do
    return shape._replace(x_domain=x_domain, y_domain=y_domain, unnumbered=shape.y_domain is None)


@cached_by_language(maxsize=MOST_TABLES)
def curves_tables(figure: Curves, letters: int = 0) -> dict[str, pa.Table]:
    """The points of all lines, the names at their ends and the levels; of letters of so many pixels at least."""
    points = pa.concat_tables(map(points_of, figure.lines))
    stretch = max(1.0, letters / LETTERS_OF_NAMES)
    height = figure.height - stretch * (AXIS + TITLE_HEIGHT * figure.above)
    numbers = Y_NUMBERS + LONG_Y_NUMBERS * figure.logarithmic_y
    wide = Plot(figure, figure.width - numbers, height, stretch)
    fits = not fits_no_phone(figure.width)
    narrow = None if fits else Plot(figure, PAGE_OF_A_PHONE - numbers, height, stretch)
    chosen = pa.array([x == figure.chosen for x in points["x"].to_pylist()], pa.bool_())
    return {
        "curves": points.append_column("chosen", chosen),
        "names": placed(line_names, wide, narrow, NAMES, only=len(paths(figure)) > 1),
        "levels": placed(level_names, wide, narrow, LEVELS),
        "marks": placed(mark_names, wide, narrow, MARKS),
    }


def placed(
    names: Callable[[Plot], Iterator[dict]], wide: Plot, narrow: Plot | None, columns: pa.Schema, *, only: bool = True
) -> pa.Table:
    """Names with their places in a plot and, in columns of their own, in the narrow one of a phone."""
    rows = list(names(wide)) if only else []
    others = list(names(narrow)) if only and narrow else rows
    second = [column for column in columns if column.name in OF_A_PLACE]
    rows = [
        one | {f"{NARROW}{column.name}": other[column.name] for column in second}
        for one, other in zip(rows, others, strict=True)
    ]
    schema = pa.schema([*columns, *(column.with_name(f"{NARROW}{column.name}") for column in second)])
    return pa.Table.from_pylist(rows, schema)


def fits_no_phone(width: int) -> bool:
    """Whether the names of a figure as wide as this would meet its lines on the page of a phone."""
    return width * LEAST_OF_WIDTH > PAGE_OF_A_PHONE


def points_of(line: Line) -> pa.Table:
    """One line, thinned evenly to what a screen can show; its last point stays."""
    last = len(line.x) - 1
    kept = np.append(np.arange(0, last, -(-last // (MOST_POINTS - 1)) or 1), last) if last > 0 else np.arange(last + 1)
    low, high = (line.y if edge is None else edge for edge in (line.low, line.high))
    numbers = {"x": line.x, "y": line.y, "low": low, "high": high}
    words = {"line": render(line.name), "tone": line.colour, "style": line.style}
    return pa.table(
        {name: pa.array(np.asarray(column, np.float32)[kept]) for name, column in numbers.items()}
        | {name: pa.array([word] * len(kept), pa.string()).dictionary_encode() for name, word in words.items()}
        | {"dot": pa.array([line.points or line.style == "dots"] * len(kept), pa.bool_())}
    )


LEVELS = pa.schema([("name", pa.string()), ("y", pa.float32()), ("away", pa.int16()), ("align", pa.string())])
MARKS = pa.schema(
    [(name, pa.float32()) for name in ("x", "from_top", "down", "away")]
    + [(name, pa.string()) for name in ("name", "tone", "align")]
)
NAMES = pa.schema(
    [("x", pa.float32()), ("y", pa.float32()), ("away", pa.int16()), ("aside", pa.int16())]
    + [(name, pa.string()) for name in ("name", "tone", "align")]
)


def curves_numbers(figures: Sequence[Curves]) -> pa.Table:
    """All the numbers of figures that belong together, for a spreadsheet: a line for each point."""
    tables = []
    for figure in figures:
        for line in figure.lines:
            columns = {"measure": [render(figure.y)] * len(line.x), "curve": [render(line.name)] * len(line.x)}
            numbers = {"x": line.x, "value": line.y, "low": line.low, "high": line.high}
            columns |= {name: np.asarray(values, float) for name, values in numbers.items() if values is not None}
            tables.append(pa.table(columns))
    return pa.concat_tables(tables, promote_options="default")
