"""The numbers of a figure as a table for a spreadsheet. Numbers and our own names only: never a learner's text."""

import io

import pyarrow as pa
from pyarrow import csv

from attention_ui.figures.matrices.grid import MOMENT


def csv_of(table: pa.Table) -> bytes:
    """A line for each number: of matrices with its matrix, row and column (from 1); of curves every point."""
    buffer = io.BytesIO()
    csv.write_csv(matrix_cells(table) if "cell_tag" in table.column_names else table, buffer)
    return buffer.getvalue()


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
