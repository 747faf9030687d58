"""One query's output as a weighted sum, key by key: its scores, its weights, and what each value adds."""

from collections.abc import Iterator

from attention_core.attention import AttentionTrace
from lessons.kit.head_derivation import HeadDerivation
from lessons.kit.matrices import KEYS, feature_axis, head_matrix, single_axis, token_axis
from lessons.screen.arithmetic import term
from lessons.screen.message import Message, message
from lessons.screen.screen import Cells, Matrix, Step

Bands = tuple[tuple[Matrix | None, ...], ...]
View = tuple[Message, str, Bands]  # what there is to notice, the matrix to follow first, and the matrices


def weighted_sum(
    derivation: HeadDerivation,
    attention: AttentionTrace,
    query: int,
    *,
    origins: tuple[Message | None, Message | None] = (None, None),
    given: tuple[str, ...] = (),
) -> Bands:
    """The query above the keys; for each key its score, its weight, its value and their product; below, the sum.

    `origins` say where the query and where keys and values come from, in the place of their shapes; `given` are the
    matrices that a question does not cover.
    """
    name = derivation.names[query]

    asked = Matrix(
        key="query",
        title=message("query"),
        values=attention.q[[query]],
        rows=single_axis(name.text, named=True),
        columns=feature_axis(attention.q.shape[1]),
        colour="q",
        remark=origins[0],
        given="query" in given,
        step=lambda i, j: derivation.step("q", query, j),
    )
    output = Matrix(
        key="sum",
        title=message("output"),
        values=attention.output[[query]],
        rows=single_axis(name.text),
        columns=feature_axis(attention.v.shape[1]),
        colour="v",
        remark=message("their sum"),
        step=lambda i, j: derivation.step("output", query, j),
        before=lambda i, j: derivation.before("output", query, j),
        sources=lambda i, j: (Cells("part", column=j),),
        given="sum" in given,
    )
    keys, values = (
        head_matrix(derivation, key, title, getattr(attention, key), key=key, given=key in given, remark=origins[1])
        for key, title in (("k", message("keys")), ("v", message("values")))
    )
    score, weight = (column_of_pairs(derivation, attention, query, key, given) for key in ("score", "weight"))
    return (
        (asked,),
        (keys, score, weight, values, products(derivation, attention, query, given)),
        (None, None, None, None, output),
    )


def column_of_pairs(
    derivation: HeadDerivation, attention: AttentionTrace, query: int, key: str, given: tuple[str, ...] = ()
) -> Matrix:
    """What one query makes of each key: its scores (scaled ones, where they are divided) or its weights."""
    plain, scores = derivation.divisor is None, key == "score"
    visible = derivation.visible[query]

    def followed(i: int) -> str:
        return "weights" if not scores else "masked" if not visible[i] else "scores" if plain else "scaled"

    return Matrix(
        key=key,
        title=message("weight") if not scores else message("score") if plain else message("scaled score"),
        values=(attention.masked if scores else attention.weights)[query][:, None],
        rows=token_axis(texts(derivation), KEYS),
        columns=single_axis(key),
        scale="number" if scores else "weight",
        colour="ink" if scores else "weight",
        visible=[[seen] for seen in visible],
        given=key in given,
        step=lambda i, j: derivation.step(followed(i), query, i),
        before=lambda i, j: derivation.before(followed(i), query, i),
        sources=lambda i, j: (Cells("query", row=0), Cells("k", row=i)) if scores else (Cells("score", column=0),),
    )


def products(derivation: HeadDerivation, attention: AttentionTrace, query: int, given: tuple[str, ...]) -> Matrix:
    """What each key adds to the output: its weight times its value."""
    weights, values = attention.weights[query].tolist(), attention.v.tolist()
    visible = derivation.visible[query]

    def step(i: int, j: int) -> Step:
        meaning = message("weight · value of {key}, feature {feature}", key=derivation.names[i], feature=j + 1)
        if not visible[i]:
            meaning = message("masked: the weight of {key} is 0, so its value adds nothing", key=derivation.names[i])
        return Step(meaning, term(weights[i]) * values[i][j], weights[i] * values[i][j])

    def before(i: int, j: int) -> Iterator[Step]:
        yield from derivation.before("weights", query, i)
        yield derivation.step("weights", query, i)
        yield derivation.step("v", i, j)

    return Matrix(
        key="part",
        title=message("weight × value"),
        values=attention.weights[query][:, None] * attention.v,
        rows=token_axis(texts(derivation), KEYS),
        columns=feature_axis(attention.v.shape[1]),
        colour="v",
        visible=[[seen] * len(values[0]) for seen in visible],
        step=step,
        before=before,
        given="part" in given,
        sources=lambda i, j: (Cells("weight", i, 0), Cells("v", i, j)),
    )


def texts(derivation: HeadDerivation) -> tuple[str, ...]:
    """The tokens of a derivation, as axes name them."""
    return tuple(name.text for name in derivation.names)
