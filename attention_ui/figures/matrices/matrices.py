"""A figure of matrices as a table for the template of `cells`: where each matrix stands, and what its cells say."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import combinations, groupby, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attention_ui.figures.matrices import grid as drawn
from attention_ui.figures.matrices.grid import (
    EDGE,
    FOUR_APART,
    GAP,
    GAP_OF_MAPS,
    LABEL_COLUMNS,
    LARGEST_CELL,
    LEAST_COLOURED,
    LEAST_SEEN,
    LEFT,
    POINT_AT,
    POINT_AT_CELL,
    QUARTERS,
    RIGHT,
    ROOMY_CELL,
    SMALLEST_CELL,
    Grid,
    cell_tag,
    column_tag,
    row_tag,
)
from attention_ui.figures.roles import SCORE_DOMAIN
from lessons.screen import (
    LABELLED,
    Cells,
    Matrices,
    Matrix,
    Step,
    balanced,
    distinguishable,
    equation,
    format_value,
    is_wide_letter,
    labelled,
    labels_of,
    letters,
    localised,
    message,
    render,
    translate,
    wrapped,
)
from lessons.trace.computation import tell_together
from lessons.trace.lines import digits
from lessons.trace.story import Lit, places_of, sources_among
from words import cached_by_language

TITLE_COLUMNS = 5  # where the titles of single rows stand beside them
LIKE_INFINITY = 1e6  # what is larger is meant to be drowned by no other score
LETTER = 0.24  # of a cell, in a title
LEAST_LETTER, SMALL_LETTER = 0.2, 0.24  # and below the matrices, where cells are large and where they are small
LETTERS_BESIDE = 0.0115  # of a cell, for each column, where the room beside a question is smallest: 6.5 pixels of 564
NAME_LETTER = 0.212  # of a cell, in the name of a row where cells are small
HALF_A_WIDE_LETTER = 0.27  # there, of Chinese or Japanese
LEAST_LETTERS_BELOW, LEAST_LETTERS_OF_HINT = 37, 56  # that fit a phone, however few columns there are
BETWEEN_SENTENCES = re.compile(r"(?<=\.) |(?<=。)(?=.)")  # where a line ends: two sentences are wider than a phone
UNDRAWN_PLACE = -1, -1  # the place of what is not drawn
PLACES_OF_OTHERS = 1_000_000_000  # larger than any place
CORNER = 2_000_000_000  # the place of the last row of a table, which is not drawn
LONGEST = 150  # letters of the arithmetic in a tooltip
MOST_IN_PARTS = 8  # figures that are kept in their parts
# Pixels of a figure on a projector, all of it seen at once, and of its numbers: beside a question, beside the cards of
# a class, and alone. Where a class compares what it sees, that counts more than the size of the numbers.
BESIDE_QUESTION, BESIDE_CARDS, ALONE = (890, 574, 24), (800, 430, 18), (1225, 574, 19)
HEADING = 54  # of its height
PROJECTED_IN_LARGE, LARGE_MATRIX = 19, 100  # pixels of numbers there, in a matrix of so many numbers
HIGHEST_ON_A_PHONE = 30  # rows of cells
NARROWEST = 10  # columns of a line on a narrow screen, with the names of its rows: letters can be read in so many
WIDEST = 28  # columns of a line: so many, with their numbers, fit beside a question


ProjectedRoom = tuple[int, int, int]


@dataclass(frozen=True)
class Place:
    """A matrix with the column and the row of the grid where its cells begin, and whether its rows are named."""

    matrix: Matrix
    left: float
    top: int
    header: int
    named: bool


@dataclass(frozen=True, eq=False)
class Layout:
    """Where everything stands: in columns and rows of cells."""

    figure: Matrices
    stacked: bool = False  # all matrices below each other, for a narrow screen
    widest: int = WIDEST  # columns of a line
    name_columns: float | None = None  # for the names of rows; None for what they need

    @cached_property
    def names(self) -> float:
        """Columns for the names of rows."""
        if self.name_columns is not None:
            return self.name_columns
        figure = self.figure
        narrow = self.stacked or not figure.numbered or figure.width < Matrices.width  # where letters fill their cells
        fixed = narrow or len(figure.matrices) == 1
        return LABEL_COLUMNS if fixed and not named_whole(figure) else columns_of_names(figure)

    @cached_property
    def gap(self) -> float:
        """Columns between two matrices."""
        return GAP if self.figure.numbered else GAP_OF_MAPS

    @cached_property
    def of_single_rows(self) -> bool:
        """True where single rows stand below each other: their titles go beside them."""
        return all(len(band) == 1 and band[0].values.shape[0] == 1 for band in self.figure.bands)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every matrix, band by band."""
        return tuple(self._rows_below_each_other() if self.of_single_rows else self._bands())

    @cached_property
    def bands(self) -> tuple[tuple[Matrix | None, ...], ...]:
        """The bands of the figure. One that stands alone and is too wide for the page goes on below itself."""
        bands = self.figure.bands
        if self.stacked:
            return tuple(self._below_each_other())
        return tuple(self._folded(bands[0], self.widest)) if len(bands) == 1 and None not in bands[0] else bands

    def _below_each_other(self) -> Iterator[tuple[Matrix, ...]]:
        """For a narrow screen: side by side only what shares its rows and is no wider so than the widest by itself."""
        most = max(self.names * matrix.rows.named + room(matrix) for matrix in self.figure.matrices)
        for _, alike in groupby(self.figure.matrices, lambda matrix: matrix.rows.labels):
            yield from self._folded(tuple(alike), max(most, NARROWEST))

    def _folded(self, band: tuple[Matrix, ...], widest: int) -> Iterator[tuple[Matrix, ...]]:
        """The lines into which a band goes, each of so many columns at most."""
        line, right = (), 0
        for matrix in band:
            right += self.names * names_rows((*line, matrix), len(line)) + room(matrix)
            if line and right > widest:
                yield line
                line, right = (), self.names * names_rows((matrix,), 0) + room(matrix)
            line, right = (*line, matrix), right + self.gap
        yield line

    @cached_property
    def columns(self) -> float:
        """Columns of the grid that the figure needs."""
        return max(place.left + room(place.matrix) for place in self.places)

    @cached_property
    def width(self) -> float:
        """The same with what is left free at both sides: slanted names reach beyond the last column."""
        last = [place.matrix for place in self.places if place.left + room(place.matrix) == self.columns]
        slanted = any(len(name) > 1 for matrix in last if matrix.columns.named for name in labels_of(matrix.columns))
        return LEFT + self.columns + (RIGHT if slanted else EDGE)

    @cached_property
    def height(self) -> int:
        """Rows of the grid that the matrices need."""
        return max(place.top + place.matrix.values.shape[0] for place in self.places)

    def _rows_below_each_other(self) -> Iterator[Place]:
        for line, (matrix,) in enumerate(self.figure.bands):
            yield Place(matrix, TITLE_COLUMNS, 2 + 2 * line, 2 if line == 0 else 0, False)

    def _bands(self) -> Iterator[Place]:
        top, above = 0, ()
        for band in self.bands:
            lefts = self._lefts((band,) if self.stacked else self.bands)
            header = header_of(band, above, compact=self.figure.compact)
            height = max(matrix.values.shape[0] for matrix in band if matrix is not None)
            for at, matrix in enumerate(band):
                if matrix is not None:
                    below = top + header + height - matrix.values.shape[0]
                    yield Place(matrix, lefts[at], below, header, names_rows(band, at))
            top, above = top + header + height, band

    def _lefts(self, bands: Sequence[tuple[Matrix | None, ...]]) -> list[float]:
        """Where the matrices begin that stand at the same place of these bands; the first of all, below each other."""
        lefts, left = [], self.names * any(names_rows(band, 0) for band in self.bands)
        for at in range(max(map(len, bands))):
            here = [(band, band[at]) for band in bands if at < len(band) and band[at] is not None]
            left += self.names * (at > 0 and any(names_rows(band, at) for band, _ in here))
            lefts.append(left)
            left += max(room(matrix) for _, matrix in here) + self.gap
        return lefts


