"""The template for figures of curves: a band, named levels, lines, points, and the numbers nearest to the pointer."""

import altair as alt

from attention_ui.figures.curves.curve_names import LETTERS_OF_NAMES, NAME_HEIGHT
from attention_ui.figures.curves.curves import LEAST_OF_WIDTH, NARROW, CurveShape, numbers_apart
from attention_ui.figures.layers import layered, role_colour, width_on_a_phone
from attention_ui.figures.template import filled, template
from lessons.screen import translate
from words import cached_by_language

DASHES = {"line": [1, 0], "dashed": [5, 3], "dots": [1, 0]}


def curves_chart(*settings: object) -> alt.LayerChart:
    """The template for one shape: as wide as that says, but on a phone as wide as its page, where that is narrower."""
    shape = CurveShape(*settings)
    width = width_on_a_phone(shape.width)
    narrow = alt.param(name="narrow", expr=f"width < {LEAST_OF_WIDTH * shape.width}")
    title = {"title": alt.TitleParams(shape.y, fontSize=max(13, shape.letters), offset=10)} if shape.above else {}
    return layered(*curve_layers(shape), width=shape.width, height=shape.height, **title).add_params(width, narrow)


@cached_by_language(maxsize=32)
def curves_template(shape: CurveShape) -> dict:
    """The specification for one shape, without data. Shared by all: never change it."""
    shape, numbers = numbers_apart(shape)
    return filled(template(curves_chart, *shape), numbers)


def curve_layers(shape: CurveShape) -> list[alt.Chart]:
    """All that is drawn. A layer that would have no rows is left out: Vega looks for its range in vain."""
    source = table("curves")
    x, tone = x_axis(shape), role_colour()
    y = y_axis(shape, "y")
    line = source.transform_filter("datum.style !== 'dots'").mark_line(strokeWidth=2.5)
    dash = alt.StrokeDash("style:N", legend=None, scale=alt.Scale(domain=list(DASHES), range=list(DASHES.values())))
    layers = []
    if shape.banded:
        layers.append(
            source.mark_area(opacity=0.25).encode(x, y_axis(shape, "low"), tone, detail="line:N", y2="high:Q")
        )
    if shape.levelled:
        layers += levels(shape)
    layers += [line.encode(x, y, tone, dash, detail="line:N"), nearest_point(shape, source, x, y, tone)]
    if shape.chosen:
        layers.append(source.transform_filter("datum.chosen").mark_point(size=260, strokeWidth=2).encode(x, y, tone))
    if shape.named:
        names = table("names").mark_text(
            align=alt.ExprRef(of_place("align")),
            dx=alt.ExprRef(of_place("aside")),
            dy=alt.ExprRef(of_place("away")),
            fontSize=letters_of(shape),
        )
        layers.append(names.encode(x, y, tone, text="name:N"))
    if shape.marked:
        layers += marks(shape, x)
    return layers


def letters_of(shape: CurveShape) -> int:
    """The pixels of the letters of names."""
    return max(LETTERS_OF_NAMES, shape.letters)


def letters_of_axis(shape: CurveShape) -> dict[str, int]:
    """The pixels of the letters of an axis, where the theme shall not say so."""
    return dict.fromkeys(("labelFontSize", "titleFontSize"), shape.letters) if shape.letters else {}


def table(name: str) -> alt.Chart:
    """A chart of one of the tables of curves."""
    return alt.Chart(alt.NamedData(name=name))


def of_place(column: str) -> str:
    """What a column says of the place of a name, on a phone or elsewhere."""
    return f"(narrow ? datum.{NARROW}{column} : datum.{column})"


