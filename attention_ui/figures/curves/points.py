"""A cloud of points: its table, and the template for its axes."""

import altair as alt
import pyarrow as pa

from attention_ui.figures.layers import layered, role_colour, width_on_a_phone
from lessons.screen import Points, render


def points_table(figure: Points) -> pa.Table:
    """One row for each point, with what pointing at it says."""
    return pa.table(
        {
            "x": pa.array(map(float, figure.xs), pa.float64()),
            "y": pa.array(map(float, figure.ys), pa.float64()),
            "says": pa.array(map(render, figure.says), pa.string()),
        }
    )


def points_chart(width: int, height: int, x: str, y: str, log_x: bool, log_y: bool) -> alt.LayerChart:
    """The template: a dot for each point."""
    points = alt.Chart(alt.NamedData(name="points")).transform_calculate(weight="'weight'")
    dots = points.mark_point(filled=True, size=36, opacity=0.6).encode(
        alt.X("x:Q", title=x, **axis(log_x, "~s")),
        alt.Y("y:Q", title=y, **axis(log_y, ".0e")),
        role_colour("weight"),
        tooltip=alt.Tooltip("says:N", title=" "),
        description="says:N",
    )
    return layered(dots, width=width, height=height).add_params(width_on_a_phone(width))


def axis(logarithmic: bool, written: str) -> dict[str, object]:
    """Few marks, in even steps; or in powers of ten, which are written so that they fit."""
    scale = {"type": "log", "nice": False} if logarithmic else {"zero": False}
    look = {"format": written} if logarithmic else {}
    return {"scale": alt.Scale(**scale, padding=8), "axis": alt.Axis(tickCount=4, titlePadding=8, **look)}
