"""The template of a film."""

import altair as alt

from attention_ui.figures.cells import cell_layers, coloured_cells, ink, layer, made_of_cells, name_layers
from attention_ui.figures.film import ALWAYS
from attention_ui.figures.layers import alt_layer


def film_chart(n_frames: int) -> alt.LayerChart:
    """The template for so many frames; it opens at the last one."""
    bind = alt.binding_range(min=0, max=n_frames - 1, step=1, name="moment ")
    moment = alt.param(name="moment", value=n_frames - 1, bind=bind)
    now = f"datum.frame === {ALWAYS} || datum.frame === moment"
    weight = alt.Tooltip("v:Q", title="weight", format=".3f")
    pointed = layer("weight").mark_rect(fillOpacity=0).encode(tooltip=[alt.Tooltip("say:N", title=" "), weight])
    sentence = (
        layer("shape")
        .mark_text(aria=False, fontSize=13, align="left", dx=alt.ExprRef("-cell / 2"))
        .encode(ink(), text="text:N")
    )
    titles, _, *names = name_layers()
    parts = [*cell_layers(coloured_cells()), titles, *names, sentence, pointed]
    return made_of_cells(alt_layer(), *(part.transform_filter(now) for part in parts)).add_params(moment)
