"""Matrices side by side whose rows may stand in different orders: what moves with its token lights up with it."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from attention_ui.figures.grid import POINT_AT, POINT_AT_CELL, Grid, Matrix, cell_tag, row_tag
from lessons.captions import name, number, seen

LABEL_COLUMNS = 2
WIDEST, WIDER = 42, 60  # columns of a line: of cells with numbers so many fit the page, and of cells without
FEW_ROWS = 7  # up to here two lines fit the screen, with their numbers
TITLE_COLUMNS = 0.26  # columns of the grid that a letter of a title needs


@dataclass(frozen=True)
class Block:
    """A matrix with the names of its rows, written beside it if `named`, and those of its columns where it has any."""

    matrix: Matrix
    rows: Sequence[str]
    columns: Sequence[str] = ()
    named: bool = False

    @property
    def width(self) -> int:
        """Columns of the grid that it needs, with its title and the gap after it."""
        title = math.ceil(TITLE_COLUMNS * len(self.matrix.title))
        return LABEL_COLUMNS * self.named + max(self.matrix.shape[1], title) + 1


def arranged(blocks: Sequence[Block]) -> list[tuple[Block, int, int]]:
    """Each block with the column and the row of the grid where it begins; what is too wide goes on a new line.

    The first block of a line has the names of the rows beside it.
    """
    header = header_rows(blocks)
    widest = WIDEST if len(blocks[0].rows) <= FEW_ROWS else WIDER
    places, left, top = [], 0, 0
    for block in blocks:
        if left + block.width - 1 > widest and left:
            block, left, top = replace(block, named=True), 0, top + header + len(block.rows)
        places.append((block, left, top))
        left += block.width
    return places


def block_columns(blocks: Sequence[Block]) -> int:
    """Columns of the grid that the blocks need together."""
    return max(left + block.width - 1 for block, left, _ in arranged(blocks))


def block_rows(blocks: Sequence[Block]) -> int:
    """Rows of the grid that they need, with the hint below."""
    return max(top + len(block.rows) for block, _, top in arranged(blocks)) + header_rows(blocks) + 1


def header_rows(blocks: Sequence[Block]) -> int:
    """Rows above the cells: title and shape, or title and slanted names."""
    return 3 if any(block.columns for block in blocks) else 2


def block_table(
    blocks: Sequence[Block], lights: Callable[[str, int, int], Iterable[str]], *, numbered: bool = True
) -> pa.Table:
    """The blocks in a row; `lights` says which tags light up when a cell is pointed at."""
    shown = {block.matrix.key: block for block in blocks}

    def say(key: str, i: int, j: int) -> str:
        block = shown[key]
        matrix, row = block.matrix, name(tuple(block.rows), i)
        where = f"→ {name(tuple(block.columns), j)}" if block.columns else f"number {j + 1}"
        if matrix.visible is not None and not matrix.visible[i][j]:
            return f"{matrix.title}, {row} {where}: masked"
        return f"{matrix.title}, {row} {where}: {number(matrix.values[i][j], 3)}"

    grid = Grid(lights, say)
    for block, left, top in arranged(blocks):
        draw_block(grid, block, left, top, header_rows(blocks), numbered)
    grid.text(POINT_AT if numbered else POINT_AT_CELL, 0, grid.height, "hint")
    return grid.table()


def draw_block(grid: Grid, block: Block, left: int, top: int, header: int, numbered: bool) -> None:
    """One block, with what is written beside it and in the `header` rows above its cells."""
    inner = left + LABEL_COLUMNS * block.named
    grid.text(block.matrix.title, inner, top, "title", block.matrix.tone)
    if block.named:
        for i, token in enumerate(block.rows):
            grid.text(seen(token), inner - 1, top + header + i, "row")
    for j, token in enumerate(block.columns):
        grid.text(seen(token), inner + j, top + header - 1, "column")
    if not block.columns:
        grid.text("×".join(map(str, block.matrix.shape)), inner, top + header - 1, "shape")
    grid.matrix(block.matrix, inner, top + header, numbered=numbered)


def same_cell(blocks: Sequence[Block]) -> Callable[[str, int, int], list[str]]:
    """Lights the cell at the same place of every block of the same shape, and the row of every other."""
    shapes = {block.matrix.key: block.matrix.shape for block in blocks}

    def lights(key: str, i: int, j: int) -> list[str]:
        return [
            cell_tag(other, i, j) if shape == shapes[key] else row_tag(other, i)
            for other, shape in shapes.items()
            if i < shape[0]
        ]

    return lights
