"""The case on which an answer fails, as small figures: what is expected, beside it what came out; and what went in."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lessons.code.exercises.base import AXES, Case, Exercise, Shown, double
from lessons.screen import Axis, Matrices, Matrix, Message, message, render

BESIDE_EDITOR = 360  # pixels of the column beside the editor
MOST_SHOWN = 8  # rows or columns
NEARLY = {"atol": 2e-4, "rtol": 1e-3}


class Part(NamedTuple):
    """What is shown of a tensor: an entry of all axes but the last two, and of these the rows and columns from here."""

    at: tuple[int, ...]
    rows: slice
    columns: slice


def failing_case(
    exercise: Exercise, case: Case, shown: Shown, ours: Tensor, theirs: Tensor
) -> tuple[Matrices, Matrices]:
    """The output as expected and as it came; and what went in."""
    apart = ~torch.isclose(ours, theirs, **NEARLY, equal_nan=True)
    first = apart.nonzero()[0].tolist()
    part = part_around(ours.shape, first)
    marked = matrix_of(apart, part)
    outputs = (
        shown_matrix(
            "expected",
            message("expected {name}", name=name_of_part(shown, part, theirs)),
            shown,
            matrix_of(theirs, part),
            part,
        ),
        shown_matrix("got", message("yours"), shown, matrix_of(ours, part), part, marked=marked),
    )
    got_beside_expected = Matrices(
        key="failing",
        name=message("What is expected, beside what came out"),
        width=BESIDE_EDITOR,
        notice=(
            message("Entries shown that differ: {count} of {whole}.", count=int(marked.sum()), whole=marked.numel()),
        ),
        hint=message("What differs is marked. Point at a number to read it."),
        first="expected",
        bands=(outputs,),
    )
    entered = tuple(inputs(exercise, case, part.at))
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
        here = [min(place, n - 1) for place, n in zip((*at, *(0,) * tensor.dim()), tensor.shape, strict=False)]
        part = part_around(tensor.shape, (*here[: max(tensor.dim() - 2, 0)], 0, 0)[-max(tensor.dim(), 1) :])
        name = message("{name}", name=name_of_part(shown, part, tensor))
        found.append(shown_matrix(f"in_{shown.name}", name, shown, matrix_of(tensor, part), part))
    return found


def part_around(shape: Sequence[int], place: Sequence[int]) -> Part:
    """The part of a tensor of this shape with the entry at this place, no longer and no wider than can be read."""
    sides = [stretch_around(n, index) for n, index in zip(shape[-2:], place[-2:], strict=True)]
    rows, columns = [slice(0, 1)] * (2 - len(sides)) + sides
    return Part(tuple(place[:-2]), rows, columns)


def stretch_around(n: int, index: int) -> slice:
    """So many of n entries as can be read, that one among them."""
    begin = max(0, min(index - MOST_SHOWN // 2, n - MOST_SHOWN))
    return slice(begin, min(n, begin + MOST_SHOWN))


def matrix_of(x: Tensor, part: Part) -> Tensor:
    """A part of a tensor as a matrix; one with fewer than two axes is a single row."""
    return torch.atleast_2d(x[part.at])[part.rows, part.columns]


def name_of_part(shown: Shown, part: Part, x: Tensor) -> str:
    """The name of a tensor, and which part of it is shown, counted from 0 as in code."""
    spans = (part.rows, part.columns)[-x.dim() :] if x.dim() else ()
    cut = [
        f"{it.start}:{it.stop}" if it.stop - it.start < n else ":" for it, n in zip(spans, x.shape[-2:], strict=True)
    ]
    places = [*map(str, part.at), *(cut if set(cut) != {":"} else ())] if cut else []
    return f"{shown.name}[{', '.join(places)}]" if places else shown.name


def shown_matrix(
    key: str, title: Message, shown: Shown, values: Tensor, part: Part, marked: Tensor | None = None
) -> Matrix:
    """A part of a tensor as a figure draws it; what is no finite number is drawn as masked."""
    return Matrix(
        key=key,
        title=title,
        values=values.nan_to_num(0.0, 0.0, 0.0),
        visible=values.isfinite(),
        marked=marked,
        rows=numbered_axis(shown.rows, part.rows),
        columns=numbered_axis(shown.columns, part.columns),
        colour=shown.colour,
        scale=shown.scale,
        given=True,
    )


def numbered_axis(name: str, shown: slice) -> Axis:
    """Rows or columns, counted from 0 as in code."""
    return Axis(AXES[name], tuple(map(str, range(shown.start, shown.stop))), named=True)
