"""The template of figures made of matrices: how Vega draws each kind of thing that a `Grid` holds.

`python -m attention_ui.figures.matrices.cells` writes the template down again, after it has changed.
"""

import altair as alt

from attention_ui.figures.layers import alt_layer, tone_scale
from attention_ui.figures.matrices.grid import (
    CELL_GAP,
    COLOURED,
    FIVE_APART,
    FOUR_APART,
    FOUR_AT_EASE,
    FOUR_LETTERS,
    LABEL_COLUMNS,
    LEFT,
    LONG_NUMBER,
    NAME_FONT,
    NUMBER_FONT,
    POWER_LETTER,
    PROJECTED_NUMBER,
    ROOMY_CELL,
    SMALL_LABEL_COLUMNS,
    SMALLEST_CELL,
    TITLE_FONT,
)
from attention_ui.figures.roles import BELOW_NUMBER, FIELD, FULL, NUMBER_UP, TINT, TIP, WITHOUT_NUMBER
from attention_ui.figures.template import template, write_down


def font_expression(font: tuple[float, float, float]) -> str:
    """The size of this font, as `font_size` has it, computed in the browser."""
    least, share, most = font
    return f"max(letters, min(max({least}, {share} * cell), {most}))"


def number_size(apart: float | str) -> str:
    """The size of numbers in cells that are so many times as large; where even four letters have little room, less."""
    least, _, most = NUMBER_FONT
    return f"max(min(cell / {apart}, {most}), min(max({least}, letters), cell / {FOUR_LETTERS}))"


# How long the bar of a number is, where 1 is half a cell.
BAR_LENGTHS = (
    "datum.kind === 'gradient' ? (datum.v < 0 ? -1 : 1) * sqrt(abs(datum.v)) : "
    "datum.kind === 'score' ? datum.v / datum.most : datum.v"
)
TITLE_SIZE = font_expression(TITLE_FONT)
# Numbers are written shortly where longer ones would have no room, on a projector in large letters.
SHORTLY = f"cell < (letters ? {FIVE_APART * PROJECTED_NUMBER:g} : {ROOMY_CELL})"
APART = f"({SHORTLY} ? {FOUR_APART} : longest > {LONG_NUMBER} ? {FIVE_APART} : {FOUR_AT_EASE})"
FITTING = number_size(APART)
POWER_OF_TEN = f"max({NUMBER_FONT[0]}, letters, min({FITTING}, cell / length(datum.text) / {POWER_LETTER}))"
NUMBER_SIZE = f"indexof(datum.text, 'e') > 0 ? {POWER_OF_TEN} : {FITTING}"
LAST = "data('cells')[length(data('cells')) - 1]"  # the corner, whose places are the numbers of columns and rows
CORNERS = {"columns": "gx", "rows": "gy", "narrow_columns": "nx", "narrow_rows": "ny", "longest": "v"}
PLACE = {"x": f"((narrow ? datum.nx : datum.gx) + {LEFT})", "y": "(narrow ? datum.ny : datum.gy)"}  # in cells
NAME_SIZE = font_expression(NAME_FONT)
MIDDLE = (1 - CELL_GAP) / 2  # of a place is the middle of its cell
LETTER_OF_AXIS = 0.5  # of its size
NUMBERED = f"datum.text && cell >= {SMALLEST_CELL}"


def grid_chart() -> alt.LayerChart:
    """The template of every figure made of matrices."""
    hover = alt.selection_point(
        name="hover", fields=["lights", "say"], on="pointerover", clear="pointerout", empty=False
    )
    pick = alt.selection_point(
        name="pick", fields=["cell_tag"], on="click", clear="dblclick", toggle=False, empty=False
    )
    cells = with_rings(fields(), hover, pick)
    return made_of_cells(alt_layer(), *cell_layers(cells), *name_layers(), *hint_layers())


def on_cells(*layers: alt.Chart) -> alt.LayerChart:
    """Layers on the grid, whose lengths are expressions of the parameter `cell`, the width of a cell in pixels.

    `letters` are the pixels of the smallest letters, where a projector needs them larger than cells would have them.
    Names that stand left of the `edge` have all the room there.
    Where the picture is `narrow`, everything stands at its second place.
    """
    return alt.layer(*layers).resolve_scale(color="independent", fill="independent", stroke="independent")


