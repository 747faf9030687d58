"""Curves over d_k, with and without the division, the chosen d_k marked."""

import altair as alt
import pyarrow as pa

from attention_core.measures import MEASURES, ScaleMeasures
from attention_ui.figures.layers import alt_layer, tone_scale

TITLES = {
    "std": "standard deviation of the scores",
    "largest": "largest weight",
    "entropy": "entropy of a row (nats)",
    "jacobian": "norm of the softmax Jacobian",
}


def curves_table(measured: tuple[ScaleMeasures, ...], d_k: int) -> pa.Table:
    """One row for each d_k, way of scaling and measure."""
    return pa.Table.from_pylist(
        [
            {
                "d_k": m.d_k,
                "way": "divided by √d_k" if m.divided else "as they are",
                "tone": "q" if m.divided else "k",
                "measure": measure,
                "value": getattr(m, measure),
                "chosen": m.d_k == d_k,
            }
            for m in measured
            for measure in MEASURES
        ]
    )


def curve_chart(measure: str, width: int, height: int) -> alt.LayerChart:
    """The template for one measure."""
    source = alt.Chart(alt.NamedData(name="curves")).transform_filter(alt.datum.measure == measure)
    d_k = alt.X("d_k:Q", title="d_k", scale=alt.Scale(type="log", base=2), axis=alt.Axis(titlePadding=4, tickCount=5))
    value = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=5))
    tone = alt.Color("tone:N", scale=tone_scale(), legend=None)
    tooltip = [
        alt.Tooltip("way:N", title="scores"),
        alt.Tooltip("d_k:Q", title="d_k"),
        alt.Tooltip("value:Q", title=TITLES[measure], format=".3f"),
    ]
    name = source.transform_filter(alt.datum.d_k == 512).mark_text(align="right", dy=-9, fontSize=11)
    return alt.layer(
        alt_layer(),
        source.mark_line(strokeWidth=2.5).encode(d_k, value, tone, strokeDash=alt.StrokeDash("way:N", legend=None)),
        source.mark_point(filled=True, size=45).encode(d_k, value, tone, tooltip=tooltip),
        source.transform_filter("datum.chosen").mark_point(size=260, strokeWidth=2).encode(d_k, value, tone),
        name.encode(d_k, value, tone, text="way:N"),
    ).properties(
        title=alt.TitleParams(TITLES[measure], fontSize=13, offset=10),
        width=width,
        height=height,
        usermeta={"embedOptions": {"renderer": "svg", "actions": False}},
    )
