"""A figure without its numbers, for those who want to think first: empty frames stand where they will be."""

import pyarrow as pa
import pyarrow.compute as pc


def covered_table(table: pa.Table) -> pa.Table:
    """The table of a chart with every number taken out. Of curves only the axes are left."""
    if "told" in table.column_names:  # it knows itself what an answer would tell
        return table.filter(pc.invert(table["told"]))
    if "chosen" in table.column_names:  # the points of curves: what stands on their x axis is no secret
        return emptied_curves(table)
    if "panel" in table.column_names:  # parts of a whole
        return covered_parts(table)
    return table.slice(0, 0)


def covered_parts(table: pa.Table) -> pa.Table:
    """Parts of a whole by their names, each with an empty frame as long as the whole."""
    bars = pc.invert(pc.is_in(table["kind"].cast(pa.string()), pa.array(["title", "name"])))
    for column, empty in {"kind": "dropped", "tone": "hatch", "text": ""}.items():
        table = emptied(table, column, bars, empty)
    whole = pc.if_else(bars, pc.add(table["from"], pa.scalar(1, pa.float32())), table["to"])
    return emptied(table, "say", True, "").set_column(table.column_names.index("to"), "to", whole)


def emptied_curves(table: pa.Table) -> pa.Table:
    """Curves without their heights."""
    empty = {**dict.fromkeys(("y", "low", "high")), **dict.fromkeys(("dot", "chosen"), False)}
    for name, value in empty.items():
        column = pa.array([value] * len(table), table.schema.field(name).type)
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def emptied(table: pa.Table, name: str, where: pa.ChunkedArray | pa.Array | bool, empty: str | None) -> pa.Table:
    """The table with one column emptied where it says so, of the same type as before."""
    column, kind = table[name], table.schema.field(name).type
    words = pa.types.is_dictionary(kind)
    plain = column.cast(kind.value_type) if words else column
    plain = pc.if_else(where, pa.scalar(empty, plain.type), plain)
    return table.set_column(table.column_names.index(name), name, plain.dictionary_encode() if words else plain)
