"""How does it learn from a mistake?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from attention_core.learning.backward import attend_backward, cross_entropy_backward, model_backward, softmax_backward
from attention_core.learning.finite_differences import central_differences, losses_at
from attention_core.learning.steps import gradient_by_autograd, gradient_of
from lessons.example.example import ExampleTrace
from lessons.learning.backward.check_view import CHECKED, check_figures, compute_check
from lessons.learning.backward.gradients_view import STAGES_BACK, StageBack, way_figure
from lessons.learning.backward.one_prediction import PRONOUNS, UPDATES, Prediction, predict_one, settings_of_learner
from lessons.learning.backward.questions import QUESTIONS
from lessons.learning.backward.softmax_view import SIZES_OF_SCORES, compute_row, softmax_and_back, softmax_figures
from lessons.learning.backward.sums_view import compute_value, sums_figures
from lessons.learning.backward.update_view import RATES, compute_steps, update_figures
from lessons.learning.backward.way_back import go_back
from lessons.screen import Code, Figure, Limit, Number, OneOf, Screen, message, numbers
from lessons.shared.formulas import A, K, Q, V
from lessons.shared.questions import question_picker
from lessons.shared.stages import STAGE_NAMES

TOPIC = message("Backpropagation")
POINT = message(
    "The loss says how wrong a guess is; a number's gradient, written d_, says how the loss changes "
    "as the number grows."
)

UPDATES_MADE = OneOf("updates", message("Training steps made"), numbers(UPDATES), 20, look="slider", width=200)
# A mistake, at whose scores a long step overshoots and larger ones saturate the softmax.
SENTENCE = Number("back_sentence", message("Sentence number"), Limit(0, 9999), 3, typed=True, width=130)
VIEW = OneOf(
    "back_view",
    message("Step"),
    {
        "way": message("the way back"),
        "softmax": message("through the softmax"),
        "sums": message("what is summed"),
        "update": message("one training step"),
        "check": message("is it right?"),
    },
)
STAGES_NAMED = STAGE_NAMES | {"loss": message("loss"), "qkv": "Q K V", "maps": "W", "x": "X"}
STAGE = OneOf(
    "back_to",
    message("Step"),
    {stage: STAGES_NAMED[stage] for stage in STAGES_BACK},
    look="steps",
    only=("view", ("way",)),
)
SIZE = OneOf(
    "score_size",
    message("Multiply scores by"),
    numbers(map(float, SIZES_OF_SCORES)),
    1.0,
    look="slider",
    width=200,
    only=("view", ("softmax",)),
)
VALUE = Number(
    "back_value",
    message("Value at position"),
    Limit(1, PRONOUNS.window),
    1,
    counted_from=1,
    width=200,
    only=("view", ("sums",)),
)
RATE = OneOf(
    "back_rate",
    message("Learning rate"),
    numbers(map(float, RATES)),
    0.03,
    look="slider",
    width=200,
    only=("view", ("update",)),
)
MATRIX = OneOf("checked", message("Matrix"), {name: name for name in CHECKED}, "W_v", only=("view", ("check",)))


@dataclass(frozen=True)
class Choices:
    """What the learner chose on this page: how far the model is trained, which sentence it reads, and what is shown.

    `stage` belongs to the way back, `size` to the softmax, `key` to the sums (the position of a value, from 0), `rate`
    to the update and `matrix` to the check.
    """

    updates: UPDATES_MADE.type = UPDATES_MADE.begin
    sentence: SENTENCE.type = SENTENCE.begin
    view: VIEW.type = VIEW.begin
    stage: STAGE.type = STAGE.begin
    size: SIZE.type = SIZE.begin
    key: VALUE.type = 0
    rate: RATE.type = RATE.begin
    matrix: MATRIX.type = MATRIX.begin


def screen(trace: ExampleTrace, head: int, choices: Choices) -> Screen:
    """One view of one mistake. Of the running example this lesson takes the seed, the mask and the scaling."""
    mistake = predict_one(settings_of_learner(trace.example), choices.updates, choices.sentence)
    return Screen(
        formula=formula_of(choices, mistake),
        figures=tuple(FIGURES[choices.view](mistake, choices)),
        code=code_back(mistake, choices),
        ask=question_picker("backward", QUESTIONS, trace.example.seed, mistake),
        derive=lambda tensor, *place: mistake.computation.follow(tensor).derive(*place),
    )


FIGURES: dict[str, Callable[[Prediction, Choices], Iterator[Figure]]] = {
    "way": lambda mistake, choices: iter((way_figure(mistake, choices.stage),)),
    "softmax": lambda mistake, choices: softmax_figures(mistake, choices.size),
    "sums": lambda mistake, choices: sums_figures(mistake, choices.sentence, choices.key),
    "update": lambda mistake, choices: update_figures(mistake, choices.rate),
    "check": lambda mistake, choices: check_figures(mistake, choices.matrix),
}
GRADIENTS = ("d_logits", "d_after", "d_weights", "d_scores", "d_q", "d_k", "d_v", "d_W_q", "d_W_k", "d_W_v", "d_x")


def code_back(mistake: Prediction, choices: Choices) -> Code:
    """The function of a view, and those of the core that it is about."""
    match choices.view:
        case "way":
            return mistake.computation.code(GRADIENTS, attend_backward, softmax_backward, cross_entropy_backward)
        case "softmax":
            computation = compute_row(mistake, choices.size)
            return computation.code(
                ("row.weights", "row.mean", "row.d_sized"), softmax_and_back, go_back, softmax_backward
            )
        case "sums":
            computation = compute_value(mistake, choices.key)
            return computation.code(("way.d_scores", "added", "d_value"), go_back, attend_backward, softmax_backward)
        case "update":
            computation = compute_steps(mistake, np.array([choices.rate], float))
            return computation.code(("before", "promised", "after"), gradient_of, losses_at, model_backward)
        case _:  # "check"
            computation = compute_check(mistake, choices.matrix)
            return computation.code(
                ("chain_rule", "autograd", "measured"), central_differences, losses_at, gradient_by_autograd
            )


SOFTMAX_BACK = rf"{A}_{{ij}}\,\big(d{A}_{{ij}} - \textstyle\sum_m {A}_{{im}}\,d{A}_{{im}}\big)"
STAGE_FORMULAS: dict[StageBack, str] = {
    "loss": r"L = -\ln p_{\text{right}} \qquad d\,\text{logit}_t = p_t - [t = \text{right}]",
    "output": r"dO = d\,\text{logits}\;W_{\text{unembed}}^\top\,W_o^\top",
    "weights": rf"O = {A}{V} \quad\Rightarrow\quad d{A} = dO\,{V}^\top",
    "qkv": rf"d{Q} = dS\,{K} \qquad d{K} = dS^\top {Q} \qquad d{V} = {A}^\top dO",
    "maps": rf"dW_q = X^\top d{Q} \qquad dW_k = X^\top d{K} \qquad dW_v = X^\top d{V}",
    "x": rf"dX = d\,\text{{after}} + d{Q}\,W_q^\top + d{K}\,W_k^\top + d{V}\,W_v^\top",
}


def formula_of(choices: Choices, mistake: Prediction) -> str:
    """The line of the chain rule that the view is about."""
    if choices.view == "way" and choices.stage != "scores":
        return STAGE_FORMULAS[choices.stage]
    divided = "" if mistake.divisor is None else r"\,/\sqrt{" + mistake.divisor.removeprefix("√") + "}"
    return {
        "way": rf"dS_{{ij}} = {SOFTMAX_BACK}{divided}",
        "softmax": rf"dS'_{{ij}} = {SOFTMAX_BACK}",
        "sums": rf"d{V}_j = \sum_i {A}_{{ij}}\,dO_i",
        "update": r"w \leftarrow w - \text{rate}\cdot dw \qquad L \approx L_0 - \text{rate}\cdot\lvert dw\rvert^2",
        "check": r"dw \approx \frac{L(w + h) - L(w - h)}{2h}",
    }[choices.view]
