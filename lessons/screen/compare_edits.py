"""What the numbers that a learner changed do to a screen: the same screen with them and without, cell by cell."""

from dataclasses import replace

from lessons.screen.screen import Figure, Matrices, Matrix, Screen


def diff(now: Screen, then: Screen) -> Screen:
    """The screen `now`, in which every matrix knows what it was on the screen `then`."""
    before = {matrix.key: matrix for figure in then.figures for matrix in getattr(figure, "matrices", ())}

    def remembering(figure: Figure) -> Figure:
        return with_past(figure, before) if isinstance(figure, Matrices) else figure

    return replace(now, figures=tuple(map(remembering, now.figures)))


def with_past(figure: Matrices, before: dict[str, Matrix]) -> Matrices:
    """A figure of matrices that know what they were, and which entries they show, where they had the same shape."""

    def remembering(matrix: Matrix | None) -> Matrix | None:
        past = before.get(matrix.key) if matrix else None
        if matrix is None or past is None or tuple(past.values.shape) != tuple(matrix.values.shape):
            return matrix
        return replace(matrix, was=past.values, entries=past.entries)

    return replace(figure, bands=tuple(tuple(map(remembering, band)) for band in figure.bands))