def header_of(band: tuple[Matrix | None, ...], above: tuple[Matrix | None, ...], *, compact: bool = False) -> int:
    """Rows above a band: for titles, shapes or remarks, and names of columns.

    Remarks on single rows need no line, nor do shapes that stand right above already; where all is `compact`, no shape
    does, nor the title of a single row below others.
    """
    matrices = [matrix for matrix in band if matrix is not None]
    if any(matrix.columns.named for matrix in matrices):
        return 3
    if compact:
        return 0 if above and all(has_title_beside(matrix) for matrix in matrices) else 1
    if all(matrix.values.shape[0] == 1 and matrix.remark is not None for matrix in matrices):
        return 1
    return 1 if shapes_of(band) == shapes_of(above) and all(matrix.remark is None for matrix in matrices) else 2


def has_title_beside(matrix: Matrix) -> bool:
    """True for a single row without a name: in a compact figure its title takes that place."""
    return matrix.values.shape[0] == 1 and not matrix.rows.named


def shapes_of(band: tuple[Matrix | None, ...]) -> list[tuple[int, ...] | None]:
    """The shape of each matrix of a band, place by place."""
    return [None if matrix is None else tuple(matrix.values.shape) for matrix in band]


def names_rows(band: tuple[Matrix | None, ...], at: int) -> bool:
    """True where the rows of a matrix have names that do not stand beside another matrix to its left already."""
    matrix = band[at]
    if matrix is None or not matrix.rows.named:
        return False
    return all(other is None or other.rows.labels != matrix.rows.labels for other in band[:at])


