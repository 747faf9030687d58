"""The picture of a matrix as a notebook draws it: this very function is written into the notebook."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd


def picture(title: str, numbers, rows: Sequence[str], columns: Sequence[str], axes: tuple[str, str]) -> alt.LayerChart:
    """A matrix or a row: in each cell its number, and a square whose area is its size, hollow where it is below 0."""
    numbers = np.atleast_2d(np.asarray(numbers, float))
    row_names = [f"{place + 1} {name}" for place, name in enumerate(rows)]
    column_names = [f"{place + 1} {name}" for place, name in enumerate(columns)]
    cells = [
        {"row": row, "column": column, "number": number, "size": abs(number), "below 0": bool(number < 0)}
        for row, line in zip(row_names, numbers.tolist(), strict=True)
        for column, number in zip(column_names, line, strict=True)
        if np.isfinite(number)
    ]
    base = alt.Chart(pd.DataFrame(cells)).encode(
        x=alt.X("column:N", sort=column_names, scale=alt.Scale(domain=column_names), title=axes[1]).axis(
            orient="top", labelAngle=-45
        ),
        y=alt.Y("row:N", sort=row_names, scale=alt.Scale(domain=row_names), title=axes[0]),
    )
    largest = max((cell["size"] for cell in cells), default=0) or 1
    squares = base.mark_square(color="#6a3db8", opacity=0.35).encode(
        size=alt.Size("size:Q", scale=alt.Scale(domain=[0, largest], range=[0, 1200]), legend=None),
        fillOpacity=alt.condition(alt.datum["below 0"], alt.value(0), alt.value(0.35)),
        stroke=alt.value("#6a3db8"),
    )
    written = base.mark_text(fontSize=11).encode(text=alt.Text("number:Q", format=".2f"))
    return (squares + written).properties(title=title, width=alt.Step(44), height=alt.Step(40))
