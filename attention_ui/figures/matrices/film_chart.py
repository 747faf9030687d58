"""The template of a film: curves with the moment marked on them, the matrices of the moment, and what moves it.

The browser plays it. Vega-Lite hands a parameter's `on` to Vega as it is, so a timer can move the moment.
"""

from collections import ChainMap

import altair as alt

from attention_ui.figures.curves.curves import CurveShape, numbers_apart
from attention_ui.figures.curves.curves_chart import curve_layers, x_axis, y_axis
from attention_ui.figures.layers import PHONE, alt_layer, role_colour
from attention_ui.figures.matrices.cells import boxes, cell_layers, fields, name_layers, on_cells
from attention_ui.figures.matrices.grid import CURVE_ROOM, LEFT, LONG_NUMBER, MOMENT, SMALL_LABEL_COLUMNS
from attention_ui.figures.shares.sharing_chart import SERIF
from attention_ui.figures.template import filled, template
from lessons.screen import translate
from words import cached_by_language

NOW = "datum.frame === moment"
TICK = 25  # milliseconds
PACES = (2, 5, 10, 20, 40)  # moments a second
USUAL_PACE = 5  # so that one can follow how a head forms
SAID, REST, ROOM_TO_SAY = 19, 14, 700  # pixels: letters, and from where on there is room for the large ones
WIDTH_OF_SAID = 0.48  # of a letter, in its height
NOWHERE = -1  # the choice of a jump before there was one
MATRICES = "matrices"  # the view that is made of cells
PRESSED = "pressed"  # the layer that is clicked
SPACING = 8  # pixels below what is said, and between curves below each other
AXIS_ROOM, NAMES_ROOM = 70, 20  # pixels: for axis or names at left


def views_of_film(width: int, beside: bool, letters: int, *shapes: CurveShape) -> dict:
    """What is said at the moment above its matrices, and curves of such shapes `beside` these, or below in a line
    if there is room for that.

    `width` are the pixels for all of it, `letters` those of the smallest; `film_template` adds what moves the film.
    Each view has a template of its own: Altair copies all views of a film several times over to join them.
    """
    if beside:  # below each other, they share the lowest x axis
        shapes = (*(shape._replace(numbered_x=False) for shape in shapes[:-1]), *shapes[-1:])
    curves, matrices = [template(curves_of_film, *shape) for shape in shapes], template(moving_matrices)
    said = template(sentence_of_film, width - (NAMES_ROOM if beside else AXIS_ROOM), letters)
    views, drawn = list(map(within, curves)), within(matrices)
    in_a_line = len(views) > 1 and sum(shape.width + CURVE_ROOM for shape in shapes) <= width
    below = [{"hconcat": views}] if in_a_line else views
    together = [{"hconcat": [drawn, {"vconcat": views, "spacing": SPACING}]}] if beside else [drawn, *below]
    return {
        "$schema": matrices["$schema"],
        "autosize": {"type": "pad"},
        "params": [param for spec in (said, matrices, *curves) for param in spec.get("params", ())],
        "spacing": SPACING,
        "usermeta": {"embedOptions": {"renderer": "svg", "actions": False}},
        "vconcat": [within(said), *together],
    }


def within(spec: dict) -> dict:
    """A specification as one view of several: what concerns the whole stands there."""
    return {name: part for name, part in spec.items() if name not in ("$schema", "params")}


@cached_by_language(maxsize=16)
def film_template(
    n_frames: int,
    cell: int,
    columns: float,
    rows: int,
    width: int,
    *shapes: CurveShape,
    jumps: tuple = (),
    letters: int = 0,
    columns_of_names: int = SMALL_LABEL_COLUMNS,
) -> dict:
    """The whole specification, without data, of matrices of so many columns and rows of cells of so many pixels.

    `jumps` are names of moments and their frames; `letters` have so many pixels at least. The names of the first rows
    take so many `columns_of_names`.
    The matrices stand beside the curves where `width` has room for both.
    """
    beside = stand_beside(cell * columns, width, *(shape.width for shape in shapes))
    apart = [numbers_apart(shape, place) for place, shape in enumerate(shapes)]
    spec = views_of_film(width, beside, letters, *(shape for shape, _ in apart))
    spec = filled(spec, ChainMap(*(numbers for _, numbers in apart)))
    sizes = {"cell": cell, "letters": letters, "narrow": False, "longest": LONG_NUMBER, "edge": columns_of_names + LEFT}
    whole = *({"name": name, "value": size} for name, size in sizes.items()), picking()
    moment = playing(n_frames, jumps) if n_frames > 1 else [{"name": "moment", "value": 0}]
    return with_cells(spec, cell * columns, cell * rows) | {"params": [*spec.get("params", ()), *whole, *moment]}


def stand_beside(maps: float, width: int, *curves: int) -> bool:
    """Whether curves of such widths have room beside maps."""
    return bool(curves) and maps + max(curves) + CURVE_ROOM <= width


def picking() -> dict:
    """A click picks a matrix. Vega hears it on all layers of its view that have a tooltip, were it an empty one."""
    point = {"type": "point", "fields": ["head", "standing"], "on": "click", "toggle": False}
    return {"name": "pick", "views": [PRESSED], "select": point}


def with_cells(view: dict, width: float, height: float) -> dict:
    """A specification whose matrices, wherever they stand in it, take so many pixels."""
    if view.get("name") == MATRICES:
        return view | {"width": width, "height": height}
    parts = {
        key: [with_cells(part, width, height) for part in view[key]] for key in ("vconcat", "hconcat") if key in view
    }
    return view | parts