def room(matrix: Matrix) -> float:
    """Columns of the grid that a matrix needs, as wide as its title at least, and as the remark below that."""
    remark = "" if matrix.remark is None or matrix.columns.named else render(matrix.remark)
    wide = max(letters(render(matrix.title)) * LETTER, letters(remark) * NAME_LETTER)
    return max(matrix.values.shape[1], in_quarters(wide))


def columns_of_names(figure: Matrices) -> float:
    """Columns that the longest name of a row takes, or what all rows are together; no name takes more than two, or than
    twice as many where it is to be seen whole.
    """
    named = [matrix.rows for matrix in figure.matrices if matrix.rows.named]
    said = [f"{render(rows.name)} ↓" for rows in named if rows.name is not None]
    said += [f"{render(matrix.columns.name)} →" for matrix in figure.matrices if matrix.columns.named]
    longest = max(map(letters, (*said, *(label for rows in named for label in labels_of(rows)))), default=0)
    most = 2 * LABEL_COLUMNS if named_whole(figure) else LABEL_COLUMNS
    return min(most, in_quarters(NAME_LETTER * longest - LEFT / 2))


def named_whole(figure: Matrices) -> bool:
    """True where the names of some rows are to be seen whole."""
    return any(matrix.rows.named and matrix.rows.whole for matrix in figure.matrices)


def in_quarters(columns: float) -> float:
    """The next larger number of columns that is whole in quarters."""
    return math.ceil(QUARTERS * columns) / QUARTERS


def matrices_table(figure: Matrices, layout: Layout, *, numbered: bool) -> pa.Table:
    """Everything that is drawn, place by place."""
    matrices = {matrix.key: matrix for matrix in figure.matrices}
    tell_together(matrix.traced for matrix in figure.matrices if matrix.drawn and matrix.traced is not None)
    made_of = sources_in(matrices)
    grid = Grid(
        lambda key, i, j: lights(matrices, matrices[key], made_of, i, j),
        lambda key, i, j: tooltip(matrices[key], i, j),
    )
    return fill(grid, figure, layout, numbered=numbered)


