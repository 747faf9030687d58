"""What a lesson puts on the screen, as plain data: no Streamlit, no Altair, no language.

A lesson is one pure function from the learner's choices to a `Screen`. The page draws it, the tests read it, and
so can whatever else wants a lesson: a notebook, a worksheet, a translation.

Reading order: what is said (`Sentence`, in a file of its own), how a number comes about (`Step`), what is drawn
(`Figure`, of a few kinds), what is asked (`Question`), and all of it together (`Screen`).
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from attention_core.base.arrays import Array
from attention_core.one_head.attention import AttentionTrace
from lessons.screen.message import Argument, Message, Token, message
from lessons.screen.program import Call

# How a number comes about.


class Step(NamedTuple):
    """One line of a derivation: in words, in numbers with what comes out, such as "0.4·2 ≈ 0.80", and that."""

    meaning: Message
    text: str
    value: float


class Cells(NamedTuple):
    """Cells of a matrix in the same figure: one, a whole row, a whole column, or all of them."""

    matrix: str
    row: int | None = None
    column: int | None = None


class Entries(NamedTuple):
    """Which entries of X, W_q, W_k or W_v the cells of a matrix are: the row and the column there of each, from 0."""

    matrix: str
    rows: Sequence[Sequence[int]]
    columns: Sequence[Sequence[int]]


# What is drawn.

# Around 0; from 0 to 1; from −1 to 1; around 0, and possibly tiny; the same, drawn so that small numbers show as well.
Scale = Literal["number", "weight", "change", "difference", "gradient"]
Colour = Literal["ink", "muted", "q", "k", "v", "weight"]


@dataclass(frozen=True)
class Axis:
    """What the rows or the columns of a matrix are, such as queries, and what each is called.

    Where they are `named`, the labels stand beside the matrix; else its shape says how many there are. Long ones are
    cut, unless they are to be seen `whole`. A single row or column has a label and no name.
    """

    name: Message | None
    labels: tuple[str | Message, ...]  # tokens and numbers as they are; our own words as sentences
    named: bool = False
    one: Message | None = None  # what a single one of them is
    whole: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Matrix:
    """One matrix of a figure.

    `step(i, j)` is the arithmetic of that cell and `before(i, j)` all that leads to it, from X and the weights on.
    `sources(i, j)` are the cells that light up when one points at it, and so does the cell at the same place of its
    `twin`, such as its gradient. A question covers what is not `given`.
    Cells write their numbers as multiples of a `unit`, which the remark names.
    Frames stand for a matrix that is not `drawn` yet. `marked` cells carry a sign, and so do those that differ from
    what they were without the learner's edits (`was`). Once the question is answered, weights grow from what
    they `began` as, so that one sees how they are shared out anew; and the rows of a shuffled matrix slide from those
    that they `came_from`. `entries` are those of the example that a learner changes where they stand in the figure.
    """

    key: str
    title: Message
    values: Array
    rows: Axis
    columns: Axis
    scale: Scale = "number"
    unit: float | None = None
    colour: Colour = "ink"
    visible: Array | Sequence[Sequence[bool]] | None = None
    step: Callable[[int, int], Step] | None = None
    before: Callable[[int, int], Iterable[Step]] = lambda i, j: ()
    sources: Callable[[int, int], Iterable[Cells]] = lambda i, j: ()
    traced: Any = None  # a `Followed`, which says of each cell what it was made of
    twin: str | None = None  # the key of another matrix with the same axes, which may stand in the figure
    given: bool = False
    drawn: bool = True
    marked: Array | None = None
    was: Array | None = None
    began: Array | None = None
    came_from: Sequence[int] | None = None
    entries: Entries | None = None
    remark: Message | None = None  # below the title, in place of the shape; of single rows behind it

    def derive(self, row: int, column: int) -> list[Step]:
        """How a cell comes about, line by line, itself last: what pointing at it shows."""
        before = [*self.before(row, column)]
        return [*before, self.step(row, column)] if self.step else before

    def sees(self, row: int, column: int) -> bool:
        """False where a mask hides the cell."""
        return self.seen is None or self.seen[row][column]

    @cached_property
    def seen(self) -> Sequence[Sequence[bool]] | None:
        """What is visible, as lists: looked up cell by cell, they are far faster than a tensor."""
        visible: Any = self.visible
        return visible.tolist() if hasattr(visible, "tolist") else visible


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """Something to look at.

    `name` says what kind of picture it is and never changes with the numbers; `notice` is what there is to see in
    it, and its alternative text. `weights` says whose weights these are, where there are any. A figure may stand
    `beside` the one before it; `width` are the pixels that are free for it.
    """

    key: str
    name: Message
    notice: tuple[Message, ...] = ()
    heading: Message | None = None
    weights: Message | None = None
    beside: bool = False
    width: int = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class Matrices(Figure):
    """Matrices on a common grid: bands from top to bottom, each read from left to right.

    Matrices at the same place of their bands begin in the same column, and those of a band end in the same row, so
    that a product can stand where its factors meet; None leaves a place empty. A band that is alone goes on below
    itself where it is too wide for the page. `first` is the matrix whose derivation is offered first. Where each step
    adds some, `of_step` are those that the last one is about: a projector shows these alone, in larger cells. Where all
    of them would be too small there, it shows one part after the other; each best begins with one of those `apart`.
    Figures that are `alike` differ in their numbers alone: what stands around these is made once for all.
    """

    bands: tuple[tuple[Matrix | None, ...], ...]
    first: str
    numbered: bool = True  # where they have room: numbers stand in the cells
    hint: Message | None = None  # below the matrices, in place of the usual line: what one can do here
    of_step: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    alike: Hashable = None

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """All of them, in the order in which they are read."""
        return tuple(matrix for band in self.bands for matrix in band if matrix is not None)


@dataclass(frozen=True, eq=False, kw_only=True)
class Line:
    """One curve: y over x, with a band between `low` and `high` where there is one. Dots have no line between them.

    A line with `points` shows where its numbers stand.
    """

    key: str
    name: Message
    x: Sequence[float] | Array
    y: Sequence[float] | Array
    colour: Colour = "ink"
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    style: Literal["line", "dashed", "dots"] = "line"
    points: bool = False


def matrices_figures(figures: Iterable[Figure]) -> list[Matrices]:
    """The figures of matrices among these."""
    return [figure for figure in figures if isinstance(figure, Matrices)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Curves(Figure):
    """Curves over one axis. `levels` are horizontal lines with a meaning, `marks` are vertical ones, named or not;
    `chosen` is the x that the learner chose.

    Several curves are named at their ends, a single one by `y`, which stands beside its axis or `above` the curves.
    `width` and `height` are those of the whole picture, in pixels.
    """

    lines: tuple[Line, ...]
    x: Message
    y: Message
    logarithmic: bool = False  # the x axis, in powers of two
    logarithmic_y: bool = False  # the y axis, in powers of ten: no number is 0
    x_domain: tuple[float, float] | None = None
    y_domain: tuple[float, float] | None = None
    percent: bool = False  # y is a share, written in percent
    above: bool = False
    levels: tuple[tuple[Message, float], ...] = ()
    marks: tuple[tuple[Message | None, float], ...] = ()
    chosen: float | None = None
    height: int = 250


@dataclass(frozen=True, eq=False, kw_only=True)
class Points(Figure):
    """A cloud of points, each with what pointing at it says."""

    xs: Sequence[float]
    ys: Sequence[float]
    says: tuple[Message, ...]
    x: Message
    y: Message
    logarithmic: tuple[bool, bool] = (False, False)
    height: int = 260


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One part of a whole: its name, its size in each of the rows, and what pointing at it says.

    The `remark` stands beside its last share; where that is 0, in place of it, to say why nothing is left.
    """

    name: str | Message
    shares: tuple[float, ...]
    says: tuple[Message, ...]
    chosen: bool = False
    remark: Message | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts(Figure):
    """One whole shared out among named parts, once for each row."""

    rows: tuple[Message, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Arcs(Figure):
    """The weights of one head as arcs above a sentence, from each query to the keys it looks at.

    Pointing at a word shows its arcs alone; until then those of the `chosen` one stand out.
    """

    tokens: tuple[Token, ...]
    shares: Array
    head: Message
    chosen: int
    hint: Message
    least: float  # smaller weights are not drawn


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadMap:
    """The weights of one head, small, below its name and its score."""

    name: Message
    score: Message | None
    shares: Array
    chosen: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadMaps(Figure):
    """Many heads on one sentence, in rows of so many; queries from top to bottom, keys from left to right."""

    tokens: tuple[Token, ...]
    maps: tuple[HeadMap, ...]
    in_a_row: int
    hint: Message
    least: float  # smaller weights are not drawn


@dataclass(frozen=True, eq=False, kw_only=True)
class Film(Figure):
    """One figure at several moments, and beside or below it curves on which the moment is marked.

    It stands at its last moment; a slider in the browser moves through it, and it can be played there. `at` says where
    each frame is on the x axis of the curves, to whose marks one can jump.
    """

    frames: tuple[Matrices, ...]
    moments: tuple[Message, ...]  # what is said of each frame
    curves: tuple[Curves, ...] = ()
    at: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Figure):
    """A few numbers in rows and columns, for what is read and not looked at; `folded` below its name until opened."""

    columns: tuple[Message, ...]
    cells: tuple[tuple[Argument, ...], ...]
    folded: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts(Figure):
    """The few numbers that matter most, in large type, each below what it is."""

    facts: tuple[tuple[Message, Argument], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Listing(Figure):
    """Functions that ran, as they stand in their files, below a title and a note on them."""

    title: Message
    note: Message
    functions: tuple[Callable, ...]


# What is asked.


# Read it off the picture; say it before it is shown; carry it over to what is not shown.
QuestionStep = Literal["look", "predict", "generalise"]
QUESTION_STEPS: dict[QuestionStep, Message] = {
    "look": message("Look"),
    "predict": message("Predict"),
    "generalise": message("Generalise"),
}


LETTERS = "ABCD"  # by which cards are named


@dataclass(frozen=True)
class Card:
    """An answer to choose, what is said to whoever chooses it, and the thought that leads to it, in a few words."""

    text: Message
    reply: Message
    reason: Message | None = None


@dataclass(frozen=True)
class Question:
    """A prompt and two to four cards that read differently; `right` is the index of the only right one.

    Where it is to be predicted and its answer stands `in_figure`, its numbers wait until something is chosen. Where it
    is one number, it is `about` that: its name, such as a tensor's, and its place. The screen knows to derive it.
    """

    prompt: Message
    cards: tuple[Card, ...]
    right: int
    in_figure: bool = True
    about: tuple[str, *tuple[int, ...]] | None = None
    step: QuestionStep = "predict"


# All of it together.


@dataclass(frozen=True, eq=False)
class Code:
    """The functions that ran, and how they were called, of which a program is made.

    Where an attention is named, it is computed with loops and with NumPy as well.
    """

    functions: tuple[Callable, ...]
    attention: AttentionTrace | None = None
    scale: float = 1.0
    call: Callable[[], Call] | None = None  # made when somebody wants to see it


@dataclass(frozen=True, eq=False, kw_only=True)
class Screen:
    """Everything one screen of a lesson shows, says and asks.

    A `headline` and what follows it stand on top in the place of the question that the lesson answers. `derive` tells
    how the number that a question is about comes about: line by line, itself last.
    """

    figures: tuple[Figure, ...]
    code: Code
    formula: str | None = None  # LaTeX, with the sizes filled in; numbers only, never a learner's text
    ask: Callable[[int], Question] | None = None  # the same number gives the same question
    derive: Callable[..., Iterable[Step]] | None = None  # of what a question is about
    headline: Message | None = None
    lead: tuple[Message, ...] = ()
    remarks: tuple[Message, ...] = ()  # what else there is to say, such as what follows from the learner's edits