def made_of_cells(*layers: alt.Chart) -> alt.LayerChart:
    """As `on_cells`, as a picture of its own, as wide and as high as its box: the cells are as large as fit it.

    How many cells need room is told by the data, so that other numbers of them change the picture that is there. With
    them its box has its new height, before the signal says so: cells that waited for it would all be drawn twice. There
    is half a pixel more, so that rounded heights make no difference where the width is what limits cells.
    """
    height = "(max(height, containerSize()[1] || 0) + 0.5)"
    wide, narrow = (f"min(width / {way}columns, {height} / {way}rows)" for way in ("", "narrow_"))
    found = {name: f"length(data('cells')) ? {LAST}.{place} : 1" for name, place in CORNERS.items()}
    found |= {"narrow": "width < turn * columns", "cell": f"narrow ? {narrow} : {wide}"}
    return (
        on_cells(*layers)
        .add_params(*(alt.param(name=name, value=0) for name in ("turn", "letters")))
        .add_params(alt.param(name="edge", expr=str(SMALL_LABEL_COLUMNS + LEFT)))
        .add_params(*(alt.param(name=name, expr=expression) for name, expression in found.items()))
        .properties(autosize=alt.AutoSizeParams(type="none"), view={"stroke": None})
        .properties(padding={"left": 0, "right": 0, "top": 0, "bottom": 0})
        .properties(usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
    )


def rows_of(*kinds: str) -> alt.Chart:
    """What is drawn of these kinds.

    New data find by the key what was drawn of the same cell before, or at the same place what is no cell, and change
    it; else all would be drawn anew.
    """
    key = "cell_tag:N" if {*COLOURED, "masked"} >= {*kinds} else "place:N"
    wanted = " || ".join(f"datum.kind === '{kind}'" for kind in kinds)
    return alt.Chart(alt.NamedData(name="cells")).transform_filter(f"({wanted}) && {PLACE['y']} >= 0").encode(key=key)


def layer(*kinds: str) -> alt.Chart:
    """The same, each thing in the middle of its place of the grid."""
    middle = {axis: alt.value(alt.ExprRef(f"({place} + {MIDDLE}) * cell")) for axis, place in PLACE.items()}
    return rows_of(*kinds).encode(**middle)


def boxes(*kinds: str) -> alt.Chart:
    """The same as rectangles, each as large as its cell."""
    edges = {axis: alt.value(alt.ExprRef(f"{place} * cell")) for axis, place in PLACE.items()}
    ends = {f"{axis}2": alt.value(alt.ExprRef(f"({place} + {1 - CELL_GAP}) * cell")) for axis, place in PLACE.items()}
    return rows_of(*kinds).encode(**edges, **ends)


def fields() -> alt.Chart:
    """The fields on which numbers are drawn. What is masked has none, but can be pointed at."""
    return (
        boxes(*COLOURED, "masked")
        .transform_calculate(field="'ghost'")
        .mark_rect(cornerRadius=3, fillOpacity=alt.ExprRef(f"datum.kind === 'masked' ? 0 : {FIELD}"))
        .encode(fill=alt.Fill("field:N", scale=tone_scale(), legend=None))
    )


def quantities() -> alt.Chart:
    """What each number draws on its field, in the colour of its matrix.

    A weight is a square whose area is the weight, and a whole fills the field; below a number it is lighter, and stands
    on the floor of its cell. Any other number is a bar from the middle of its cell, to the right where it is positive,
    as long as it is large; one that is too long for its cell ends in a point.
    """
    length = f"clamp({BAR_LENGTHS}, -1, 1)"
    shoulder = f"(abs({BAR_LENGTHS}) > 1 ? {1 - TIP} : 1) * {length}"
    top, bottom = (f"({NUMBERED} ? {BELOW_NUMBER[at]} : {WITHOUT_NUMBER[at]})" for at in (0, 1))
    side = f"{FULL} * sqrt(clamp(datum.v, 0, 1))"
    floor = f"({NUMBERED} ? {FULL / 2} : {side} / 2)"
    x, y = (f"({place} + {MIDDLE}" for place in PLACE.values())  # an open bracket: what follows is added, in cells

    def pixels(*places: str) -> str:
        return " + ' ' + ".join(f"round(1000 * cell * {place}) / 1000" for place in places)

    square = (f"{x} - {side} / 2)", f"{y} + {floor} - {side})"), (f"{x} + {side} / 2)", f"{y} + {floor})")
    (left, upper), (right, lower) = square
    middle, end, before = f"{x})", f"{x} + {FULL / 2} * {length})", f"{x} + {FULL / 2} * {shoulder})"
    high, low = f"{y} + {FULL / 2} * {top})", f"{y} + {FULL / 2} * {bottom})"
    point = f"'L' + {pixels(end, f'{y} + {FULL / 4} * ({top} + {bottom}))')}"
    bar = (
        f"'M' + {pixels(middle, high)} + 'H' + {pixels(before)} + {point} + 'L' + {pixels(before, low)}"
        f" + 'H' + {pixels(middle)} + 'Z'"
    )
    drawn = f"'M' + {pixels(left, upper)} + 'H' + {pixels(right)} + 'V' + {pixels(lower)} + 'H' + {pixels(left)} + 'Z'"
    tint = f"{NUMBERED} && datum.kind === 'weight' ? (datum.tone === 'ink' ? {TINT['ink']} : {TINT['role']}) : 1"
    look = {"opacity": alt.ExprRef(tint), "shape": alt.ExprRef(f"datum.kind === 'weight' ? {drawn} : {bar}")}
    size = alt.ExprRef("isValid(datum.v) ? 4 : 0")  # of 4, a shape is drawn in pixels
    squares = rows_of(*COLOURED).mark_point(aria=False, filled=True, strokeWidth=0, size=size, **look)
    return squares.encode(tone(), x=alt.value(0), y=alt.value(0)).properties(name="quantities")


def with_rings(cells: alt.Chart, hover: alt.Parameter, pick: alt.Parameter) -> alt.Chart:
    """Cells that say what they are, and get a ring in the colour of their matrix when they are lit or picked."""
    lit = " || ".join(f"indexof(hover.lights[0], datum.{tag}) >= 0" for tag in ("row_tag", "column_tag", "cell_tag"))
    ringed = f"isValid(hover.lights) && ({lit}) || isValid(pick.cell_tag) && pick.cell_tag[0] === datum.cell_tag"
    return cells.encode(
        stroke=alt.condition(ringed, stroke_tone(), alt.value("transparent")),
        strokeWidth=alt.value(2.5),
        tooltip=alt.Tooltip("say:N", title=" "),
        description="say:N",
    ).add_params(hover, pick)


def cell_layers(cells: alt.Chart) -> list[alt.Chart]:
    """These fields, what is drawn on them, empty frames, the pattern of what is masked, and marks of what changed."""
    hatch = "M-1,1L1,-1M-1,0L0,-1M0,1L1,0"
    corner = {"shape": "M-1,-1L1,-1L1,1Z", "size": alt.ExprRef("pow(cell * 0.28, 2)")}  # leaves the number alone
    raised = f"datum.kind === 'weight' ? -{NUMBER_UP} * cell : 0"
    unshortened = f"cell < {ROOMY_CELL} ? '' : datum.text"
    shortly = f"datum.short ? datum.short : {unshortened}"
    written = f"cell < {SMALLEST_CELL} ? '' : {SHORTLY} ? ({shortly}) : datum.text"
    corner |= {"xOffset": alt.ExprRef("cell * 0.33"), "yOffset": alt.ExprRef("-cell * 0.33")}
    return [
        boxes("ghost").mark_rect(aria=False, cornerRadius=3, fillOpacity=0, strokeWidth=1).encode(stroke=stroke_tone()),
        cells,
        quantities(),
        layer("masked")
        .mark_point(aria=False, shape=hatch, size=alt.ExprRef("pow(cell * 0.62, 2)"), strokeWidth=1, filled=False)
        .encode(tone())
        .properties(name="hatches"),
        layer(*COLOURED)
        .mark_text(aria=False, fontSize=alt.ExprRef(NUMBER_SIZE), dy=alt.ExprRef(raised))
        .encode(text=alt.value(alt.ExprRef(written)), color=ink())
        .properties(name="numbers"),
        layer("changed")
        .mark_point(aria=False, strokeWidth=0, **corner)
        .encode(ink(), fill=alt.Fill("ink:N", scale=tone_scale(), legend=None)),
    ]


def name_layers() -> list[alt.Chart]:
    """Titles, shapes, and the names of rows and columns."""
    # At the left edge all that is left of it; further on at least what matrices keep for names.
    room = f"({PLACE['x']} < edge ? {PLACE['x']} + 1 : {LABEL_COLUMNS} + {LEFT})"
    # The name of an axis is never cut: what its letters, guessed, lack at the left edge it takes at its other end.
    lacking = (
        f"max(0, {LETTER_OF_AXIS} * {NAME_SIZE} * length(datum.text) - cell * ({PLACE['x']} + {MIDDLE + 0.5:g}) + 5)"
    )
    looks = {
        "title": {"fontSize": TITLE_SIZE, "fontWeight": "bold", "align": "left", "dx": "1 - cell / 2"},
        # Beside small cells the name of an axis needs the room where a shape would begin.
        "shape": {
            "fontSize": NAME_SIZE,
            "align": "left",
            "dx": "1 - cell / 2 + (cell < 26 && indexof(datum.text, '×') > 0 ? 0.75 * cell : 0)",
            "lineBreak": "\n",
        },
        "row": {"fontSize": NAME_SIZE, "align": "right", "dx": "cell / 2 - 5", "limit": f"cell * {room} - 5"},
        "axis": {"fontSize": NAME_SIZE, "align": "right", "dx": f"cell / 2 - 5 + {lacking}"},
        "column": {"fontSize": NAME_SIZE, "align": "left", "angle": 315, "dx": "-cell * 0.3"}
        | {"dy": "cell * 0.3", "limit": "cell * 2.2"},
        "letter": {"fontSize": NAME_SIZE, "align": "center"},
    }
    written = {
        kind: layer(kind).mark_text(aria=False, **measured(look)).encode(tone(), text="text:N")
        for kind, look in looks.items()
    }
    return list((written | {"row": written["row"].properties(name="rows")}).values())


def measured(look: dict) -> dict:
    """A look whose lengths, where they are written in words, are expressions."""
    lengths = {"fontSize", "dx", "dy", "limit"}
    return {name: alt.ExprRef(value) if name in lengths else value for name, value in look.items()}


def hint_layers() -> list[alt.Chart]:
    """Below the figure: what to do, and once a cell is pointed at, what it says."""
    look = {"aria": False, "fontSize": "max(13, letters)", "align": "left", "dx": "-cell / 2"}
    look = measured(look)
    unsaid = alt.condition("isValid(hover.say)", alt.value(0), alt.value(1))
    said = alt.value(alt.ExprRef("isValid(hover.say) ? hover.say[0] : ''"))
    unpointed = alt.value(alt.ExprRef(f"cell >= {SMALLEST_CELL} ? datum.text : datum.short"))
    return [
        layer("hint").mark_text(**look, lineBreak="\n").encode(tone(), text=unpointed, opacity=unsaid),
        layer("hint").mark_text(**look, limit=alt.ExprRef("width")).encode(text=said, color=ink()),
    ]


def tone() -> alt.Color:
    """The colour of the role that a thing plays."""
    return alt.Color("tone:N", scale=tone_scale(), legend=None)


def ink() -> alt.Color:
    """The colour of plain writing."""
    return alt.Color("ink:N", scale=tone_scale(), legend=None)


def stroke_tone() -> alt.Stroke:
    """As `tone`, for outlines."""
    return alt.Stroke("tone:N", scale=tone_scale(), legend=None)


if __name__ == "__main__":
    write_down("matrices/grid_chart", template(grid_chart))
