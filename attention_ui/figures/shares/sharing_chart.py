"""The template of numbers that become parts of one whole."""

import altair as alt

from attention_ui.figures.layers import PHONE, alt_layer, role_colour
from attention_ui.figures.shares.sharing import DEEP, WHOLE

SHARING_HEIGHT = WHOLE + DEEP + 60
GUTTER = 150  # pixels: for what the lines are, where the page is wider than a phone
SERIF = "Source Serif, Georgia, serif"
SLOT = "(width - gutter) / slots"


def sharing_chart(letters: int = 0) -> alt.LayerChart:
    """The template, whose parameter `slots` is the number of keys. It fills the width of the page, whatever that is.

    On a page wider than a phone, `letters` have so many pixels at least.
    """
    pick = alt.selection_point(
        name="pick", fields=["cell_tag"], on="click", clear="dblclick", toggle=False, empty=False
    )
    tint = alt.condition("isValid(pick.cell_tag) && pick.cell_tag[0] === datum.cell_tag", alt.value(0.14), alt.value(0))
    rects = {"sizes": {}, "numbers": {}, "frames": {"filled": False, "strokeDash": [3, 5], "strokeWidth": 1.5}}
    layers = [
        pointed("touch", cornerRadius=8).encode(fillOpacity=tint).add_params(pick),
        *(boxes(kind, cornerRadius=2, **look) for kind, look in rects.items()),
        of_kind("ribbons")
        .mark_area(aria=False, opacity=0.25, orient="horizontal")
        .encode(at("px"), down(), role_colour(), x2="px2:Q", detail="key:N"),
        pointed("whole", cornerRadius=3),
        *writing(letters),
    ]
    return across_the_page(layers, letters, SHARING_HEIGHT)


def across_the_page(layers: list[alt.Chart], letters: int, height: int) -> alt.LayerChart:
    """Layers in a picture as wide as the page and so many pixels high, with what their places are counted in."""
    params = [alt.param(name="narrow", expr=f"width < {PHONE}"), alt.param(name="slots", value=1)]
    params.append(alt.param(name="gutter", expr=f"narrow ? 0 : {GUTTER + 5 * letters}"))
    return (
        alt.layer(alt_layer(), *layers)
        .add_params(*params)
        .properties(height=height, autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
        .properties(padding={"left": 2, "right": 2, "top": 2, "bottom": 2}, view={"stroke": None})
        .properties(usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
    )


def of_kind(kind: str) -> alt.Chart:
    """What is drawn of this kind, at its pixels. New data find what was drawn before, by the key, and change it."""
    source = alt.Chart(alt.NamedData(name="sharing"), name=kind).transform_filter(f"datum.kind === '{kind}'")
    return source.transform_calculate(px=f"gutter + datum.x * {SLOT}", px2=f"gutter + datum.x2 * {SLOT}")


def at(field: str) -> alt.X:
    """A place in pixels from the left."""
    return alt.X(f"{field}:Q", scale=None, axis=None)


def down(field: str = "y") -> alt.Y:
    """A place in pixels from the top."""
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def boxes(kind: str, **look: object) -> alt.Chart:
    """Rectangles of a kind."""
    marks = of_kind(kind).mark_rect(aria=False, **look)
    return marks.encode(at("px"), down(), role_colour(), x2="px2:Q", y2="y2:Q", key="place:N")


def pointed(kind: str, **look: object) -> alt.Chart:
    """Rectangles that can be pointed at and say what they are."""
    drawn = of_kind(kind).mark_rect(cursor="pointer", **look)
    return drawn.encode(
        at("px"),
        down(),
        role_colour(),
        x2="px2:Q",
        y2="y2:Q",
        key="place:N",
        tooltip=alt.Tooltip("say:N", title=" "),
        description="say:N",
    )


def writing(letters: int) -> list[alt.Chart]:
    """Names, numbers, shares, and what each line is."""
    narrow_font, small = "clamp((width - gutter) / slots / 3.4, 10, 14)", f"(narrow ? 13 : {max(15, letters)})"
    looks = {
        "names": {"font": SERIF, "fontSize": f"narrow ? {narrow_font} : clamp({SLOT} / 3.6, 12, 22)", "limit": SLOT},
        "values": {"fontSize": f"clamp({SLOT} / 2.8, 9, {small})"},
        "amounts": {"fontSize": f"clamp({SLOT} / 2.8, 9, {small})"},
        "beyond": {"fontSize": "11"},
        "marks": {"fontSize": small},
        "asks": {"fontSize": small, "limit": "width - gutter"},
    }
    roomy = "narrow ? datum.narrow : datum.wide"
    # A text without a limit takes its room even where it is not seen, and the whole figure would give way to it.
    inside = {"font": SERIF, "fontSize": f"narrow ? 14 : {max(18, letters)}", "limit": f"datum.x2 * {SLOT} - 4"}
    fitting = {"shares": {"fontSize": small}, "inside": inside}
    return [
        *(words(kind, **look) for kind, look in looks.items()),
        *(words(kind, opacity=f"({roomy}) ? 1 : 0", **look) for kind, look in fitting.items()),
        beside("labels", fontSize=f"{small} + 1", fontWeight="bold"),
        beside("ways", fontSize=f"narrow ? 13 : {max(13, letters)}", opacity="narrow ? 0 : 1"),
    ]


def words(kind: str, font: str | None = None, **measures: str) -> alt.Chart:
    """Text of a kind, whose sizes are expressions."""
    look = {name: alt.ExprRef(value) for name, value in measures.items()} | ({"font": font} if font else {})
    text = of_kind(kind).mark_text(aria=False, baseline="middle", **look)
    return text.encode(at("px"), down(), role_colour(), text="text:N", key="place:N")


def beside(kind: str, fontWeight: str = "normal", **measures: str) -> alt.Chart:
    """What a line is: in the room at its left, or above it where there is none."""
    look = {name: alt.ExprRef(value) for name, value in measures.items()}
    placed = of_kind(kind).transform_calculate(left="0", line="narrow ? datum.y2 : datum.y")
    text = placed.mark_text(aria=False, align="left", baseline="middle", fontWeight=fontWeight, **look)
    return text.encode(at("left"), down("line"), role_colour(), text="text:N", key="place:N")
