"""The difference of two matrices as they stand on a screen, to its last digit."""

from dataclasses import dataclass

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


def gap_matrix(
    one: Float[Tensor, "rows columns"], other: Float[Tensor, "rows columns"], says: Message, beside: Matrix, **look
) -> Matrix:
    """The difference of two matrices that were computed in two ways, with the axes of one `beside` it.

    How each was computed is another matter: that could not tell what rounding has left.
    """
    computation = Computation(subtract, {"one": one.double(), "other": other.double()}, Names({"gap": says}, {}))
    usual = {"rows": beside.rows, "columns": beside.columns, "scale": "difference"}
    remark = message("at most {most}", most=Magnitude(float((one - other).abs().max())))
    return traced_matrix(computation, "gap", message("difference"), (), remark=remark, **(usual | look))