def x_axis(shape: CurveShape) -> alt.X:
    """The axis that all curves share."""
    kind = {"type": "log", "base": 2} if shape.logarithmic else {"nice": False}
    ends = {} if shape.x_domain is None else {"domain": list(shape.x_domain)}
    steps = {"tickMinStep": 1} if shape.whole else {}
    axis = alt.Axis(tickCount=5 if shape.logarithmic else 6, titlePadding=4, **steps, **letters_of_axis(shape))
    return alt.X("x:Q", title=shape.x, scale=alt.Scale(**kind, **ends), axis=axis)


def y_axis(shape: CurveShape, field: str) -> alt.Y:
    """The axis of the numbers, for one of the columns."""
    ends = {} if shape.y_domain is None else {"domain": list(shape.y_domain)}
    kind = {"type": "log", "base": 10} if shape.logarithmic_y else {}
    scale = {"scale": alt.Scale(**kind, **ends)} if kind or ends else {}
    written = {"format": "%"} if shape.percent else {"format": ",~g"} if shape.logarithmic_y else {}
    bare = {"values": []} if shape.unnumbered else {}
    axis = alt.Axis(tickCount=5, titlePadding=8, **written, **bare, **letters_of_axis(shape))
    return alt.Y(f"{field}:Q", title=None if shape.above else shape.y, axis=axis, **scale)


def levels(shape: CurveShape) -> list[alt.Chart]:
    """A dashed line across the picture for each level, and its name at one of its ends."""
    source = table("levels").transform_calculate(muted="'muted'")
    tone = role_colour("muted")
    align = of_place("align")
    side = {"align": alt.ExprRef(align), "x": alt.ExprRef(f"{align} === 'left' ? 0 : width")}
    rule = source.mark_rule(strokeDash=[4, 4], strokeWidth=1)
    name = source.mark_text(
        dy=alt.ExprRef(of_place("away")),
        fontSize=letters_of(shape),
        lineBreak="\n",
        lineHeight=NAME_HEIGHT * letters_of(shape) / LETTERS_OF_NAMES,
        **side,
    )
    said = alt.value(alt.ExprRef(of_place("name")))
    return [rule.encode(y_axis(shape, "y"), tone), name.encode(y_axis(shape, "y"), tone, text=said)]


def marks(shape: CurveShape, x: alt.X) -> list[alt.Chart]:
    """A dotted line from top to bottom at each mark, and its name beside it."""
    source, tone = table("marks"), role_colour()
    down = alt.ExprRef(f"{of_place('from_top')} * {shape.height} + {of_place('down')}")
    beside = {"align": alt.ExprRef(of_place("align")), "dx": alt.ExprRef(of_place("away")), "fontWeight": "bold"}
    name = source.mark_text(y=down, fontSize=letters_of(shape), **beside)
    rule = source.mark_rule(strokeDash=[2, 3], strokeWidth=2)
    tip = alt.Tooltip("x:Q", title=shape.x)
    return [rule.encode(x, tone, tooltip=tip), name.encode(x, tone, text="name:N", tooltip=tip)]


def nearest_point(shape: CurveShape, source: alt.Chart, x: alt.X, y: alt.Y, tone: alt.Color) -> alt.Chart:
    """The points: those that are always seen, and the one nearest to the pointer, with its numbers."""
    near = alt.selection_point(
        name="near", fields=["x", "line"], nearest=True, on="pointerover", clear="pointerout", empty=False
    )
    written = ".1%" if shape.percent else ",.4~r" if shape.logarithmic_y else ".3f"
    edges = (("low", translate("least")), ("high", translate("most"))) if shape.banded else ()
    says = [
        alt.Tooltip("line:N", title=translate("curve")),
        alt.Tooltip("x:Q", title=shape.x),
        *(alt.Tooltip(f"{field}:Q", title=title, format=written) for field, title in (("y", shape.y), *edges)),
    ]
    seen = {"test": {"or": ["datum.dot", {"param": "near", "empty": False}]}, "value": 1}
    point = source.mark_point(filled=True, size=40)
    return point.encode(x, y, tone, opacity=alt.OpacityValue(0, condition=seen), tooltip=says).add_params(near)
