"""Where the names in a figure of curves stand: of lines at their ends, of levels and marks. Beside the curves, not on
them.

All places are pixels of the plot, from its upper left corner. How wide a name is can only be guessed here.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from lessons.screen import Curves, Line, letters, render, wrapped

NAME_HEIGHT, LETTERS_OF_NAMES, LETTER_OF_NAME = 12, 11, 5.0
# Pixels from the end of a line to its name, the best first.
ABOVE, BELOW = (-9, 14, -22, 28, -35, 42), (14, -9, 28, -22, 42, -35)
OFF_A_LEVEL = (-7, 8, -14, -20, 15, -27, 22, -34)  # from a level to its name
HALFWAY = 0.5  # along the x axis: a mark from there on has its name at its left
ROOM_FOR_NAMES = 0.45  # of the x axis: before that a name stands at the right of its line's end
BESIDE, OFF_A_LINE = 6, 3  # pixels from a mark to its name, and from a name to a curve
HEIGHTS_TRIED = 30  # for the names of marks
POINTS_LOOKED_AT = 200  # of a line
OVER = 1000  # points of a curve are as bad as a name over another


class Box(NamedTuple):
    """The room of a name."""

    left: float
    right: float
    middle: float
    high: float = NAME_HEIGHT

    def meets(self, other: "Box") -> bool:
        """Whether two names lie on each other."""
        apart = min(self.right, other.right) <= max(self.left, other.left)
        return not apart and abs(self.middle - other.middle) < (self.high + other.high) / 2


@dataclass(frozen=True, eq=False)
class Plot:
    """The curves of a figure in a plot of this size, with letters that are larger than usual by `stretch`."""

    figure: Curves
    width: float
    height: float
    stretch: float
    taken: list[Box] = field(default_factory=list)
    """The names that have their places already."""

    @cached_property
    def points(self) -> np.ndarray:
        """Pixels on the curves, close to each other, of shape (points, 2)."""
        return np.concatenate([np.zeros((0, 2)), *map(self.way_of, self.figure.lines)])

    @cached_property
    def x_range(self) -> tuple[float, float]:
        """From where to where the x axis goes."""
        return self.figure.x_domain or reach([x for line in self.figure.lines for x in line.x])

    @cached_property
    def y_range(self) -> tuple[float, float]:
        """From where to where the y axis goes."""
        return heights(self.figure)

    @property
    def line(self) -> float:
        """The height of a line of letters."""
        return NAME_HEIGHT * self.stretch

    def along(self, x: float) -> float:
        """Where an x lies on its axis, from 0 to 1."""
        return part(x, *self.x_range, logarithmic=self.figure.logarithmic)

    def from_top(self, y: float) -> float:
        """How far below the top of the plot a number lies; what is no number, or infinite, at the top."""
        if not math.isfinite(y):
            return 0.0
        return self.height * (1 - part(y, *self.y_range, logarithmic=self.figure.logarithmic_y))

    def way_of(self, line: Line) -> np.ndarray:
        """Pixels on a line, close to each other; of dots, where they are. Of shape (points, 2)."""
        points = [(float(x), float(y)) for x, y in zip(line.x, line.y, strict=True) if math.isfinite(y)]
        every = -(-len(points) // POINTS_LOOKED_AT) or 1
        ends = [(self.width * self.along(x), self.from_top(y)) for x, y in points[::every]]
        if line.style == "dots" or len(ends) < 2:
            return np.array(ends).reshape(-1, 2)
        corners = np.array(ends)
        ways = np.diff(corners, axis=0)
        counts = 2 + (np.abs(ways).max(axis=1) // 3).astype(int)  # of points on the way to each next corner
        numbers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        parts = numbers / np.repeat(counts - 1, counts)
        return np.repeat(corners[:-1], counts, axis=0) + parts[:, None] * np.repeat(ways, counts, axis=0)

    def box(self, name: str, left: float, middle: float, align: str, lines: int = 1) -> Box:
        """The room of a name that begins or ends here."""
        wide = letters(name) * LETTER_OF_NAME * self.stretch
        high = lines * self.line
        return Box(left, left + wide, middle, high) if align == "left" else Box(left - wide, left, middle, high)

    def in_the_way(self, box: Box) -> int:
        """How much lies where a name would be: points of curves, and names before it, which count for more."""
        x, y = self.points.T
        near = (x > box.left - OFF_A_LINE) & (x < box.right + OFF_A_LINE)
        near &= np.abs(y - box.middle) < box.high / 2 + OFF_A_LINE - 2
        return int(near.sum()) + OVER * sum(box.meets(other) for other in self.taken)

    def disorder(self, above: Sequence[Box], box: Box) -> int:
        """What is wrong with a name that shall stand below these."""
        return OVER * bool(above and box.middle - above[-1].middle < self.line)


def heights(figure: Curves) -> tuple[float, float]:
    """The range of the y axis, as Vega finds it."""
    if figure.y_domain is not None:
        return figure.y_domain
    numbers = [y for line in figure.lines for edge in (line.y, line.low, line.high) if edge is not None for y in edge]
    numbers = [float(y) for y in (*numbers, *(y for _, y in figure.levels)) if math.isfinite(y)]
    least, most = reach(numbers or [1.0, 10.0]) if figure.logarithmic_y else reach([0.0, *numbers])
    if figure.logarithmic_y:
        return 10 ** math.floor(math.log10(least)), 10 ** math.ceil(math.log10(most))
    step = round_step((most - least) / 10)
    return step * math.floor(least / step), step * math.ceil(most / step)


def round_step(step: float) -> float:
    """The number of 1, 2 or 5 times a power of ten that is nearest to a step between two numbers of an axis."""
    if step <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    times = step / power
    return power * (
        10 if times >= math.sqrt(50) else 5 if times >= math.sqrt(10) else 2 if times >= math.sqrt(2) else 1
    )


def line_names(plot: Plot) -> Iterator[dict[str, object]]:
    """The name of each line near its end: off the curves, within the plot, and above or below the others as its line
    is. Of all ways to place them, from the highest line to the lowest, the best.
    """
    lines = sorted((line for line in paths(plot.figure) if len(line.x)), key=lambda line: plot.from_top(line.y[-1]))
    ways: list[tuple[float, list[Box]]] = [(0.0, [])]  # what is in the way, and the names so far: by the last of these
    for line in lines:
        ways = [
            min((cost + fault + plot.disorder(placed, box), [*placed, box]) for cost, placed in ways)
            for box, fault in boxes_of_end(plot, line)
        ]
    _, placed = min(ways)
    plot.taken.extend(placed)
    for line, box in zip(lines, placed, strict=True):
        align, aside = end_of(plot, line)
        x, y = float(line.x[-1]), float(line.y[-1])
        yield {
            "x": x,
            "y": y,
            "away": round(box.middle - plot.from_top(y)),
            "aside": aside,
            "name": render(line.name),
            "tone": line.colour,
            "align": align,
        }


def end_of(plot: Plot, line: Line) -> tuple[str, int]:
    """At which end of its name a line ends, and how far from it: where a name follows a line, off its last point."""
    return ("right", 0) if plot.along(line.x[-1]) >= ROOM_FOR_NAMES else ("left", BESIDE)


def boxes_of_end(plot: Plot, line: Line) -> Iterator[tuple[Box, float]]:
    """The places for the name of a line, the usual first, and what is wrong with each."""
    align, aside = end_of(plot, line)
    end, top = plot.from_top(line.y[-1]), -10 if plot.figure.above else 4  # a title above leaves room below it
    for rank, away in enumerate(BELOW if line.y[len(line.y) // 2] > line.y[-1] else ABOVE):
        middle = end + round(away * plot.stretch)
        box = plot.box(render(line.name), plot.width * plot.along(line.x[-1]) + aside, middle, align)
        yield box, plot.in_the_way(box) + rank + OVER * (not top <= middle <= plot.height - 4)


def level_names(plot: Plot) -> Iterator[dict[str, object]]:
    """The levels, each with its name above or below it at one of its ends, or as near as the curves let it, in two
    lines where there is no room for one; and the line between negative and positive where both fit the picture.
    """
    figure = plot.figure
    low, high = figure.y_domain or (0, 0)
    if low < 0 < high:
        yield {"name": "", "y": 0.0, "away": 0, "align": "left"}
    for name, y in figure.levels:
        rated = [
            (plot.in_the_way(box), rank, box, lines, align)
            for rank, (box, lines, align) in enumerate(boxes_of_level(plot, render(name), y))
        ]
        _, _, box, lines, align = min(rated, key=lambda one: one[:2])
        plot.taken.append(box)
        first = box.middle - (box.high - plot.line) / 2
        yield {"name": "\n".join(lines), "y": float(y), "away": round(first - plot.from_top(y)), "align": align}


def boxes_of_level(plot: Plot, name: str, y: float) -> Iterator[tuple[Box, list[str], str]]:
    """The places for the name of a level, the usual first, each with its lines and the side where it stands."""
    sides = ("left", "right") if len(paths(plot.figure)) > 1 else ("right", "left")
    fits = letters(name) * LETTER_OF_NAME * plot.stretch <= plot.width
    for lines in ([name], halves(name)) if fits else (halves(name),):
        for away, align in product(OFF_A_LEVEL, sides):
            off = away * plot.stretch + math.copysign(plot.line, away) * (len(lines) - 1) / 2
            widest = max(lines, key=letters)
            box = plot.box(widest, 0 if align == "left" else plot.width, plot.from_top(y) + off, align, len(lines))
            if (
                away == OFF_A_LEVEL[0] and (lines == [name] or not fits)
            ) or 0 <= box.middle <= plot.height - box.high / 2:
                yield box, lines, align


def halves(name: str) -> list[str]:
    """A name in two lines, as equal as its words allow."""
    return next(lines for most in itertools.count(letters(name) // 2 + 1) if len(lines := wrapped(name, most, 9)) <= 2)


def mark_names(plot: Plot) -> Iterator[dict[str, object]]:
    """The marks, and where their names stand: below each other, in the widest gap between levels if no curve is there,
    each on the side where there is more room, or where it stands beside its own mark.
    """
    figure, line = plot.figure, plot.line
    edges = sorted({0.0, 1.0, *(plot.from_top(float(y)) / plot.height for _, y in figure.levels)})  # of the plot
    gap, top = max((low - high, high) for high, low in pairwise(edges))
    names = ["" if name is None else render(name) for name, _ in figure.marks]
    sides = [side_of_mark(plot, x, name) for (_, x), name in zip(figure.marks, names, strict=True)]
    begins = [past_marks(plot, x, name, align) for (_, x), name, align in zip(figure.marks, names, sides, strict=True)]

    def boxes(from_top: float) -> list[Box]:
        below = (plot.height * from_top + line * (2 * place + 1 - len(names)) / 2 for place in range(len(names)))
        return list(map(plot.box, names, begins, below, sides))

    edge = line * (len(names) / 2 + 1.5) / plot.height  # at the edges are levels and axes
    tried = [top + gap / 2, *(place for place in np.linspace(edge, 1 - edge, HEIGHTS_TRIED) if edge < 0.5)]
    from_top = min(tried, key=lambda place: sum(map(plot.in_the_way, boxes(place)))) if names else 0
    plot.taken.extend(boxes(from_top))
    for place, ((_, x), name, align) in enumerate(zip(figure.marks, names, sides, strict=True)):
        yield {
            "x": float(x),
            "from_top": float(from_top),
            "down": line * (2 * place + 1 - len(names)) / 2,
            "name": name,
            "tone": "ink",
            "align": align,
            "away": begins[place] - plot.width * plot.along(x),
        }


def side_of_mark(plot: Plot, x: float, name: str) -> str:
    """How the name of a mark is aligned: on the side with more room, or on the other if it fits beside its mark there
    alone.
    """
    sides = ("right", "left") if plot.along(x) >= HALFWAY else ("left", "right")
    at = plot.width * plot.along(x)
    for side in sides:
        begin = past_marks(plot, x, name, side)
        box = plot.box(name, begin, 0, side)
        if abs(begin - at) <= BESIDE and min(box.left, plot.width - box.right) >= 0:
            return side
    return sides[0]


def past_marks(plot: Plot, x: float, name: str, align: str) -> float:
    """Where the name of a mark begins, or ends if it stands at its left: past all marks that would cross it."""
    lines = sorted(plot.width * plot.along(at) for _, at in plot.figure.marks)
    begin, wide, way = plot.width * plot.along(x), letters(name) * LETTER_OF_NAME * plot.stretch + BESIDE, 1
    if align == "right":
        lines, way = lines[::-1], -1
    for at in lines:
        if 0 <= way * (at - begin) <= wide:
            begin = at
    return begin + way * BESIDE


def paths(figure: Curves) -> list[Line]:
    """The lines whose points belong together."""
    return [line for line in figure.lines if line.style != "dots"]


def reach(values: Sequence[float]) -> tuple[float, float]:
    """The least and the largest of some numbers."""
    return min(values), max(values)


def part(value: float, low: float, high: float, *, logarithmic: bool = False) -> float:
    """Where a number lies between two others, from 0 to 1."""
    if logarithmic:
        value, low, high = map(math.log, (value, low, high))
    return (value - low) / (high - low) if high > low else 1.0
