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
SMALLEST_CELL, LARGEST_CELL = 24, 32
SMALLEST_CELL_WITHOUT_NUMBER = 13


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
                self._cell(matrix, i, j, cell_text(value) if numbered else "", left + j, top + i)

    def text(self, text: str, x: int, y: int, kind: str, tone: str = "muted") -> None:
        """A piece of text: kind "title", "shape", "row" (ends here) or "column" (slanted, begins here)."""
        self._add(x, y, kind, tone, None, text)

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


def cell_size(columns: int, width: int, *, numbered: bool = True) -> int:
    """The largest comfortable cell, in pixels, with which so many columns fit a width; never too small to read."""
    smallest = SMALLEST_CELL if numbered else SMALLEST_CELL_WITHOUT_NUMBER
    return max(smallest, min(LARGEST_CELL, width // max(columns, 1)))


def grid_chart(cell: int) -> alt.LayerChart:
    """The template of every figure made of matrices, for cells of this many pixels."""
    source = alt.NamedData(name="cells")
    hover = alt.selection_point(
        name="hover", fields=["lights", "say"], on="pointerover", clear="pointerout", empty=False
    )
    pick = alt.selection_point(
        name="pick", fields=["cell_tag"], on="click", clear="dblclick", toggle=False, empty=False
    )
    tone = alt.Color("tone:N", scale=tone_scale(), legend=None)
    ink = alt.Color("ink:N", scale=tone_scale(), legend=None)
    place = {
        "x": alt.X("gx:O", axis=None, scale=alt.Scale(paddingInner=0.06, paddingOuter=0)),
        "y": alt.Y("gy:O", axis=None, scale=alt.Scale(paddingInner=0.06, paddingOuter=0)),
    }

    def layer(*kinds: str) -> alt.Chart:
        wanted = " || ".join(f"datum.kind === '{kind}'" for kind in kinds)
        return alt.Chart(source).transform_filter(wanted).encode(**place)

    def coloured(kind: str, scale: alt.Scale) -> alt.Chart:
        return layer(kind).mark_rect(aria=False, cornerRadius=3).encode(alt.Color("v:Q", scale=scale, legend=None))

    hatch = "M-1,1L1,-1M-1,0L0,-1M0,1L1,0"
    small, large = max(8.5, cell * 0.345), max(11, cell * 0.42)
    lit = " || ".join(f"indexof(hover.lights[0], datum.{tag}) >= 0" for tag in ("row_tag", "column_tag", "cell_tag"))
    ringed = f"isValid(hover.lights) && ({lit}) || isValid(pick.cell_tag) && pick.cell_tag[0] === datum.cell_tag"
    cells = ("score", "weight", "masked")
    ring = layer(*cells).mark_rect(cornerRadius=3, fillOpacity=0, strokeWidth=2.5, stroke="transparent")
    layers = [
        layer("filler").mark_point(aria=False, opacity=0),
        layer("ghost").mark_rect(aria=False, cornerRadius=3, fillOpacity=0, strokeWidth=1).encode(stroke=tone.copy()),
        coloured("score", score_scale()),
        coloured("weight", weight_scale()),
        layer("masked")
        .mark_point(aria=False, shape=hatch, size=(cell * 0.62) ** 2, strokeWidth=1, filled=False)
        .encode(tone),
        layer("score", "weight").mark_text(aria=False, fontSize=small).encode(text="text:N", color=ink),
        layer("title")
        .mark_text(aria=False, fontSize=large, fontWeight="bold", align="left", dx=-cell / 2 + 1)
        .encode(tone, text="text:N"),
        layer("shape")
        .mark_text(aria=False, fontSize=small + 0.5, align="left", dx=-cell / 2 + 1)
        .encode(tone, text="text:N"),
        layer("row")
        .mark_text(aria=False, fontSize=small + 1.5, align="right", dx=cell / 2 - 5, limit=cell * 3)
        .encode(tone, text="text:N"),
        layer("column")
        .mark_text(
            aria=False, fontSize=small + 0.5, align="left", angle=315, dy=cell * 0.3, dx=-cell * 0.3, limit=cell * 2.2
        )
        .encode(tone, text="text:N"),
        ring.encode(
            stroke=alt.condition(ringed, tone_of_ring(), alt.value("transparent")),
            tooltip=alt.Tooltip("say:N", title=" "),
            description="say:N",
        ).add_params(hover, pick),
        layer("hint")
        .mark_text(aria=False, fontSize=13, align="left", dx=-cell / 2)
        .encode(tone, text="text:N", opacity=alt.condition("isValid(hover.say)", alt.value(0), alt.value(1))),
        layer("hint")
        .mark_text(aria=False, fontSize=13, align="left", dx=-cell / 2, limit=1100)
        .encode(text=alt.value(alt.ExprRef("isValid(hover.say) ? hover.say[0] : ''")), color=ink),
    ]
    return (
        alt.layer(alt_layer(), *layers)
        .resolve_scale(color="independent", stroke="independent")
        .properties(width=alt.Step(cell), height=alt.Step(cell), autosize=alt.AutoSizeParams(type="pad"))
        .properties(usermeta={"embedOptions": {"renderer": "svg", "actions": False}})
    )


def tone_of_ring() -> alt.Stroke:
    """A ring has the colour of its matrix; around masked cells it is plain ink."""
    return alt.Stroke("tone:N", scale=tone_scale(), legend=None)
