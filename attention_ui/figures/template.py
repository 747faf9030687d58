"""Charts built once and shown often: building an Altair object takes longer than all else on a page."""

import json
from collections.abc import Callable, Hashable, Mapping

import pyarrow as pa

from words import cached_by_language

VALIDATE = False


@cached_by_language(maxsize=128)
def template(builder: Callable, *settings: Hashable) -> dict:
    """The Vega-Lite specification of `builder(*settings)`, without data. Shared by all: never change it.

    Whether it is one, Altair finds out in a third of the time that all of this takes: the tests ask, pages do not.
    """
    import altair as alt  # who builds a chart has it by now; who reads a written one need not wait for it

    with alt.theme.enable("none"):
        spec = builder(*settings).to_dict(validate=VALIDATE)
    spec.pop("config", None)
    return spec


def filled(spec: dict, told: Mapping[str | int, object]) -> dict:
    """A specification with what is `told` in the place of its names: so many figures that differ in a few numbers are
    made of one template. A name may be a number that stands for another, then also within a formula; where it is a
    text, it is the whole of one.
    """
    text = json.dumps(spec)
    for name, value in told.items():
        text = text.replace(json.dumps(name), json.dumps(value))
    assert not any(str(name) in text for name in told), told
    return json.loads(text)


def fitted(spec: dict, **told: float) -> dict:
    """A template whose parameters of these names have these values."""
    assert told.keys() <= {param["name"] for param in spec["params"]}, told
    params = (param | ({"value": told[param["name"]]} if param["name"] in told else {}) for param in spec["params"])
    return spec | {"params": list(params)}


def alt_table(text: str) -> pa.Table:
    """The data of `alt_layer`."""
    return pa.table({"text": [text]})
