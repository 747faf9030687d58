"""Charts built once and shown often: building an Altair object takes longer than all else on a page."""

import functools
from collections.abc import Callable

import altair as alt
import pyarrow as pa


@functools.lru_cache(maxsize=128)
def template(builder: Callable[..., alt.TopLevelMixin], *settings: int | str) -> dict:
    """The Vega-Lite specification of `builder(*settings)`, without data. Shared by all: never change it."""
    with alt.theme.enable("none"):
        spec = builder(*settings).to_dict()
    spec.pop("config", None)
    return spec


def alt_layer() -> alt.Chart:
    """An unseen mark that carries the alternative text, as data.

    Text given to Streamlit's own `alt` becomes part of the specification, and a chart whose specification
    changes is thrown away and drawn anew, with a flicker.
    """
    chart = alt.Chart(alt.NamedData(name="alt")).mark_text(opacity=0)
    return chart.encode(text=alt.value(""), description="text:N")


def alt_table(text: str) -> pa.Table:
    """The data of `alt_layer`."""
    return pa.table({"text": [text]})
