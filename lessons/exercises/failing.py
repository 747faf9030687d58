"""The case on which an answer fails, as small figures: what is expected, beside it what came out; and what went in."""

import torch
from torch import Tensor

from lessons.exercises.base import AXES, Case, Exercise, Shown, double
from lessons.screen.format import render
from lessons.screen.message import Message, message
from lessons.screen.screen import Axis, Matrices, Matrix

BESIDE_EDITOR = 360  # pixels of the column beside the editor
NEARLY = {"atol": 2e-4, "rtol": 1e-3}


def failing_case(
    exercise: Exercise, case: Case, shown: Shown, ours: Tensor, theirs: Tensor
) -> tuple[Matrices, Matrices]:
    """The output as expected and as it came; and what went in."""
    at = first_apart(ours, theirs)
    expected, got = matrix_of(shown, theirs, at), matrix_of(shown, ours, at)
    apart = ~torch.isclose(got, expected, **NEARLY, equal_nan=True)
    outputs = (
        shown_matrix("expected", message("expected {name}", name=name_of_part(shown, at)), shown, expected),
        shown_matrix("got", message("yours"), shown, got, marked=apart),
    )
    got_beside_expected = Matrices(
        key="failing",
        name=message("What is expected, beside what came out"),
        width=BESIDE_EDITOR,
        notice=(message("{count} of {whole} entries shown differ.", count=int(apart.sum()), whole=apart.numel()),),
        hint=message("What differs is marked. Point at a number to read it."),
        first="expected",
        bands=(outputs,),
    )
    entered = tuple(inputs(exercise, case, at))
    went_in = message("What went in: {names}", names=", ".join(render(matrix.title) for matrix in entered))
    return got_beside_expected, Matrices(
        key="went_in",
        name=went_in,
        notice=(went_in,),
        first=entered[0].key,
        bands=(entered,),
        hint=message("This is what went in. Point at a number to read it."),
    )


def inputs(exercise: Exercise, case: Case, at: tuple[int, ...]) -> list[Matrix]:
    """The tensors that went in; of one with more axes, the part that the output shown is about."""
    pairs = zip(exercise.takes, case.arguments, strict=True)
    tensors = [(shown, double(argument)) for shown, argument in pairs if isinstance(shown, Shown)]
    found = []
    for shown, tensor in tensors:
        axes = tensor.dim() - 2
        here = (*at, *(0,) * axes)[: max(axes, 0)]
        found.append(
            shown_matrix(
                f"in_{shown.name}",
                message("{name}", name=name_of_part(shown, here)),
                shown,
                matrix_of(shown, tensor, here),
            )
        )
    return found


def first_apart(ours: Tensor, theirs: Tensor) -> tuple[int, ...]:
    """Which entry of all axes but the last two differs first."""
    apart = ~torch.isclose(ours, theirs, **NEARLY, equal_nan=True)
    return tuple(apart.nonzero()[0].tolist()[: max(ours.dim() - 2, 0)])


def matrix_of(shown: Shown, x: Tensor, at: tuple[int, ...]) -> Tensor:
    """The last two axes of a tensor; of one with fewer, as a single row."""
    matrix = x[at] if at else x
    return matrix.reshape(1, -1) if matrix.dim() < 2 else matrix


def name_of_part(shown: Shown, at: tuple[int, ...]) -> str:
    """The name of a tensor, and which part of it is shown, counted from 0 as in code."""
    return f"{shown.name}[{', '.join(map(str, at))}]" if at else shown.name


def shown_matrix(key: str, title: Message, shown: Shown, values: Tensor, marked: Tensor | None = None) -> Matrix:
    """A tensor of an exercise as a figure draws it; what is no finite number is drawn as masked."""
    return Matrix(
        key=key,
        title=title,
        values=values.nan_to_num(0.0, 0.0, 0.0),
        visible=values.isfinite(),
        marked=marked,
        rows=numbered_axis(shown.rows, len(values)),
        columns=numbered_axis(shown.columns, values.shape[1]),
        colour=shown.colour,
        scale=shown.scale,
        given=True,
    )


def numbered_axis(name: str, count: int) -> Axis:
    """Rows or columns, counted from 0 as in code."""
    return Axis(AXES[name], tuple(map(str, range(count))), named=True)
