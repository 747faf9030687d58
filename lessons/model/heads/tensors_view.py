"""The tensors on their way through several heads: before and after each step, with a feature lit in both."""

from collections.abc import Callable, Sequence
from typing import Any

from attention_core.base.arrays import Array
from lessons.model.heads.example import MOST_FEATURES, HeadsTrace, SideBySide, shown_features, whose_heads
from lessons.screen import Axis, Cells, Matrices, Matrix, Message, message
from lessons.shared.matrices import FEATURE, FEATURES, ROLES, token_axis, traced_matrix

FEW = 8  # features of a wide matrix, where several stand side by side
HEADS_IN_A_BAND = 8
TITLES = {
    "x": message("X"),
    "q": message("Q"),
    "k": message("K"),
    "v": message("V"),
    "concatenated": message("concatenated"),
}
COLOURS = {**ROLES, "heads": "v", "concatenated": "v", "output": "ink"}

Sources = Callable[[int, int], Sequence[Cells]]
HeadBands = Sequence[Sequence[Matrix | None]]


def heads_figure(trace: SideBySide, notice: tuple[Message, ...], **look: Any) -> Matrices:
    """A figure of this lesson, whatever it shows."""
    usual = {
        "key": "way_figure",
        "name": message("A step of multi-head attention"),
        "weights": whose_heads(trace),
    }
    return Matrices(notice=notice, **(usual | look))


def project_bands(trace: HeadsTrace) -> HeadBands:
    """X, and the queries, keys and values of all heads."""
    x = whole(
        trace, "x", FEW, given=True, sources=lambda i, j: tuple(Cells(key, row=i) for key in ("x", "q", "k", "v"))
    )
    return ((x, *(whole(trace, role, FEW) for role in ("q", "k", "v"))),)


def split_bands(trace: HeadsTrace, role: str) -> HeadBands:
    """Queries, keys or values of all heads side by side, and those of each head."""
    lights = same_feature(trace, role, role)
    before = whole(trace, role, MOST_FEATURES, sources=lights)
    first, *others = parts_of(trace, role, f"parts.{role}", lights)
    return (before, *first), *((None, *band) for band in others)


def concatenate_bands(trace: HeadsTrace) -> HeadBands:
    """What each head found, and all of it side by side."""
    lights = same_feature(trace, "concatenated", "heads")
    after = whole(trace, "concatenated", MOST_FEATURES, sources=lights)
    *others, last = parts_of(trace, "heads", "heads.output", lights)
    return *others, (*last, after)


def joined_bands(trace: HeadsTrace) -> HeadBands:
    """What the heads found, W_o, and their product. Each number of the output lights a row and a column."""
    W_o = trace.module.W_o
    title = message("output = concatenated · W_o")
    if trace.module.b_o is not None:
        title = message("output = concatenated · W_o + bias")
    rows, columns = W_o.shape
    entering, leaving = (shown_features(features, trace.n_heads, FEW) for features in W_o.shape)
    remark = message(
        "{rows}×{columns}, {shown}×{wide} shown", rows=rows, columns=columns, shown=len(entering), wide=len(leaving)
    )
    w_o = traced_matrix(
        trace.computation,
        "W_o",
        message("W_o"),
        trace.tokens,
        key="w_o",
        take=lambda W: W[entering][:, leaving],
        rows=features_drawn(entering),
        columns=features_drawn(leaving),
        sources=lambda i, j: (Cells("concatenated", column=i), Cells("output", column=j)),
        remark=remark if (rows, columns) != (len(entering), len(leaving)) else None,
    )
    lights = lambda i, j: (Cells("w_o", row=j), Cells("output", row=i))  # noqa: E731
    found = whole(trace, "concatenated", FEW, sources=lights)
    return ((found, w_o, whole(trace, "output", FEW, title=title)),)


def whole(trace: HeadsTrace, path: str, most: int, **look: Any) -> Matrix:
    """A matrix with the features of all heads, or with about `most` of them where they are many."""
    values = trace.computation.follow(path).values
    features = shown_features(values.shape[-1], trace.n_heads, most)
    usual = {
        "title": TITLES.get(path),
        "rows": token_axis(trace.tokens),
        "columns": features_drawn(features),
        "take": lambda a: a[:, features],
        "computed": True,
        "colour": COLOURS.get(path, "ink"),
        "remark": shown_of(values, len(features)),
    }
    return traced_matrix(trace.computation, path, tokens=trace.tokens, **(usual | look))


def parts_of(trace: HeadsTrace, key: str, path: str, sources: Sources) -> list[tuple[Matrix, ...]]:
    """The features of all heads as a matrix for each head, in bands."""
    values = trace.computation.follow(path).values
    n_heads = len(values)
    features = shown_features(n_heads * values.shape[-1], n_heads)
    each = len(features) // n_heads

    def part(head: int) -> Matrix:
        return traced_matrix(
            trace.computation,
            path,
            message("head {number}", number=head + 1),
            trace.tokens,
            key=f"{key}.{head}",
            take=lambda a: a[head, :, :each],
            computed=True,
            rows=token_axis(trace.tokens),
            columns=features_drawn(features[head * each : (head + 1) * each]),
            colour=COLOURS[key],
            sources=lambda i, j: sources(i, head * each + j),
            remark=shown_of(values[head], each),
        )

    parts = [part(head) for head in range(n_heads)]
    return [tuple(parts[first : first + HEADS_IN_A_BAND]) for first in range(0, n_heads, HEADS_IN_A_BAND)]


def same_feature(trace: HeadsTrace, whole_key: str, part_key: str) -> Sources:
    """Where a feature stands side by side with all others, and where it stands in its head."""
    columns = trace.computation.follow(whole_key).values.shape[-1]
    each = len(shown_features(columns, trace.n_heads)) // trace.n_heads

    def sources(i: int, j: int) -> tuple[Cells, ...]:
        head, own = divmod(j, each)
        return Cells(whole_key, i, j), Cells(f"{part_key}.{head}", i, own)

    return sources


def features_drawn(features: Sequence[int]) -> Axis:
    """An axis of these features, counted from 0."""
    return Axis(FEATURES, tuple(str(feature + 1) for feature in features), one=FEATURE)


def shown_of(values: Array, shown: int) -> Message | None:
    """How many columns of a matrix are drawn, where they are not all."""
    rows, columns = values.shape
    if shown == columns:
        return None
    return message("{rows}×{columns}, {shown} shown", rows=rows, columns=columns, shown=shown)
