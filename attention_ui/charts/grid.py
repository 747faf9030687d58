"""Matrices on a common grid: cells with their numbers, linked so that pointing at one lights its sources.

All matrices of a figure lie in one view and one table. Each row of the table is something drawn at one
place of the grid. Which cells light up when one is pointed at is data as well: a cell `lights` a list of
tags, and every cell that carries one of them gets a ring, in the browser, without asking the server.
A click picks a cell, which keeps its ring; whoever shows the figure may ask for the picked cell's tag.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import altair as alt
import pyarrow as pa

from attention_ui.charts.template import alt_layer
from attention_ui.charts.tones import score_scale, tone_scale, weight_scale

POINT_AT = "Point at a number to see where it comes from."
POINT_AT_CELL = "Point at a cell to see its number and where it comes from."
SMALLEST_CELL, LARGEST_CELL = 23, 32
SMALLEST_CELL_WITHOUT_NUMBER = 11
NUMBER_FONT, TITLE_FONT = (8.5, 0.345), (11, 0.42)  # the least size in pixels, and the share of a cell


@dataclass(frozen=True)
class Matrix:
    """What to draw of one matrix. `kind` picks the colours: "score" diverges around 0, "weight" starts at 0."""

    key: str
    title: str
    values: Sequence[Sequence[float]]
    kind: str = "score"
    tone: str = "ink"
    visible: Sequence[Sequence[bool]] | None = None  # False draws the cell as masked
    drawn: bool = True  # False leaves empty frames where the cells will be
    changed: Sequence[Sequence[bool]] | None = None  # True marks the cell
    tiny: bool = False  # numbers that two decimals would hide are written as powers of ten

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.values), len(self.values[0])


@dataclass
class Grid:
    """Collects what is drawn, place by place, and hands it over as one table."""

    lights: Callable[[str, int, int], Iterable[str]]
    say: Callable[[str, int, int], str]
    rows: list[tuple] = field(default_factory=list)
    width: int = 0
    height: int = 0

    FIELDS = ("gx", "gy", "kind", "tone", "v", "text", "say", "lights", "row_tag", "column_tag", "cell_tag")

    def matrix(self, matrix: Matrix, left: int, top: int, *, numbered: bool = True) -> None:
        """Its cells, the upper left one at (left, top), with their numbers or with colour alone."""
        for i, line in enumerate(matrix.values):
            for j, value in enumerate(line):
                text = (tiny_text if matrix.tiny else cell_text)(value) if numbered else ""
                self._cell(matrix, i, j, text, left + j, top + i)

    def text(self, text: str, x: int, y: int, kind: str, tone: str = "muted") -> None:
        """A piece of text: kind "title", "shape", "row" (ends here), "column" (slanted, begins here) or "letter"."""
        self._add(x, y, kind, tone, None, text)

    def column_names(self, names: Sequence[str], left: int, y: int) -> None:
        """The names of columns: slanted words, or upright letters where all are that short."""
        kind = "column" if any(len(name) > 1 for name in names) else "letter"
        for j, name in enumerate(names):
            self.text(name, left + j, y, kind)

    def table(self) -> pa.Table:
        """Everything as one table, with each line and column of the grid named so that gaps stay."""
        for x in range(self.width):
            self._add(x, 0, "filler", "ghost", None, "")
        for y in range(self.height):
            self._add(0, y, "filler", "ghost", None, "")
        columns = dict(zip(self.FIELDS, zip(*self.rows, strict=True), strict=True))
        return pa.table(
            {
                "gx": pa.array(columns.pop("gx"), pa.int16()),
                "gy": pa.array(columns.pop("gy"), pa.int16()),
                "v": pa.array(columns.pop("v"), pa.float32()),
                **{name: pa.array(values, pa.string()).dictionary_encode() for name, values in columns.items()},
                "ink": pa.array(["ink"] * len(self.rows)).dictionary_encode(),
            }
        )

    def _cell(self, matrix: Matrix, i: int, j: int, text: str, x: int, y: int) -> None:
        if not matrix.drawn:
            self._add(x, y, "ghost", "ghost", None, "")
            return
        masked = matrix.visible is not None and not matrix.visible[i][j]
        self._add(
            x,
            y,
            "masked" if masked else matrix.kind,
            "hatch" if masked else matrix.tone,
            None if masked else matrix.values[i][j],
            "" if masked else text,
            self.say(matrix.key, i, j),
            "".join(self.lights(matrix.key, i, j)),
            row_tag(matrix.key, i),
            column_tag(matrix.key, j),
            cell_tag(matrix.key, i, j),
        )
        if matrix.changed is not None and matrix.changed[i][j]:
            self._add(x, y, "changed", matrix.tone, None, "")

    def _add(self, x, y, kind, tone, value, text, say=None, lights="", row="", column="", cell="") -> None:
        self.width, self.height = max(self.width, x + 1), max(self.height, y + 1)
        self.rows.append((x, y, kind, tone, value, text, say, lights, row, column, cell))


def row_tag(key: str, row: int) -> str:
    """The tag that all cells of one row carry."""
    return f"|{key} row {row}|"


def column_tag(key: str, column: int) -> str:
    """The tag that all cells of one column carry."""
    return f"|{key} column {column}|"


def cell_tag(key: str, row: int, column: int) -> str:
    """The tag of a single cell."""
    return f"|{key} {row},{column}|"


def cell_text(value: float) -> str:
    """The number as it fits a cell: two decimals, one from 10 on, none from 100 on, then powers of ten."""
    size = abs(value)
    digits = f"{value:.2f}" if size < 9.995 else f"{value:.1f}" if size < 99.95 else f"{value:.0f}"
    if size >= 9999.5:
        digits = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return digits.replace("-", "−") if float(value) and digits.strip("-0.") else digits.removeprefix("-")


def tiny_text(value: float) -> str:
    """As `cell_text`, but what two decimals would hide is a power of ten; only 0 itself reads 0."""
    if 0 < abs(value) < 0.005:
        return f"{value:.0e}".replace("e-0", "e-").replace("-", "−")
    return cell_text(value) if value else "0"


def cell_size(columns: int, width: int, *, numbered: bool = True) -> int:
    """The largest comfortable cell, in pixels, with which so many columns fit a width; never too small to read."""
    smallest = SMALLEST_CELL if numbered else SMALLEST_CELL_WITHOUT_NUMBER
    return max(smallest, min(LARGEST_CELL, width // max(columns, 1)))


def grid_chart() -> alt.LayerChart:
    """The template of every figure made of matrices; `sized` gives it the size of its cells."""
    hover = alt.selection_point(
        name="hover", fields=["lights", "say"], on="pointerover", clear="pointerout", empty=False
    )
    pick = alt.selection_point(
        name="pick", fields=["cell_tag"], on="click", clear="dblclick", toggle=False, empty=False
    )
    return made_of_cells(alt_layer(), *cell_layers(), *name_layers(), ring_layer(hover, pick), *hint_layers())


def made_of_cells(*layers: alt.Chart) -> alt.LayerChart:
    """Layers on the grid, whose lengths are expressions of the parameter `cell`, the width of a cell in pixels."""
    return (
        alt.layer(*layers)
        .add_params(alt.param(name="cell", value=LARGEST_CELL))
        .resolve_scale(color="independent", stroke="independent")
        .properties(autosize=alt.AutoSizeParams(type="pad"))
        .properties(usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
    )


def sized(spec: dict, cell: int) -> dict:
    """A template made of cells, for cells of this many pixels."""
    params = [param | {"value": cell} if param["name"] == "cell" else param for param in spec["params"]]
    return spec | {"width": {"step": cell}, "height": {"step": cell}, "params": params}


def layer(*kinds: str) -> alt.Chart:
    """What is drawn of these kinds, each thing at its place of the grid."""
    wanted = " || ".join(f"datum.kind === '{kind}'" for kind in kinds)
    gaps = alt.Scale(paddingInner=0.06, paddingOuter=0)
    return (
        alt.Chart(alt.NamedData(name="cells"))
        .transform_filter(wanted)
        .encode(x=alt.X("gx:O", axis=None, scale=gaps), y=alt.Y("gy:O", axis=None, scale=gaps))
    )


def cell_layers() -> list[alt.Chart]:
    """The cells: empty frames, colours, the pattern of what is masked, numbers, and a dot on what changed."""

    def coloured(kind: str, scale: alt.Scale) -> alt.Chart:
        return layer(kind).mark_rect(aria=False, cornerRadius=3).encode(alt.Color("v:Q", scale=scale, legend=None))

    hatch = "M-1,1L1,-1M-1,0L0,-1M0,1L1,0"
    corner = {"shape": "M-1,-1L1,-1L1,1Z", "size": alt.ExprRef("pow(cell * 0.28, 2)")}  # leaves the number alone
    corner |= {"xOffset": alt.ExprRef("cell * 0.33"), "yOffset": alt.ExprRef("-cell * 0.33")}
    return [
        layer("filler").mark_point(aria=False, opacity=0),
        layer("ghost").mark_rect(aria=False, cornerRadius=3, fillOpacity=0, strokeWidth=1).encode(stroke=stroke_tone()),
        coloured("score", score_scale()),
        coloured("weight", weight_scale()),
        layer("masked")
        .mark_point(aria=False, shape=hatch, size=alt.ExprRef("pow(cell * 0.62, 2)"), strokeWidth=1, filled=False)
        .encode(tone()),
        layer("score", "weight").mark_text(aria=False, fontSize=alt.ExprRef(SMALL)).encode(text="text:N", color=ink()),
        layer("changed")
        .mark_point(aria=False, strokeWidth=0, **corner)
        .encode(ink(), fill=alt.Fill("ink:N", scale=tone_scale(), legend=None)),
    ]


def name_layers() -> list[alt.Chart]:
    """Titles, shapes, and the names of rows and columns."""
    looks = {
        "title": {"fontSize": TITLE, "fontWeight": "bold", "align": "left", "dx": "1 - cell / 2"},
        "shape": {"fontSize": f"{SMALL} + 0.5", "align": "left", "dx": "1 - cell / 2"},
        "row": {"fontSize": f"{SMALL} + 1.5", "align": "right", "dx": "cell / 2 - 5", "limit": "cell * 3"},
        "column": {"fontSize": f"{SMALL} + 0.5", "align": "left", "angle": 315, "dx": "-cell * 0.3"}
        | {"dy": "cell * 0.3", "limit": "cell * 2.2"},
        "letter": {"fontSize": f"{SMALL} + 1.5", "align": "center"},
    }
    return [
        layer(kind).mark_text(aria=False, **measured(look)).encode(tone(), text="text:N")
        for kind, look in looks.items()
    ]


def font_size(font: tuple[float, float], cell: int) -> float:
    """The size of this font in cells of so many pixels."""
    least, share = font
    return max(least, share * cell)


def font_expression(font: tuple[float, float]) -> str:
    """The same, as the browser computes it."""
    least, share = font
    return f"max({least}, {share} * cell)"


SMALL, TITLE = font_expression(NUMBER_FONT), font_expression(TITLE_FONT)


def measured(look: dict) -> dict:
    """A look whose lengths, where they are written in words, are expressions."""
    lengths = {"fontSize", "dx", "dy", "limit"}
    return {name: alt.ExprRef(value) if name in lengths else value for name, value in look.items()}


def ring_layer(hover: alt.Parameter, pick: alt.Parameter) -> alt.Chart:
    """An unseen cell above each cell, which gets a ring in the colour of its matrix when it is lit or picked."""
    lit = " || ".join(f"indexof(hover.lights[0], datum.{tag}) >= 0" for tag in ("row_tag", "column_tag", "cell_tag"))
    ringed = f"isValid(hover.lights) && ({lit}) || isValid(pick.cell_tag) && pick.cell_tag[0] === datum.cell_tag"
    return (
        layer("score", "weight", "masked")
        .mark_rect(cornerRadius=3, fillOpacity=0, strokeWidth=2.5, stroke="transparent")
        .encode(
            stroke=alt.condition(ringed, stroke_tone(), alt.value("transparent")),
            tooltip=alt.Tooltip("say:N", title=" "),
            description="say:N",
        )
        .add_params(hover, pick)
    )


def hint_layers() -> list[alt.Chart]:
    """Below the figure: what to do, and once a cell is pointed at, what it says."""
    look = {"aria": False, "fontSize": 13, "align": "left", "dx": alt.ExprRef("-cell / 2")}
    unsaid = alt.condition("isValid(hover.say)", alt.value(0), alt.value(1))
    said = alt.value(alt.ExprRef("isValid(hover.say) ? hover.say[0] : ''"))
    return [
        layer("hint").mark_text(**look).encode(tone(), text="text:N", opacity=unsaid),
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
