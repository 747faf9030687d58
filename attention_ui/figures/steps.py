"""From scores to weights in the browser: one row of numbers, whose temperature a slider moves without the server.

The server sends the scores alone; Vega computes every other number from them and from the slider, and computes
again while it moves. The slider belongs to the specification, so its value survives whenever only data change.
"""

import altair as alt
import pyarrow as pa

from attention_ui.figures.cells import grid_chart
from attention_ui.figures.grid import POINT_AT, Grid, Matrix, cell_tag, row_tag
from lessons.captions import name, number, seen
from lessons.single_lessons import RowSoftmax

LABEL_COLUMNS = 5
SHIFT, FACTOR = 5.0, 2.0
LINES = {  # each line of the figure: what it holds, as computed for each key, and its label
    "scores": ("datum.heated", "'score ÷ ' + format(temperature, '.1f')"),
    "shifted": ("datum.shifted", "'− (' + format(datum.largest, '.2f') + ')'"),
    "powers": ("datum.power", "'exp'"),
    "weights": ("datum.power / datum.total", "'÷ ' + format(datum.total, '.2f')"),
    "added": ("datum.added_power / datum.added_total", f"'if all + {SHIFT:g}'"),
    "multiplied": (
        "datum.multiplied_power / datum.multiplied_total",
        f"'if all × {FACTOR:g}'",
    ),
}
SAYS = {
    "scores": "format(datum.score, '.3f') + ' ÷ ' + format(temperature, '.1f')",
    "shifted": "format(datum.heated, '.3f') + ' − (' + format(datum.largest, '.3f') + ')'",
    "powers": "'e^' + format(datum.shifted, '.3f')",
    "weights": "format(datum.power, '.3f') + ' ÷ ' + format(datum.total, '.3f')",
    "added": "format(datum.added_power, '.3f') + ' ÷ ' + format(datum.added_total, '.3f')",
    "multiplied": "format(datum.multiplied_power, '.3f') + ' ÷ ' + format(datum.multiplied_total, '.3f')",
}
ENTROPY = (
    "'entropy ' + format(abs(datum.entropy), '.2f') + ' nats: as if '"
    " + format(exp(abs(datum.entropy)), '.1f') + ' of ' + datum.keys + ' keys shared evenly'"
)


def softmax_table(tokens: tuple[str, ...], row: RowSoftmax, before: RowSoftmax) -> pa.Table:
    """The scores of one query, each six times: once for each line of the figure. The browser computes the rest.

    `before` is the row without what was changed by hand; where a score is another now, it is marked.
    """
    weights = ("weights", "added", "multiplied")
    order, n_keys = list(LINES), len(row.keys)

    def lights(key: str, i: int, j: int) -> list[str]:
        before = order[: order.index(key) + 1] if key not in weights[1:] else ["scores", key]
        whole = {"shifted": ["scores"], "weights": ["powers"], "added": ["scores"], "multiplied": ["scores"]}
        return [*(cell_tag(step, 0, j) for step in before), *(row_tag(step, 0) for step in whole.get(key, []))]

    scores, changed = row.scores.tolist(), (row.scores != before.scores).tolist()

    def say(key: str, i: int, j: int) -> str:
        again = f" (its score was {number(float(before.scores[j]), 3)} before)" if changed[j] else ""
        return name(tokens, row.keys[j]) + again

    grid = Grid(lights, say)
    for j, place in enumerate(row.keys):
        grid.text(seen(tokens[place]), LABEL_COLUMNS + j, 1, "column")
    for line, key in enumerate(order):
        grid.text(key, LABEL_COLUMNS - 1, 2 + 2 * line, "row", "ink")
        kind, tone = ("weight", "weight") if key in weights else ("score", "ink")
        grid.matrix(Matrix(key, key, [scores], kind, tone, changed=[changed]), LABEL_COLUMNS, 2 + 2 * line)
    grid.text("entropy", LABEL_COLUMNS, 3 + 2 * order.index("weights"), "shape", "ink")
    grid.text(POINT_AT, 0, grid.height, "hint")
    return with_scores(grid.table(), scores, n_keys)


