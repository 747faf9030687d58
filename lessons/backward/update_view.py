"""One update by hand: a step against the gradient, and how far the gradient can be trusted."""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import numpy as np
from jaxtyping import Float

from attention_core.tasks import Batch
from attention_core.training import HELD_OUT, TrainingSettings, held_out_batch
from lessons.backward.derivation import word_of
from lessons.backward.finite_differences import losses_at
from lessons.backward.gradients_view import loss_of_one, said_and_wanted, sentence_and_answer
from lessons.backward.one_prediction import Prediction, in_numpy, whose_gradients
from lessons.screen.format import magnitude, percent
from lessons.screen.message import Fixed, Magnitude, Message, Percent, message
from lessons.screen.screen import Curves, Facts, Figure, Line

RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)
POINTS_ALONG = 61
TRIED = np.geomspace(RATES[0], 10 * RATES[-1], 121)  # where the first step that is too long is looked for

Rates = Float[np.ndarray, " rates"]


def update_figures(correction: Prediction, rate: float) -> Iterator[Figure]:
    """The loss before and after, and the loss on the way beside what the gradient promises."""
    before, after = loss_of_one(correction), loss_after(correction, rate)
    yield Facts(
        key="one_update",
        name=message("One update"),
        heading=sentence_and_answer(correction),
        facts=(
            (message("loss before"), Magnitude(before)),
            (message("loss after"), Magnitude(after)),
            (message("the gradient promised"), Magnitude(promised(correction, rate))),
        ),
    )
    rates = np.linspace(0, 2 * rate, POINTS_ALONG).astype(np.float32).astype(float)  # as they are drawn
    slope = squared_length(correction)
    straight = np.linspace(0, min(2 * rate, 0.9 * before / slope), POINTS_ALONG)  # no loss is below 0
    yield Curves(
        key="along_gradient",
        name=message("The loss along the way of one update"),
        x=message("learning rate"),
        y=message("loss"),
        notice=tuple(notice_update(correction, rate)),
        weights=whose_gradients(correction.learner),
        lines=(
            Line(key="loss", name=message("this sentence"), x=rates, y=losses_after(correction, rates)),
            Line(
                key="promise",
                name=message("promised by its gradient"),
                x=straight,
                colour="muted",
                style="dashed",
                y=before - straight * slope,
            ),
            Line(
                key="others",
                name=message("{count} other sentences", count=HELD_OUT),
                x=rates,
                colour="muted",
                y=losses_of_others(correction, rates),
            ),
        ),
        chosen=float(rates[POINTS_ALONG // 2]),
        width=760,
        height=320,
    )


def losses_after(correction: Prediction, rates: Rates, batch: Batch | None = None) -> Rates:
    """The loss after one step of plain gradient descent, at each of several learning rates.

    It is that of the same prediction, or of another batch.
    """
    learner, batch = correction.learner, correction.batch if batch is None else batch
    return losses_at(learner.settings.model, learner.weights - rates[:, None] * correction.vector, batch)


def losses_of_others(correction: Prediction, rates: Rates) -> Rates:
    """What the same steps do to newly drawn sentences."""
    return losses_after(correction, rates, other_sentences(correction.learner.settings))


@lru_cache(maxsize=16)
def other_sentences(settings: TrainingSettings) -> Batch:
    """Those that the model is evaluated on."""
    return in_numpy(held_out_batch(settings))


def loss_after(correction: Prediction, rate: float) -> float:
    """The loss of the same prediction after one step."""
    return float(losses_after(correction, np.array([float(rate)]))[0])


def squared_length(correction: Prediction) -> float:
    """|gradient|²: how much the loss falls for each unit of the learning rate, at first."""
    return float(correction.vector @ correction.vector)


def promised(correction: Prediction, rate: float) -> float:
    """The loss on the straight line that the gradient draws."""
    return loss_of_one(correction) - rate * squared_length(correction)


def first_too_long(correction: Prediction) -> float | None:
    """The smallest of many learning rates at which the step makes the prediction worse than it was."""
    worse = TRIED[losses_after(correction, TRIED) > loss_of_one(correction)]
    return float(worse[0]) if len(worse) else None


def rate_as_written(rate: float) -> Fixed:
    """A learning rate with its digits and no more."""
    return Fixed(rate, max(0, -math.floor(math.log10(rate))))


def notice_update(correction: Prediction, rate: float) -> Iterator[Message]:
    """What the step did, to this sentence and to others, what was promised, and where it overshoots."""
    before, after = loss_of_one(correction), loss_after(correction, rate)
    step = {"rate": rate_as_written(rate), "before": Magnitude(before)}
    if magnitude(before) == magnitude(after):
        yield message("At learning rate {rate} the loss stays at {before}, to two digits.", **step)
    else:
        yield message("At learning rate {rate} the loss goes from {before} to {after}.", after=Magnitude(after), **step)
    yield notice_promise(correction, rate)
    yield notice_probability(correction, after)
    too_long = first_too_long(correction)
    if too_long is None:
        yield message(
            "Of many learning rates tried, up to {rate}, none makes this prediction worse than it was.",
            rate=rate_as_written(float(TRIED[-1])),
        )
    else:
        yield message(
            "A step can be too long: of many learning rates tried, {rate} is the first that makes this "
            "prediction worse than it was.",
            rate=Magnitude(too_long),
        )
    yield notice_others(correction, rate)


def notice_promise(correction: Prediction, rate: float) -> Message:
    """The straight line of the gradient beside the loss."""
    line = promised(correction, rate)
    if line < 0:
        return message(
            "The straight line of the gradient would be below 0 there, where no loss can be: so long a step is "
            "beyond what the gradient knows."
        )
    if nearly_straight(correction, rate):
        return message(
            "The gradient promised the same, {promised}: on so short a way the loss is nearly a straight line.",
            promised=Magnitude(line),
        )
    return message(
        "The gradient promised {promised}: a straight line, loss − rate · |gradient|². The loss itself bends.",
        promised=Magnitude(line),
    )


def nearly_straight(correction: Prediction, rate: float) -> bool:
    """Whether the loss reads as on the straight line all along the way: at its end alone a curve may come back."""
    rates = rate * np.linspace(0.1, 1, 10)
    return all(
        magnitude(loss) == magnitude(promised(correction, on_the_way))
        for loss, on_the_way in zip(losses_after(correction, rates).tolist(), rates.tolist(), strict=True)
    )


def notice_probability(correction: Prediction, after: float) -> Message:
    """What it means for the right word: its probability is e to the minus loss."""
    probabilities, right = said_and_wanted(correction)
    then, about = math.exp(-after), {"right": word_of(right), "before": Percent(probabilities[right])}
    if percent(probabilities[right]) == percent(then):
        return message("The probability of the right word, {right}, reads {before} before and after.", **about)
    return message(
        "The probability of the right word, {right}, goes from {before} to {after}.", after=Percent(then), **about
    )


def notice_others(correction: Prediction, rate: float) -> Message:
    """What the step does to others, beside what it does to this sentence."""
    before, after = losses_of_others(correction, np.array([0.0, rate])).tolist()
    about = {"count": HELD_OUT, "before": Magnitude(before), "after": Magnitude(after)}
    own, others = as_read(loss_of_one(correction), loss_after(correction, rate)), as_read(before, after)
    match own, others:
        case _, "stays":
            return message(
                "On {count} other sentences the mean loss stays at {before}, to two digits.",
                count=HELD_OUT,
                before=Magnitude(before),
            )
        case "falls", "falls":
            return message(
                "{count} other sentences gain as well: their mean loss goes from {before} to {after}.", **about
            )
        case "falls", "rises":
            return message(
                "{count} other sentences pay for it: their mean loss goes from {before} to {after}. So training "
                "takes small steps, and many sentences at once.",
                **about,
            )
        case "rises", "rises":
            return message(
                "{count} other sentences lose as well: their mean loss goes from {before} to {after}. So "
                "training takes small steps, and many sentences at once.",
                **about,
            )
        case "rises", "falls":
            return message(
                "{count} other sentences gain, though this one loses: their mean loss goes from {before} to {after}.",
                **about,
            )
    return message("On {count} other sentences the mean loss goes from {before} to {after}.", **about)


def as_read(before: float, after: float) -> Literal["stays", "falls", "rises"]:
    """How a loss changes, as far as its digits show it."""
    if magnitude(before) == magnitude(after):
        return "stays"
    return "falls" if after < before else "rises"
