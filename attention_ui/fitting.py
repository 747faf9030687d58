"""Figures that stand below several lines of controls, in a size with which they still fit the screen."""

from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa

from attention_ui.figures.side_by_side import Block, block_columns, block_rows, block_table
from attention_ui.lesson import FIGURE_HEIGHT, fitted_template

ROOM = 385  # pixels that the controls leave free on a screen of 1440×900


def fitted_below_controls(columns: int, rows: int) -> tuple[dict, bool]:
    """As `fitted_template`, where less of the screen is free."""
    return fitted_template(columns + 1, -(-rows * FIGURE_HEIGHT // ROOM))


def fitted_blocks(blocks: Sequence[Block], lights: Callable[[str, int, int], Iterable[str]]) -> tuple[pa.Table, dict]:
    """The table and the template of matrices side by side; without numbers where they have no room."""
    chart, numbered = fitted_below_controls(block_columns(blocks), block_rows(blocks))
    return block_table(blocks, lights, numbered=numbered), chart
