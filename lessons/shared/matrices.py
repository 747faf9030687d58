"""Matrices as lessons draw them again and again: those of one head, with the derivation of every cell."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attention_core.one_head.turning import FEATURES as TURNED_FEATURES
from lessons.example.example import MOST_FEATURES, ExampleTrace
from lessons.screen import Argument, Axis, Cells, Matrix, Message, message, visible_text
from lessons.trace.computation import Computation, Take, followed_matrix

QUERIES, KEYS, TOKENS, FEATURES = message("queries"), message("keys"), message("tokens"), message("features")
FEATURE = message("feature")
PAIRS = ("scores", "scaled", "masked", "weights")  # tensors with a number for each query and key
ROLES = {"q": "q", "k": "k", "k_transposed": "k", "v": "v", "output": "v", "weights": "weight"}


def token_axis(tokens: tuple[str, ...], name: Message = TOKENS) -> Axis:
    """Rows or columns that belong to tokens."""
    return Axis(name, tuple(map(visible_text, tokens)), named=True)


def feature_axis(count: int, first: int = 0) -> Axis:
    """Rows or columns that are features, counted from 1."""
    return Axis(FEATURES, tuple(str(first + place + 1) for place in range(count)), one=FEATURE)


def single_axis(label: str | Message, *, named: bool = False) -> Axis:
    """One row or column alone."""
    return Axis(None, (label if isinstance(label, Message) else visible_text(label),), named)


def head_matrix(trace: ExampleTrace, computation: Computation, tensor: str, title: Message, **look: Any) -> Matrix:
    """A tensor of the one head that is computed, with what its mask hides; "k_transposed" is k, a column each."""
    if tensor == "k_transposed":
        axes: dict[str, Any] = {
            "rows": feature_axis(computation.result.k.shape[1]),
            "columns": token_axis(trace.tokens, KEYS),
        }
        look = {"take": lambda k: k.mT, "name": tensor, "axes": ("d_k", "keys"), **axes} | look
        return traced_matrix(computation, "k", title, trace.tokens, **look)
    if tensor in ("masked", "weights"):
        look = {"visible": computation.result.visible} | look
    return traced_matrix(computation, tensor, title, trace.tokens, **look)


def weight_matrix(trace: ExampleTrace, role: str, head: int, computation: Computation) -> Matrix:
    """The columns of W_q, W_k or W_v (role "q", "k" or "v") that belong to one head; given, as it is not computed."""
    name = f"W_{role}"
    rows, columns = computation.inputs[name].shape
    return traced_matrix(
        computation,
        name,
        message("{matrix}", matrix=name),
        trace.tokens,
        rows=feature_axis(rows),
        columns=feature_axis(columns, first=head * columns),
        given=True,
        colour=role,
        sources=lambda i, j: (Cells(role, column=j),),
    )


def traced_matrix(
    computation: Computation,
    path: str,
    title: Message,
    tokens: tuple[str, ...],
    *,
    take: Take | None = None,
    name: str | None = None,
    axes: Sequence[str] = (),
    computed: bool = False,
    **look: Any,
) -> Matrix:
    """A tensor of a computation: see `Computation.follow`. What it is follows from its name.

    Of many features a few are shown, and it is said how many there are.
    """
    followed = computation.follow(path, take, name, axes, computed)
    tensor = name or path.rpartition(".")[2]
    kind = QUERIES if tensor in (*PAIRS, "q", "output") else KEYS if tensor in ("k", "v") else TOKENS
    rows, columns = followed.values.shape
    usual: dict[str, Any] = {
        "key": tensor,
        "title": title,
        "rows": token_axis(tokens, kind) if rows == len(tokens) else feature_axis(rows),
        "columns": token_axis(tokens, KEYS) if tensor in PAIRS else feature_axis(columns),
        "scale": "weight" if tensor == "weights" else "number",
        "colour": ROLES.get(tensor, "ink"),
    }
    look = usual | look
    shown = tuple(
        () if look[axis].named else features_shown(computation, size)
        for axis, size in (("rows", rows), ("columns", columns))
    )
    if any(shown):
        only = those_shown(*shown)
        followed = replace(followed, only=only)
        look["remark"] = look.get("remark") or shown_of(shown, (rows, columns))
        if look.get("visible") is not None:
            look["visible"] = only(look["visible"])
        look |= {name: part_of(look[name], those) for name, those in zip(("rows", "columns"), shown, strict=True)}
    return followed_matrix(followed, **look)


# Of many features, a few.

Features = tuple[int, ...]  # those of an axis that are shown, where not all are


def features_shown(computation: Computation, n_features: int) -> Features:
    """Which of so many features are shown, where they are too many: of X the largest, of a head the first."""
    if n_features <= MOST_FEATURES:
        return ()
    x = computation.inputs.get("x")
    if x is None or x.shape[-1] != n_features:
        return tuple(range(TURNED_FEATURES))
    return tuple(sorted(abs(x).sum(axis=0).argsort().tolist()[-TURNED_FEATURES:]))


def how_many_shown(n_features: int) -> int:
    """How many of so many features of a head are shown."""
    return n_features if n_features <= MOST_FEATURES else TURNED_FEATURES


def those_shown(rows: Features, columns: Features) -> Take:
    """The rows and columns of a matrix that are shown."""
    return lambda matrix: matrix[list(rows) or slice(None)][:, list(columns) or slice(None)]


def part_of(axis: Axis, shown: Features) -> Axis:
    """The axis with the labels of the features that are shown."""
    return replace(axis, labels=tuple(axis.labels[feature] for feature in shown)) if shown else axis


def shown_of(shown: Sequence[Features], sizes: Sequence[int]) -> Message:
    """How many rows and columns there are, and how many of them are shown."""

    def said(those: Features, size: int) -> Argument:
        return message("{shown} of {all}", shown=len(those), all=size) if those else size

    rows, columns = map(said, shown, sizes)
    return message("{rows} × {columns}", rows=rows, columns=columns)
