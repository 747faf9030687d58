"""A weighted sum drawn as a chain of rows: what each key carries, its score, its weight, its share; below, the sum."""

from dataclasses import replace

import pyarrow as pa

from attention_core.attention import AttentionTrace
from attention_ui.figures.grid import POINT_AT, Grid, Matrix, cell_tag, column_tag, row_tag
from lessons.captions import name, number, percent, seen
from lessons.changes import Changes

LABEL_COLUMNS = 2
HEADER_ROWS = 2


def chain_columns(d_k: int, d_v: int) -> int:
    """Columns of the grid that the chain needs."""
    return LABEL_COLUMNS + d_k + 1 + 1 + 1 + 1 + 1 + d_v + 1 + d_v


def chain_rows(n_tokens: int) -> int:
    """Rows of the grid that the chain needs."""
    return HEADER_ROWS + 2 + n_tokens + 3


def chain_table(
    tokens: tuple[str, ...],
    attention: AttentionTrace,
    query: int,
    names: tuple[str, str, str],
    changes: Changes | None = None,
) -> pa.Table:
    """How one query's output comes about, key by key. `names` are those of the query's, keys' and values' matrices.

    Left to right: the key's row, its score with the query, its weight, its value, weight × value; the last
    row below is the sum. With `changes`, what was changed by hand is marked.
    """
    q, k, v = names
    weights = attention.weights[query]
    parts = (weights[:, None] * attention.v).tolist()
    visible = attention.visible[query].tolist()
    d_k, d_v = attention.k.shape[-1], attention.v.shape[-1]
    columns = {"k": LABEL_COLUMNS}
    columns["score"] = columns["k"] + d_k + 1
    columns["weight"] = columns["score"] + 2
    columns["v"] = columns["weight"] + 2
    columns["part"] = columns["v"] + d_v + 1

    def say(key: str, i: int, j: int) -> str:
        if key in ("score", "weight", "part") and not visible[i]:
            return f"{key} of {name(tokens, i)}: masked"
        who, part = name(tokens, i), attention.v[i, j] if key in ("v", "part") else None
        sentences = {
            "asker": lambda: f"{q} of {name(tokens, query)}, feature {j + 1} = {number(float(attention.q[query, j]))}",
            "k": lambda: f"{k} of {who}, feature {j + 1} = {number(float(attention.k[i, j]))}",
            "score": lambda: f"score of {who} = {number(float(attention.scaled[query, i]))}",
            "weight": lambda: f"weight of {who} = {percent(float(weights[i]))}",
            "v": lambda: f"{v} of {who}, feature {j + 1} = {number(float(part))}",
            "part": lambda: f"{number(float(weights[i]), 3)}·{number(float(part))} = {number(parts[i][j], 3)}",
            "sum": lambda: (
                " + ".join(number(p[j]) for p, may in zip(parts, visible, strict=True) if may)
                + f" = {number(float(attention.output[query, j]))}"
            ),
        }
        return sentences[key]()

    def lights(key: str, i: int, j: int) -> list[str]:
        sources = {
            "score": [row_tag("k", i), row_tag("asker", 0)],
            "weight": [column_tag("score", 0)],
            "part": [cell_tag("weight", i, 0), cell_tag("v", i, j)],
            "sum": [column_tag("part", j)],
        }
        return [cell_tag(key, i, j), *sources.get(key, [])]

    def say_all(key: str, i: int, j: int) -> str:
        return say(key, i, j) + (changes.remark(key, i, j) if changes is not None else "")

    def marked(matrix: Matrix) -> Matrix:
        return matrix if changes is None else replace(matrix, changed=changes.marked(matrix.key))

    grid = Grid(lights, say_all)
    top = HEADER_ROWS + 2
    shown = [[may] for may in visible]
    grid.text(f"{q} of the asker", columns["k"], 0, "title", "q")
    grid.text(seen(tokens[query]), LABEL_COLUMNS - 1, 1, "row")
    grid.matrix(marked(Matrix("asker", "", [attention.q[query].tolist()], tone="q")), columns["k"], 1)
    looks = [
        Matrix("k", k, attention.k.tolist(), tone="k"),
        Matrix("score", "score", attention.scaled[query][:, None].tolist(), visible=shown),
        Matrix("weight", "weight", weights[:, None].tolist(), "weight", "weight", visible=shown),
        Matrix("v", v, attention.v.tolist(), tone="v"),
        Matrix("part", f"weight × {v}", parts, tone="v", visible=[row * d_v for row in shown]),
    ]
    for matrix in looks:
        grid.matrix(marked(matrix), columns[matrix.key], top)
        grid.text(matrix.title, columns[matrix.key], top - 1, "title", matrix.tone)
    for i, token in enumerate(tokens):
        grid.text(seen(token), LABEL_COLUMNS - 1, top + i, "row")
    bottom = top + len(tokens) + 1
    grid.text("sum", columns["part"] - 1, bottom, "row")
    grid.matrix(marked(Matrix("sum", "", [attention.output[query].tolist()], tone="v")), columns["part"], bottom)
    grid.text(POINT_AT, 0, bottom + 1, "hint")
    return grid.table()
