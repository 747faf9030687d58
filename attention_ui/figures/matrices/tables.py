"""A figure of matrices as tables of the browser: numbers as they are written, and what each is made of."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from attention_ui.figures.matrices.numbers import cell_text, short_text, tiny_text
from attention_ui.figures.roles import SCORE_DOMAIN
from lessons.screen import (
    Axis,
    Cells,
    ListOf,
    Matrices,
    Matrix,
    Step,
    distinguishable,
    equation,
    format_value,
    labelled,
    labels_of,
    localised,
    message,
    render,
    translate,
)
from lessons.trace.computation import tell_together
from lessons.trace.lines import digits
from lessons.trace.story import Lit, places_of, sources_among

POINT_AT = message("Point at a number to see where it comes from.")
POINT_AT_CELL = message("Point at a cell to see its number and where it comes from.")
EVERY = -1  # in the place of a row or of a column: all of them
LETTERS = 4  # that every cell has room for; what is longer is also written shortly
LIKE_INFINITY = 1e6  # what is larger is meant to be drowned by no other score
BEYOND = 2  # the length of a bar that is too long for its cell, where 1 is as long as it can be
LONGEST = 150  # letters of the arithmetic that is said of a number
HUNDREDTHS = 2  # decimals by which a hand changes a number below 10
DIGITS = 4  # decimals from which it starts
Each = Callable[[int, int], Any]
MadeOf = Callable[[str], list[tuple[Lit, ...]]]


def tables_of(figure: Matrices, *, told: bool = True) -> dict[str, Any]:
    """Everything that is drawn of a figure; where it need not be `told`, nothing of where a number comes from."""
    if not told:
        return figure_of(
            [table_of(one, longest(one, figure), no_lights, say_nothing) for one in figure.matrices], figure
        )
    matrices = {matrix.key: matrix for matrix in figure.matrices}
    tell_together(matrix.traced for matrix in figure.matrices if matrix.drawn and matrix.traced is not None)
    places, made_of = {key: place for place, key in enumerate(matrices)}, sources_in(matrices)

    @cache
    def coded(lit: Lit) -> list[int]:
        return [places[lit[0]], *(EVERY if at is None else at for at in lit[1:])]

    def lights(matrix: Matrix) -> Each:
        return lambda i, j: [coded(lit) for lit in lit_with(matrices, matrix, made_of, i, j) if lit[0] in places]

    return figure_of([table_of(one, longest(one, figure), lights(one)) for one in matrices.values()], figure)


def no_lights(i: int, j: int) -> list:
    """Nothing lights up with a cell."""
    return []


def say_nothing(matrix: Matrix, i: int, j: int) -> str:
    """Nothing is said of a cell."""
    return ""


def figure_of(tables: list[dict[str, Any]], figure: Matrices) -> dict[str, Any]:
    """The tables of a figure, and what is said around them."""
    places = {table["key"]: place for place, table in enumerate(tables)}
    return {
        "name": render(figure.name),
        "about": render(figure.weights) if figure.weights is not None else "",
        "hint": render(figure.hint or (POINT_AT if figure.numbered else POINT_AT_CELL)),
        "hint_by_hand": hint_by_hand(figure),
        "masked": translate("masked"),
        "numbered": figure.numbered,
        "covered": False,
        "letters": [letters_in(tables, "text"), letters_in(tables, "short")],
        "bands": [[None if one is None else places[one.key] for one in band] for band in figure.bands],
        "matrices": tables,
    }


def hint_by_hand(figure: Matrices) -> str:
    """What one can do where a hand can change numbers of a figure; nothing where there are none to change."""
    titles = tuple(matrix.title for matrix in figure.matrices if matrix.entries is not None)
    if not titles:
        return ""
    return translate(
        "Point at a number to see where it comes from. Numbers of {matrices} can be dragged left and right, or typed "
        "anew: all that follows from them is computed at once.",
        matrices=ListOf(titles),
    )


def covered_tables(tables: dict[str, Any], given: Collection[str] = ()) -> dict[str, Any]:
    """The tables of a figure without any number, but for the matrices that are given. What is masked stays masked."""

    def cover(table: dict[str, Any]) -> dict[str, Any]:
        if table["key"] in given:
            return table
        empty = [[text and "" for text in line] for line in table["text"]]
        nothing = {name: [[made] * len(line) for line in empty] for name, made in (("say", ""), ("lights", []))}
        unseen = {"share": [[None] * len(line) for line in empty], "short": None, "marked": None, "began": None}
        return table | nothing | unseen | {"text": empty}

    return tables | {"covered": True, "matrices": list(map(cover, tables["matrices"]))}


def table_of(
    matrix: Matrix, most: float, lights: Each, say: Callable[[Matrix, int, int], str] | None = None
) -> dict[str, Any]:
    """One matrix, whose longest bar is a number of `most`; of one that is not drawn yet the frames alone.

    Each cell says what `say` makes of it, or else the last line of its derivation.
    """
    n_rows, n_columns = matrix.values.shape

    def each(make: Each) -> list[list]:
        return [[make(i, j) for j in range(n_columns)] for i in range(n_rows)]

    values, drawn = matrix.values.tolist(), matrix.drawn
    text = each(lambda i, j: number_in(matrix, values[i][j]) if matrix.sees(i, j) else None)
    long = any(said is not None and len(said) > LETTERS for line in text for said in line)
    return {
        "key": matrix.key,
        "title": render(matrix.title),
        "note": f"{n_rows}×{n_columns}" if matrix.remark is None else render(matrix.remark),
        "role": matrix.colour if drawn else "muted",
        "scale": "areas" if matrix.scale == "weight" else "bars",
        "rows": axis_of(matrix.rows, "↓"),
        "columns": axis_of(matrix.columns, "→"),
        "text": text if drawn else each(lambda i, j: ""),
        "short": each(lambda i, j: short_in(matrix, values[i][j], text[i][j])) if drawn and long else None,
        "share": each(lambda i, j: share_of(matrix, values[i][j], most) if drawn and matrix.sees(i, j) else None),
        "say": each(lambda i, j: (say or said_of)(matrix, i, j) if drawn else ""),
        "lights": each(lambda i, j: lights(i, j) if drawn else []),
        "marked": marked_in(matrix, values) if drawn else None,
        "began": None if matrix.began is None else matrix.began.tolist(),
        "hand": by_hand(matrix, values) if drawn else None,
        "from": None if matrix.came_from is None else [int(row) for row in matrix.came_from],
    }


def axis_of(axis: Axis, arrow: str) -> dict[str, Any]:
    """What rows or columns are, and the name of each: all are read aloud, some are seen."""
    name = f"{render(axis.name)} {arrow}" if axis.named and axis.name is not None else ""
    return {"name": name, "labels": list(labels_of(axis)), "named": axis.named, "whole": axis.whole}


def number_in(matrix: Matrix, value: float) -> str:
    """A number as its cell shows it: in multiples of the unit, of which 0 alone reads 0."""
    if matrix.unit and not value:
        return "0"
    told = value / (matrix.unit or 1.0)
    return tiny_text(told) if matrix.scale == "gradient" else cell_text(told)


def short_in(matrix: Matrix, value: float, text: str | None) -> str | None:
    """A number in as many letters as every cell has room for: with one decimal, as are all others of its matrix.

    A power of ten has no shorter form.
    """
    if text in (None, "0") or "e" in text:
        return text
    return short_text(value / (matrix.unit or 1.0))


def letters_in(tables: Iterable[dict[str, Any]], name: str) -> int:
    """How long the longest number is."""
    texts = (text for table in tables for line in table[name] or table["text"] for text in line)
    return max((len(text or "") for text in texts), default=LETTERS)


def share_of(matrix: Matrix, value: float, most: float) -> float | None:
    """How much of its cell a weight fills, or how much a number of the half to its left or right; None without one.

    A change of a weight ends at 1, a gradient is as long as its root, so that small ones show, too.
    """
    if math.isnan(value):
        return None
    if matrix.scale == "gradient":
        value = math.copysign(math.sqrt(abs(value)), value)
    elif is_on_common_scale(matrix):
        value /= most
    return round(min(max(value, -BEYOND), BEYOND), 3)


def marked_in(matrix: Matrix, values: list[list[float]]) -> list[list[bool]] | None:
    """Which cells carry a mark: those that say so, or those that differ from what they were."""
    if matrix.marked is not None:
        return matrix.marked.tolist()
    if matrix.was is None:
        return None
    return [[a != b for a, b in zip(*rows, strict=True)] for rows in zip(values, matrix.was.tolist(), strict=True)]


def by_hand(matrix: Matrix, values: list[list[float]]) -> dict[str, Any] | None:
    """The numbers that a hand can change, and the last decimal that it changes."""
    if matrix.entries is None:
        return None
    most = max((abs(value) for line in values for value in line), default=0.0)
    decimals = HUNDREDTHS - max(0, math.floor(math.log10(most))) if most else HUNDREDTHS
    return {"decimals": max(0, decimals), "numbers": [[round(value, DIGITS) for value in line] for line in values]}


def longest(matrix: Matrix, figure: Matrices) -> float:
    """The number whose bar fills half a cell: the same in all matrices of a figure that hold the same kind of numbers.

    So scores can be compared before and after they are divided, K and Kᵀ look alike, and nothing is beyond it but what
    stands for −∞, such as −1e9.
    """
    alike = (one.values for one in figure.matrices if are_alike(one, matrix) and is_on_common_scale(one))
    sizes = (np.abs(np.asarray(values.tolist())) for values in alike)
    most = max((size[size < LIKE_INFINITY].max(initial=0.0) for size in sizes), default=0.0)
    return max(most, SCORE_DOMAIN[1])


def are_alike(one: Matrix, other: Matrix) -> bool:
    """True for matrices with the same axes, in whatever order, and for a row beside rows with the same columns."""
    ends, others = ((matrix.rows.labels, matrix.columns.labels) for matrix in (one, other))
    single = 1 in (len(ends[0]), len(others[0]))
    return ends == others or ends == others[::-1] or (single and ends[1] == others[1])


def is_on_common_scale(matrix: Matrix) -> bool:
    """Whether its numbers are drawn as lengths that have no end of their own."""
    return matrix.scale not in ("weight", "change", "gradient")


def sources_in(matrices: dict[str, Matrix]) -> MadeOf:
    """What lights up with each cell of a matrix, by its key, as its trace says; found when it is first asked for."""
    places = cache(lambda: places_of(shown()))
    shown = cache(lambda: {key: one.traced.array for key, one in matrices.items() if one.traced is not None})
    return cache(lambda key: sources_among(shown(), key, places()))


def lit_with(matrices: dict[str, Matrix], matrix: Matrix, made_of: MadeOf, i: int, j: int) -> tuple[Lit, ...]:
    """What lights up with a cell: all that it was made of, or what stands at the same place elsewhere."""
    sources = tuple(matrix.sources(i, j))
    if not sources and matrix.traced is not None:
        sources = made_of(matrix.key)[i * matrix.values.shape[1] + j]
    if matrix.twin in matrices:
        sources += (Cells(matrix.twin, i, j),)
    return sources or tuple(same_place(matrices.values(), matrix, i, j))


def same_place(matrices: Iterable[Matrix], matrix: Matrix, i: int, j: int) -> Iterator[Cells]:
    """What stands where a cell does: that cell in matrices with the axes of its own, that row in any with its rows."""
    for other in matrices:
        if other is not matrix and other.rows.labels == matrix.rows.labels:
            yield Cells(other.key, i, j if other.columns.labels == matrix.columns.labels else None)


def said_of(matrix: Matrix, i: int, j: int) -> str:
    """What pointing at a cell says: the last line of its derivation, and what it was before a change by hand."""
    if matrix.step is None:
        at = f"{render(matrix.title)}, {format_value(matrix.rows.labels[i])} → {format_value(matrix.columns.labels[j])}"
        text = labelled(at, cell_text(matrix.values[i][j]) if matrix.sees(i, j) else translate("masked"))
    else:
        step = matrix.step(i, j)
        text = step_said(step) if matrix.sees(i, j) else render(step.meaning)
    if matrix.was is None or float(matrix.was[i][j]) == float(matrix.values[i][j]):
        return text
    before, _ = distinguishable(float(matrix.was[i][j]), float(matrix.values[i][j]))
    remark = message("Changed: it was {before}.", before=before)
    return translate("{said}. {remark}", said=text, remark=remark)


def step_said(step: Step) -> str:
    """A step in one line; of arithmetic that is too long for it, the result."""
    meaning, arithmetic = render(step.meaning), equation(step)
    short = arithmetic if len(arithmetic) <= LONGEST else localised(digits(step.value))
    return labelled(meaning, short)


def numbers_of(figure: Matrices) -> pa.Table:
    """A line for each number, with its matrix, row and column, from 1; what is masked has none."""
    cells = [
        (matrix.key, i + 1, j + 1, value if matrix.sees(i, j) else None)
        for matrix in figure.matrices
        if matrix.drawn
        for i, line in enumerate(matrix.values.tolist())
        for j, value in enumerate(line)
    ]
    matrices, rows, columns, values = zip(*cells, strict=True) if cells else ((),) * 4
    numbers = pa.array(values, pa.float32())
    return pa.table({"matrix": matrices, "row": rows, "column": columns, "value": numbers})
