"""How alike two places are over the distance between them: the mean, and the band of all pairs that far apart."""

import altair as alt
import pyarrow as pa

from attention_core.permutation import Similarity
from attention_ui.figures.layers import alt_layer, tone_scale


def distance_table(similarity: Similarity) -> pa.Table:
    """One row for each distance."""
    return pa.table(
        {
            "distance": pa.array(similarity.distances, pa.int16()),
            **{name: pa.array(getattr(similarity, name), pa.float32()) for name in ("mean", "least", "most")},
        }
    )


def distance_chart(width: int, height: int) -> alt.LayerChart:
    """The template: the band, the curve, and the numbers of the distance nearest to the pointer."""
    source = alt.Chart(alt.NamedData(name="distances")).transform_calculate(weight="'weight'", muted="'muted'")
    near = alt.selection_point(
        name="near", fields=["distance"], nearest=True, on="pointerover", clear="pointerout", empty=False
    )
    distance = alt.X(
        "distance:Q", title="places from the one that asks to the one that answers", scale=alt.Scale(nice=False)
    )
    cosine = alt.Scale(domain=[-1, 1])

    def value(name: str) -> alt.Y:
        return alt.Y(f"{name}:Q", title="cosine", scale=cosine, axis=alt.Axis(tickCount=5))

    def tone(name: str) -> alt.Color:
        return alt.Color(f"{name}:N", scale=tone_scale(), legend=None)

    points = source.mark_point(filled=True, size=80).encode(
        distance, value("mean"), tone("weight"),
        opacity=alt.condition(near, alt.value(1), alt.value(0)),
        tooltip=[
            alt.Tooltip("distance:Q", title="distance"),
            *(alt.Tooltip(f"{name}:Q", title=f"{name} cosine", format=".3f") for name in ("mean", "least", "most")),
        ],
    )  # fmt: skip
    return alt.layer(
        alt_layer(),
        source.mark_area(opacity=0.25).encode(distance, value("least"), tone("weight"), y2="most:Q"),
        alt.Chart(alt.NamedData(name="distances"))
        .transform_calculate(zero="0", muted="'muted'")
        .mark_line(strokeDash=[4, 4], strokeWidth=1)
        .encode(distance, alt.Y("zero:Q", scale=cosine), tone("muted")),
        source.mark_line(strokeWidth=2.5).encode(distance, value("mean"), tone("weight")),
        points.add_params(near),
    ).properties(width=width, height=height, usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
