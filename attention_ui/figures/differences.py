"""How often two computations differ by how much: bars over powers of ten."""

import math
from collections import Counter
from collections.abc import Sequence

import altair as alt
import pyarrow as pa

from attention_ui.figures.layers import alt_layer, tone_scale

BARS_PER_DECADE = 5


def differences_table(differences: Sequence[float]) -> pa.Table:
    """One row for each bar: its two ends and how many differences lie between; what is exactly 0 has no place here."""
    sizes = [difference for difference in differences if difference > 0]
    bars = Counter(math.floor(BARS_PER_DECADE * math.log10(size)) for size in sizes)
    order = sorted(bars)
    return pa.table(
        {
            "low": pa.array([10 ** (bar / BARS_PER_DECADE) for bar in order], pa.float64()),
            "high": pa.array([10 ** ((bar + 1) / BARS_PER_DECADE) for bar in order], pa.float64()),
            "cases": pa.array([bars[bar] for bar in order], pa.int32()),
        }
    )


def differences_chart(width: int, height: int) -> alt.LayerChart:
    """The template: a bar for each fifth of a power of ten."""
    scale = alt.Scale(type="log", nice=False)
    bars = alt.Chart(alt.NamedData(name="bars")).transform_calculate(weight="'weight'", ground="0")
    low = alt.X(
        "low:Q",
        title="largest difference of a case",
        scale=scale,
        axis=alt.Axis(format=".0e", tickCount=4, titlePadding=4),
    )
    return alt.layer(
        alt_layer(),
        bars.mark_rect(stroke=None).encode(
            low,
            alt.Y("ground:Q", title="cases", axis=alt.Axis(tickCount=4, tickMinStep=1)),
            alt.Color("weight:N", scale=tone_scale(), legend=None),
            x2="high:Q",
            y2="cases:Q",
            tooltip=[
                alt.Tooltip("low:Q", title="from", format=".1e"),
                alt.Tooltip("high:Q", title="to", format=".1e"),
                alt.Tooltip("cases:Q", title="cases"),
            ],
        ),
    ).properties(width=width, height=height, usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
