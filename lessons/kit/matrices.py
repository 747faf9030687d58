"""Matrices as lessons draw them again and again: those of one head, with the derivation of every cell."""

from collections.abc import Sequence

from lessons.example.example import ExampleTrace
from lessons.screen.format import visible_text
from lessons.screen.message import Message, message
from lessons.screen.screen import Axis, Cells, Matrix
from lessons.trace.computation import Computation, Take, followed_matrix

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


def head_matrix(example: ExampleTrace, computation: Computation, tensor: str, title: Message, **look: object) -> Matrix:
    """A tensor of the one head that is computed, with what its mask hides; "k_transposed" is k, a column each."""
    if tensor == "k_transposed":
        axes = {"rows": feature_axis(computation.result.k.shape[1]), "columns": token_axis(example.tokens, KEYS)}
        look = {"take": lambda k: k.mT, "name": tensor, "axes": ("d_k", "keys"), **axes} | look
        return traced_matrix(computation, "k", title, example.tokens, **look)
    if tensor in ("masked", "weights"):
        look = {"visible": computation.result.visible} | look
    return traced_matrix(computation, tensor, title, example.tokens, **look)


def weight_matrix(example: ExampleTrace, role: str, head: int, computation: Computation) -> Matrix:
    """The columns of W_q, W_k or W_v (role "q", "k" or "v") that belong to one head; given, as it is not computed."""
    name = f"W_{role}"
    rows, columns = computation.inputs[name].shape
    return traced_matrix(
        computation,
        name,
        message("{matrix}", matrix=name),
        example.tokens,
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
    **look: object,
) -> Matrix:
    """A tensor of a computation: see `Computation.follow`. What it is follows from its name."""
    followed = computation.follow(path, take, name, axes, computed)
    tensor = name or path.rpartition(".")[2]
    kind = QUERIES if tensor in (*PAIRS, "q", "output") else KEYS if tensor in ("k", "v") else TOKENS
    rows, columns = followed.values.shape
    usual = {
        "key": tensor,
        "title": title,
        "rows": token_axis(tokens, kind) if rows == len(tokens) else feature_axis(rows),
        "columns": token_axis(tokens, KEYS) if tensor in PAIRS else feature_axis(columns),
        "scale": "weight" if tensor == "weights" else "number",
        "colour": ROLES.get(tensor, "ink"),
    }
    return followed_matrix(followed, **(usual | look))
