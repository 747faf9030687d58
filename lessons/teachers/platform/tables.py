"""A figure as tables of its numbers: what a platform shows where there is no picture, and what a voice can read."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lessons.screen import (
    Argument,
    Axis,
    Facts,
    Figure,
    Magnitude,
    Matrices,
    Matrix,
    Parts,
    Sharing,
    Table,
    format_value,
    labels_of,
    magnitude,
    number,
    percent,
    render,
    translate,
)

MOST_COLUMNS = 12  # of a single row: a longer one is written as a column
LEAST_OF_TWO_DECIMALS = 0.01
SMALL = ("difference", "gradient")  # scales of numbers that may be tiny


@dataclass(frozen=True)
class NumberTable:
    """A table with a title, a name for each column and each row, and, where the names meet, what these are."""

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    def turned(self) -> "NumberTable":
        """The same with rows and columns exchanged."""
        return NumberTable(self.title, "", self.rows, self.columns, tuple(zip(*self.cells, strict=True)))


def tables_of(figure: Figure, *, covered: bool = False) -> tuple[NumberTable, ...]:
    """The tables of a figure; while it is `covered`, those alone that a question does not ask for.

    Curves, maps of many heads and whatever else says little as numbers have none.
    """
    make = TABLES.get(type(figure))
    return () if make is None else make(figure, covered)


def in_words(table: NumberTable) -> str:
    """A table as one line, for a voice: its title, the names of its columns, then row by row."""
    columns = [", ".join(table.columns)] if any(table.columns) else []
    rows = (f"{name}: {', '.join(cells)}" for name, cells in zip(table.rows, table.cells, strict=True))
    return f"{table.title}: {'; '.join([*columns, *rows])}."


def of_matrices(figure: Matrices, covered: bool) -> tuple[NumberTable, ...]:
    """A table for each matrix that is drawn."""
    return tuple(of_matrix(matrix) for matrix in figure.matrices if matrix.drawn and (matrix.given or not covered))


def of_matrix(matrix: Matrix) -> NumberTable:
    """One matrix; a long single row stands upright."""
    rows, columns = labels_of(matrix.rows), labels_of(matrix.columns)
    cells = tuple(tuple(written(matrix, i, j) for j in range(len(columns))) for i in range(len(rows)))
    table = NumberTable(render(matrix.title), corner_of(matrix.rows, matrix.columns), columns, rows, cells)
    return table.turned() if len(rows) == 1 and len(columns) > MOST_COLUMNS else table


def corner_of(rows: Axis, columns: Axis) -> str:
    """What rows and columns are, where both say it."""
    return f"{render(rows.name)} ↓ {render(columns.name)} →" if rows.name and columns.name else ""


def written(matrix: Matrix, row: int, column: int) -> str:
    """What stands in a cell: its number, or that the mask hides it."""
    if not matrix.sees(row, column):
        return translate("masked")
    value = float(matrix.values[row][column])
    if math.isnan(value):
        return translate("not a number")
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return plainly(value) if matrix.scale in SMALL else number(value)


def plainly(value: float) -> str:
    """A size that may be tiny, with all its zeros: who reads a quiz need not know powers of ten."""
    if not value or abs(value) >= LEAST_OF_TWO_DECIMALS or not math.isfinite(value):
        return magnitude(value)
    return number(value, 1 - math.floor(math.log10(abs(value))))


def fact_written(fact: Argument) -> str:
    """A fact as one reads it."""
    return plainly(fact.value) if isinstance(fact, Magnitude) else format_value(fact)


def of_sharing(figure: Sharing, covered: bool) -> tuple[NumberTable, ...]:
    """A row of numbers, the sizes that are made of them, and the parts; at first the numbers alone."""
    lines = [
        (render(name), [getattr(portion, of) for portion in figure.portions])
        for (name, _), of in zip(figure.lines, ("number", "size", "share"), strict=True)
    ][: 1 if covered else None]
    keys = tuple(format_value(portion.key) for portion in figure.portions)
    cells = tuple(tuple(map(number, values)) for _, values in lines)
    return (NumberTable(format_value(figure.query), "", keys, tuple(name for name, _ in lines), cells),)


def of_parts(figure: Parts, covered: bool) -> tuple[NumberTable, ...]:
    """The share of each part in each row."""
    rows, columns = tuple(map(render, figure.rows)), tuple(format_value(part.name) for part in figure.parts)
    cells = tuple(tuple(percent(part.shares[i]) for part in figure.parts) for i in range(len(rows)))
    return () if covered else (NumberTable(render(figure.name), "", columns, rows, cells),)


def of_facts(figure: Facts, covered: bool) -> tuple[NumberTable, ...]:
    """A line for each of a few numbers."""
    rows, cells = zip(*((render(what), (fact_written(fact),)) for what, fact in figure.facts), strict=True)
    return () if covered else (NumberTable(render(figure.name), "", ("",), rows, cells),)


def of_table(figure: Table, covered: bool) -> tuple[NumberTable, ...]:
    """A table is one already; its first column names the rows."""
    first, *columns = map(render, figure.columns)
    lines = [tuple(map(fact_written, line)) for line in figure.cells]
    rows, cells = tuple(line[0] for line in lines), tuple(line[1:] for line in lines)
    return () if covered else (NumberTable(render(figure.name), first, tuple(columns), rows, cells),)


TABLES: dict[type[Figure], Callable[[Any, bool], tuple[NumberTable, ...]]] = {
    Matrices: of_matrices,
    Sharing: of_sharing,
    Parts: of_parts,
    Facts: of_facts,
    Table: of_table,
}
