"""What is seen of one kind of task alone: the windows of a text, and the vectors that a model gives back."""

from collections.abc import Callable, Iterator
from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention_core.learning.steps import predict
from attention_core.learning.tasks import Batch, CharacterTask
from attention_core.learning.training import TrainingHistory
from attention_core.measured.observe import model_after_step
from lessons.model.heads.example import shown_features
from lessons.model.heads.tensors_view import shown_of
from lessons.screen import (
    Cells,
    Colour,
    Figure,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    Step,
    Table,
    message,
    names,
    plural,
    visible_text,
)
from lessons.shared.matrices import feature_axis, token_axis
from lessons.trace.story import step_of_given

MOST_WINDOWS = 6
SHORT_WINDOW, NARROW = 24, 620  # so many characters stand twice in a table of so many pixels

Vectors = Float[Tensor, "tokens d_model"]


def figures_of_task(history: TrainingHistory, width: int) -> Iterator[Figure]:
    """What stands below the film of a run: from the first step on, so that nothing moves when one trains."""
    if isinstance(history.settings.task, CharacterTask):
        yield window_table(history.settings.task)
    elif history.settings.model.output == "vectors":
        yield copies_beside_x(history, width)


# A text.


def window_table(task: CharacterTask) -> Table:
    """The first windows of a text: what is read, and the character that comes next at each position."""
    windows = task.windows[:MOST_WINDOWS].tolist()
    characters = [list(map(visible_text, task.vocabulary.decode(window))) for window in windows]
    narrow: dict[str, Any] = {"width": NARROW} if task.window <= SHORT_WINDOW else {}
    cells = [(place, "".join(row[:-1]), "".join(row[1:])) for place, row in enumerate(characters, start=1)]
    return Table(
        key="text_windows",
        name=message("The windows of the text"),
        notice=tuple(notice_windows(task)),
        columns=(message("window"), message("x: read"), message("y: to predict")),
        cells=tuple(cells),
        **narrow,
    )


def notice_windows(task: CharacterTask) -> Iterator[Message]:
    """How many windows there are, what x and y are, and whether all are shown."""
    count = len(task.windows)
    yield plural(
        "The model trains on {count} window of the text.", "The model trains on {count} windows of the text.", count
    )
    yield message("x is what it reads; y, the same one character further on, is what comes next at each position.")
    if count > MOST_WINDOWS:
        yield message("The first {shown} are shown here.", shown=MOST_WINDOWS)


# Vectors that are given back.


def copies_beside_x(history: TrainingHistory, width: int) -> Matrices:
    """The output of the present moment and X, which it is to equal, side by side, or below each other in half a page.

    Of wide vectors the first features.
    """
    output, x, loss = given_back(history)
    tokens, shown = history.settings.task.example.tokens, shown_features(x.shape[-1], 1)
    look = {"rows": token_axis(tokens), "columns": feature_axis(len(shown)), "remark": shown_of(x, len(shown))}
    both: tuple[tuple[str, Message, Vectors, Colour, str], ...] = (
        ("given_back", message("output"), output, "v", "x"),
        ("x", message("X"), x, "ink", "given_back"),
    )
    matrices = tuple(
        Matrix(
            key=key,
            title=title,
            values=own[:, shown],
            colour=colour,
            step=reading(title, own, tokens),
            sources=lambda i, j, other=other: (Cells(other, i, j),),
            **look,
        )
        for key, title, own, colour, other in both
    )
    bands = (matrices,) if width > NARROW else tuple((matrix,) for matrix in matrices)
    return Matrices(
        key="copies",
        name=message("The output and X"),
        bands=bands,
        first="given_back",
        width=width,
        notice=(notice_copies(history.snapshot.step, output - x, loss),),
        hint=message("Point at a number: its partner in the other matrix lights up."),
    )


def given_back(history: TrainingHistory) -> tuple[Vectors, Vectors, float]:
    """What the model of the moment gives back for the four tokens, their vectors, and the loss that is between them."""
    model, example = model_after_step(history.settings, history.snapshot), history.settings.task.example
    trace, loss = predict(model, Batch(example.ids[None], example.targets[None]))
    vectors = model.fixed_table[example.targets]  # pyright: ignore[reportOptionalSubscript]  # it copies these
    return trace.logits[0], vectors, float(loss.loss)


def reading(title: Message, values: Vectors, tokens: tuple[str, ...]) -> Callable[[int, int], Step]:
    """What pointing at a number says. There is nothing to follow: only the model as a whole leads to it."""
    called, numbers = names(tokens), values.tolist()

    def step(i: int, j: int) -> Step:
        says = message("{matrix}: {token}, feature {feature}", matrix=title, token=called[i], feature=j + 1)
        return step_of_given(says, numbers[i][j])

    return step


def notice_copies(updates: int, gaps: Vectors, loss: float) -> Message:
    """How far the output is from X."""
    said = {"loss": Magnitude(loss), "most": Magnitude(float(gaps.abs().max()))}
    return plural(
        "The model learns to reproduce X. After {count} training step its output differs from X by at "
        "most {most}; the mean squared difference is {loss}.",
        "The model learns to reproduce X. After {count} training steps its output differs from X by at "
        "most {most}; the mean squared difference is {loss}.",
        updates,
        **said,
    )