def both_ways(figure: Matrices, wide: pa.Table, layout: Layout) -> pa.Table:
    """The table with a second place for everything, on a narrow screen; its last row tells the columns and rows,
    and the letters of its longest number.

    Names may stand there that a wide screen has no need of, and the other way round: what has no place is at −1.
    """
    columns, rows = layout.width, pc.max(wide["gy"]).as_py() + 1
    table, narrow_columns, narrow_rows = placed_again(wide, {}), columns, rows
    stacked = Layout(figure, stacked=True)
    if stacked.columns != layout.columns:
        narrow = fill(Grid(lambda *_: "", lambda *_: None), figure, stacked, numbered=False)
        cells = narrow.filter(pc.not_equal(narrow["cell_tag"], "")).select(["cell_tag", "gx", "gy"]).to_pylist()
        table = placed_again(wide, {one["cell_tag"]: (one["gx"], one["gy"]) for one in cells})
        others = narrow.filter(pc.equal(narrow["cell_tag"], ""))
        table = pa.concat_tables([table, only_there(others)]).unify_dictionaries().combine_chunks()
        narrow_columns, narrow_rows = stacked.width, pc.max(narrow["gy"]).as_py() + 1
    numbers = wide.filter(pc.not_equal(wide["cell_tag"], ""))["text"].to_pylist()
    corner = {"gx": columns, "gy": rows, "nx": narrow_columns, "ny": narrow_rows, "kind": "corner", "place": CORNER}
    corner["v"] = max(map(len, numbers), default=0)
    row = pa.Table.from_pylist([corner], table.schema)
    return pa.concat_tables([table, row]).unify_dictionaries().combine_chunks()


@cached_by_language(maxsize=MOST_IN_PARTS)
def parts_on_a_projector(figure: Matrices, room: ProjectedRoom = BESIDE_QUESTION) -> tuple[Matrices, ...]:
    """The same figure for a projector, without the line of what one can do: the matrices that its last step is about;
    or else all of them, in as few parts as leave large numbers in this `room`, and those about as wide as each other.
    Of one figure always the same ones: their tables are kept by them.
    """
    figure = replace(figure, weights=None, hinted=False)
    if figure.of_step:
        matrices = {matrix.key: matrix for matrix in figure.matrices}
        return (replace(figure, bands=(tuple(matrices[key] for key in figure.of_step),), meets=False),)
    if not figure.numbered or figure.beside:
        return (figure,)
    places = max(map(len, figure.bands))
    splits = (
        tuple(part_of(one, *ends) for ends in pairwise((0, *sorted(cuts), places)))
        for one in (figure, compacted(figure))
        for n_cuts in range(places)
        for cuts in combinations(range(places - 1, 0, -1), n_cuts)
    )

    def fault(parts: tuple[Matrices, ...]) -> tuple[float, ...]:
        elsewhere = sum(part.matrices[0].key not in figure.apart for part in parts[1:])
        widest = max(Layout(part).width for part in parts)
        return (-min(nearness(part, room) for part in parts), parts[0].compact, len(parts), elsewhere, widest)

    return min(splits, key=fault)


def compacted(figure: Matrices) -> Matrices:
    """The same in fewer lines: a remark stands behind its title, of a single row none, and no shape below it."""

    def in_a_line(matrix: Matrix | None) -> Matrix | None:
        if matrix is None or matrix.remark is None or matrix.columns.named:
            return matrix
        if has_title_beside(matrix) and matrix.unit in (None, 1):
            return replace(matrix, remark=None)
        title = LABELLED._replace(arguments={"meaning": matrix.title, "arithmetic": matrix.remark})
        return replace(matrix, title=title, remark=None)

    return replace(figure, compact=True, bands=tuple(tuple(map(in_a_line, band)) for band in figure.bands))


def part_of(figure: Matrices, begin: int, end: int) -> Matrices:
    """The figure with those matrices of each band that stand at these places."""
    bands = (band[begin:end] for band in figure.bands)
    return replace(figure, bands=tuple(band for band in bands if any(matrix is not None for matrix in band)))


def nearness(figure: Matrices, room: ProjectedRoom) -> float:
    """How large the numbers of a figure are in this room of a projector: 1 where as large as they should be, which is
    less in a large matrix.
    """
    layout, most = Layout(figure), max(math.prod(matrix.values.shape) for matrix in figure.matrices)
    width, height, number = room
    width *= min(1, figure.width / Matrices.width)
    height -= HEADING if figure.heading is not None else 0
    wanted = FOUR_APART * (min(number, PROJECTED_IN_LARGE) if most >= LARGE_MATRIX else number)
    return min(1, width / layout.width / wanted, height / layout.height / wanted)


