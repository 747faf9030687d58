"""One row of numbers on its way through the steps of a computation: a line for each step, a column for each key."""

import pyarrow as pa

from attention_core.captions import name, number, seen
from attention_core.lessons import RowSoftmax
from attention_ui.charts.grid import POINT_AT, Grid, Matrix, cell_tag, row_tag

LABEL_COLUMNS = 5


def softmax_table(tokens: tuple[str, ...], row: RowSoftmax) -> pa.Table:
    """From scores to weights: subtract the largest, take the exponential, divide by the sum."""
    largest, total = float(row.scores.max()), float(row.powers.sum())
    lines = {
        "scores": ("scores", row.scores, "score", "ink"),
        "shifted": (f"− ({number(largest)})", row.shifted, "score", "ink"),
        "powers": ("exp", row.powers, "score", "ink"),
        "weights": (f"÷ {number(total)}", row.weights, "weight", "weight"),
    }
    order = list(lines)

    def say(key: str, i: int, j: int) -> str:
        who = name(tokens, row.keys[j])
        value = number(float(lines[key][1][j]), 3)
        return {
            "scores": f"score of {who} = {value}",
            "shifted": f"{who}: {number(float(row.scores[j]), 3)} − ({number(largest, 3)}) = {value}",
            "powers": f"{who}: e^{number(float(row.shifted[j]), 3)} = {value}",
            "weights": f"{who}: {number(float(row.powers[j]), 3)} ÷ {number(total, 3)} = {value}",
        }[key]

    def lights(key: str, i: int, j: int) -> list[str]:
        before = order[: order.index(key) + 1]
        whole = {"shifted": ["scores"], "weights": ["powers"]}.get(key, [])
        return [*(cell_tag(step, 0, j) for step in before), *(row_tag(step, 0) for step in whole)]

    grid = Grid(lights, say)
    for j, place in enumerate(row.keys):
        grid.text(seen(tokens[place]), LABEL_COLUMNS + j, 1, "column")
    for line, (key, (title, values, kind, tone)) in enumerate(lines.items()):
        grid.text(title, LABEL_COLUMNS - 1, 2 + 2 * line, "row", "ink")
        grid.matrix(Matrix(key, title, [values.tolist()], kind, tone), LABEL_COLUMNS, 2 + 2 * line)
    grid.text(POINT_AT, 0, grid.height, "hint")
    return grid.table()
