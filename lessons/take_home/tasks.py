"""The tasks of a worksheet: a row of a matrix to fill in, or a question with its cards, from the lessons' screens.

Every task has numbers of its own, so that none gives the answer to another. What is asked follows from what the sheet
prints beside it, and so does its derivation.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Literal

from torch import Generator

from attention_core.randomness import generator
from lessons.dot_product import lesson as dot_product
from lessons.example.example import ExampleTrace
from lessons.kit.questions import below
from lessons.mask import lesson as mask
from lessons.output import lesson as output
from lessons.overview import matrices_view as overview
from lessons.projections import lesson as projections
from lessons.scores import lesson as scores
from lessons.screen.format import equation, labelled, translate
from lessons.screen.message import Fixed, Message, message, plural
from lessons.screen.screen import Code, Matrix, Question, Screen
from lessons.softmax import lesson as softmax
from lessons.take_home.derived import found_in, lines_of_right, mixed_by_hand
from lessons.take_home.numbers import (
    WIDTHS,
    as_on_paper,
    is_rounded,
    on_paper,
    paper_example,
    rounded_number,
    with_rounded_weights,
)
from lessons.take_home.sheet import SheetChoices
from lessons.tokens import lesson as tokens
from lessons.trace.head import VECTORS

QUESTIONS_DRAWN, TRIES_AT_TASKS = 1000, 8
LOOKED_UP = ("exponentials", "e_to_x")  # keys of matrices whose numbers come from a table
PAPER_TOPICS = {
    lesson.__name__.split(".")[1]: lesson.TOPIC
    for lesson in (tokens, dot_product, projections, scores, mask, softmax, output)
}


@dataclass(frozen=True, eq=False)
class Blanks:
    """A row of a matrix to fill in; its other rows are not asked for. Of each derivation the last `lines` are new; they
    begin with the arrays that are `known`, which spares the story of those.

    Without a `row`, all that the matrix shows is to be filled in, and the last row is derived. What its rows sum to may
    be `given`, to compare with, or `asked`. Cells that are not `left` are crossed out, once they are filled in.
    """

    matrix: Matrix
    row: int | None
    lines: int = 1
    known: tuple[str, ...] = ()
    sums: Literal["given", "asked"] | None = None
    left: Sequence[Sequence[bool]] | None = None

    def asks(self, row: int, column: int) -> bool:
        """True for a cell that is to be filled in."""
        return row == self.row or (self.row is None and self.matrix.sees(row, column))

    def is_crossed_out(self, row: int, column: int) -> bool:
        """True for a cell that is filled in first, and then no longer counts."""
        return self.left is not None and not self.left[row][column]


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperTask:
    """What is asked, of which lesson, and what is given; then blanks to fill in, or a question with cards."""

    lesson: str
    asks: Message
    given: tuple[Matrix, ...]
    blanks: tuple[Blanks, ...] = ()
    question: Question | None = None
    derived: tuple[str, ...] = ()  # how the right card comes about
    begins_page: bool = False
    beside: bool = False  # the task before it


@dataclass(frozen=True)
class Answered:
    """The answer in one cell of the key: which cell, what is written there, and how it comes about, line by line."""

    row: int
    column: int
    text: str
    lines: tuple[str, ...]


Make = Callable[[ExampleTrace, Generator, int], PaperTask]


def how_to_round(decimals: int) -> tuple[Message, ...]:
    """What is exact on a sheet, and what is rounded to how many decimals."""
    d_k = WIDTHS["d_k"]
    return (
        message(
            "X and the weight matrices hold whole numbers, and √d_k = √{d_k} = {root}. So you need to round "
            "only after an exponential.",
            d_k=d_k,
            root=Fixed(math.sqrt(d_k), 0),
        ),
        plural(
            "Round it to {count} decimal, and only when you write it down: keep all digits on the way. Halves "
            "are rounded away from 0.",
            "Round it to {count} decimals, and only when you write it down: keep all digits on the way. Halves "
            "are rounded away from 0.",
            decimals,
        ),
        message("Use the given numbers exactly as printed."),
    )


def sheet_tasks(choices: SheetChoices) -> tuple[PaperTask, ...]:
    """The tasks of a sheet, in the order of the lessons, and from the beginning again."""
    drawn: list[PaperTask] = []
    for place in range(choices.tasks):
        drawn.append(paper_task(choices, place, drawn))
    return in_order_of_lessons(choices, drawn)


def in_order_of_lessons(choices: SheetChoices, drawn: list[PaperTask]) -> tuple[PaperTask, ...]:
    """The tasks of each lesson together."""
    return tuple(sorted(drawn, key=lambda task: choices.lessons.index(task.lesson)))


def paper_task(choices: SheetChoices, place: int, before: Sequence[PaperTask]) -> PaperTask:
    """One task. The first of each lesson is a row to fill in, the next a question, and so on.

    It asks what no task `before` it asks; of a lesson that has no more to ask, what comes least often.
    """
    lesson, visit = choices.lessons[place % len(choices.lessons)], place // len(choices.lessons)
    random = generator(choices.seed, f"task {place} of a worksheet")
    make = FILL_IN[lesson] if lesson in FILL_IN and visit % 2 == 0 else partial(question_on_paper, lesson)
    asked = Counter(key for task in before for key in what_is_asked(task))
    tries: list[tuple[list[int], PaperTask]] = []
    while len(tries) < TRIES_AT_TASKS:
        task = make(paper_example(choices, random), random, choices.decimals)
        tries.append(([asked[key] for key in what_is_asked(task)], task))
        if not any(tries[-1][0]):
            return task
    return min(tries, key=itemgetter(0))[1]


def what_is_asked(task: PaperTask) -> tuple[str, ...]:
    """By what two tasks are the same: two questions by their kind, and then, as two rows, by what they name."""
    asks = task.asks
    kind = (asks.template,) if task.question else ()
    return (*kind, f"{asks.template} {dict(asks.arguments)}")


def question_on_paper(lesson: str, trace: ExampleTrace, random: Generator, decimals: int) -> PaperTask:
    """A question of a lesson with its cards, and what its answer follows from."""
    given, screen = asked_on_screen(lesson, trace, decimals)
    question = written_on_paper(screen.ask(below(QUESTIONS_DRAWN, random)))  # pyright: ignore[reportOptionalCall]  # all of these ask
    derived = lines_of_right(question, trace, decimals)
    return PaperTask(lesson=lesson, asks=question.prompt, given=given, question=question, derived=derived)


def written_on_paper(question: Question) -> Question:
    """The question with numbers as the sheet writes them; on cards, if all are exact: else all have their decimals."""
    cards = [replace(card, reply=as_on_paper(card.reply)) for card in question.cards]
    numbers = [it for card in cards for it in card.text.arguments.values() if isinstance(it, Fixed)]
    if not any(is_rounded(it.value, it.decimals) for it in numbers):
        cards = [replace(card, text=as_on_paper(card.text)) for card in cards]
    return replace(question, prompt=as_on_paper(question.prompt), cards=tuple(cards))


def asked_on_screen(lesson: str, trace: ExampleTrace, decimals: int) -> tuple[tuple[Matrix, ...], Screen]:
    """The screen whose questions a sheet asks, and the matrices that one needs to answer them."""
    steps, last = overview.screen(trace, 0, overview.Choices()), len(trace.tokens) - 1
    if lesson == "tokens":
        return found_in(steps, "x"), tokens.screen(trace, 0, tokens.Choices())
    if lesson == "dot_product":
        return found_in(steps, "x"), dot_product.screen(trace, 0, dot_product.Choices("all", last))
    if lesson == "projections":
        return found_in(steps, "x", "q", "k", "v"), projections.screen(trace, 0, projections.Choices())
    if lesson == "scores":
        screen = scores.screen(trace, 0, scores.Choices())
        return found_in(screen, "scores"), screen
    if lesson == "mask":
        return found_in(steps, "scaled"), mask.screen(trace, 0, mask.Choices(trace.heads.select(0).visible))
    if lesson == "softmax":
        return found_in(steps, "masked"), softmax.screen(trace, 0, softmax.Choices(last))
    screen = output.screen(with_rounded_weights(trace, decimals), 0, output.Choices("all", last))
    return found_in(screen, "weights") + found_in(steps, "v"), screen


# A row to fill in.


def fill_in_dot_products(trace: ExampleTrace, random: Generator, decimals: int) -> PaperTask:
    """A task to fill in a row of X Xᵀ."""
    i = below(len(trace.tokens), random)
    x, compared = found_in(dot_product.screen(trace, 0, dot_product.Choices("all", i)), "x", "scores")
    asks = message(
        "Take the dot product of the row of {query} in X with every row, its own included.", query=trace.names[i]
    )
    return PaperTask(lesson="dot_product", asks=asks, given=(x,), blanks=(Blanks(compared, i),))


def fill_in_projection(trace: ExampleTrace, random: Generator, decimals: int) -> PaperTask:
    """A task to fill in a query, a key or a value."""
    i, role = below(len(trace.tokens), random), "qkv"[below(3, random)]
    screen = projections.screen(trace, 0, projections.Choices(role))
    asks = message(
        "Multiply the row of {token} in X by {matrix} to get its {vector}.",
        token=trace.names[i],
        matrix=f"W_{role}",
        vector=VECTORS[role],
    )
    x, weights, product = found_in(screen, "x", f"W_{role}", role)
    return PaperTask(lesson="projections", asks=asks, given=(x, weights), blanks=(Blanks(product, i),))


def fill_in_scores(trace: ExampleTrace, random: Generator, decimals: int) -> PaperTask:
    """The scaled scores of one query: it stands in a row, they below each other, as on the screen."""
    i = last_or_before(trace, random)
    steps = overview.screen(trace, 0, overview.Choices())
    q, k, scaled = found_in(steps, "q", "k", "scaled")
    d_k = trace.example.d_k
    asks = message(
        "Compare the query of {query} with every key: take the dot product and divide it by √{d_k} = "
        "{root}. There is no mask yet.",
        query=trace.names[i],
        d_k=d_k,
        root=Fixed(math.sqrt(d_k), 0),
    )
    return PaperTask(lesson="scores", asks=asks, given=(q, k), blanks=(Blanks(scaled, i, 2, ("q", "k")),))


def fill_in_masked(trace: ExampleTrace, random: Generator, decimals: int) -> PaperTask:
    """What the causal mask leaves of a row, and the weights that follow."""
    middle = range(1, len(trace.tokens) - 1)
    i = middle[below(len(middle), random)] if middle else 0
    scaled, masked, weights = found_in(overview.screen(trace, 0, overview.Choices()), "scaled", "masked", "weights")
    asks = message(
        "No token may look at a later one. In the row of {query}, write “masked” where the mask hides "
        "the score, copy the other scores, and turn them into weights.",
        query=trace.names[i],
    )
    return PaperTask(
        lesson="mask",
        asks=asks,
        given=(scaled,),
        blanks=(Blanks(masked, i), Blanks(weights, i, 3, ("scaled", "masked"))),
    )


def fill_in_softmax(trace: ExampleTrace, random: Generator, decimals: int) -> PaperTask:
    """A task to fill in the softmax of one row, step by step."""
    i = last_or_before(trace, random)
    row, *steps = found_in(softmax.screen(trace, 0, softmax.Choices(i)), "scores", "shifted", "powers", "weights")
    given = replace(row, title=message("scaled scores"))
    asks = message(
        "Turn the scaled scores of {query} into weights: subtract the largest, take the exponential, divide by "
        "the sum.",
        query=trace.names[i],
    )
    blanks = tuple(Blanks(matrix, 0, 2 if matrix.key == "weights" else 1, ("powers",)) for matrix in steps)
    return PaperTask(lesson="softmax", asks=asks, given=(given,), blanks=blanks)


def fill_in_output(trace: ExampleTrace, random: Generator, decimals: int) -> PaperTask:
    """The values, mixed by weights that are rounded."""
    i = last_or_before(trace, random)
    weights, mixed = mixed_by_hand(trace, decimals)
    (v,) = found_in(overview.screen(trace, 0, overview.Choices()), "v")
    asks = message("Mix the values by the rounded weights of {query} to get its output.", query=trace.names[i])
    return PaperTask(lesson="output", asks=asks, given=(weights, v), blanks=(Blanks(mixed, i),))


def last_or_before(trace: ExampleTrace, random: Generator) -> int:
    """One of the last queries, which may look at several keys."""
    n = len(trace.tokens)
    return n - 1 - below(min(2, n - 1), random)


FILL_IN: dict[str, Make] = {
    "dot_product": fill_in_dot_products,
    "projections": fill_in_projection,
    "scores": fill_in_scores,
    "mask": fill_in_masked,
    "softmax": fill_in_softmax,
    "output": fill_in_output,
}

MAKES_SHEETS = Code((sheet_tasks, paper_task, paper_example, with_rounded_weights, rounded_number))

# The key.


def written_cell(matrix: Matrix, row: int, column: int, decimals: int) -> str:
    """What stands in a cell on paper: a number, or that it is masked. A weight has all its decimals, if it is given."""
    if not matrix.sees(row, column):
        return translate("masked") if matrix.scale != "weight" else "0"
    return on_paper(float(matrix.values[row][column]), decimals_in(matrix, decimals), fixed=matrix.scale == "weight")


def decimals_in(matrix: Matrix, decimals: int) -> int:
    """How many decimals a matrix has on a sheet: what is looked up has one more than the rest."""
    return decimals + (matrix.key in LOOKED_UP)


def answers_of(blanks: Blanks, decimals: int) -> tuple[Answered, ...]:
    """The answer in each cell that is asked for; where its row is derived, from what is given."""
    matrix, columns = blanks.matrix, range(len(blanks.matrix.columns.labels))
    rows = range(len(matrix.rows.labels)) if blanks.row is None else (blanks.row,)
    return tuple(
        Answered(
            row, column, written_cell(matrix, row, column, decimals), lines_of_answer(blanks, row, column, decimals)
        )
        for row in rows
        for column in columns
        if blanks.asks(row, column)
    )


def lines_of_answer(blanks: Blanks, row: int, column: int, decimals: int) -> tuple[str, ...]:
    """How a number that is asked for comes about; nothing in the rows that are not derived."""
    matrix = blanks.matrix
    if blanks.row is None and row < len(matrix.rows.labels) - 1:
        return ()
    if blanks.lines == 1 and matrix.step:
        steps = [matrix.step(row, column)]
    else:
        steps = replace(matrix.traced, known=blanks.known).derive(row, column)[-blanks.lines :]
    lines = [labelled(step.meaning, equation(step)) for step in steps]
    decimals = decimals_in(matrix, decimals)
    if matrix.sees(row, column) and is_rounded(steps[-1].value, decimals):
        lines[-1] += f" ≈ {on_paper(steps[-1].value, decimals)}"
    return tuple(lines)


def sum_on_paper(blanks: Blanks, row: int, decimals: int) -> float:
    """What the numbers of a row, as they are written, sum to: those that count."""
    columns, decimals = range(len(blanks.matrix.columns.labels)), decimals_in(blanks.matrix, decimals)
    numbers = blanks.matrix.values[row]
    counted = [
        float(numbers[column])
        for column in columns
        if blanks.matrix.sees(row, column) and not blanks.is_crossed_out(row, column)
    ]
    return round(sum(rounded_number(value, decimals) for value in counted), decimals)


def what_they_sum_to(blanks: Blanks, decimals: int) -> Message | None:
    """Where a row of rounded weights does not sum to 1: what it sums to."""
    if blanks.matrix.scale != "weight" or blanks.row is None:
        return None
    total = sum_on_paper(blanks, blanks.row, decimals)
    if total == 1:
        return None
    return message("Rounded, these weights sum to {total}; before rounding, to 1.", total=Fixed(total, decimals))
