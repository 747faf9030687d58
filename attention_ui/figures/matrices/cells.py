"""The template of figures made of matrices: how Vega draws each kind of thing that a `Grid` holds.

`python -m attention_ui.figures.matrices.cells` writes the template down again, after it has changed.
"""

import altair as alt

from attention_ui.figures.layers import alt_layer, tone_scale
from attention_ui.figures.matrices.grid import CELL_GAP, COLOURED, LARGEST_CELL, NUMBER_FONT, TITLE_FONT
from attention_ui.figures.roles import BELOW_NUMBER, FIELD, FULL, NUMBER_UP, SCORE_DOMAIN, TINT, TIP, WITHOUT_NUMBER
from attention_ui.figures.template import template, write_down


def font_expression(font: tuple[float, float]) -> str:
    """The size of this font, as `font_size` has it, computed in the browser."""
    least, share = font
    return f"max({least}, letters, {share} * cell)"


# How long the bar of a number is, where 1 is half a cell.
BAR_LENGTHS = (
    "datum.kind === 'gradient' ? (datum.v < 0 ? -1 : 1) * sqrt(abs(datum.v)) : "
    f"datum.kind === 'score' ? datum.v / {SCORE_DOMAIN[1]} : datum.v"
)
SMALL, TITLE_SIZE = font_expression(NUMBER_FONT), font_expression(TITLE_FONT)


def grid_chart() -> alt.LayerChart:
    """The template of every figure made of matrices; `sized` gives it the size of its cells."""
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
    """
    return alt.layer(*layers).resolve_scale(color="independent", fill="independent", stroke="independent")


def made_of_cells(*layers: alt.Chart) -> alt.LayerChart:
    """As `on_cells`, as a picture of its own."""
    return (
        on_cells(*layers)
        .add_params(alt.param(name="cell", value=LARGEST_CELL), alt.param(name="letters", value=0))
        .properties(autosize=alt.AutoSizeParams(type="pad"))
        .properties(usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
    )


def layer(*kinds: str) -> alt.Chart:
    """What is drawn of these kinds, each thing at its place of the grid.

    New data find what was drawn at the same place before, by the key, and change it; else all would be drawn anew.
    """
    wanted = " || ".join(f"datum.kind === '{kind}'" for kind in kinds)
    gaps = alt.Scale(paddingInner=CELL_GAP, paddingOuter=0)
    return (
        alt.Chart(alt.NamedData(name="cells"))
        .transform_filter(wanted)
        .encode(x=alt.X("gx:O", axis=None, scale=gaps), y=alt.Y("gy:O", axis=None, scale=gaps), key="place:N")
    )


def fields() -> alt.Chart:
    """The fields on which numbers are drawn. What is masked has none, but can be pointed at."""
    return (
        layer(*COLOURED, "masked")
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
    end = f"round(100 * clamp({BAR_LENGTHS}, -1, 1)) / 100"  # of few lengths: Vega keeps each shape
    shoulder = f"(abs({BAR_LENGTHS}) > 1 ? {1 - TIP} : 1) * {end}"
    top, bottom = (f"(datum.text ? {BELOW_NUMBER[at]} : {WITHOUT_NUMBER[at]})" for at in (0, 1))
    point = f"'L' + {end} + ',' + ({top} + {bottom}) / 2"
    bar = f"'M0,' + {top} + 'H' + {shoulder} + {point} + 'L' + {shoulder} + ',' + {bottom} + 'H0Z'"
    area = "datum.kind === 'weight' ? clamp(datum.v, 0, 1) : 1"
    tint = f"datum.text && datum.kind === 'weight' ? (datum.tone === 'ink' ? {TINT['ink']} : {TINT['role']}) : 1"
    look = {
        "shape": f"datum.kind === 'weight' ? 'square' : {bar}",
        "size": f"isValid(datum.v) ? pow({FULL} * cell, 2) * ({area}) : 0",
        "opacity": tint,
        "yOffset": f"datum.text && datum.kind === 'weight' ? {FULL} * cell * (1 - sqrt({area})) / 2 : 0",
    }
    drawn = {name: alt.ExprRef(value) for name, value in look.items()}
    squares = layer(*COLOURED).mark_point(aria=False, filled=True, strokeWidth=0, **drawn)
    return squares.encode(tone()).properties(name="quantities")


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


def gaps_layer() -> alt.Chart:
    """Unseen: it keeps the gaps of the grid."""
    return layer("filler").mark_point(aria=False, opacity=0)


def cell_layers(cells: alt.Chart) -> list[alt.Chart]:
    """These fields, what is drawn on them, empty frames, the pattern of what is masked, and marks of what changed."""
    hatch = "M-1,1L1,-1M-1,0L0,-1M0,1L1,0"
    corner = {"shape": "M-1,-1L1,-1L1,1Z", "size": alt.ExprRef("pow(cell * 0.28, 2)")}  # leaves the number alone
    raised = f"datum.kind === 'weight' ? -{NUMBER_UP} * cell : 0"
    corner |= {"xOffset": alt.ExprRef("cell * 0.33"), "yOffset": alt.ExprRef("-cell * 0.33")}
    return [
        gaps_layer(),
        layer("ghost").mark_rect(aria=False, cornerRadius=3, fillOpacity=0, strokeWidth=1).encode(stroke=stroke_tone()),
        cells,
        quantities(),
        layer("masked")
        .mark_point(aria=False, shape=hatch, size=alt.ExprRef("pow(cell * 0.62, 2)"), strokeWidth=1, filled=False)
        .encode(tone())
        .properties(name="hatches"),
        layer(*COLOURED)
        .mark_text(aria=False, fontSize=alt.ExprRef(SMALL), dy=alt.ExprRef(raised))
        .encode(text="text:N", color=ink())
        .properties(name="numbers"),
        layer("changed")
        .mark_point(aria=False, strokeWidth=0, **corner)
        .encode(ink(), fill=alt.Fill("ink:N", scale=tone_scale(), legend=None)),
    ]


def name_layers() -> list[alt.Chart]:
    """Titles, shapes, and the names of rows and columns."""
    looks = {
        "title": {"fontSize": TITLE_SIZE, "fontWeight": "bold", "align": "left", "dx": "1 - cell / 2"},
        "shape": {"fontSize": f"{SMALL} + 0.5", "align": "left", "dx": "1 - cell / 2", "lineBreak": "\n"},
        "row": {"fontSize": f"{SMALL} + 1.5", "align": "right", "dx": "cell / 2 - 5"}
        | {"limit": "max(cell * 3 - 6, 56, letters * 5)"},
        "column": {"fontSize": f"{SMALL} + 0.5", "align": "left", "angle": 315, "dx": "-cell * 0.3"}
        | {"dy": "cell * 0.3", "limit": "cell * 2.2"},
        "letter": {"fontSize": f"{SMALL} + 1.5", "align": "center"},
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
    return [
        layer("hint").mark_text(**look, lineBreak="\n").encode(tone(), text="text:N", opacity=unsaid),
        layer("hint").mark_text(**look, limit=1100).encode(text=said, color=ink()),
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
