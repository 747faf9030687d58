"""Charts built once and shown often: building an Altair object takes longer than all else on a page."""

import functools
from collections.abc import Callable

import altair as alt


@functools.lru_cache(maxsize=128)
def template(builder: Callable[..., alt.TopLevelMixin], *settings: int | str) -> dict:
    """The Vega-Lite specification of `builder(*settings)`, without data. Shared by all: never change it."""
    with alt.theme.enable("none"):
        spec = builder(*settings).to_dict()
    spec.pop("config", None)
    return spec
