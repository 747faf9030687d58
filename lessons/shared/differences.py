"""What two ways of computing gave, side by side as it stands on the screen, and the difference to its last digit."""

import math
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention_core.base.arrays import Array
from lessons.screen import Matrix, Message, Numeral, message, power_of_ten
from lessons.shared.matrices import traced_matrix
from lessons.trace.computation import Computation
from lessons.trace.story import Names

HIDDEN = 0.1  # of less than this, two decimals tell little


@dataclass(frozen=True, eq=False)
class Gap:
    """Of two matrices, one less the other."""

    gap: Float[Array, "rows columns"]


def subtract(one: Float[Array, "rows columns"], other: Float[Array, "rows columns"]) -> Gap:
    """Cell by cell. In double precision the difference of two numbers of single precision is exact."""
    return Gap(one - other)


def compare(
    one: Float[Tensor, "rows columns"], other: Float[Tensor, "rows columns"], /, **sentences: Message
) -> Computation:
    """The difference of two results, from the numbers that came out: how they did could not tell what rounding left."""
    return Computation(subtract, {"one": one.double(), "other": other.double()}, Names(sentences, {}))


def gap_matrix(comparison: Computation, beside: Matrix, **look: Any) -> Matrix:
    """The difference, with the axes of the matrix `beside` it, in one unit that fits all of its numbers."""
    usual = {"rows": beside.rows, "columns": beside.columns, **in_one_unit(comparison.result.gap)}
    return traced_matrix(comparison, "gap", message("difference"), (), **(usual | look))


def in_one_unit(gap: Array) -> dict[str, Any]:
    """How differences are drawn: each as a multiple of a power of ten, which the remark names where it is not 1."""
    unit = unit_of(gap)
    remark = message("in units of {unit}", unit=Numeral(power_of_ten(unit))) if unit != 1 else None
    return {"scale": "difference", "unit": unit, "remark": remark}


def unit_of(gap: Array) -> float:
    """The power of ten of which the largest number is 10 to 100 times as much; 1 where two decimals show it as well."""
    largest = float(abs(gap).max())
    if not 0 < largest < HIDDEN:
        return 1.0
    return 10.0 ** (math.floor(math.log10(largest)) - 1)
