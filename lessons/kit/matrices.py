"""Matrices as lessons draw them again and again: those of one head, with the derivation of every cell."""

from collections.abc import Callable, Iterator

from lessons.example.example import ExampleTrace, projection_of
from lessons.kit.head_derivation import HeadDerivation
from lessons.screen.arithmetic import term
from lessons.screen.format import visible_text
from lessons.screen.message import Message, message
from lessons.screen.screen import Array, Axis, Cells, Matrix, Step

QUERIES, KEYS, TOKENS, FEATURES = message("queries"), message("keys"), message("tokens"), message("features")
FEATURE = message("feature")
PAIRS = ("scores", "scaled", "masked", "weights")  # tensors with a number for each query and key
BELOW_CONTROLS = 385  # pixels of a screen of 1440×900 that several lines of controls leave free
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


def head_matrix(
    derivation: HeadDerivation,
    tensor: str,
    title: Message,
    values: Array,
    *,
    key: str | None = None,
    **changes: object,
) -> Matrix:
    """A tensor of one head. `key` names it in the figure, where several stand that were computed alike."""
    tokens = tuple(name.text for name in derivation.names)
    pairs = tensor in PAIRS
    rows = token_axis(tokens, QUERIES if pairs or tensor in ("q", "output") else KEYS if tensor in "kv" else TOKENS)
    columns = token_axis(tokens, KEYS) if pairs else feature_axis(values.shape[1])
    if tensor == "k_transposed":
        rows, columns = feature_axis(values.shape[0]), token_axis(tokens, KEYS)
    look = {
        "key": key or tensor,
        "title": title,
        "values": values,
        "rows": rows,
        "columns": columns,
        "scale": "weight" if tensor == "weights" else "number",
        "colour": ROLES.get(tensor, "ink"),
        "visible": derivation.visible if tensor in ("masked", "weights") else None,
    }
    return Matrix(**(look | followed(derivation, tensor, own_sources=key is None) | changes))


def followed(derivation: HeadDerivation, tensor: str, *, own_sources: bool = True) -> dict[str, Callable]:
    """How the cells of a tensor of one head come about, as a `Matrix` takes it."""

    def step(i: int, j: int) -> Step:
        return derivation.step(tensor, i, j)

    def before(i: int, j: int) -> Iterator[Step]:
        return derivation.before(tensor, i, j)

    def sources(i: int, j: int) -> tuple[Cells, ...]:
        return derivation.sources(tensor, i, j)

    return {"step": step, "before": before} | ({"sources": sources} if own_sources else {})


def weight_matrix(example: ExampleTrace, role: str, head: int) -> Matrix:
    """The columns of W_q, W_k or W_v (role "q", "k" or "v") that belong to one head; given, as it is not computed."""
    name, weights = f"W_{role}", projection_of(example, role, head)
    values, (rows, columns) = weights.tolist(), weights.shape

    def entry(i: int, j: int) -> Step:
        says = message(
            "{matrix}, row {row}, column {column}: an entry of {matrix}",
            matrix=name,
            row=i + 1,
            column=head * columns + j + 1,
        )
        return Step(says, term(values[i][j]), values[i][j])

    return Matrix(
        key=name,
        title=message("{matrix}", matrix=name),
        values=weights,
        rows=feature_axis(rows),
        step=entry,
        given=True,
        columns=feature_axis(columns, first=head * columns),
        colour=role,
        sources=lambda i, j: (Cells(role, column=j),),
    )