def least_cell(figure: Matrices) -> int:
    """The pixels of the smallest cells of a figure on a wide screen."""
    if not figure.numbered:
        return LEAST_COLOURED
    return LEAST_SEEN if figure.meets else SMALLEST_CELL


def placed_again(table: pa.Table, places: dict[str, tuple[int, int]]) -> pa.Table:
    """With the second place of each cell, by its tag; without any, the second is the first."""
    if not places:
        return table.append_column("nx", table["gx"]).append_column("ny", table["gy"])
    again = [places.get(tag, UNDRAWN_PLACE) for tag in table["cell_tag"].to_pylist()]
    for axis, kind, at in zip(("nx", "ny"), (pa.float32(), pa.int16()), zip(*again, strict=True), strict=True):
        table = table.append_column(axis, pa.array(at, kind))
    return table


def only_there(table: pa.Table) -> pa.Table:
    """What stands on a narrow screen alone."""
    nowhere, second = pa.array([UNDRAWN_PLACE[0]] * len(table)), placed_again(table, {})
    for name in ("gx", "gy"):
        kind = second.schema.field(name).type
        second = second.set_column(second.column_names.index(name), name, nowhere.cast(kind))
    keys = pa.array(range(PLACES_OF_OTHERS, PLACES_OF_OTHERS + len(table)), pa.int32())
    return second.set_column(second.column_names.index("place"), "place", keys)


def style_of(figure: Matrices, table: pa.Table, letters: float) -> str:
    """The size of a figure: its cells are as large as its room is wide and the screen is high, and letters can be read.

    Where numbers need `letters` of at least so many pixels, it is rather higher than the screen. Where rows slide,
    `--cell` is the width of a cell, as the chart computes it from its own size.
    """
    slides = any(matrix.came_from is not None for matrix in figure.matrices)  # elsewhere no mark need inherit it

    def box(columns: float, rows: float, most: str) -> str:
        cell = f"min(100cqi / {columns:g}, {most}, {LARGEST_CELL}px)"
        return f"height: calc({cell} * {rows:g}) !important" + (f"; --cell: {cell}" if slides else "")

    corner = table.slice(len(table) - 1).to_pylist()[0]
    columns, rows, narrow_columns = corner["gx"], corner["gy"], corner["nx"]
    smallest = max(SMALLEST_CELL, FOUR_APART * letters)
    around = "var(--lab-around)" if figure.heading is None else "var(--lab-around) - 3rem"
    wide = box(columns, rows, f"max({smallest:g}px, (100dvh - {around}) / {rows:g})")
    narrow = box(narrow_columns, corner["ny"], f"{ROOMY_CELL}px")
    chart = f".st-key-{figure.key} .stVegaLiteChart"
    asked_first = ""
    if corner["ny"] > HIGHEST_ON_A_PHONE:  # there, what is asked would stand below two screens
        asked_first = f".st-key-lesson:has(.st-key-stage .st-key-{figure.key}) {{ --lab-question: -1 }}"
    return (
        f".st-key-{figure.key} {{ container-type: inline-size }} {chart} {{ {wide} }} "
        f"@container (width < {columns * least_cell(figure):g}px) {{ {chart} {{ {narrow} }} }} {asked_first}"
    )


def sources_in(matrices: dict[str, Matrix]) -> Callable[[str], list[tuple[Lit, ...]]]:
    """What lights up with each cell of a matrix, by its key, as its trace says; found when it is first asked for."""
    places = cache(lambda: places_of(shown()))
    shown = cache(lambda: {key: one.traced.array for key, one in matrices.items() if one.traced is not None})
    return cache(lambda key: sources_among(shown(), key, places()))


def fill(grid: Grid, figure: Matrices, layout: Layout, *, numbered: bool) -> pa.Table:
    """The same on a grid that says and lights up what it likes."""
    for place in layout.places:
        if layout.of_single_rows or not place.header:
            tone = "ink" if layout.of_single_rows else place.matrix.colour
            grid.text(render(place.matrix.title), place.left - 1, place.top, "axis", tone)
        else:
            name_matrix(grid, place, shaped=figure.numbered)
        if place.header and place.matrix.columns.named:
            grid.column_names(labels_of(place.matrix.columns), place.left, place.top - 1)
        grid.matrix(look(place.matrix, longest(place.matrix, figure)), place.left, place.top, numbered=numbered)
    say_below(grid, layout, numbered=numbered)
    return grid.table()


