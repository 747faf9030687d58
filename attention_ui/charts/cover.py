"""A figure without its numbers, for those who want to think first: empty frames stand where they will be."""

from collections.abc import Collection

import pyarrow as pa

EMPTIED = {"kind": "ghost", "tone": "ghost", "v": None, "text": "", "say": "", "lights": "", "score": None}


def covered_table(table: pa.Table, given: Collection[str] = ()) -> pa.Table:
    """The table of a figure with every number taken out, but for the matrices that are given.

    Frames can neither be pointed at nor clicked. What is masked stays masked. Of curves only the axes are left.
    """
    if "cell_tag" not in table.column_names:
        return table.slice(0, 0)
    matrices = [(tag or "").strip("|").split(" ")[0] for tag in table["cell_tag"].to_pylist()]
    numbers = [bool(matrix) and matrix not in given for matrix in matrices]
    masked = [kind == "masked" for kind in table["kind"].to_pylist()]
    for column, empty in EMPTIED.items():
        if column in table.column_names:
            stays = masked if column in ("kind", "tone") else [False] * len(masked)
            values = zip(table[column].to_pylist(), numbers, stays, strict=True)
            emptied = [empty if number and not stay else value for value, number, stay in values]
            table = with_column(table, column, emptied)
    if "label" in table.column_names:  # of lines that the browser computes: some hold numbers
        table = with_column(table, "label", [""] * len(masked))
    return table


def with_column(table: pa.Table, name: str, values: list) -> pa.Table:
    """The table with other values in one column, of the same type as before."""
    kind = table.schema.field(name).type
    words = pa.types.is_dictionary(kind)
    array = pa.array(values, kind.value_type if words else kind)
    return table.set_column(table.column_names.index(name), name, array.dictionary_encode() if words else array)
