"""Matrices on a common grid: cells with their numbers, linked so that pointing at one lights its sources.

All matrices of a figure lie in one view and one table. Each row of the table is something drawn at one
place of the grid. Which cells light up when one is pointed at is data as well: a cell `lights` a list of
tags, and every cell that carries one of them gets a ring, in the browser, without asking the server.
A click picks a cell, which keeps its ring; whoever shows the figure may ask for the picked cell's tag.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from attention_ui.figures.roles import SCORE_DOMAIN
from lessons.screen import localised, message, power_of_ten

POINT_AT = message("Point at a number to see where it comes from.")
POINT_AT_CELL = message("Point at a cell to see its number and where it comes from.")
COLOURED = ("score", "change", "weight", "gradient")  # the kinds of cells that have a number
CELL_GAP = 0.06  # between two cells, of a cell
SMALLEST_CELL, LARGEST_CELL = 26, 64  # pixels, with a number
LABEL_COLUMNS, SMALL_LABEL_COLUMNS = 2, 4  # of the grid, for the names of rows; where cells are small
FOUR_LETTERS = 1.8  # so many times the size of its letters is a cell in which four of them fit
FOUR_APART = 1.93  # and one in which they stand apart from those of the next; where none is longer, still further
FOUR_AT_EASE, FIVE_APART = 2.2, 2.41
POWER_LETTER = 0.53  # a letter of a power of ten, of its height
PROJECTED_NUMBER = 24  # pixels of numbers on a projector, where they have room
LEAST_SEEN, LEAST_COLOURED = 14, 10  # pixels of a cell of which one sees how much it is; of a map seen as a whole
LONG_NUMBER, ROOMY_CELL = 4, 32  # letters; the pixels of a cell in which a longer number has room
LEFT, RIGHT, EDGE = 0.35, 1.1, 0.1  # cells, beside the first column; the last, with slanted names and without
GAP, GAP_OF_MAPS = 0.5, 1.0  # cells, between matrices; where cells are small
LARGEST_MOVING, SMALLEST_CELL_WITHOUT_NUMBER = (
    32,
    7,
)  # of a film: beside it stand its curves. A head of 64 features fits the page
QUARTERS = 4  # of a cell: where things stand is told in them
PLACES_IN_A_LINE = 40_000  # quarters: more than any grid has
CURVE_ROOM = 98  # pixels for a curve beside such a film, without its own width
MOMENT = "moment "  # before the number of a frame: what the column of its numbers is called
NUMBER_FONT, NAME_FONT, TITLE_FONT = (
    (13, 1 / FIVE_APART, 26),
    (13, 0.4, 18),
    (13, 0.44, 20),
)  # the least size in pixels, the share of a cell, the most


@dataclass(frozen=True)
class DrawnMatrix:
    """What to draw of one matrix. `kind` says how: a "weight" is an area, any other a length left or right.

    A "score" ends at `longest`, a "change" of a weight at 1; a "gradient" is as long as its root, so that small ones
    show, too.
    """

    key: str
    title: str
    values: Sequence[Sequence[float]]
    kind: str = "score"
    tone: str = "ink"
    visible: Sequence[Sequence[bool]] | None = None  # False draws the cell as masked
    drawn: bool = True  # False leaves empty frames where the cells will be
    changed: Sequence[Sequence[bool]] | None = None  # True marks the cell
    tiny: bool = False  # numbers that two decimals would hide are written as powers of ten
    unit: float | None = None  # of which the numbers are written as multiples; only 0 itself then reads 0
    longest: float = SCORE_DOMAIN[1]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.values), len(self.values[0])


@dataclass
class Grid:
    """Collects what is drawn, place by place, and hands it over as one table."""

    lights: Callable[[str, int, int], str]
    say: Callable[[str, int, int], str]
    rows: list[tuple] = field(default_factory=list)
    width: float = 0
    height: int = 0

    TAGS = ("row_tag", "column_tag", "cell_tag")
    FIELDS = ("gx", "gy", "kind", "tone", "v", "text", "short", "say", "lights", *TAGS, "most")

    def matrix(self, matrix: DrawnMatrix, left: float, top: int, *, numbered: bool = True) -> None:
        """Its cells, the upper left one at (left, top), with their numbers or without."""
        for i, line in enumerate(matrix.values):
            for j, value in enumerate(line):
                if not matrix.drawn:
                    self._add(left + j, top + i, "ghost", "ghost", None, "")
                    continue
                self._cell(matrix, i, j, value, left + j, top + i, numbered)
                if matrix.changed is not None and matrix.changed[i][j]:
                    self._add(left + j, top + i, "changed", matrix.tone, None, "")

    def text(self, text: str, x: float, y: int, kind: str, tone: str = "muted", *, short: str = "") -> None:
        """A piece of text: kind "title", "shape", "row" (ends here, cut where it is too long), "axis" (ends here,
        whole), "column" (slanted, begins here) or "letter".

        A `short` one takes its place where cells are small.
        """
        self._add(x, y, kind, tone, None, text, short)

    def column_names(self, names: Sequence[str], left: float, y: int) -> None:
        """The names of columns: slanted words, or upright letters where all are that short."""
        kind = "column" if any(len(name) > 1 for name in names) else "letter"
        for j, name in enumerate(names):
            self.text(name, left + j, y, kind)

    def table(self) -> pa.Table:
        """Everything as one table."""
        columns = dict(zip(self.FIELDS, zip(*self.rows, strict=True), strict=True))
        places = [y * PLACES_IN_A_LINE + int(QUARTERS * x) for x, y in zip(columns["gx"], columns["gy"], strict=True)]
        return pa.table(
            {
                "place": pa.array(places, pa.int32()),
                "gx": pa.array(columns.pop("gx"), pa.float32()),
                "gy": pa.array(columns.pop("gy"), pa.int16()),
                "v": pa.array(columns.pop("v"), pa.float32()),
                "most": pa.array(columns.pop("most"), pa.float32()).dictionary_encode(),
                **{name: pa.array(values, pa.string()).dictionary_encode() for name, values in columns.items()},
                "ink": pa.array(["ink"] * len(self.rows)).dictionary_encode(),
            }
        )

    def _cell(self, matrix: DrawnMatrix, i: int, j: int, value: float, x: float, y: int, numbered: bool) -> None:
        key, kind, tone, text, short = matrix.key, matrix.kind, matrix.tone, "", ""
        if matrix.visible is not None and not matrix.visible[i][j]:
            kind, tone, value = "masked", "hatch", None
        elif numbered:
            told, text = value / (matrix.unit or 1.0), number_in(matrix, value)
            short = text if len(text) <= LONG_NUMBER else "" if "e" in text else short_text(told)
        linked = self.say(key, i, j), self.lights(key, i, j), row_tag(key, i), column_tag(key, j), cell_tag(key, i, j)
        self._add(x, y, kind, tone, value, text, short, *linked, matrix.longest)

    def _add(self, x, y, kind, tone, value, text, short="", *linked) -> None:
        self.width, self.height = max(self.width, x + 1), max(self.height, y + 1)
        self.rows.append((x, y, kind, tone, value, text, short, *(linked or (None, "", "", "", "", None))))


def number_in(matrix: DrawnMatrix, value: float) -> str:
    """A number of a matrix as its cell shows it."""
    if matrix.unit and not value:
        return "0"
    told = value / (matrix.unit or 1.0)
    return tiny_text(told) if matrix.tiny else cell_text(told)


def row_tag(key: str, row: int) -> str:
    """The tag that all cells of one row carry."""
    return f"|{key} row {row}|"


def column_tag(key: str, column: int) -> str:
    """The tag that all cells of one column carry."""
    return f"|{key} column {column}|"


def cell_tag(key: str, row: int, column: int) -> str:
    """The tag of a single cell."""
    return f"|{key} {row},{column}|"


def cell_text(value: float) -> str:
    """The number as it fits a cell: two decimals, one from 10 on, none from 100 on, then powers of ten."""
    size = abs(value)
    digits = f"{value:.2f}" if size < 9.995 else f"{value:.1f}" if size < 99.95 else f"{value:.0f}"
    if size >= 9999.5:
        digits = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return signed_digits(value, digits)


def short_text(value: float) -> str:
    """The number where two decimals and a sign would not fit its cell: one decimal, none from 10 on."""
    return signed_digits(value, f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}")


def signed_digits(value: float, digits: str) -> str:
    """Digits as a cell has them: with a minus sign, which 0 never has, in the way of the language."""
    signed = float(value) and digits.strip("-0.")
    return localised(digits.replace("-", "−") if signed else digits.removeprefix("-"))


def tiny_text(value: float) -> str:
    """As `cell_text`, but what two decimals would hide is a power of ten; only 0 itself reads 0."""
    if 0 < abs(value) < 0.005:
        return localised(power_of_ten(value))
    return cell_text(value) if value else "0"


def cell_size(columns: float, width: int, *, numbered: bool = True) -> int:
    """The largest cell of a film, in pixels, with which so many columns fit a width; never too small to read."""
    smallest = SMALLEST_CELL if numbered else SMALLEST_CELL_WITHOUT_NUMBER
    return max(smallest, min(LARGEST_MOVING, int(width / max(columns, 1))))


def font_size(font: tuple[float, float, float], cell: int) -> float:
    """The size of this font in cells of so many pixels."""
    least, share, most = font
    return min(max(least, share * cell), most)
