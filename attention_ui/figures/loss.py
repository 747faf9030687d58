"""The loss while a model trains, between the baselines that give it a meaning."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pyarrow as pa

from attention_core.tasks import Baseline
from attention_core.training import Evaluation
from attention_ui.figures.layers import alt_layer, tone_scale
from lessons.task_texts import baseline_name

MOST_POINTS = 400


def loss_tables(
    losses: np.ndarray, steps: int, baselines: list[Baseline], evaluations: Sequence[Evaluation] = ()
) -> dict[str, pa.Table]:
    """The curve so far, thinned to what a screen can show, the held-out losses, and the baselines."""
    last = len(losses) - 1
    shown = np.append(np.arange(0, last, -(-last // (MOST_POINTS - 1)) or 1), last)
    return {
        "losses": pa.table({"step": pa.array(shown, pa.int32()), "loss": pa.array(losses[shown], pa.float32())}),
        "held_out": pa.table(
            {
                "step": pa.array([m.step for m in evaluations], pa.int32()),
                "loss": pa.array([m.loss for m in evaluations], pa.float32()),
            }
        ),
        "baselines": pa.table(
            {
                "name": [f"{baseline_name(b)}: {b.loss:.2f}" for b in baselines],
                "loss": pa.array([b.loss for b in baselines], pa.float32()),
                "first": pa.array([0] * len(baselines), pa.int32()),
                "last": pa.array([steps] * len(baselines), pa.int32()),
            }
        ),
    }


def loss_chart(width: int, height: int, unit: str, with_held_out: bool) -> alt.LayerChart:
    """The template: the baselines, named; the curve; perhaps dots for held-out losses; the step nearest the pointer.

    Without a single held-out loss there must be no layer for them: Vega looks for their range in vain, and says so.
    """
    losses, baselines = alt.NamedData(name="losses"), alt.NamedData(name="baselines")
    near = alt.selection_point(
        name="near", fields=["step"], nearest=True, on="pointerover", clear="pointerout", empty=False
    )
    step = alt.X(
        "step:Q",
        title="updates",
        axis=alt.Axis(tickMinStep=1, tickCount=6, titlePadding=4),
        scale=alt.Scale(nice=False),
    )
    loss = alt.Y("loss:Q", title=f"loss ({unit})", axis=alt.Axis(tickCount=5, titlePadding=8))

    def tone(name: str) -> alt.Color:
        return alt.Color(f"{name}:N", scale=tone_scale(), legend=None)

    guides = alt.Chart(baselines).transform_calculate(muted="'muted'")
    curve = alt.Chart(losses).transform_calculate(weight="'weight'")
    dots = alt.Chart(alt.NamedData(name="held_out")).transform_calculate(q="'q'")
    told = [alt.Tooltip("step:Q", title="updates"), alt.Tooltip("loss:Q", title="held-out loss", format=".3f")]
    points = curve.mark_point(filled=True, size=70).encode(
        step, loss, tone("weight"),
        opacity=alt.condition(near, alt.value(1), alt.value(0)),
        tooltip=[alt.Tooltip("step:Q", title="updates"), alt.Tooltip("loss:Q", title="loss", format=".3f")],
    )  # fmt: skip
    return alt.layer(
        alt_layer(),
        guides.mark_rule(strokeDash=[4, 4]).encode(alt.X("first:Q"), loss, tone("muted"), x2="last:Q"),
        guides.mark_text(align="right", dy=-7, fontSize=11).encode(alt.X("last:Q"), loss, tone("muted"), text="name:N"),
        curve.mark_line(strokeWidth=2.5).encode(step, loss, tone("weight")),
        *([dots.mark_point(filled=True, size=30).encode(step, loss, tone("q"), tooltip=told)] if with_held_out else []),
        points.add_params(near),
    ).properties(
        width=width,
        height=height,
        autosize=alt.AutoSizeParams(type="pad"),
        usermeta={"embedOptions": {"renderer": "svg", "actions": False}},
    )