def playing(n_frames: int, jumps: tuple[tuple[str, int], ...]) -> list[dict]:
    """What moves the moment: time while it plays, the slider, a jump. At the end it stops; playing then begins anew.

    Nothing plays before somebody asks for it: what a run has come to is seen first, and who asks for less motion is
    known to the browser alone.
    """
    last, tick = n_frames - 1, {"type": "timer", "throttle": TICK}
    on_time = f"playing && now() - shown >= 1000 / pace ? min({last}, moment + 1) : moment"
    on_mark = {"source": "view", "type": "click"}  # whose row says to which frame it belongs
    marked = "datum && isValid(datum.frame)"
    paces = {"input": "select", "options": list(PACES), "name": translate("frames a second")}
    slider = {"input": "range", "min": 0, "max": last, "step": 1, "name": translate("moment")}
    names = {"options": [NOWHERE, *(frame for _, frame in jumps)], "labels": ["–", *(name for name, _ in jumps)]}
    jump = {"name": "jump", "value": NOWHERE, "bind": {"input": "select", "name": translate("jump to")} | names}
    return [
        # Not on the signal of the moment, which listens to this one: Vega cannot begin with a circle.
        {
            "name": "playing",
            "value": False,
            "bind": {"input": "checkbox", "name": translate("play")},
            "on": [
                {"events": tick, "update": f"playing && moment < {last}"},
                {"events": on_mark, "update": f"playing && !({marked})"},
                *([{"events": {"signal": "jump"}, "update": f"playing && jump === {NOWHERE}"}] if jumps else []),
            ],
        },
        {"name": "pace", "value": USUAL_PACE, "bind": paces},
        {"name": "shown", "value": 0, "on": [{"events": {"signal": "moment"}, "update": "now()"}]},
        {
            "name": "moment",
            "value": last,
            "bind": slider,
            "on": [
                {"events": tick, "update": on_time},
                {"events": {"signal": "playing"}, "update": f"playing && moment === {last} ? 0 : moment"},
                {"events": on_mark, "update": f"{marked} ? datum.frame : moment"},
                *([{"events": {"signal": "jump"}, "update": f"jump === {NOWHERE} ? moment : jump"}] if jumps else []),
            ],
        },
        *([jump] if jumps else []),
    ]


def sentence_of_film(width: int, letters: int) -> alt.LayerChart:
    """What is said at the moment, in two lines of its own: however long they are, nothing else moves."""
    said = alt.Chart(alt.NamedData(name="said")).transform_filter(NOW)
    size, rest = max(SAID if width > ROOM_TO_SAY else REST, letters), max(REST, letters)
    on_a_phone = f"clamp((windowSize()[0] - 70) / length(datum.text) / {WIDTH_OF_SAID}, 10, {REST})"
    fitting = alt.ExprRef(f"windowSize()[0] < {PHONE} ? {on_a_phone} : {size}")
    large = said.mark_text(align="left", font=SERIF, fontSize=fitting, limit=width)
    small = said.mark_text(align="left", fontSize=rest, limit=width)
    lines = ((large, "text:N", 12), (small, "rest:N", 24 + rest))
    drawn = (text.encode(role_colour(), x=alt.value(0), y=alt.value(y), text=field) for text, field, y in lines)
    return alt.layer(*drawn).properties(width=width, height=36 + rest)


def curves_of_film(*settings: object) -> alt.LayerChart:
    """Curves of a shape, and on them a line at the moment and the number there."""
    shape = CurveShape(*settings)
    at = alt.Chart(alt.NamedData(name=f"{shape.film}moments")).transform_filter(NOW)
    letters = max(12, shape.letters)
    number = at.mark_text(align="right", dx=4, fontSize=letters, fontWeight="bold")
    marked = [
        at.mark_rule(strokeWidth=1.5).encode(x_axis(shape), role_colour("ink")),
        at.mark_point(filled=True, size=60, opacity=1).encode(x_axis(shape), y_axis(shape, "y"), role_colour("tone")),
        # above, clear of all names
        number.encode(x_axis(shape), role_colour("ink"), y=alt.value(-1.5 * letters), text="text:N"),
    ]
    return alt.layer(*curve_layers(shape), *marked).properties(width=shape.width, height=shape.height)


def moving_matrices() -> alt.LayerChart:
    """The matrices of the moment. Where a cell has a number, it is written as `cell_text` writes one of 0 to 1."""
    weight = f"datum['{MOMENT}' + moment]"
    tips = [alt.Tooltip("say:N", title=" "), alt.Tooltip("v:Q", title=translate("weight"), format=".3f")]
    pointed = boxes("weight").mark_rect(fillOpacity=0).encode(tooltip=tips)
    masked = boxes("masked").mark_rect(fillOpacity=0).encode(tooltip=tips[:1]).properties(name="masked")
    titles, _, *names = name_layers()
    titles = titles.encode(tooltip=alt.TooltipValue(None)).properties(name="titles")
    written = f"datum.kind === 'weight' && datum.text ? format({weight}, '.2f') : datum.text"
    parts = (*cell_layers(fields()), titles, *names, masked, pointed.properties(name=PRESSED))
    moving = (part.transform_calculate(v=weight, text=written, short=written) for part in parts)
    return on_cells(alt_layer(), *moving).properties(name=MATRICES)
