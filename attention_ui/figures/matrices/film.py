"""A figure of matrices at many moments, and curves on which the moment is marked: the browser moves through them.

Everything travels once; the weights of each moment are a column of their own. Nothing asks the server.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool

from attention_ui.figures.curves.curves import curves_tables
from attention_ui.figures.matrices.grid import MOMENT, Grid
from attention_ui.figures.matrices.matrices import Layout, fill
from lessons.screen import Curves, Film, Matrices, Matrix, labelled, listed, number, percent, render

COLON = re.compile(r"\s*:\s+|：")  # as languages write it
NAMES = ("row", "axis", "column", "letter")  # the kinds of what is written beside cells
A_NUMBER = "0"  # in the place of one that the browser writes
COLUMNS = ("place", "gx", "gy", "kind", "tone", "ink", "text", "say", "cell_tag")


def film_tables(film: Film, cells: pa.Table, *, letters: int = 0) -> dict[str, pa.Table]:
    """Everything that is drawn: the `cells` of its matrices, what is said of each moment, the curves, and the moments
    on them.

    The tables of a curve are called by its key; its `letters` have so many pixels at least. Raises ValueError where a
    sentence is missing.
    """
    if not film.frames or len(film.frames) != len(film.moments):
        raise ValueError(
            f"a film needs a sentence for each frame, but got {len(film.frames)} frames, {len(film.moments)} said"
        )
    tables = {"cells": cells, "said": said_table(film)}
    for curves in film.curves:
        parts = curves_tables(curves, letters, axes_within=False) | {"moments": moments_table(film, curves)}
        parts["marks"] = parts["marks"].append_column(
            "frame", pa.array([frame_at(film, x) for _, x in curves.marks], pa.int16())
        )
        tables |= {f"{curves.key}_{name}": table for name, table in parts.items()}
    return tables


def frame_at(film: Film, x: float) -> int:
    """The first frame that is not before this x; the last one where all are."""
    return next((frame for frame, at in enumerate(film.at) if at >= x), len(film.at) - 1)


def jumps_of(film: Film) -> tuple[tuple[str, int], ...]:
    """The marks that one can jump to, each with its frame; those at one x together."""
    named: dict[float, list[str]] = {}
    for name, x in film.curves[0].marks if film.curves else ():
        named.setdefault(x, []).append(render(name))
    return tuple((labelled(f"{x:g}", listed(names)), frame_at(film, x)) for x, names in named.items())


def cells_of_film(frames: Sequence[Matrices], layout: Layout, still: "Still", every: int = 1) -> pa.Table:
    """The matrices of all frames: what stands `still` in all of them, and the weights of each, one column a frame. Of
    names beside the cells, one in `every` so many is written.
    """
    table = still.table
    for moment, frame in enumerate(frames):
        weights = np.full(len(table), np.nan, np.float32)
        weights[still.is_weight] = numbers_of_frame(frame, layout)
        table = table.append_column(f"{MOMENT}{moment}", pa.array(weights, from_pandas=True))
    table = table.append_column("head", still.heads)
    table = table.append_column("standing", pa.array([greyed(frames[-1])] * len(table)))
    return written_names(table, layout, every)


@dataclass(frozen=True, eq=False)
class Still:
    """What does not move: names, and cells that say what they are but not their number, which the browser writes where
    there is a text. Which of them are weights, and the key of the head that a click on each means.
    """

    table: pa.Table
    is_weight: Bool[np.ndarray, " things"]
    heads: pa.Array


def still_of(frame: Matrices, layout: Layout, *, numbered: bool = True) -> Still:
    """What stands still in a film with such frames. What to do is not said."""
    matrices = {matrix.key: matrix for matrix in frame.matrices}
    grid = Grid(lambda *_: "", lambda key, i, j: render(matrices[key].step(i, j).meaning))
    table = fill(grid, frame, layout, numbered=numbered).select(COLUMNS)
    table = table.filter(pc.not_equal(table["kind"], "hint"))
    is_weight = np.array(table["kind"].to_pylist()) == "weight"
    texts = pa.array(np.where(is_weight & numbered, A_NUMBER, table["text"].to_pylist()), pa.string())
    table = table.set_column(table.column_names.index("text"), "text", texts.dictionary_encode())
    return Still(table, is_weight, pa.array(meant_by_clicks(table, layout)))


def written_names(table: pa.Table, layout: Layout, every: int) -> pa.Table:
    """The table with one in `every` so many names of rows and columns: where cells are small, all would overlap, and
    what columns are goes up to the titles, further from what rows are.
    """
    if every == 1:
        return table
    left_out, called = set(), {(place.left - 1, place.top - 2) for place in layout.places}
    for place in layout.places:
        rows, columns = place.matrix.values.shape
        left_out |= {(place.left - 1, place.top + i) for i in range(rows) if i % every}
        left_out |= {(place.left + j, place.top - 1) for j in range(columns) if j % every}
    drawn = table.select(["kind", "gx", "gy"]).to_pylist()
    named = [(one["gx"], one["gy"]) if one["kind"] in NAMES else None for one in drawn]
    rows = [one["gy"] - (at in called) for one, at in zip(drawn, named, strict=True)]
    table = table.set_column(table.column_names.index("gy"), "gy", pa.array(rows, pa.int16()))
    return table.filter(pa.array([at not in left_out for at in named]))


def meant_by_clicks(table: pa.Table, layout: Layout) -> list[str]:
    """For each thing that is drawn, the key of the matrix that a click on it means: its own, and that of its title."""
    titles = {(place.left, place.top - place.header): place.matrix.key for place in layout.places}
    tags, kinds, *places = (table[name].to_pylist() for name in ("cell_tag", "kind", "gx", "gy"))
    return [
        tag.strip("|").rsplit(" ", 1)[0] if tag else titles.get(place, "") if kind == "title" else ""
        for tag, kind, place in zip(tags, kinds, zip(*places, strict=True), strict=True)
    ]


def greyed(frame: Matrices) -> str:
    """The key of the matrix that is left out. A click says it, too: so the next click on the same cell says another
    thing, and the browser tells of it."""
    return next((matrix.key for matrix in frame.matrices if matrix.colour == "muted"), "")


def numbers_of_frame(frame: Matrices, layout: Layout) -> np.ndarray:
    """The numbers of one frame that are not masked, in the order of the table."""
    matrices = {matrix.key: matrix for matrix in frame.matrices}
    return np.concatenate([seen_numbers(matrices[place.matrix.key]) for place in layout.places])


def seen_numbers(matrix: Matrix) -> np.ndarray:
    """The numbers of one matrix that are not masked."""
    values = np.asarray(matrix.values)
    return values.flatten() if matrix.visible is None else values[np.asarray(matrix.visible)]


def said_table(film: Film) -> pa.Table:
    """The sentence of each frame: large what it says, and below it, small, what follows its first colon."""
    said = [[*COLON.split(render(moment), maxsplit=1), ""] for moment in film.moments]
    return pa.table(
        {
            "frame": pa.array(range(len(said)), pa.int16()),
            "text": [parts[0] for parts in said],
            "rest": [parts[1] for parts in said],
            "tone": ["ink"] * len(said),
        }
    )


def moments_table(film: Film, curves: Curves) -> pa.Table:
    """For each frame its place on the first of these curves: at its x, or at the last point before it."""
    line = curves.lines[0]
    places = np.maximum(np.searchsorted(np.asarray(line.x, float), film.at, side="right") - 1, 0)
    y = np.asarray(line.y, np.float32)[places]
    return pa.table(
        {
            "frame": pa.array(range(len(film.frames)), pa.int16()),
            "x": pa.array(film.at, pa.float32()),
            "y": pa.array(y),
            "text": [percent(value) if curves.percent else number(value) for value in y.tolist()],
            "tone": [line.colour] * len(y),
            "ink": ["ink"] * len(y),
        }
    )
