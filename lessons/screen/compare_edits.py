"""What the numbers that a learner changed do to a screen: the same screen with them and without, cell by cell."""

from dataclasses import replace

from lessons.screen.screen import Figure, Matrices, Matrix, Screen


def diff(now: Screen, then: Screen) -> Screen:
    """The screen `now`, in which every matrix knows what it was on the screen `then`."""
    before = {matrix.key: matrix for figure in then.figures for matrix in getattr(figure, "matrices", ())}
    return replace(now, figures=tuple(with_past(figure, before) for figure in now.figures))


def with_past(figure: Figure, before: dict[str, Matrix]) -> Figure:
    """A figure of matrices that know what they were, where they had the same shape; any other figure as it is."""

    def remembering(matrix: Matrix | None) -> Matrix | None:
        past = before.get(matrix.key) if matrix else None
        if matrix is None or past is None or tuple(past.values.shape) != tuple(matrix.values.shape):
            return matrix
        return replace(matrix, was=past.values)

    if not isinstance(figure, Matrices):
        return figure
    return replace(figure, bands=tuple(tuple(map(remembering, band)) for band in figure.bands))
