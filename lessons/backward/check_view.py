"""Is it right? Every gradient beside finite differences, which know no chain rule, and beside PyTorch's autograd."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from attention_core.training import gradient_by_autograd
from attention_core.weights import named_weights
from lessons.backward.finite_differences import central_differences
from lessons.backward.gradients_view import sentence_and_answer
from lessons.backward.one_prediction import Prediction, whose_gradients
from lessons.screen.format import magnitude
from lessons.screen.message import Fixed, Magnitude, Message, message
from lessons.screen.screen import Facts, Figure, Table

Checked = Literal["W_q", "W_k", "W_v", "W_o"]
CHECKED: tuple[Checked, ...] = get_args(Checked)
STEP_SIZES = tuple(10.0**-power for power in range(1, 11))
USUAL_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class WeightCheck:
    """The gradients of one matrix, found in three ways. `where` are the places of its weights in the vector of all."""

    matrix: Checked
    where: Int[np.ndarray, " entries"]
    ours: Float[np.ndarray, " entries"]
    differences: Float[np.ndarray, " entries"]
    row: int  # of the weight with the largest gradient, which is looked at more closely
    column: int
    by_step: tuple[tuple[float, float], ...]  # for each size of a step: what the differences say of that weight

    @property
    def largest(self) -> int:
        """The place in the matrix of the weight with the largest gradient."""
        return int(np.abs(self.ours).argmax())


def check_figures(correction: Prediction, matrix: Checked) -> Iterator[Figure]:
    """The largest differences, and one weight at many sizes of a step."""
    check, apart = checked(correction, matrix), difference_from_autograd(correction)
    yield Facts(
        key="how_far_apart",
        name=message("How far the ways are apart"),
        heading=sentence_and_answer(correction),
        notice=tuple(notice_check(correction, apart)),
        facts=(
            (
                message("finite differences of {matrix} differ by at most", matrix=matrix),
                Magnitude(difference_of(check)),
            ),
            (message("PyTorch's autograd differs by at most"), Magnitude(apart)),
        ),
    )
    gradient = float(check.ours[check.largest])
    yield Table(
        key="by_step",
        name=message("One weight, at steps of many sizes"),
        notice=tuple(notice_steps(check)),
        width=640,
        columns=(message("step h"), message("(L(w + h) − L(w − h)) ÷ 2h"), message("away from the chain rule")),
        cells=tuple(
            (f"1e−{place}", Fixed(found, 10), Magnitude(abs(found - gradient)))
            for place, (_, found) in enumerate(check.by_step, 1)
        ),
    )


def checked(correction: Prediction, matrix: Checked) -> WeightCheck:
    """Run the model again with each weight of a matrix moved a little, and with one of them moved by many steps."""
    learner = correction.learner
    where, shape = places_of(correction, matrix)
    ours = correction.vector[where]
    at = learner.settings.model, learner.weights
    largest = int(np.abs(ours).argmax())
    by_step = tuple(
        (step, float(central_differences(*at, where[[largest]], step, correction.batch)[0])) for step in STEP_SIZES
    )
    differences = central_differences(*at, where, USUAL_STEP, correction.batch)
    return WeightCheck(matrix, where, ours, differences, *divmod(largest, shape[1]), by_step)


def places_of(correction: Prediction, matrix: Checked) -> tuple[Int[np.ndarray, " entries"], tuple[int, int]]:
    """Where the weights of a matrix stand in the vector of all, and its shape."""
    begin = 0
    for name, weight in named_weights(correction.learner.model):
        if name.endswith(matrix):
            return np.arange(begin, begin + weight.size), weight.shape
        begin += weight.size
    raise KeyError(f"the model has no {matrix}")


def difference_of(check: WeightCheck) -> float:
    """The largest difference between ours and the finite differences."""
    return float(np.abs(check.differences - check.ours).max())


def difference_from_autograd(correction: Prediction) -> float:
    """The largest difference between ours and PyTorch's autograd, over all weights of the model."""
    learner = correction.learner
    _, theirs = gradient_by_autograd(learner.model, correction.batch)
    return float(np.abs(theirs - correction.vector).max())


def notice_check(correction: Prediction, apart: float) -> Iterator[Message]:
    """What was compared with what."""
    yield message(
        "Move one weight a little both ways, run the model twice, and see how the loss changes: no chain rule is "
        "needed, but two runs for every weight. The chain rule finds all {count} gradients in one pass back.",
        count=len(correction.vector),
    )
    size = float(np.abs(correction.vector).max())
    if apart == 0:
        yield message(
            "PyTorch's autograd runs the same forward functions on its own tensors and finds the same gradients, "
            "to the last digit."
        )
    else:
        yield message(
            "PyTorch's autograd runs the same forward functions on its own tensors. It differs by at most "
            "{difference}, in gradients up to {size}: the rounding of double precision.",
            difference=Magnitude(apart),
            size=Magnitude(size),
        )
    yield whose_gradients(correction.learner)


def notice_steps(check: WeightCheck) -> Iterator[Message]:
    """Too large a step is wrong because the loss bends, too small a one because of rounding."""
    gradient = float(check.ours[check.largest])
    errors = [abs(found - gradient) for _, found in check.by_step]
    best = min(errors)
    steps = [place for place, error in enumerate(errors, 1) if magnitude(error) == magnitude(best)]
    yield message(
        "The weight of {matrix} in row {row}, column {column}, has the gradient {gradient}.",
        matrix=check.matrix,
        row=check.row + 1,
        column=check.column + 1,
        gradient=Fixed(gradient, 10),
    )
    yield message(
        "With h = 1e−1 the quotient is {large} off, as the loss bends; with h = 1e−{last} it is {small} off, as two "
        "losses that are nearly equal are subtracted and their rounding is divided by h.",
        large=Magnitude(errors[0]),
        last=len(STEP_SIZES),
        small=Magnitude(errors[-1]),
    )
    if len(steps) == 1 and 1 < steps[0] < len(STEP_SIZES):
        yield message(
            "Between them lies the best step here, h = 1e−{place}: {best} off.", place=steps[0], best=Magnitude(best)
        )
