"""A figure of matrices at many moments in one table: a slider in the browser shows one, without asking the server."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from attention_ui.figures.grid import cell_text
from attention_ui.figures.matrices import Layout, matrices_table
from lessons.formatting import english
from lessons.screen import Film, Matrices, Matrix

ALWAYS = -1  # the frame number of what is seen in every frame
COLUMNS = ("place", "gx", "gy", "kind", "tone", "ink", "v", "text", "say")
MOVING_KINDS = ("weight", "masked", "shape")


def film_table(film: Film, layout: Layout, *, numbered: bool = True) -> pa.Table:
    """The matrices of every frame, and the sentence said below each. Raises ValueError where one is missing."""
    if not film.frames or len(film.frames) != len(film.moments):
        raise ValueError(
            f"a film needs a sentence for each frame, but got {len(film.frames)} frames, {len(film.moments)} said"
        )
    cells, count = still_table(film.frames[0], layout), len(film.frames)
    moving = pa.array(np.isin(cells["kind"].to_pylist(), MOVING_KINDS))
    still = with_frames(cells.filter(pa.array(~np.asarray(moving))), ALWAYS, 1)
    frames = with_frames(pa.concat_tables([cells.filter(moving)] * count), 0, count)
    table = pa.concat_tables([still, frames]).unify_dictionaries()
    return with_numbers(table, film, layout, numbered)


def still_table(frame: Matrices, layout: Layout) -> pa.Table:
    """One frame: names, cells that say what they are but not their number, and the place of the sentence."""
    table = matrices_table(frame, layout, numbered=False).select(COLUMNS)
    kinds = ["shape" if kind == "hint" else kind for kind in table["kind"].to_pylist()]
    says, meant = table["say"].to_pylist(), iter(meanings(layout))
    says = [next(meant) if kind in ("weight", "masked") else said for kind, said in zip(kinds, says, strict=True)]
    return replaced(replaced(table, "kind", kinds), "say", says)


def meanings(layout: Layout) -> Iterator[str]:
    """What each cell is, in the order of the table."""
    for place in layout.places:
        rows, columns = place.matrix.values.shape
        for i in range(rows):
            for j in range(columns):
                yield english(place.matrix.step(i, j).meaning)


def replaced(table: pa.Table, name: str, words: list[str | None]) -> pa.Table:
    """The table with another column of words."""
    return table.set_column(table.schema.get_field_index(name), name, pa.array(words, pa.string()).dictionary_encode())


def with_frames(table: pa.Table, first: int, count: int) -> pa.Table:
    """The table, made of `count` equal parts, with the number of its frame in every row."""
    numbers = np.repeat(np.arange(first, first + count), len(table) // count)
    return table.append_column("frame", pa.array(numbers, pa.int16()))


def with_numbers(table: pa.Table, film: Film, layout: Layout, numbered: bool) -> pa.Table:
    """The table with the numbers of every frame in its cells, and its sentence."""
    kinds, at = np.array(table["kind"].to_pylist()), np.array(table["frame"])
    v, text = np.full(len(table), np.nan, np.float32), np.array(table["text"].to_pylist(), object)
    is_number, is_said = kinds == "weight", (kinds == "shape") & (at >= 0)
    v[is_number] = np.concatenate([numbers_of_frames(frame, layout) for frame in film.frames])
    if numbered:
        text[is_number] = [cell_text(value) for value in v[is_number].tolist()]
    text[is_said] = [english(moment) for moment in film.moments]
    table = table.set_column(table.schema.get_field_index("v"), "v", pa.array(v, from_pandas=True))
    return replaced(table, "text", text.tolist())


def numbers_of_frames(frame: Matrices, layout: Layout) -> np.ndarray:
    """The numbers of one frame that are not masked, in the order of the table."""
    matrices = {matrix.key: matrix for matrix in frame.matrices}
    return np.concatenate([seen_numbers(matrices[place.matrix.key]) for place in layout.places])


def seen_numbers(matrix: Matrix) -> np.ndarray:
    """The numbers of one matrix that are not masked."""
    values = np.asarray(matrix.values)
    return values.flatten() if matrix.visible is None else values[np.asarray(matrix.visible)]
