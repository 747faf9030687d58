"""The tensors on their way through several heads: before and after each step, with a feature lit in both."""

from collections.abc import Callable, Sequence

from torch import Tensor

from attention_core.heads import split_heads
from lessons.heads.derivation import ManyHeadsDerivation
from lessons.heads.example import MOST_FEATURES, SideBySide, shown_features, whose_heads
from lessons.screen.message import Message, message
from lessons.screen.screen import Cells, Matrices, Matrix

FEW = 8  # features of a wide matrix, where several stand side by side
HEADS_IN_A_BAND = 8
HEIGHT = 400  # pixels that the controls leave free on the screen of a laptop
TITLES = {
    "x": message("X"),
    "q": message("Q"),
    "k": message("K"),
    "v": message("V"),
    "concatenated": message("concatenated"),
}

Sources = Callable[[int, int], Sequence[Cells]]
HeadBands = Sequence[Sequence[Matrix | None]]


def heads_figure(trace: SideBySide, notice: tuple[Message, ...], **look: object) -> Matrices:
    """A figure of this lesson, whatever it shows."""
    usual = {
        "key": "way_figure",
        "name": message("A step of multi-head attention"),
        "height": HEIGHT,
        "weights": whose_heads(trace),
    }
    return Matrices(notice=notice, **(usual | look))


def project_bands(derivation: ManyHeadsDerivation) -> HeadBands:
    """X, and the queries, keys and values of all heads."""
    x = whole(derivation, "x", FEW, lambda i, j: tuple(Cells(key, row=i) for key in ("x", "q", "k", "v")), given=True)
    return ((x, *(whole(derivation, role, FEW, lambda i, j: (Cells("x", row=i),)) for role in ("q", "k", "v"))),)


def split_bands(derivation: ManyHeadsDerivation, role: str) -> HeadBands:
    """Queries, keys or values of all heads side by side, and those of each head."""
    lights = same_feature(derivation, role, role)
    before = whole(derivation, role, MOST_FEATURES, lights)
    first, *others = parts_of(derivation, role, role, lights)
    return (before, *first), *((None, *band) for band in others)


def concatenate_bands(derivation: ManyHeadsDerivation) -> HeadBands:
    """What each head found, and all of it side by side."""
    lights = same_feature(derivation, "concatenated", "heads")
    after = whole(derivation, "concatenated", MOST_FEATURES, lights)
    *others, last = parts_of(derivation, "heads", "concatenated", lights)
    return *others, (*last, after)


def joined_bands(derivation: ManyHeadsDerivation) -> HeadBands:
    """What the heads found, W_o, and their product. Each number of the output lights a row and a column."""
    W_o = derivation.module.W_o
    title = (
        message("output = concatenated · W_o")
        if derivation.module.b_o is None
        else message("output = concatenated · W_o + bias")
    )
    rows, columns = W_o.shape
    entering, leaving = (shown_features(features, derivation.n_heads, FEW) for features in W_o.shape)
    remark = message(
        "{rows}×{columns}, {shown}×{wide} shown", rows=rows, columns=columns, shown=len(entering), wide=len(leaving)
    )
    w_o = derivation.matrix(
        "w_o",
        message("W_o"),
        W_o[entering][:, leaving],
        leaving,
        entering,
        sources=lambda i, j: (Cells("concatenated", column=i), Cells("output", column=j)),
        remark=remark if (rows, columns) != (len(entering), len(leaving)) else None,
    )
    found = whole(derivation, "concatenated", FEW, lambda i, j: (Cells("w_o", row=j), Cells("output", row=i)))
    output = whole(
        derivation, "output", FEW, lambda i, j: (Cells("concatenated", row=i), Cells("w_o", column=j)), title=title
    )
    return ((found, w_o, output),)


def whole(derivation: ManyHeadsDerivation, tensor: str, most: int, sources: Sources, **look: object) -> Matrix:
    """A matrix with the features of all heads, or with about `most` of them where they are many."""
    values = derivation.tensors[tensor]
    features = shown_features(derivation.features(tensor), derivation.n_heads, most)
    usual = {"title": TITLES.get(tensor), "sources": sources, "remark": shown_of(values, len(features))}
    return derivation.matrix(tensor, values=values[:, features], features=features, **(usual | look))


def parts_of(derivation: ManyHeadsDerivation, key: str, tensor: str, sources: Sources) -> list[tuple[Matrix, ...]]:
    """The same features as a matrix for each head, in bands."""
    n_heads = derivation.n_heads
    features = shown_features(derivation.features(tensor), n_heads)
    values = split_heads(derivation.tensors[tensor], n_heads)
    each = len(features) // n_heads

    def part(head: int) -> Matrix:
        own = features[head * each : (head + 1) * each]
        return derivation.matrix(
            tensor,
            message("head {number}", number=head + 1),
            values[head, :, :each],
            own,
            key=f"{key}.{head}",
            sources=lambda i, j: sources(i, head * each + j),
            remark=shown_of(values[head], each),
        )

    parts = [part(head) for head in range(n_heads)]
    return [tuple(parts[first : first + HEADS_IN_A_BAND]) for first in range(0, n_heads, HEADS_IN_A_BAND)]


def same_feature(derivation: ManyHeadsDerivation, whole_key: str, part_key: str) -> Sources:
    """Where a feature stands side by side with all others, and where it stands in its head."""
    each = len(shown_features(derivation.features(whole_key), derivation.n_heads)) // derivation.n_heads

    def sources(i: int, j: int) -> tuple[Cells, ...]:
        head, own = divmod(j, each)
        return Cells(whole_key, i, j), Cells(f"{part_key}.{head}", i, own)

    return sources


def shown_of(values: Tensor, shown: int) -> Message | None:
    """How many columns of a matrix are drawn, where they are not all."""
    rows, columns = values.shape
    return (
        None
        if shown == columns
        else message("{rows}×{columns}, {shown} shown", rows=rows, columns=columns, shown=shown)
    )
