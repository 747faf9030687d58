"""The numbers that a learner has set, as a link holds them: `q1,1=3;k1,1=2`, those that are not 0."""

from dataclasses import dataclass

from attention_core.puzzles import LARGEST, Puzzle, Weights
from lessons.example.edits import Edit, edits_code, parse_edits
from lessons.screen import Message, message, plural

MATRICES = ("W_q", "W_k", "W_v")


@dataclass(frozen=True)
class Place:
    """One number that can be set: its matrix, and its row and column, counted from 0."""

    matrix: str
    row: int
    column: int


def free_places(puzzle: Puzzle) -> list[Place]:
    """All numbers of a puzzle that can be set, matrix by matrix and row by row."""
    return [
        Place(matrix, row, column)
        for matrix in MATRICES
        for row in range(len(puzzle.features))
        for column in range(1 if matrix == "W_v" else puzzle.n_heads * puzzle.d_k)
        if puzzle.is_free(matrix, row, column)
    ]


def read_numbers(puzzle: Puzzle, code: str) -> tuple[Weights, tuple[Message, ...]]:
    """The weights that a link says, and a sentence for what cannot be: that is left out or brought to the nearest."""
    edits, notes = parse_edits(code)
    weights, fitting = puzzle.zeros(), [edit for edit in edits if edit.matrix in MATRICES and fits(puzzle, edit)]
    for edit in fitting:
        getattr(weights, edit.matrix)[edit.row, edit.column] = max(-LARGEST, min(LARGEST, edit.value))
    if lost := len(edits) - len(fitting):
        notes += (
            plural(
                "{count} number does not fit this level and was left out.",
                "{count} numbers do not fit this level and were left out.",
                lost,
            ),
        )
    if any(abs(edit.value) > LARGEST for edit in fitting):
        notes += (message("Numbers go from −{largest} to {largest} here; the nearest is used.", largest=int(LARGEST)),)
    return weights, notes


def fits(puzzle: Puzzle, edit: Edit) -> bool:
    """True for a number that can be set in this puzzle."""
    return puzzle.is_free(edit.matrix, edit.row, edit.column)


def write_numbers(puzzle: Puzzle, weights: Weights) -> str:
    """The numbers that are not 0 as a link says them."""
    entries = (
        Edit(place.matrix, place.row, place.column, float(getattr(weights, place.matrix)[place.row, place.column]))
        for place in free_places(puzzle)
    )
    return edits_code(tuple(edit for edit in entries if edit.value))


def count_numbers(puzzle: Puzzle, weights: Weights) -> int:
    """How many numbers are not 0."""
    return sum(bool(getattr(weights, place.matrix)[place.row, place.column]) for place in free_places(puzzle))
