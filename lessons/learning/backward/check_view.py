"""Is it right? Every gradient beside finite differences, which know no chain rule, and beside PyTorch's autograd."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from attention_core.base.arrays import Array
from attention_core.learning.finite_differences import central_differences
from attention_core.learning.steps import gradient_by_autograd, gradient_of
from attention_core.learning.tasks import Batch
from attention_core.model.small_model import ModelConfig, model_with
from attention_core.model.weights import named_weights
from lessons.learning.backward.gradients_view import sentence_and_answer
from lessons.learning.backward.one_prediction import Prediction, whose_gradients
from lessons.screen import Facts, Figure, Fixed, Magnitude, Message, Table, message
from lessons.trace.computation import Computation

Checked = Literal["W_q", "W_k", "W_v", "W_o"]
CHECKED: tuple[Checked, ...] = get_args(Checked)
STEP_SIZES = tuple(10.0**-power for power in range(1, 11))
USUAL_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class ThreeWays:
    """The gradients of all weights by the chain rule and by autograd, and those of some by finite differences."""

    chain_rule: Float[Array, " parameters"]
    autograd: Float[Array, " parameters"]
    measured: Float[Array, " chosen"]


def find_in_three_ways(
    config: ModelConfig,
    weights: Float[Array, " parameters"],
    batch: Batch,
    which: Int[Array, " chosen"],
    step: float,
) -> ThreeWays:
    """By our chain rule, by PyTorch's autograd, and by moving the weights at the places `which` by a `step`."""
    model = model_with(config, weights)
    _, chain_rule = gradient_of(model, batch)
    _, autograd = gradient_by_autograd(model, batch)
    return ThreeWays(chain_rule, autograd, central_differences(config, weights, which, step, batch))


def compute_check(correction: Prediction, matrix: Checked) -> Computation:
    """For the weights of one matrix."""
    which, _ = places_of(correction, matrix)
    return Computation(find_in_three_ways, {**correction.model_inputs, "which": which, "step": USUAL_STEP})


def check_figures(correction: Prediction, matrix: Checked) -> Iterator[Figure]:
    """The largest differences, and one weight at many sizes of a step."""
    found, (which, shape) = compute_check(correction, matrix).result, places_of(correction, matrix)
    apart = float(np.abs(found.autograd - found.chain_rule).max())
    ours = found.chain_rule[which]
    yield Facts(
        key="how_far_apart",
        name=message("How far the methods differ"),
        heading=sentence_and_answer(correction),
        notice=tuple(notice_check(correction, found.chain_rule)),
        facts=(
            (
                message("finite differences of {matrix} differ by at most", matrix=matrix),
                Magnitude(float(np.abs(found.measured - ours).max())),
            ),
            (message("PyTorch's autograd differs by at most"), Magnitude(apart)),
        ),
    )
    largest = int(np.abs(ours).argmax())
    gradient, by_step = float(ours[largest]), at_many_steps(correction, which[largest])
    row, column = divmod(largest, shape[1])
    errors = [abs(quotient - gradient) for quotient in by_step]
    yield Table(
        key="by_step",
        name=message("One weight, at steps of many sizes"),
        notice=(
            message(
                "The weight of {matrix} in row {row}, column {column}, has the gradient {gradient}.",
                matrix=matrix,
                row=row + 1,
                column=column + 1,
                gradient=Fixed(gradient, 10),
            ),
            *notice_steps(errors),
        ),
        width=640,
        columns=(message("step h"), message("(L(w + h) − L(w − h)) ÷ 2h"), message("difference from the chain rule")),
        cells=tuple(
            (f"1e−{place}", Fixed(quotient, 10), Magnitude(error))
            for place, (quotient, error) in enumerate(zip(by_step, errors, strict=True), 1)
        ),
    )


def at_many_steps(correction: Prediction, place: int) -> list[float]:
    """The quotient of differences for the weight at one place, at each size of a step."""
    config, weights, batch = correction.model_inputs.values()
    which = np.array([place])
    return [float(central_differences(config, weights, which, step, batch)[0]) for step in STEP_SIZES]


def places_of(correction: Prediction, matrix: Checked) -> tuple[Int[np.ndarray, " chosen"], tuple[int, int]]:
    """Where the weights of a matrix stand in the vector of all, and its shape."""
    begin = 0
    for name, weight in named_weights(correction.learner.model):
        if name.endswith(matrix):
            return np.arange(begin, begin + weight.size), weight.shape
        begin += weight.size
    raise KeyError(f"the model has no {matrix}")


def notice_check(correction: Prediction, gradient: Float[np.ndarray, " parameters"]) -> Iterator[Message]:
    """What was compared with what."""
    yield message(
        "Finite differences need two runs of the model for every weight; the chain rule finds all {count} gradients in "
        "one pass back.",
        count=len(gradient),
    )
    yield whose_gradients(correction.learner)


def notice_steps(errors: list[float]) -> Iterator[Message]:
    """Too large a step is wrong because the loss bends, too small a one because of rounding."""
    yield message(
        "With h = 1e−1 the quotient is off by {large}, because the loss bends; with h = 1e−{last} it is "
        "off by {small}, because of rounding.",
        large=Magnitude(errors[0]),
        last=len(STEP_SIZES),
        small=Magnitude(errors[-1]),
    )
