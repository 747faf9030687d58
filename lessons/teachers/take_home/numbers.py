"""Numbers for paper: small whole ones in X and W, so that all is exact up to the softmax; then rounded weights.

With d_k = 4, dividing by √d_k halves the scores. What is rounded is rounded once, and what is computed from it is
computed from the rounded numbers, as they stand on the sheet.
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from torch import Tensor

from lessons.example.edits import Edit
from lessons.example.example import Example, ExampleTrace, run_afresh
from lessons.screen import localised, with_point
from lessons.teachers.take_home.sheet import SheetChoices

WIDTHS: dict[str, Any] = {"d_model": 2, "d_k": 4, "d_v": 2}
LARGEST_OF_X, LARGEST_OF_W = 2, 1


def rounded_number(value: float, decimals: int) -> float:
    """Rounded as at school: a 5 is rounded up, away from 0. What is a float's own error is no digit."""
    return float(Decimal(f"{value:.9f}").quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def on_paper(value: float, decimals: int, fixed: bool = False) -> str:
    """A number as the sheet writes it: rounded with all its decimals; exact, or not `fixed`, with as few as it has."""
    text = with_point(rounded_number(value, decimals), decimals)
    exact = not (fixed or is_rounded(value, decimals)) and "." in text
    return localised(text.rstrip("0").rstrip(".") if exact else text)


def is_rounded(value: float, decimals: int) -> bool:
    """True where the sheet does not write the number itself."""
    return abs(value - rounded_number(value, decimals)) > 1e-6


def example_of(choices: SheetChoices, drawn: dict[str, Tensor]) -> ExampleTrace:
    """The running example of a sheet, with these numbers in X and W."""
    edits = tuple(
        Edit(name, row, column, value)
        for name, matrix in drawn.items()
        for row, line in enumerate(matrix.tolist())
        for column, value in enumerate(line)
    )
    return run_afresh(Example(source="sentence", text=choices.text, seed=choices.seed, edits=edits, **WIDTHS))
