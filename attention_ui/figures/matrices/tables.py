"""A figure of matrices as tables of the browser: numbers as they are written, and what each is made of."""

import math
from collections.abc import Callable
from typing import Any

from attention_ui.figures.matrices.grid import POINT_AT, DrawnMatrix, number_in
from attention_ui.figures.matrices.matrices import lit_with, longest, look, sources_in, tooltip
from lessons.screen import Axis, Matrices, Matrix, labels_of, render, translate
from lessons.trace.computation import tell_together

EVERY = -1  # in the place of a row or of a column: all of them
Each = Callable[[int, int], Any]


def tables_of(figure: Matrices) -> dict[str, Any]:
    """Everything that is drawn of a figure."""
    matrices = {matrix.key: matrix for matrix in figure.matrices}
    tell_together(matrix.traced for matrix in figure.matrices if matrix.drawn and matrix.traced is not None)
    places, made_of = {key: place for place, key in enumerate(matrices)}, sources_in(matrices)

    def lights(matrix: Matrix) -> Each:
        def of_cell(i: int, j: int) -> list[list[int]]:
            lit = lit_with(matrices, matrix, made_of, i, j)
            here = [(places[key], *where) for key, *where in lit if key in places]
            return [[EVERY if at is None else at for at in place] for place in here]

        return of_cell

    return {
        "kind": "matrices",
        "name": render(figure.name),
        "hint": render(figure.hint or POINT_AT),
        "masked": translate("masked"),
        "bands": [[None if one is None else places[one.key] for one in band] for band in figure.bands],
        "matrices": [table_of(one, look(one, longest(one, figure)), lights(one)) for one in matrices.values()],
    }


def table_of(matrix: Matrix, drawn: DrawnMatrix, lights: Each) -> dict[str, Any]:
    """One matrix; of one that is not drawn yet the frames alone."""

    def each(make: Each) -> list[list]:
        return [[make(i, j) for j in range(drawn.shape[1])] for i in range(drawn.shape[0])]

    empty = not matrix.drawn
    return {
        "key": matrix.key,
        "title": render(matrix.title),
        "note": "×".join(map(str, drawn.shape)) if matrix.remark is None else render(matrix.remark),
        "role": matrix.colour,
        "scale": "areas" if drawn.kind == "weight" else "bars",
        "rows": axis_of(matrix.rows, "↓"),
        "columns": axis_of(matrix.columns, "→"),
        "text": each(lambda i, j: "" if empty else text_of(matrix, drawn, i, j)),
        "share": each(lambda i, j: None if empty else share_of(matrix, drawn, i, j)),
        "say": each(lambda i, j: "" if empty else tooltip(matrix, i, j)),
        "lights": each(lambda i, j: [] if empty else lights(i, j)),
        "marked": None if empty else drawn.changed,
    }


def axis_of(axis: Axis, arrow: str) -> dict[str, Any]:
    """What rows or columns are, and the name of each: all are read aloud, some are seen."""
    name = f"{render(axis.name)} {arrow}" if axis.named and axis.name is not None else ""
    return {"name": name, "labels": list(labels_of(axis)), "named": axis.named}


def text_of(matrix: Matrix, drawn: DrawnMatrix, i: int, j: int) -> str | None:
    """A number as its cell shows it; None where a mask hides it."""
    return number_in(drawn, drawn.values[i][j]) if matrix.sees(i, j) else None


def share_of(matrix: Matrix, drawn: DrawnMatrix, i: int, j: int) -> float | None:
    """How much of its cell a weight fills, or how much a number of the half to its left or right; None without one."""
    value = float(drawn.values[i][j])
    if not matrix.sees(i, j) or math.isnan(value):
        return None
    if drawn.kind == "gradient":
        value = math.copysign(math.sqrt(abs(value)), value)
    elif drawn.kind == "score":
        value /= drawn.longest
    return round(min(max(value, -1.0), 1.0), 3)
