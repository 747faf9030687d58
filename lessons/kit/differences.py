"""What two ways of computing gave, side by side as it stands on the screen, and the difference to its last digit."""

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention_core.arrays import Array
from lessons.kit.matrices import traced_matrix
from lessons.screen.message import Magnitude, Message, message
from lessons.screen.screen import Matrix
from lessons.trace.computation import Computation
from lessons.trace.story import Names


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


def gap_matrix(comparison: Computation, beside: Matrix, most: float, **look: Any) -> Matrix:
    """The difference, with the axes of the matrix `beside` it; no number of it is beyond `most`."""
    remark = message("at most {most}", most=Magnitude(most))
    usual = {"rows": beside.rows, "columns": beside.columns, "scale": "difference", "remark": remark}
    return traced_matrix(comparison, "gap", message("difference"), (), **(usual | look))
