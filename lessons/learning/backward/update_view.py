"""One update by hand: a step against the gradient, and how far the gradient can be trusted."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from attention_core.base.arrays import Array
from attention_core.learning.finite_differences import losses_at
from attention_core.learning.steps import gradient_of
from attention_core.learning.tasks import Batch
from attention_core.learning.training import HELD_OUT, TrainingSettings, held_out_batch
from attention_core.model.small_model import ModelConfig, model_with
from lessons.learning.backward.gradients_view import sentence_and_answer
from lessons.learning.backward.one_prediction import Prediction, whose_gradients, word_of
from lessons.screen import Curves, Facts, Figure, Fixed, Line, Magnitude, Message, Percent, magnitude, message, percent
from lessons.trace.computation import Computation

RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)
POINTS_ALONG = 61
TRIED = np.geomspace(RATES[0], 10 * RATES[-1], 121)  # where the first step that is too long is looked for

Rates = Float[np.ndarray, " rates"]


@dataclass(frozen=True, eq=False)
class Steps:
    """One step of plain gradient descent at each of several learning rates, all from the same weights."""

    before: Float[Array, ""]  # the loss
    gradient: Float[Array, " parameters"]
    weights: Float[Array, "rates parameters"]
    promised: Float[Array, " rates"]  # on the straight line that the gradient draws
    after: Float[Array, " rates"]


def take_steps(
    config: ModelConfig, weights: Float[Array, " parameters"], batch: Batch, rates: Float[Array, " rates"]
) -> Steps:
    """Steps against the gradient of the loss, what it promised of them, and the loss there."""
    before, gradient = gradient_of(model_with(config, weights), batch)
    moved = weights - rates[:, None] * gradient
    promised = before - rates * (gradient @ gradient)
    return Steps(before, gradient, moved, promised, losses_at(config, moved, batch))


def compute_steps(correction: Prediction, rates: Rates) -> Computation:
    """Steps of these lengths from a prediction."""
    return Computation(take_steps, {**correction.model_inputs, "rates": rates})


def steps_at(correction: Prediction, *rates: float) -> Steps:
    """The results of one update at each of these learning rates."""
    return compute_steps(correction, np.array(rates, float)).result


def update_figures(correction: Prediction, rate: float) -> Iterator[Figure]:
    """The loss before and after, and the loss on the way beside what the gradient promises."""
    step = steps_at(correction, rate)
    before, slope = float(step.before), float(step.gradient @ step.gradient)
    yield Facts(
        key="one_update",
        name=message("One training step"),
        heading=sentence_and_answer(correction),
        facts=(
            (message("loss before"), Magnitude(before)),
            (message("loss after"), Magnitude(float(step.after[0]))),
            (message("promised by the gradient"), Magnitude(float(step.promised[0]))),
        ),
    )
    rates = np.linspace(0, 2 * rate, POINTS_ALONG).astype(np.float32).astype(float)  # as they are drawn
    straight = np.linspace(0, min(2 * rate, 0.9 * before / slope), POINTS_ALONG)  # no loss is below 0
    along, promised = steps_at(correction, *rates), steps_at(correction, *straight).promised
    others = message("{count} other sentences", count=HELD_OUT)
    yield Curves(
        key="along_gradient",
        name=message("The loss along one training step"),
        x=message("learning rate"),
        y=message("loss"),
        notice=tuple(notice_update(correction, rate)),
        weights=whose_gradients(correction.learner),
        lines=(
            Line(key="loss", name=message("this sentence"), x=rates, y=along.after),
            Line(
                key="promise",
                name=message("promised by its gradient"),
                x=straight,
                colour="muted",
                style="dashed",
                y=promised,
            ),
            Line(key="others", name=others, x=rates, colour="muted", y=losses_of_others(correction, along)),
        ),
        chosen=float(rates[POINTS_ALONG // 2]),
        width=760,
        height=320,
    )


def losses_of_others(correction: Prediction, steps: Steps) -> Rates:
    """What the same steps do to newly drawn sentences."""
    settings = correction.learner.settings
    return losses_at(settings.model, steps.weights, other_sentences(settings))


@lru_cache(maxsize=16)
def other_sentences(settings: TrainingSettings) -> Batch:
    """The sentences that the model is evaluated on."""
    return held_out_batch(settings).in_numpy()


def first_too_long(correction: Prediction) -> float | None:
    """The smallest of many learning rates at which the step makes the prediction worse than it was."""
    steps = steps_at(correction, *TRIED)
    worse = TRIED[steps.after > steps.before]
    return float(worse[0]) if len(worse) else None


def rate_as_written(rate: float) -> Fixed:
    """A learning rate with its digits and no more."""
    return Fixed(rate, max(0, -math.floor(math.log10(rate))))


def notice_update(correction: Prediction, rate: float) -> Iterator[Message]:
    """What the step did, to this sentence and to others, what was promised, and where it overshoots."""
    made = steps_at(correction, rate)
    before, after = float(made.before), float(made.after[0])
    yield message(
        "At learning rate {rate} the loss is {before} before the step and {after} after it.",
        rate=rate_as_written(rate),
        before=Magnitude(before),
        after=Magnitude(after),
    )
    line = float(made.promised[0])
    if line >= 0:
        yield message(
            "The gradient promised {promised}: a straight line, loss − rate · |gradient|². The loss itself bends.",
            promised=Magnitude(line),
        )
    now, then = float(correction.probabilities[correction.right]), math.exp(-after)
    if percent(now) != percent(then):
        yield message(
            "The probability of the right word, {right}, goes from {before} to {after}.",
            right=word_of(correction.right),
            before=Percent(now),
            after=Percent(then),
        )
    too_long = first_too_long(correction)
    if too_long is not None:
        yield message(
            "Of many learning rates tried, {rate} is the first that makes this prediction worse.",
            rate=Magnitude(too_long),
        )
    yield from notice_others(correction, rate)


def notice_others(correction: Prediction, rate: float) -> Iterator[Message]:
    """What the step does to other sentences."""
    before, after = losses_of_others(correction, steps_at(correction, 0.0, rate)).tolist()
    yield message(
        "On {count} other sentences the mean loss is {before} before the step and {after} after it.",
        count=HELD_OUT,
        before=Magnitude(before),
        after=Magnitude(after),
    )
    if after > before and magnitude(after) != magnitude(before):
        yield message("These get worse, which is why training takes small steps and uses many sentences at once.")
