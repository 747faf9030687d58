"""A few words with which a chart is written down: layers in one picture, all places in pixels, sizes from signals.

Nothing here has a scale or an axis but that of the roles. A place is an expression of `datum` and of signals, the
picture's `width` among them, so one specification serves every width.
"""

from collections.abc import Collection, Mapping, Sequence

from attention_ui.figures.roles import COLOUR_ROLES

SERIF, SANS = "Source Serif, Georgia, serif", "Source Sans, sans-serif"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def value(said: str | float) -> dict:
    """A channel that is computed for each row by an expression; numbers stay as they are."""
    return {"value": {"expr": said} if isinstance(said, str) else said}


def layer(
    mark: str,
    name: str,
    data: str,
    *,
    role: str = "'ink'",
    where: str = "",
    steps: Sequence[dict] = (),
    look: Mapping[str, object] = {},
    params: Collection[dict] = (),
    **channels: str | float,
) -> dict:
    """Marks of a kind for the rows of a table, at places that are expressions, in the colour of a `role`.

    Rows are left out unless they pass `where`; `steps` are transforms before that.
    """
    colour = {"field": "role", "type": "nominal", "scale": {"domain": list(COLOUR_ROLES), "range": "category"}}
    encoding = {channel: value(said) for channel, said in channels.items()} | {"color": {**colour, "legend": None}}
    found = {
        "name": name,
        "data": {"name": data},
        "mark": {"type": mark, "tooltip": None, "aria": False, **look},
        "transform": [*steps, *([{"filter": where}] if where else []), {"calculate": role, "as": "role"}],
        "encoding": encoding,
    }
    return found | ({"params": list(params)} if params else {})


def rect(name: str, data: str, x: str, x2: str, y: str, y2: str, *, look: Mapping[str, object] = {}, **more) -> dict:
    """A rectangle."""
    return layer("rect", name, data, x=x, x2=x2, y=y, y2=y2, look=look, **more)


def text(
    name: str,
    data: str,
    said: str,
    x: str,
    y: str,
    size: str,
    *,
    align: str = "left",
    weight: str = "400",
    font: str = SANS,
    look: Mapping[str, object] = {},
    **more,
) -> dict:
    """A text whose size, side and weight may be expressions; of several lines, where it has breaks."""
    written = {
        "font": font,
        "baseline": "middle",
        "lineBreak": "\n",
        "align": {"expr": align} if "?" in align else align,
        "fontWeight": {"expr": weight} if "?" in weight else weight,
        **look,
    }
    return layer("text", name, data, text=said, x=x, y=y, size=size, look=written, **more)


def unseen_alt() -> dict:
    """An unseen mark that carries the alternative text, as data: see `layers.alt_layer`."""
    said = {"text": {"value": ""}, "description": {"field": "text", "type": "nominal"}}
    return {"data": {"name": "alt"}, "mark": {"type": "text", "opacity": 0}, "encoding": said}


def picture(layers: Sequence[dict], signals: Mapping[str, str | float | bool]) -> dict:
    """Layers in a picture as wide as the page; `height` is one of the signals."""
    params = ({"name": name, **({"expr": s} if isinstance(s, str) else {"value": s})} for name, s in signals.items())
    return {
        "$schema": SCHEMA,
        "height": 400,
        "autosize": {"type": "none", "contains": "padding"},
        "padding": {"left": 2, "right": 2, "top": 2, "bottom": 2},
        "view": {"stroke": None},
        "usermeta": {"embedOptions": {"renderer": "svg", "actions": False}},
        "params": list(params),
        "layer": [unseen_alt(), *layers],
    }
