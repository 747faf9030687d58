"""The numbers of a figure as a table for a spreadsheet."""

import pyarrow as pa

from words.spreadsheet import csv_file


def csv_of(table: pa.Table) -> bytes:
    """A line for each row. Numbers of single precision are the shortest decimals that mean them: 0.1."""
    for place, field in enumerate(table.schema):
        if field.type == pa.float32():
            shortest = table.column(place).cast(pa.string()).cast(pa.float64())
            table = table.set_column(place, field.name, shortest)
    return csv_file([table.column_names, *zip(*table.to_pydict().values(), strict=True)])
