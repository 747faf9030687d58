"""The template of many small maps of weights."""

import altair as alt

from attention_ui.figures.layers import layered, role_colour, tone_scale
from attention_ui.figures.shares.head_maps import MAP_NAMES, MAP_SCORES


def head_maps_chart(width: int, height: int, letters: int = 0) -> alt.LayerChart:
    """The template: maps at their places in a picture of so many pixels, with `letters` of at least so many."""
    names, scores = max(MAP_NAMES, letters), max(MAP_SCORES, letters)
    across, down = alt.Scale(domain=[0, width], nice=False), alt.Scale(domain=[height, 0], nice=False)
    x, x2 = alt.X("x:Q", axis=None, scale=across), "x2:Q"
    y, y2 = alt.Y("y:Q", axis=None, scale=down), "y2:Q"
    cells = alt.Chart(alt.NamedData(name="map_cells")).transform_calculate(weight="'weight'").mark_rect(strokeWidth=0)
    frames = alt.Chart(alt.NamedData(name="map_frames")).transform_calculate(ink="'ink'", muted="'muted'")
    outline = alt.Stroke("tone:N", scale=tone_scale(), legend=None)
    words = {"align": "left", "baseline": "bottom", "aria": False}
    return layered(
        cells.encode(
            x,
            y,
            role_colour("weight"),
            x2=x2,
            y2=y2,
            tooltip=alt.Tooltip("say:N", title=" "),
            description="say:N",
        ),
        frames.mark_rect(filled=False, strokeWidth=1.5, aria=False).encode(x, y, outline, x2=x2, y2=y2),
        frames.mark_text(fontSize=names, fontWeight="bold", dy=-scores - 9, **words).encode(
            x, y, role_colour("ink"), text="name:N"
        ),
        frames.mark_text(fontSize=scores, dy=-5, **words).encode(x, y, role_colour("muted"), text="score:N"),
        size="pad",
        width=width,
        height=height,
    )