def say_below(grid: Grid, layout: Layout, *, numbered: bool) -> None:
    """Whose weights they are, and what one can do until a cell is pointed at. Small cells leave no room for it."""
    figure, bottom = layout.figure, grid.height
    if not figure.hinted:
        return
    if not figure.numbered:
        grid.text("", 0, bottom, "hint")
        return
    if figure.weights is not None:
        weights = render(figure.weights)
        lines = wrapped(weights, max(letters_below(layout, weights), LEAST_LETTERS_BELOW))
        grid.text("\n".join(lines), 0, bottom, "shape", "ink")
        bottom += rows_for(len(lines))
    hints = (POINT_AT if numbered else POINT_AT_CELL, POINT_AT_CELL) if figure.hint is None else (figure.hint,) * 2
    usual, short = (hint_in_lines(layout, render(hint)) for hint in hints)
    grid.text("\n".join(usual), 0, bottom, "hint", short="\n".join(short))
    if (below := rows_for(max(len(usual), len(short))) - 1) > 0:
        grid.text("", 0, bottom + below, "shape")  # keeps the room of its other lines


def rows_for(lines: int) -> int:
    """The rows of the grid that lines of text need: a line takes half a cell."""
    return 1 + lines // 2


def letters_below(layout: Layout, text: str) -> int:
    """How many letters of a text the columns of a figure have room for."""
    if any(map(is_wide_letter, text)):
        letter = HALF_A_WIDE_LETTER
    else:
        letter = SMALL_LETTER if layout.stacked else min(SMALL_LETTER, LETTERS_BESIDE * layout.width)
    return int(layout.columns / max(LEAST_LETTER, letter))


def hint_in_lines(layout: Layout, hint: str) -> list[str]:
    """A hint in lines that fit its grid or a phone, with a new one for each sentence."""
    most = max(letters_below(layout, hint), LEAST_LETTERS_OF_HINT)
    return [line for sentence in BETWEEN_SENTENCES.split(hint) for line in balanced(sentence, most)]


def name_matrix(grid: Grid, place: Place, *, shaped: bool) -> None:
    """Its title, what its rows and columns are, and the names of its rows; small maps have no room for their shapes."""
    matrix, left, top = place.matrix, place.left, place.top
    title = render(matrix.title)
    if place.header == 1 and matrix.remark is not None:
        title = labelled(title, matrix.remark)
    grid.text(title, left, top - place.header, "title", matrix.colour if matrix.drawn else "muted")
    if not matrix.columns.named and place.header > 1 and (shaped or matrix.remark is not None):
        shape = "×".join(map(str, matrix.values.shape)) if matrix.remark is None else render(matrix.remark)
        grid.text(shape, left, top - 1, "shape")
    if not place.named:
        return
    if matrix.rows.name is not None:
        grid.text(f"{render(matrix.rows.name)} ↓", left - 1, top - 1, "axis")
    if matrix.columns.named:
        grid.text(f"{render(matrix.columns.name)} →", left - 1, top - 2, "axis")
    for i, label in enumerate(labels_of(matrix.rows)):
        grid.text(label, left - 1, top + i, "row")


def longest(matrix: Matrix, figure: Matrices) -> float:
    """The number whose bar fills half a cell: the same in all matrices of a figure that hold the same kind of numbers.

    So scores can be compared before and after they are divided, K and Kᵀ look alike, and nothing is beyond it but what
    stands for −∞, such as −1e9.
    """
    alike = (one.values for one in figure.matrices if are_alike(one, matrix) and is_bars(one))
    sizes = (np.abs(np.asarray(values.tolist())) for values in alike)
    return max((size[size < LIKE_INFINITY].max(initial=0.0) for size in sizes), default=0.0)


def are_alike(one: Matrix, other: Matrix) -> bool:
    """True for matrices with the same axes, in whatever order, and for a row beside rows with the same columns."""
    ends, others = ((matrix.rows.labels, matrix.columns.labels) for matrix in (one, other))
    single = 1 in (len(ends[0]), len(others[0]))
    return ends == others or ends == others[::-1] or (single and ends[1] == others[1])


