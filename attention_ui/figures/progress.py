"""How many answers are right while a model trains, and how much of its weight the best head puts on the right cells."""

from collections.abc import Sequence

import altair as alt
import pyarrow as pa

from attention_core.training import Evaluation
from attention_ui.figures.layers import alt_layer, tone_scale

RIGHT, WEIGHT, ENOUGH = "right answers", "weight on the right cells", "enough"
ROOM_FOR_NAMES = 0.45  # of the steps: before that a name stands to the right of its line's end, where it has room


def progress_tables(evaluations: Sequence[Evaluation], steps: int, enough_right: float) -> dict[str, pa.Table]:
    """One row for each evaluation and measure, and the line from which on enough answers are right."""
    rows = [{"step": m.step, "what": RIGHT, "value": m.accuracy, "tone": "v"} for m in evaluations]
    rows += [
        {"step": m.step, "what": WEIGHT, "value": m.weight, "tone": "weight"}
        for m in evaluations
        if m.best_role_weights
    ]
    for row in rows:
        row["align"] = "right" if row["step"] >= ROOM_FOR_NAMES * steps else "left"
    texts = [(name, pa.string()) for name in ("what", "tone", "align")]
    shape = pa.schema([("step", pa.int32()), ("value", pa.float32()), *texts])
    ends = {"first": [0], "last": [steps], "value": [enough_right], "tone": ["muted"], "what": [ENOUGH]}
    return {"progress": pa.Table.from_pylist(rows, shape), "enough": pa.table(ends)}


def progress_chart(width: int, height: int) -> alt.LayerChart:
    """The template: a line for each measure, named at its end; the line that is enough."""
    progress, enough = alt.Chart(alt.NamedData(name="progress")), alt.Chart(alt.NamedData(name="enough"))
    step = alt.X("step:Q", title="updates", axis=alt.Axis(tickMinStep=1, tickCount=6, titlePadding=4))
    share = alt.Y("value:Q", title="share", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))
    tone = alt.Color("tone:N", scale=tone_scale(), legend=None)
    told = [
        alt.Tooltip("what:N", title=" "),
        alt.Tooltip("step:Q", title="updates"),
        alt.Tooltip("value:Q", format=".3f"),
    ]
    last = progress.transform_joinaggregate(newest="max(step)").transform_filter("datum.step === datum.newest")
    dash = alt.StrokeDash("what:N", legend=None, scale=alt.Scale(domain=[RIGHT, WEIGHT], range=[[1, 0], [5, 3]]))
    return alt.layer(
        alt_layer(),
        enough.mark_rule(strokeDash=[4, 4]).encode(alt.X("first:Q"), share, tone, x2="last:Q"),
        enough.mark_text(align="left", dy=-7, fontSize=11).encode(alt.X("first:Q"), share, tone, text="what:N"),
        progress.mark_line(strokeWidth=2.5).encode(step, share, tone, dash),
        progress.mark_point(filled=True, size=35).encode(step, share, tone, tooltip=told),
        *(
            last.mark_text(align=alt.ExprRef("datum.align"), dy=away, fontSize=11).encode(
                step, share, tone, text=named_if(what, high)
            )
            for high, what, away in (
                ("true", RIGHT, 14),
                ("true", WEIGHT, 28),
                ("false", RIGHT, -24),
                ("false", WEIGHT, -10),
            )
        ),
    ).properties(
        width=width,
        height=height,
        autosize=alt.AutoSizeParams(type="pad"),
        usermeta={"embedOptions": {"renderer": "svg", "actions": False}},
    )


def named_if(what: str, high: str) -> dict:
    """The name of this measure where it is high, or low; no name elsewhere.

    The text decides, not a filter: a layer that may be without a row has no range, and Vega complains of it.
    """
    return alt.condition(
        f"datum.what === '{what}' && (datum.value > 0.5) === {high}", alt.Text("what:N"), alt.value("")
    )
