"""How the right card of a question comes about, line by line, where it is a number in a cell of a screen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attention_core.attention import mix_values
from lessons.dot_product import lesson as dot_product
from lessons.example.example import ExampleTrace
from lessons.kit.matrices import traced_matrix
from lessons.mask import lesson as mask
from lessons.overview import matrices_view as overview
from lessons.scores import lesson as scores
from lessons.screen.format import equation, labelled, render
from lessons.screen.message import Message, message
from lessons.screen.screen import Matrix, Question, Screen, matrices_figures
from lessons.take_home.numbers import is_rounded, with_rounded_weights
from lessons.take_home.sheet import DECIMALS
from lessons.trace.computation import Computation
from lessons.trace.head import head_names

Shows = Callable[[ExampleTrace], Screen]


@dataclass(frozen=True)
class AnswerCell:
    """Where the answer to a question stands: the row and column named in its prompt; without one, the largest.

    Without a `screen`, it is mixed by rounded weights. Of its derivation, the last `lines` begin with what the sheet
    prints.
    """

    screen: Shows | None
    matrix: str
    row: str
    column: str | None
    lines: int = 1


def found_in(screen: Screen, *keys: str) -> tuple[Matrix, ...]:
    """These matrices of a screen, in this order."""
    every = {m.key: m for figure in matrices_figures(screen.figures) for m in figure.matrices}
    return tuple(every[key] for key in keys)


def all_steps(trace: ExampleTrace) -> Screen:
    """All matrices of the head."""
    return overview.screen(trace, 0, overview.Choices())


def dot_products(trace: ExampleTrace) -> Screen:
    """Every row of X with every row."""
    return dot_product.screen(trace, 0, dot_product.Choices("all", 0))


def divided_scores(trace: ExampleTrace) -> Screen:
    """Scores and weights, without the division and with it."""
    return scores.screen(trace, 0, scores.Choices())


def masked_weights(trace: ExampleTrace) -> Screen:
    """Weights without the mask and with it."""
    return mask.screen(trace, 0, mask.Choices(trace.heads.select(0).visible))


def late_weights(trace: ExampleTrace) -> Screen:
    """What is left where the mask comes after the softmax."""
    return mask.screen(trace, 0, mask.Choices(trace.heads.select(0).visible, "late"))


def mixed_by_hand(trace: ExampleTrace, decimals: int) -> tuple[Matrix, Matrix]:
    """The weights as the sheet prints them, and the output that follows from those."""
    rounded = with_rounded_weights(trace, decimals).heads.select(0)
    computation = Computation(mix_values, {"weights": rounded.weights, "v": rounded.v}, head_names(trace))
    weights = traced_matrix(computation, "weights", message("weights"), trace.tokens, visible=rounded.visible)
    mixed = traced_matrix(computation, "", message("output"), trace.tokens, name="output", axes=("queries", "d_v"))
    return weights, mixed


ANSWER_CELLS = {
    "What is the dot product of the rows of {query} and {key} in X?": AnswerCell(
        dot_products, "scores", "query", "key"
    ),
    "The dot product of the query of {one} and the key of {other} is {score}. What is that of the query of {other} and "
    "the key of {one}?": AnswerCell(all_steps, "scores", "other", "one"),
    "The query of {query} and the key of {key} have the score {score}, and d_k is {d_k}. What "
    "is the scaled score?": AnswerCell(divided_scores, "scaled", "query", "key"),
    "With unscaled scores, the largest weight of {query} is {weight}. How large is its largest weight once the "
    "scores are divided by √{d_k}?": AnswerCell(divided_scores, "divided", "query", None, 3),
    "Without the mask, {query} puts the weight {before} on {key}, which stays visible. What is this weight "
    "with the mask?": AnswerCell(masked_weights, "with", "query", "key", 3),
    "Someone takes the softmax over all {n} keys first and only then writes 0 wherever the mask "
    "hides a key. What does the row of {query} sum to?": AnswerCell(late_weights, "sums", "query", None),
    "What weight does {query} put on {key} at temperature {temperature}?": AnswerCell(
        all_steps, "weights", "query", "key", 3
    ),
    "What is feature {feature} of the output of {query}?": AnswerCell(None, "output", "query", "feature"),
}


def lines_of_right(question: Question, trace: ExampleTrace, decimals: int) -> tuple[str, ...]:
    """The derivation of the right card, ending with its number; nothing where it stands in no cell."""
    cell = ANSWER_CELLS.get(question.prompt.template)
    if cell is None:
        return ()
    if cell.screen is None:
        _, matrix = mixed_by_hand(trace, decimals)
    else:
        (matrix,) = found_in(cell.screen(trace), cell.matrix)
    row = place_named(question.prompt, cell.row)
    column = int(matrix.values[row].argmax()) if cell.column is None else place_named(question.prompt, cell.column)
    steps = matrix.derive(row, column)[-cell.lines :]
    lines = [labelled(step.meaning, equation(step)) for step in steps]
    if is_rounded(steps[-1].value, DECIMALS[-1]):
        lines[-1] += f" ≈ {render(question.cards[question.right].text)}"
    return tuple(lines)


def place_named(prompt: Message, name: str) -> int:
    """The position of a token of the prompt; or of a feature, which it counts from 1."""
    argument: Any = prompt.arguments[name]
    return argument - 1 if isinstance(argument, int) else argument.position
