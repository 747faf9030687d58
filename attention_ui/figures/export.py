"""The numbers of a figure as a table for a spreadsheet."""

import pyarrow as pa

from attention_ui.figures.matrices.grid import MOMENT
from words.spreadsheet import csv_file


def csv_of(table: pa.Table) -> bytes:
    """A line for each number: of matrices with its matrix, row and column (from 1); of curves every point."""
    table = in_few_digits(table)
    cells = matrix_cells(table) if "cell_tag" in table.column_names else table
    return csv_file([cells.column_names, *zip(*cells.to_pydict().values(), strict=True)])


def in_few_digits(table: pa.Table) -> pa.Table:
    """The same with each number of single precision as the shortest decimal that means it: 0.1."""
    for place, field in enumerate(table.schema):
        if field.type == pa.float32():
            shortest = table.column(place).cast(pa.string()).cast(pa.float64())
            table = table.set_column(place, field.name, shortest)
    return table


def matrix_cells(table: pa.Table) -> pa.Table:
    """The numbers of all matrices, at every moment of a film; what is masked has none."""
    values = {"v": "value"} if "v" in table.column_names else {n: n for n in table.column_names if n.startswith(MOMENT)}
    lines = []
    for cell in table.to_pylist():
        if cell["cell_tag"]:
            matrix, place = cell["cell_tag"].strip("|").rsplit(" ", 1)
            row, column = (int(part) + 1 for part in place.split(","))
            numbers = {title: cell[name] for name, title in values.items()}
            lines.append({"matrix": matrix, "row": row, "column": column} | numbers)
    return pa.Table.from_pylist(lines)
