"""A figure of matrices at many moments: their numbers travel once, and the browser moves through them."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from attention_ui.figures.matrices.numbers import sent_as_text
from attention_ui.figures.matrices.parts import width_of
from attention_ui.figures.matrices.tables import covered_tables, figure_of, no_lights, table_of
from attention_ui.figures.playing import film_words
from lessons.screen import Curves, Film, Matrices, Matrix, labelled, listed, number, percent, render
from words import language

COLON = re.compile(r"\s*:\s+|：")  # as languages write it
MOMENT = "moment "  # before the number of a frame: what the column of its numbers is called
LEAST_EM = 12  # pixels of an em in which numbers can be read


def film_of(film: Film, still: dict[str, Any]) -> dict[str, Any]:
    """Everything that is drawn, with the tables that stand `still` in it, and the words for all of it.

    Raises ValueError where a sentence is missing.
    """
    if not film.frames or len(film.frames) != len(film.moments):
        raise ValueError(
            f"a film needs a sentence for each frame, but got {len(film.frames)} frames, {len(film.moments)} said"
        )
    numbers = np.concatenate([numbers_of_frame(frame) for frame in film.frames])
    return {
        "name": render(film.name),
        "tables": still,
        "numbers": sent_as_text(numbers),
        "said": [[*COLON.split(render(moment), maxsplit=1), ""][:2] for moment in film.moments],
        "curve": curve_of_moments(film),
        "film": film_words(len(film.frames), jumps_of(film)),
        "decimal": language().decimal,
        "told": labelled("{said}", "{number}"),
    }


def still_tables(frame: Matrices) -> dict[str, Any]:
    """What stands still in a film: names, what is masked, and of each cell what it is, but no number."""

    def is_called(matrix: Matrix, i: int, j: int) -> str:
        return render(matrix.step(i, j).meaning)

    tables = [table_of(one, 1.0, no_lights, is_called) for one in frame.matrices]
    numbered = frame.numbered and frame.width >= LEAST_EM * width_of(frame)
    still = covered_tables(figure_of(tables, frame) | {"about": "", "hint": "", "numbered": numbered})
    told = [{name: table[name] for name in ("say", "marked")} for table in tables]
    empty = [table | said for table, said in zip(still["matrices"], told, strict=True)]
    return still | {"covered": False, "matrices": empty}


def numbers_of_frame(frame: Matrices) -> np.ndarray:
    """The numbers of one frame that are not masked, matrix by matrix."""
    return np.concatenate([seen_numbers(matrix) for matrix in frame.matrices])


def seen_numbers(matrix: Matrix) -> np.ndarray:
    """The numbers of one matrix that are not masked."""
    values = np.asarray(matrix.values)
    return values.flatten() if matrix.visible is None else values[np.asarray(matrix.visible)]


def curve_of_moments(film: Film) -> dict[str, Any] | None:
    """The first line of the first curves at each moment, from 0 to 1; and what all curves come to there."""
    if not film.curves:
        return None
    y = at_moments(film, film.curves[0])
    low, high = float(y.min()), float(y.max())
    heights = (y - low) / ((high - low) or 1.0)
    told = [curves_said(film, curves) for curves in film.curves]
    return {"heights": np.round(heights, 3).tolist(), "said": ["    ".join(each) for each in zip(*told, strict=True)]}


def curves_said(film: Film, curves: Curves) -> list[str]:
    """What the first of these curves is called, and its number at each moment."""
    name, written = render(curves.lines[0].name), percent if curves.percent else number
    return [labelled(name, written(value)) for value in at_moments(film, curves).tolist()]


def at_moments(film: Film, curves: Curves) -> np.ndarray:
    """The first of these curves at each moment: at its x, or at the last point before it."""
    line = curves.lines[0]
    places = np.maximum(np.searchsorted(np.asarray(line.x, float), film.at, side="right") - 1, 0)
    return np.asarray(line.y, np.float32)[places]


def frame_at(film: Film, x: float) -> int:
    """The first frame that is not before this x; the last one where all are."""
    return next((frame for frame, at in enumerate(film.at) if at >= x), len(film.at) - 1)


def jumps_of(film: Film) -> tuple[tuple[str, int], ...]:
    """The marks that one can jump to, each with its frame; those at one x together."""
    named: dict[float, list[str]] = {}
    for name, x in film.curves[0].marks if film.curves else ():
        named.setdefault(x, []).append(render(name))
    return tuple((labelled(f"{x:g}", listed(names)), frame_at(film, x)) for x, names in named.items())


def numbers_of_film(frames: Sequence[Matrices]) -> pa.Table:
    """A line for each number that is not masked, with its matrix, row and column, from 1, and a column a moment."""
    places = [*places_of_numbers(frames[0])]
    names = ("matrix", "row", "column")
    columns = dict(zip(names, zip(*places, strict=True), strict=True))
    moments = {f"{MOMENT}{at}": numbers_of_frame(frame).astype(np.float32) for at, frame in enumerate(frames)}
    return pa.table({name: pa.array(values) for name, values in (columns | moments).items()})


def places_of_numbers(frame: Matrices) -> Iterator[tuple[str, int, int]]:
    """Where they stand."""
    for matrix in frame.matrices:
        n_rows, n_columns = matrix.values.shape
        yield from ((matrix.key, i + 1, j + 1) for i in range(n_rows) for j in range(n_columns) if matrix.sees(i, j))
