"""The tensors on their way through several heads: before and after each step, with a feature lit in both."""

from collections.abc import Callable, Sequence

from torch import Tensor

from lessons.heads_derivation import ManyHeadsDerivation
from lessons.heads_example import MOST_FEATURES, HeadsTrace, SideBySide, shown_features
from lessons.screen import Cells, Matrices, Matrix
from lessons.sentence import Sentence, say

FEW = 8  # features of a wide matrix, where several stand side by side
HEADS_IN_A_BAND = 8
HEIGHT = 400  # pixels that the controls leave free on the screen of a laptop

Sources = Callable[[int, int], Sequence[Cells]]


def heads_figure(trace: SideBySide, notice: tuple[Sentence, ...], **look: object) -> Matrices:
    """A figure of this lesson, whatever it shows."""
    usual = {
        "key": "way_figure", "name": say("A step of multi-head attention"), "height": HEIGHT,
        "weights": random_numbers(trace),
    }  # fmt: skip
    return Matrices(notice=notice, **(usual | look))


def random_numbers(trace: SideBySide) -> Sentence:
    """What made the numbers of this example: chance."""
    if isinstance(trace, HeadsTrace):
        return say("Untrained: random weights (seed {seed}).", seed=trace.example.seed)
    return say("Random queries, keys and values (seed {seed}).", seed=trace.example.seed)


def project_figure(trace: HeadsTrace, derivation: ManyHeadsDerivation, notice: tuple[Sentence, ...]) -> Matrices:
    """X, and the queries, keys and values of all heads."""

    def row_of_x(i: int, j: int) -> tuple[Cells, ...]:
        return (Cells("x", row=i),)

    def made_of_it(i: int, j: int) -> tuple[Cells, ...]:
        return tuple(Cells(key, row=i) for key in ("x", "q", "k", "v"))

    x = whole(trace, derivation, "x", say("X"), FEW, made_of_it, given=True)
    titles = {"q": say("Q"), "k": say("K"), "v": say("V")}
    made = [whole(trace, derivation, role, title, FEW, row_of_x) for role, title in titles.items()]
    return heads_figure(trace, notice, bands=((x, *made),), first="v")


def split_figure(
    trace: HeadsTrace, derivation: ManyHeadsDerivation, role: str, notice: tuple[Sentence, ...]
) -> Matrices:
    """Queries, keys or values of all heads side by side, and those of each head."""
    title = {"q": say("Q"), "k": say("K"), "v": say("V")}[role]
    before = whole(trace, derivation, role, title, MOST_FEATURES, same_feature(trace, role, role))
    parts = parts_of(trace, derivation, role, getattr(trace.heads, role), same_feature(trace, role, role), role)
    first, *others = parts
    bands = ((before, *first), *((None, *band) for band in others))
    return heads_figure(trace, notice, bands=bands, first=f"{role}.{trace.n_heads - 1}")


def concatenate_figure(trace: HeadsTrace, derivation: ManyHeadsDerivation, notice: tuple[Sentence, ...]) -> Matrices:
    """What each head found, and all of it side by side."""
    lights = same_feature(trace, "concatenated", "heads")
    after = whole(trace, derivation, "concatenated", say("concatenated"), MOST_FEATURES, lights)
    *others, last = parts_of(trace, derivation, "heads", trace.heads.output, lights, "concatenated")
    return heads_figure(trace, notice, bands=(*others, (*last, after)), first="concatenated")


def joined_figure(trace: HeadsTrace, derivation: ManyHeadsDerivation, notice: tuple[Sentence, ...]) -> Matrices:
    """What the heads found, W_o, and their product. Each number of the output lights a row and a column."""
    title = say("output = concatenated · W_o")
    if trace.example.bias:
        title = say("output = concatenated · W_o + bias")
    d_model = trace.output.shape[-1]
    features = shown_features(d_model, trace.n_heads, FEW)
    remark = say("{rows}×{columns}, {shown}×{shown} shown", rows=d_model, columns=d_model, shown=len(features))
    w_o = derivation.matrix(
        "w_o", say("W_o"), trace.module.W_o.weight.detach().T[features][:, features], features,
        sources=lambda i, j: (Cells("concatenated", column=i), Cells("output", column=j)),
        remark=remark if len(features) < d_model else None,
    )  # fmt: skip
    found = whole(trace, derivation, "concatenated", say("concatenated"), FEW,
                  lambda i, j: (Cells("w_o", row=j), Cells("output", row=i)))  # fmt: skip
    output = whole(trace, derivation, "output", title, FEW,
                   lambda i, j: (Cells("concatenated", row=i), Cells("w_o", column=j)))  # fmt: skip
    return heads_figure(trace, notice, bands=((found, w_o, output),), first="output")


def whole(
    trace: HeadsTrace,
    derivation: ManyHeadsDerivation,
    tensor: str,
    title: Sentence,
    most: int,
    sources: Sources,
    **look: object,
) -> Matrix:
    """A matrix with the features of all heads, or with about `most` of them where they are many."""
    values = getattr(trace, tensor)
    features = shown_features(values.shape[-1], trace.n_heads, most)
    remark = shown_of(values, len(features))
    return derivation.matrix(tensor, title, values[:, features], features, sources=sources, remark=remark, **look)


def parts_of(
    trace: HeadsTrace, derivation: ManyHeadsDerivation, role: str, values: Tensor, sources: Sources, tensor: str
) -> list[tuple[Matrix, ...]]:
    """The same features as a matrix for each head, in bands."""
    features = shown_features(trace.q.shape[-1], trace.n_heads)
    each = len(features) // trace.n_heads

    def part(head: int) -> Matrix:
        own = features[head * each : (head + 1) * each]
        return derivation.matrix(
            tensor, say("head {number}", number=head + 1), values[head, :, :each], own, key=f"{role}.{head}",
            sources=lambda i, j: sources(i, head * each + j), remark=shown_of(values[head], each),
        )  # fmt: skip

    parts = [part(head) for head in range(trace.n_heads)]
    return [tuple(parts[first : first + HEADS_IN_A_BAND]) for first in range(0, len(parts), HEADS_IN_A_BAND)]


def same_feature(trace: HeadsTrace, whole_key: str, part_key: str) -> Sources:
    """Where a feature stands side by side with all others, and where it stands in its head."""
    each = len(shown_features(trace.q.shape[-1], trace.n_heads)) // trace.n_heads

    def sources(i: int, j: int) -> tuple[Cells, ...]:
        head, own = divmod(j, each)
        return Cells(whole_key, i, j), Cells(f"{part_key}.{head}", i, own)

    return sources


def shown_of(values: Tensor, shown: int) -> Sentence | None:
    """How many columns of a matrix are drawn, where they are not all."""
    rows, columns = values.shape
    if shown == columns:
        return None
    return say("{rows}×{columns}, {shown} shown", rows=rows, columns=columns, shown=shown)