def is_bars(matrix: Matrix) -> bool:
    """Whether its numbers are drawn as lengths that have no end of their own."""
    return matrix.scale not in ("weight", "change", "gradient")


def look(matrix: Matrix, most: float = 0.0) -> drawn.DrawnMatrix:
    """What the grid draws of a matrix; `most` is the largest number on the scale of its bars."""
    values = matrix.values.tolist()
    changed = None
    if matrix.marked is not None:
        changed = matrix.marked.tolist()
    elif matrix.was is not None:
        was = matrix.was.tolist()
        changed = [[a != b for a, b in zip(*rows, strict=True)] for rows in zip(values, was, strict=True)]
    kind = "score" if is_bars(matrix) else matrix.scale
    about = (kind, matrix.colour, matrix.seen, matrix.drawn, changed, matrix.scale == "gradient", matrix.unit)
    return drawn.DrawnMatrix(matrix.key, "", values, *about, max(most, SCORE_DOMAIN[1]))


def lights(
    matrices: dict[str, Matrix], matrix: Matrix, made_of: Callable[[str], list[tuple[Lit, ...]]], i: int, j: int
) -> str:
    """The tags of all that lights up: the cell, and what goes with it."""
    return cell_tag(matrix.key, i, j) + tags(lit_with(matrices, matrix, made_of, i, j))


def lit_with(
    matrices: dict[str, Matrix], matrix: Matrix, made_of: Callable[[str], list[tuple[Lit, ...]]], i: int, j: int
) -> tuple[Lit, ...]:
    """What lights up with a cell: all that it was made of, or what stands at the same place elsewhere."""
    sources = tuple(matrix.sources(i, j))
    if not sources and matrix.traced is not None:
        sources = made_of(matrix.key)[i * matrix.values.shape[1] + j]
    if matrix.twin in matrices:
        sources += (Cells(matrix.twin, i, j),)
    return sources or tuple(same_place(matrices.values(), matrix, i, j))


@lru_cache(maxsize=2048)  # a figure and its next rerun ask for the same
def tags(sources: tuple[Cells, ...]) -> str:
    """The tags that these cells carry, one after the other."""
    return "".join(map(tag, sources))


def same_place(matrices: Iterable[Matrix], matrix: Matrix, i: int, j: int) -> Iterator[Cells]:
    """The same cell of each matrix with the same axes, the same row of any other with the same rows."""
    for other in matrices:
        if other is not matrix and other.rows.labels == matrix.rows.labels:
            yield Cells(other.key, i, j if other.columns.labels == matrix.columns.labels else None)


def tag(cells: Cells) -> str:
    """The tag that such cells carry."""
    matrix, row, column = cells
    if row is None:
        return column_tag(matrix, column)
    return row_tag(matrix, row) if column is None else cell_tag(matrix, row, column)


def tooltip(matrix: Matrix, i: int, j: int) -> str:
    """What pointing at a cell says: the last line of its derivation, and what it was before a change by hand."""
    if matrix.step is None:
        at = f"{render(matrix.title)}, {format_value(matrix.rows.labels[i])} → {format_value(matrix.columns.labels[j])}"
        value = drawn.cell_text(matrix.values[i][j]) if matrix.sees(i, j) else translate("masked")
        text = labelled(at, value)
    else:
        step = matrix.step(i, j)
        text = render(step.meaning) if not matrix.sees(i, j) else said(step)
    if matrix.was is None or float(matrix.was[i][j]) == float(matrix.values[i][j]):
        return text
    before, _ = distinguishable(float(matrix.was[i][j]), float(matrix.values[i][j]))
    remark = message("Changed: it was {before}.", before=before)
    return translate("{said}. {remark}", said=text, remark=remark)


def said(step: Step) -> str:
    """A step in one line; of arithmetic that is too long for it, the result."""
    meaning, arithmetic = render(step.meaning), equation(step)
    short = arithmetic if len(arithmetic) <= LONGEST else localised(digits(step.value))
    return labelled(meaning, short)
