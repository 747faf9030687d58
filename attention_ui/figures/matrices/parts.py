"""A figure of matrices part by part, for a projector, where all of them would be too small at once."""

import math
from dataclasses import replace
from itertools import combinations, pairwise

from lessons.screen import Matrices, Matrix
from words import cached_by_language

MOST_IN_PARTS = 8  # figures that are kept in their parts
# Pixels of a figure on a projector, all of it seen at once, and of its numbers: beside a question, beside the cards of
# a class, and alone. Where a class compares what it sees, that counts more than the size of the numbers.
BESIDE_QUESTION, BESIDE_CARDS, ALONE = (890, 574, 24), (800, 430, 18), (1225, 574, 19)
HEADING = 54  # of its height
PROJECTED_IN_LARGE, LARGE_MATRIX = 19, 100  # pixels of numbers there, in a matrix of so many numbers
# In ems, as layout.js and projector.css have them: a cell with the gap before it, what stands beside a table, a line of
# its head, and the names of columns that stand upright.
COLUMN, BESIDE, ROW, LINE, UPRIGHT = 2.48, 3.4, 1.84, 1.25, 3.5
ProjectedRoom = tuple[int, int, int]


@cached_by_language(maxsize=MOST_IN_PARTS)
def parts_on_a_projector(figure: Matrices, room: ProjectedRoom = BESIDE_QUESTION) -> tuple[Matrices, ...]:
    """What a projector shows of a figure: the matrices that its last step is about; or else all of them, in as few
    parts as leave large numbers in this `room`, and those about as wide as each other.

    Of one figure always the same ones: their tables are kept by them.
    """
    if figure.of_step:
        matrices = {matrix.key: matrix for matrix in figure.matrices}
        return (replace(figure, bands=(tuple(matrices[key] for key in figure.of_step),)),)
    if not figure.numbered or figure.beside:
        return (figure,)
    places = max(map(len, figure.bands))
    splits = (
        tuple(part_of(figure, *ends) for ends in pairwise((0, *sorted(cuts), places)))
        for n_cuts in range(places)
        for cuts in combinations(range(places - 1, 0, -1), n_cuts)
    )

    def fault(parts: tuple[Matrices, ...]) -> tuple[float, ...]:
        elsewhere = sum(part.matrices[0].key not in figure.apart for part in parts[1:])
        return (-min(nearness(part, room) for part in parts), len(parts), elsewhere, max(map(width_of, parts)))

    return min(splits, key=fault)


def part_of(figure: Matrices, begin: int, end: int) -> Matrices:
    """The figure with those matrices of each band that stand at these places."""
    bands = (band[begin:end] for band in figure.bands)
    return replace(figure, bands=tuple(band for band in bands if any(matrix is not None for matrix in band)))


def nearness(figure: Matrices, room: ProjectedRoom) -> float:
    """How large the numbers of a figure are in this room of a projector: 1 where as large as they should be, which is
    less in a large matrix.
    """
    width, height, number = room
    most = max(math.prod(matrix.values.shape) for matrix in figure.matrices)
    wanted = min(number, PROJECTED_IN_LARGE) if most >= LARGE_MATRIX else number
    width *= min(1, figure.width / Matrices.width)
    height -= HEADING if figure.heading is not None else 0
    return min(1, width / width_of(figure) / wanted, height / height_of(figure) / wanted)


def width_of(figure: Matrices) -> float:
    """Ems from side to side."""
    return max(sum(COLUMN * one.values.shape[1] + BESIDE for one in drawn_in(band)) for band in figure.bands)


def height_of(figure: Matrices) -> float:
    """Ems from the top to the bottom."""
    return sum(max(ROW * one.values.shape[0] + above(one) for one in drawn_in(band)) for band in figure.bands)


def above(matrix: Matrix) -> float:
    """Ems for the title, and for what its rows and columns are."""
    return 3 + (UPRIGHT if matrix.columns.named else LINE * matrix.rows.named)


def drawn_in(band: tuple[Matrix | None, ...]) -> list[Matrix]:
    """The matrices of a band."""
    return [matrix for matrix in band if matrix is not None]