def with_scores(table: pa.Table, scores: list[float], n_keys: int) -> pa.Table:
    """The table with the line and the exact score of each cell, and the line of each label."""
    tags = [tag.strip("|").split() for tag in table["cell_tag"].to_pylist()]
    texts, kinds = table["text"].to_pylist(), table["kind"].to_pylist()
    labels = [text if kind in ("row", "shape") else "" for text, kind in zip(texts, kinds, strict=True)]
    table = table.append_column("line", pa.array([tag[0] if tag else "" for tag in tags]).dictionary_encode())
    table = table.append_column("label", pa.array(labels).dictionary_encode())
    places = [int(tag[1].split(",")[1]) if tag else None for tag in tags]
    table = table.append_column("score", pa.array([None if j is None else scores[j] for j in places], pa.float64()))
    return table.append_column("keys", pa.array([n_keys] * len(tags), pa.int16()))


def softmax_chart(tenths: int) -> alt.LayerChart:
    """The template. `tenths` of 1 are the temperature at which the slider begins.

    The beginning is part of the specification, as a slider is moved only by whoever holds it: another beginning
    makes the chart anew, once; everything else changes it in place.
    """
    chart = grid_chart()
    temperature = alt.param(
        name="temperature",
        value=tenths / 10,
        bind=alt.binding_range(min=0.1, max=5, step=0.1, name="Temperature: divide the scores by "),
    )
    for selection in chart.params:
        if selection.name == "pick":  # a click tells the server at which temperature it was made
            selection.select["fields"] = ["cell_tag", "heat"]
    for layer in chart.layer:
        if layer.data.name == "cells":
            layer.transform = [*heated_softmax(), *([] if layer.transform is alt.Undefined else layer.transform)]
    return chart.add_params(temperature)


def heated_softmax() -> list:
    """The softmax, step by step, of the scores ÷ temperature; then with every score shifted, and multiplied.

    Each score stands in the table once for each line, so sums run within a line.
    """
    ways = {"": "datum.heated", "added_": f"datum.heated + {SHIFT}", "multiplied_": f"datum.heated * {FACTOR}"}
    chart = alt.Chart().transform_calculate(
        heat="temperature", heated="isValid(datum.score) ? datum.score / temperature : null"
    )
    for way, scores in ways.items():
        chart = (
            chart.transform_calculate(**{f"{way}score_now": f"isValid(datum.heated) ? {scores} : null"})
            .transform_joinaggregate(**{f"{way}largest": f"max({way}score_now)"})
            .transform_calculate(
                **{f"{way}power": f"isValid(datum.heated) ? exp(datum.{way}score_now - datum.{way}largest) : 0"}
            )
            .transform_joinaggregate(**{f"{way}total_of_lines": f"sum({way}power)"})
            .transform_calculate(**{f"{way}total": f"datum.{way}total_of_lines / {len(LINES)}"})
        )
    chart = chart.transform_calculate(
        shifted="isValid(datum.heated) ? datum.heated - datum.largest : null",
        part="datum.power > 0 ? -datum.power / datum.total * log(datum.power / datum.total) : 0",
    ).transform_joinaggregate(entropy_of_lines="sum(part)")
    values = choose("line", {line: value for line, (value, _) in LINES.items()}, "datum.v")
    said = f"datum.say + ': ' + {choose('line', SAYS, 'null')} + ' = ' + format(datum.v, '.3f')"
    digits = "abs(datum.v) < 9.995 ? '.2f' : abs(datum.v) < 99.95 ? '.1f' : '.0f'"
    labels = choose("label", {line: label for line, (_, label) in LINES.items()} | {"entropy": ENTROPY}, "datum.text")
    return (
        chart.transform_calculate(entropy=f"datum.entropy_of_lines / {len(LINES)}", v=values)
        .transform_calculate(
            say=f"isValid(datum.score) ? {said} : datum.say",
            text=f"isValid(datum.score) ? format(datum.v, {digits}) : {labels}",
        )
        .transform
    )


def choose(field: str, ways: dict[str, str], otherwise: str) -> str:
    """A Vega expression that depends on what a field says."""
    cases = "".join(f"datum.{field} === '{value}' ? {expression} : " for value, expression in ways.items())
    return f"({cases}{otherwise})"
