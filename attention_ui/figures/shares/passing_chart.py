"""The template of a row that is read block by block, and what moves it from block to block."""

import altair as alt

from attention_ui.figures.layers import role_colour
from attention_ui.figures.playing import PACES, playing
from attention_ui.figures.shares.passing import EVER, PASSING_HEIGHT
from attention_ui.figures.shares.sharing_chart import SERIF, SLOT, across_the_page, at, down
from attention_ui.figures.template import fitted, template
from words import cached_by_language

BARS = {"numbers": {}, "sizes": {}, "whole": {}, "output": {}, "waiting": {"filled": False, "strokeDash": [3, 5]}}


def passing_chart(letters: int = 0) -> alt.LayerChart:
    """The template, whose parameter `slots` is the number of keys. It fills the width of the page, whatever that is.

    On a page wider than a phone, `letters` have so many pixels at least where there is room for them.
    """
    drawn = of_moment("block").mark_rect(aria=False, opacity=0.1, cornerRadius=8)
    layers = [
        placed(drawn),
        *(boxes_of_moment(kind, **look) for kind, look in BARS.items()),
        level(),
        *written_parts(letters),
    ]
    layers += [pointed_at("touch", fillOpacity=0), pointed_at("output", fillOpacity=0)]
    return across_the_page(layers, letters, PASSING_HEIGHT)


@cached_by_language(maxsize=64)
def passing_template(slots: int, n_moments: int, letters: int = 0) -> dict:
    """The whole specification, without data. It stands at its end until somebody plays it."""
    spec = fitted(template(passing_chart, letters), slots=slots)
    moves = playing(n_moments) if n_moments > 1 else [{"name": "moment", "value": 0}]
    slowly = [param | {"value": PACES[0]} if param["name"] == "pace" else param for param in moves]
    return spec | {"params": [*spec.get("params", ()), *slowly]}


def of_moment(kind: str) -> alt.Chart:
    """What is drawn of this kind at the moment, at its pixels."""
    source = alt.Chart(alt.NamedData(name="passing"), name=f"passing_{kind}")
    now = f"datum.kind === '{kind}' && (datum.moment === moment || datum.moment === {EVER})"
    return source.transform_filter(now).transform_calculate(
        px=f"gutter + datum.x * {SLOT}", px2=f"gutter + datum.x2 * {SLOT}"
    )


def placed(marks: alt.Chart) -> alt.Chart:
    """Rectangles from corner to corner; each is found again at another moment, and so moves there."""
    return marks.encode(at("px"), down(), role_colour(), x2="px2:Q", y2="y2:Q", key="place:N")


def boxes_of_moment(kind: str, **look: object) -> alt.Chart:
    """Rectangles of a kind."""
    return placed(of_moment(kind).mark_rect(aria=False, **look))


def pointed_at(kind: str, **look: object) -> alt.Chart:
    """Unseen rectangles that say what they are where the pointer meets them."""
    marks = of_moment(kind).properties(name=f"pointed_{kind}").mark_rect(**look)
    return placed(marks).encode(tooltip=alt.Tooltip("say:N", title=" "), description="say:N")


def level() -> alt.Chart:
    """The line at the largest score so far."""
    rule = of_moment("largest").mark_rule(aria=False, strokeWidth=2, strokeDash=[6, 3])
    return rule.encode(at("px"), down(), role_colour(), x2="px2:Q", key="place:N")


def written_parts(letters: int) -> list[alt.Chart]:
    """Names, numbers, and what each line is."""
    small = f"(narrow ? 12 : {max(14, letters)})"
    fitting = f"clamp({SLOT} / 3, 8, {small})"
    looks = {
        "names": {"font": SERIF, "fontSize": f"narrow ? clamp({SLOT} / 3.4, 9, 13) : clamp({SLOT} / 3.6, 12, 18)"},
        "values": {"fontSize": fitting},
        "amounts": {"fontSize": fitting},
        "results": {"fontSize": small},
    }
    return [
        *(text_of_moment(kind, "px", "y", **look) for kind, look in looks.items()),
        text_of_moment(
            "titles",
            "left",
            "line",
            align="left",
            fontWeight="bold",
            fontSize=f"{max(15, letters)}",
            opacity="narrow ? 0 : 1",
        ),
        text_of_moment("ways", "left", "line", align="left", fontSize=f"narrow ? 12 : {max(13, letters)}"),
    ]


def text_of_moment(
    kind: str,
    x: str,
    y: str,
    *,
    font: str | None = None,
    align: str = "center",
    fontWeight: str = "normal",
    **measures: str,
) -> alt.Chart:
    """Text of a kind, whose sizes are expressions; titles stand at the left, or above their line on a phone."""
    look = {name: alt.ExprRef(value) for name, value in measures.items()} | ({"font": font} if font else {})
    source = of_moment(kind).transform_calculate(left="0", line="narrow ? datum.y2 : datum.y")
    marks = source.mark_text(aria=False, baseline="middle", align=align, fontWeight=fontWeight, **look)
    return marks.encode(at(x), down(y), role_colour(), text="text:N", key="place:N")
