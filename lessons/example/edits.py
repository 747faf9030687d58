"""Numbers changed by hand: entries of X, W_q, W_k and W_v that the learner sets in the place of those drawn.

Reading order: one changed number (`Edit`), how numbers are set and find their place in the matrices, and
the short text with which they travel in a link: `q1,2=0.5;x3,1=-1` sets two.
"""

import re
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attention_core.base.errors import InputError
from attention_core.text.tokens import clean_text
from lessons.screen import Integer, Message, message, plural, reason

LETTER_OF = {"x": "x", "W_q": "q", "W_k": "k", "W_v": "v"}  # the matrices that can be edited, as a link spells them
LARGEST = 1000
MOST_EDITS = 50
MOST_PLACES = 9999  # rows or columns that a link can count
MOST_CHARACTERS = 2000
MOST_SENTENCES = 3


@dataclass(frozen=True)
class Edit:
    """One number set by hand. Rows and columns count from 0, those of W through all heads side by side.

    Raises ValueError for a matrix that cannot be edited, a place that no matrix has, and a value that is
    no number from −1000 to 1000.
    """

    matrix: str
    row: int
    column: int
    value: float

    def __post_init__(self):
        if self.matrix not in LETTER_OF:
            raise ValueError(f"the matrices that can be edited are {', '.join(LETTER_OF)}, but got {self.matrix}")
        if not (0 <= self.row < MOST_PLACES and 0 <= self.column < MOST_PLACES):
            raise InputError(
                "rows and columns go from 1 to {most_places}, but got row {row}, column {column}",
                most_places=MOST_PLACES,
                row=self.row + 1,
                column=self.column + 1,
            )
        usable_number(self.value)

    @property
    def place(self) -> tuple[str, int, int]:
        """The place of an edit: matrix, row and column."""
        return self.matrix, self.row, self.column

    def fits(self, shape: tuple[int, ...]) -> bool:
        """True when a matrix of this shape has such a place."""
        return self.row < shape[0] and self.column < shape[1]


Edits = tuple[Edit, ...]
Numbers = Float[Tensor, "rows columns"]


def usable_number(typed: object) -> float:
    """What was typed, as a number. Raises ValueError for anything but a number from −1000 to 1000."""
    if typed is None or typed == "":
        raise InputError("the cell is empty, but it needs a number from −{largest} to {largest}", largest=LARGEST)
    if isinstance(typed, bool) or not isinstance(typed, int | float) or typed != typed:
        raise InputError(
            "“{typed}” is not a number from −{largest} to {largest}", typed=shown_edit(str(typed)), largest=LARGEST
        )
    if abs(typed) > LARGEST:
        raise InputError(
            "{typed} is too large: numbers go from −{largest} to {largest}",
            typed=shown_edit(str(typed)),
            largest=LARGEST,
        )
    return float(typed)


def put_edit(edits: Edits, edit: Edit) -> Edits:
    """The edits with one more; an earlier one of the same place gives way. Raises ValueError when no more fit."""
    others = tuple(other for other in edits if other.place != edit.place)
    if len(others) == MOST_EDITS:
        raise InputError(
            "{most_edits} numbers have already been changed by hand, which is the maximum: reset some first",
            most_edits=MOST_EDITS,
        )
    return (*others, edit)


def apply_edits(matrices: dict[str, Numbers], edits: Edits, ids: tuple[int, ...]) -> dict[str, Numbers]:
    """Copies of the matrices with the numbers set by hand; edits outside a matrix wait and have no effect.

    A row of x is the row that the token's id fetches from the embedding table. So a number set in it
    is set for every token with this id, and the same word keeps the same vector.
    """
    edited = {name: matrix.clone() for name, matrix in matrices.items()}
    for edit in edits:
        matrix = edited[edit.matrix]
        if edit.fits(matrix.shape):
            shared = edit.matrix == "x"
            rows = [row for row, i in enumerate(ids) if i == ids[edit.row]] if shared else [edit.row]
            matrix[rows, edit.column] = edit.value
    return edited


def waiting_notes(matrices: dict[str, Numbers], edits: Edits) -> tuple[Message, ...]:
    """A sentence for each matrix that is too small for some of its edits."""
    notes = []
    for name, matrix in matrices.items():
        rows, columns = matrix.shape
        waiting = sum(edit.matrix == name and not edit.fits(matrix.shape) for edit in edits)
        if waiting:
            notes.append(
                plural(
                    "{matrix} is {rows}×{columns} now, and {count} number changed by hand lies outside it. Nothing "
                    "is lost: the change counts again once there is room.",
                    "{matrix} is {rows}×{columns} now, and {count} numbers changed by hand lie outside it. Nothing "
                    "is lost: the changes count again once there is room.",
                    waiting,
                    matrix=title(name),
                    rows=rows,
                    columns=columns,
                )
            )
    return tuple(notes)


def edits_code(edits: Edits) -> str:
    """The edits as a link spells them, with rows and columns counted from 1."""
    return ";".join(
        f"{LETTER_OF[edit.matrix]}{edit.row + 1},{edit.column + 1}={repr(edit.value).removesuffix('.0')}"
        for edit in edits
    )


def parse_edits(code: str) -> tuple[Edits, tuple[Message, ...]]:
    """The edits that a link spells, and a sentence for what cannot be read, which is left out."""
    if len(code) > MOST_CHARACTERS:
        return (), (
            message(
                "The numbers changed by hand take {count} characters, but at most {most} are read, so none was "
                "changed.",
                count=Integer(len(code)),
                most=Integer(MOST_CHARACTERS),
            ),
        )
    edits, bad = (), []
    for piece in filter(None, (piece.strip() for piece in code.split(";"))):
        try:
            edits = put_edit(edits, parse_edit(piece))
        except ValueError as error:
            bad.append(
                message(
                    "“{piece}” was left out of the numbers changed by hand: {why}.",
                    piece=shown_edit(piece),
                    why=reason(error),
                )
            )
    return edits, few(bad)


def parse_edit(piece: str) -> Edit:
    """One edit as a link spells it. Raises ValueError for anything else."""
    found = re.fullmatch(r"([xqkv])(\d{1,4}),(\d{1,4})=(.*)", piece, re.ASCII)
    if not found:
        raise InputError("write it like q1,2=0.5, which sets row 1, column 2 of W_q; x, k and v set X, W_k and W_v")
    letter, row, column, text = found.groups()
    plain = re.fullmatch(r"-?\d{1,6}(\.\d{1,20})?(e-?\d{1,3})?", text, re.ASCII)
    matrix = next(name for name in LETTER_OF if LETTER_OF[name] == letter)
    return Edit(matrix, int(row) - 1, int(column) - 1, usable_number(float(text) if plain else text))


def title(matrix: str) -> str:
    """The name of a matrix as it stands over it."""
    return "X" if matrix == "x" else matrix


def few(sentences: list[Message]) -> tuple[Message, ...]:
    """The first sentences, and how many more there are."""
    rest = len(sentences) - MOST_SENTENCES
    return (
        (*sentences[:MOST_SENTENCES], message("And {count} more like this.", count=rest))
        if rest > 0
        else tuple(sentences)
    )


def shown_edit(text: str, most: int = 20) -> str:
    """The beginning of a text that may be anything, made fit to show."""
    clean = clean_text(text).text
    return clean if len(clean) <= most else f"{clean[:most]}…"
