"""What the numbers that a learner changed do to a screen: the same screen with them and without, cell by cell."""

from dataclasses import replace

from lessons.screen import Figure, Matrices, Matrix, Screen


def diff(now: Screen, then: Screen) -> Screen:
    """The screen `now`, in which every matrix knows what it was on the screen `then`."""
    before = {
        matrix.key: matrix for figure in then.figures if isinstance(figure, Matrices) for matrix in figure.matrices
    }
    return replace(now, figures=tuple(with_past(figure, before) for figure in now.figures))


def with_past(figure: Figure, before: dict[str, Matrix]) -> Figure:
    """A figure of matrices that know what they were; any other figure as it is."""
    if not isinstance(figure, Matrices):
        return figure
    bands = tuple(tuple(remembering(matrix, before) for matrix in band) for band in figure.bands)
    return replace(figure, bands=bands)


def remembering(matrix: Matrix | None, before: dict[str, Matrix]) -> Matrix | None:
    """The matrix with its past, where it had one of the same shape."""
    past = before.get(matrix.key) if matrix is not None else None
    same = past is not None and tuple(past.values.shape) == tuple(matrix.values.shape)
    return replace(matrix, was=past.values) if same else matrix
