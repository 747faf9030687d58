"""One query's output as a weighted sum, key by key: its scores, its weights, and what each value adds."""

from typing import Any

from lessons.example.example import ExampleTrace
from lessons.screen import Cells, Matrix, Message, message
from lessons.shared.matrices import KEYS, single_axis, token_axis, traced_matrix
from lessons.trace.computation import Computation, at_path

Bands = tuple[tuple[Matrix | None, ...], ...]
View = tuple[Message, str, Bands]  # what there is to notice, the matrix to follow first, and the matrices
SUM_SENTENCES = {
    "part": message("weight · value of {key}, feature {feature}"),
    "part hidden": message("masked: the weight of {key} is 0, so its value adds nothing"),
}


def weighted_sum(
    trace: ExampleTrace,
    computation: Computation,
    query: int,
    *,
    origins: tuple[Message | None, Message | None] = (None, None),
    given: tuple[str, ...] = (),
    at: str = "",
    from_scores: bool = True,
) -> Bands:
    """For each key its weight, its value and their product; below, the sum. All that begins `from_scores`: the query
    above the keys, and the score of each.

    `origins` say where the query and where keys and values come from, in the place of their shapes; `given` are the
    matrices that a question does not cover. The head stands `at` a path of the result. A number lights what it is made
    of in this figure: where queries, keys and values are all rows of X, the trace alone would light all of them.
    """
    tokens, name = trace.tokens, trace.tokens[query]
    attention = at_path(computation.result, at)

    def tensor(path: str, title: Message, **look: Any) -> Matrix:
        look = {"given": look.get("key", path) in given} | look
        return traced_matrix(computation, f"{at}.{path}".strip("."), title, tokens, **look)

    asked = tensor(
        "q",
        message("query"),
        key="query",
        take=lambda q: q[[query]],
        rows=single_axis(name, named=True),
        remark=origins[0],
        given="query" in given,
    )
    keys = tensor("k", message("keys"), remark=origins[1])
    values = tensor("v", message("values"), remark=origins[1])
    products = tensor(
        "",
        message("weight × value"),
        take=lambda head: head.weights[query][:, None] * head.v,
        name="part",
        axes=("keys", "d_v"),
        rows=token_axis(tokens, KEYS),
        colour="v",
        visible=attention.visible[query][:, None].expand(attention.v.shape),
        sources=lambda i, j: (Cells("weight", i, 0), Cells("v", i, j)),
        given="part" in given,
    )
    output = tensor(
        "output",
        message("output"),
        key="sum",
        take=lambda output: output[[query]],
        rows=single_axis(name),
        remark=message("their sum"),
        sources=lambda i, j: (Cells("part", column=j),),
        given="sum" in given,
    )
    score, weight = (column_of_pairs(trace, computation, query, key, given, at) for key in ("score", "weight"))
    if not from_scores:
        return (weight, values, products), (None, None, output)
    return (asked,), (keys, score, weight, values, products), (None, None, None, None, output)


def column_of_pairs(
    trace: ExampleTrace, computation: Computation, query: int, key: str, given: tuple[str, ...] = (), at: str = ""
) -> Matrix:
    """What one query makes of each key: its scores (scaled ones, where they are divided) or its weights."""
    scores, divided = key == "score", float(computation.inputs.get("scale", 1.0)) != 1.0
    return traced_matrix(
        computation,
        f"{at}.{'masked' if scores else 'weights'}".strip("."),
        message("weight") if not scores else message("scaled score") if divided else message("score"),
        trace.tokens,
        take=lambda pairs: pairs[query][:, None],
        computed=True,
        key=key,
        rows=token_axis(trace.tokens, KEYS),
        columns=single_axis(key),
        scale="number" if scores else "weight",
        colour="ink" if scores else "weight",
        visible=[[seen] for seen in at_path(computation.result, at).visible[query].tolist()],
        sources=lambda i, j: (Cells("query", row=0), Cells("k", row=i)) if scores else (Cells("score", column=0),),
        given=key in given,
    )
