"""How the gradients of each view were computed: what its program does."""

import numpy as np

from attention_core.attention import attend, softmax_rows
from attention_core.backward import (
    attend_backward,
    cross_entropy_backward,
    loss_backward,
    softmax_backward,
)
from attention_core.losses import cross_entropy
from attention_core.tasks import Batch
from attention_core.training import gradient_by_autograd, predict
from attention_core.weights import model_with
from lessons.backward.check_view import USUAL_STEP, Checked, checked
from lessons.backward.finite_differences import central_differences
from lessons.backward.one_prediction import Prediction
from lessons.backward.softmax_view import row_backward
from lessons.backward.sums_view import asked_everywhere
from lessons.backward.update_view import loss_after
from lessons.screen.program import ATTENDS, Ran, inputs_of_attention


def ran_way(mistake: Prediction) -> Ran:
    """From the loss back to W_q."""
    number = {name: np.array(numbers) for name, numbers in mistake.numbers.items()}
    values = {
        "logits": number["logits"][None],
        "targets": mistake.batch.targets,
        **inputs_of_attention(mistake.attention, scale_of_learner(mistake)),
        "d_output": number["d_output"],
        "x": number["x"],
    }
    lines = (
        "d_logits = cross_entropy_backward(cross_entropy(logits, targets))[0]",
        ATTENDS,
        "back = attend_backward(trace, d_output, scale)",
        "d_W_q = x.T @ back.d_q",
    )
    names = ("d_weights", "d_scores", "d_q", "d_k", "d_v")
    shows = {"d_logits": number["d_logits"], **{f"back.{name}": number[name] for name in names}}
    uses = (cross_entropy, cross_entropy_backward, attend, attend_backward)
    return Ran(values, lines, shows | {"d_W_q": number["d_W_q"]}, uses)


def ran_softmax(mistake: Prediction, size: float) -> Ran:
    """One row of scores times `size`, and the gradient of each."""
    row = row_backward(mistake, size)
    lines = (
        "weights = softmax_rows(size * scaled[None])",
        "d_sized = softmax_backward(weights, d_weights[None])",
    )
    return Ran(
        {"scaled": row.scaled, "d_weights": row.d_weights, "size": size},
        lines,
        {"weights": row.weights, "d_sized": row.d_sized},
        (softmax_rows, softmax_backward),
    )


def ran_sums(mistake: Prediction) -> Ran:
    """The same sentence with every position asked."""
    everywhere = asked_everywhere(mistake)
    inputs = inputs_of_attention(everywhere.attention, scale_of_learner(everywhere))
    values = {**inputs, "d_output": np.array(everywhere.numbers["d_output"])}
    shows = {f"back.{name}": np.array(everywhere.numbers[name]) for name in ("d_scores", "d_v")}
    return Ran(values, (ATTENDS, "back = attend_backward(trace, d_output, scale)"), shows, (attend, attend_backward))


def ran_update(mistake: Prediction, rate: float) -> Ran:
    """One step against the gradient, and the loss there."""
    lines = (
        "model = model_with(config, weights)",
        "trace, loss = predict(model, batch)",
        "gradient = model_backward(model, trace, loss_backward(loss)).vector()",
        "after = losses_at(config, (weights - rate * gradient)[None], batch)[0]",
    )
    shows = {"loss.loss": mistake.loss.loss, "after": loss_after(mistake, rate)}
    return Ran({**before_the_step(mistake), "rate": rate}, lines, shows, (model_with, predict, loss_backward, Batch))


def ran_check(mistake: Prediction, matrix: Checked) -> Ran:
    """The gradients of one matrix by three ways."""
    check = checked(mistake, matrix)
    lines = (
        "measured = central_differences(config, weights, where, step, batch)",
        "_, theirs = gradient_by_autograd(model_with(config, weights), batch)",
        "by_autograd = theirs[where]",
    )
    shows = {"measured": check.differences, "by_autograd": check.ours}
    values = {**before_the_step(mistake), "where": check.where, "step": USUAL_STEP}
    return Ran(values, lines, shows, (central_differences, gradient_by_autograd, model_with, Batch))


def before_the_step(mistake: Prediction) -> dict[str, object]:
    """The model before its step, and what it is asked."""
    return {"config": mistake.learner.settings.model, "weights": mistake.learner.weights, "batch": mistake.batch}


def scale_of_learner(mistake: Prediction) -> float:
    """What the scores were multiplied by."""
    config = mistake.learner.settings.model
    return config.query_features**-0.5 if config.scaling else 1.0
