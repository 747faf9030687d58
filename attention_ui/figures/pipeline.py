"""The whole pipeline of one head in one figure: X, Q, K, V, scores, scaled, masked, weights, output.

The places of the matrices are those of the products: Q stands left of the scores and Kᵀ above them,
V stands above the output; so a score lies where its row of Q and its column of Kᵀ meet.
"""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from attention_ui.figures.grid import POINT_AT, POINT_AT_CELL, Grid, Matrix, cell_tag, column_tag, row_tag
from lessons.captions import STAGES, seen
from lessons.changes import Changes, changed_by_edits
from lessons.example import ExampleTrace
from lessons.old_arithmetic import Explainer

LABEL_COLUMNS = 2
HEADER_ROWS = 2  # title and shape above the upper matrices
LOWER_HEADER_ROWS = 3  # title and slanted names above the lower ones
HINT_ROWS = 1
TITLE_COLUMNS = 3  # what the longest title of a matrix needs, however few tokens there are
USUAL_D_V = 3
STAGE_OF = {
    "x": "x",
    "q": "qkv",
    "k": "qkv",
    "v": "qkv",
    "k_transposed": "scores",
    "scores": "scores",
    "scaled": "scaled",
    "masked": "masked",
    "weights": "weights",
    "output": "output",
}
UPPER_OVER = {"k_transposed": "scores", "k": "scaled", "v": "output"}


def matrices(trace: ExampleTrace, head: int, stage: str, changes: Changes | None = None) -> dict[str, Matrix]:
    """All matrices of one head; those of later stages are not drawn yet. What changed by hand is marked."""
    attention = trace.heads.select(head)
    changes = changes or changed_by_edits(trace, head)
    n_scale = "÷ 1" if trace.scale == 1 else f"÷ √{trace.example.d_k}"
    looks = {
        "x": ("X", trace.x, "score", "ink"),
        "q": ("Q", attention.q, "score", "q"),
        "k": ("K", attention.k, "score", "k"),
        "v": ("V", attention.v, "score", "v"),
        "k_transposed": ("Kᵀ", attention.k.mT, "score", "k"),
        "scores": ("scores = Q Kᵀ", attention.scores, "score", "ink"),
        "scaled": (f"scaled: {n_scale}", attention.scaled, "score", "ink"),
        "masked": ("masked", attention.masked, "score", "ink"),
        "weights": ("weights", attention.weights, "weight", "weight"),
        "output": ("output", attention.output, "score", "v"),
    }
    visible = attention.visible.tolist()
    reached = STAGES.index(stage)
    return {
        key: Matrix(
            key,
            title,
            tensor.tolist(),
            kind,
            tone,
            visible if key in ("masked", "weights") else None,
            STAGES.index(STAGE_OF[key]) <= reached,
            changes.marked(key),
        )
        for key, (title, tensor, kind, tone) in looks.items()
    }


def usual_columns(n_tokens: int, d_model: int) -> int:
    """Columns of the grid while d_k and d_v are small. Cells sized by it keep their size when those change a little."""
    return LABEL_COLUMNS + d_model + 1 + 4 * (n_tokens + 1) + USUAL_D_V


def pipeline_size(trace: ExampleTrace) -> tuple[int, int]:
    """Columns and rows of the grid that the figure needs; never fewer columns than usual."""
    n, d_model = trace.x.shape
    place = places(trace)
    rightmost = max(place["output"][0] + trace.example.d_v, place["k"][0] + trace.example.d_k)
    return max(rightmost, usual_columns(n, d_model)), place["scores"][1] + n + HINT_ROWS


def places(trace: ExampleTrace) -> dict[str, tuple[int, int]]:
    """The left and the top of each matrix on the grid."""
    n, d_model = trace.x.shape
    d_k = trace.example.d_k
    upper, lower = HEADER_ROWS, HEADER_ROWS + max(n, d_k) + LOWER_HEADER_ROWS
    scores = LABEL_COLUMNS + max(d_model, d_k) + 1
    apart = max(n, TITLE_COLUMNS) + 1
    left = {key: scores + i * apart for i, key in enumerate(("scores", "scaled", "masked", "weights", "output"))}
    left["output"] = max(left["output"], left["scaled"] + d_k + 1)  # K, above the scaled scores, may be wider
    above = {key: (left[under], upper) for key, under in UPPER_OVER.items()}
    above["k_transposed"] = (left["scores"], lower - LOWER_HEADER_ROWS - d_k)
    return {
        "x": (LABEL_COLUMNS, upper),
        "q": (scores - 1 - d_k, lower),
        **above,
        **{key: (x, lower) for key, x in left.items()},
    }


def pipeline_table(trace: ExampleTrace, head: int, stage: str, *, numbered: bool = True) -> pa.Table:
    """Everything in the figure, up to a stage; what comes later stands there as empty frames."""
    explainer, changes = Explainer.of(trace, head), changed_by_edits(trace, head)
    grid = Grid(
        lambda key, i, j: sources(trace, explainer.visible, key, i, j),
        lambda key, i, j: explainer.explain(key, i, j) + changes.remark(key, i, j),
    )
    n, place = len(trace.tokens), places(trace)
    for key, matrix in matrices(trace, head, stage, changes).items():
        left, top = place[key]
        tone = matrix.tone if matrix.drawn else "muted"
        grid.matrix(matrix, left, top, numbered=numbered)
        title_row = top - (LOWER_HEADER_ROWS if top == place["scores"][1] else HEADER_ROWS)
        grid.text(matrix.title, left, title_row, "title", tone)
        if key in ("scores", "scaled", "masked", "weights"):
            for j, token in enumerate(trace.tokens):
                grid.text(seen(token), left + j, top - 1, "column")
        else:
            grid.text("×".join(map(str, matrix.shape)), left, top - 1, "shape")
    for key in ("x", "q"):
        for i, token in enumerate(trace.tokens):
            grid.text(seen(token), min(place["x"][0], place["q"][0]) - 1, place[key][1] + i, "row")
    lower = place["scores"][1]
    grid.text("queries ↓", LABEL_COLUMNS - 1, lower - 1, "row")
    grid.text("keys →", place["scores"][0] - 1, lower - 2, "row")
    grid.text(POINT_AT if numbered else POINT_AT_CELL, 0, lower + n, "hint")
    return grid.table()


def sources(trace: ExampleTrace, visible: list[list[bool]], key: str, i: int, j: int) -> Iterable[str]:
    """The tags of the cells that a cell is made of, itself among them."""
    yield cell_tag(key, i, j)
    if key in ("scores", "scaled", "masked"):
        yield from (row_tag("q", i), column_tag("k_transposed", j), row_tag("k", j))
        yield from (cell_tag(other, i, j) for other in ("scores", "scaled", "masked", "weights"))
    elif key == "weights":
        yield from (row_tag("masked", i), row_tag("weights", i), row_tag("output", i))
        yield from (row_tag("v", m) for m in seen_by(visible, i))
    elif key == "output":
        yield row_tag("weights", i)
        yield from (cell_tag("v", m, j) for m in seen_by(visible, i))
    elif key in ("q", "k", "v"):
        yield row_tag("x", i)
    elif key == "k_transposed":
        yield from (cell_tag("k", j, i), row_tag("x", j))
    else:
        yield from (row_tag(other, i) for other in ("x", "q", "k", "v"))
        yield column_tag("k_transposed", i)


def seen_by(visible: list[list[bool]], query: int) -> Iterator[int]:
    """The keys that a query may look at."""
    return (m for m, may in enumerate(visible[query]) if may)
