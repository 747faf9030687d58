"""A task of a worksheet: what is asked, what is given, the tables to fill in; and for its key, how each answer comes
about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lessons.screen import Matrix, Message, equation, labelled
from lessons.teachers.take_home.numbers import is_rounded, on_paper, rounded_number

LOOKED_UP = ("exponentials", "e_to_x")  # keys of matrices whose numbers come from a table


@dataclass(frozen=True, eq=False)
class Blanks:
    """A table to fill in, where its matrix sees a number. The key derives its last row, each number in so many `lines`.

    What its rows sum to is `given`, to compare with, or `asked`. Cells that are not `left` are crossed out, once they
    are filled in.
    """

    matrix: Matrix
    lines: int = 1
    sums: Literal["given", "asked"] = "given"
    left: Sequence[Sequence[bool]] | None = None

    def is_crossed_out(self, row: int, column: int) -> bool:
        """True for a cell that is filled in first, and then no longer counts."""
        return self.left is not None and not self.left[row][column]

    def counted(self, row: int) -> int:
        """How many numbers of a row add up to its sum."""
        columns = range(len(self.matrix.columns.labels))
        return sum(self.matrix.sees(row, column) and not self.is_crossed_out(row, column) for column in columns)


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperTask:
    """What is asked, about what, what is given, and the tables to fill in."""

    topic: Message
    asks: Message
    given: tuple[Matrix, ...] = ()
    blanks: tuple[Blanks, ...] = ()
    begins_page: bool = False
    beside: bool = False  # the task before it


def written_cell(matrix: Matrix, row: int, column: int, decimals: int) -> str:
    """What stands in a cell on paper: a number, a weight with all its decimals; nothing where a mask hides it."""
    if not matrix.sees(row, column):
        return ""
    return on_paper(float(matrix.values[row][column]), decimals_in(matrix, decimals), fixed=matrix.scale == "weight")


def decimals_in(matrix: Matrix, decimals: int) -> int:
    """How many decimals a matrix has on a sheet: what is looked up has one more than the rest."""
    return decimals + (matrix.key in LOOKED_UP)


def derivations(blanks: Blanks, decimals: int) -> list[str]:
    """How each number of the last row comes about; a line that several need stands once."""
    row, columns = len(blanks.matrix.rows.labels) - 1, range(len(blanks.matrix.columns.labels))
    asked = [column for column in columns if blanks.matrix.sees(row, column)]
    return list(dict.fromkeys(line for column in asked for line in lines_of_answer(blanks, row, column, decimals)))


def lines_of_answer(blanks: Blanks, row: int, column: int, decimals: int) -> tuple[str, ...]:
    """How a number comes about, line by line; where it is rounded, the last ends with what stands in its cell."""
    matrix = blanks.matrix
    if blanks.lines == 1 and matrix.step:
        steps = [matrix.step(row, column)]
    else:
        steps = matrix.derive(row, column)[-blanks.lines :]
    lines = [labelled(step.meaning, equation(step)) for step in steps]
    if is_rounded(steps[-1].value, decimals_in(matrix, decimals)):
        lines[-1] += f" ≈ {written_cell(matrix, row, column, decimals)}"
    return tuple(lines)


def sum_on_paper(blanks: Blanks, row: int, decimals: int) -> float:
    """What the numbers of a row, as they are written, sum to: those that count."""
    columns, decimals = range(len(blanks.matrix.columns.labels)), decimals_in(blanks.matrix, decimals)
    numbers = blanks.matrix.values[row]
    counted = [
        float(numbers[column])
        for column in columns
        if blanks.matrix.sees(row, column) and not blanks.is_crossed_out(row, column)
    ]
    return round(sum(rounded_number(value, decimals) for value in counted), decimals)
