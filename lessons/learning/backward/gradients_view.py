"""The way back: every gradient beside the matrix it belongs to, from the loss to the vectors of the words."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from attention_core.base.arrays import Array, namespace
from lessons.learning.backward.one_prediction import PRONOUN_WORDS, Prediction, whose_gradients, word_of
from lessons.learning.backward.softmax_view import rising, row_at, visible_keys, where_others_go
from lessons.learning.backward.way_back import WayBack
from lessons.screen import (
    Axis,
    Cells,
    ListOf,
    Magnitude,
    Matrices,
    Matrix,
    Message,
    Percent,
    argmax_ties,
    magnitude,
    message,
    percent,
    plural,
)
from lessons.shared.matrices import (
    KEYS,
    PAIRS,
    QUERIES,
    ROLES,
    TOKENS,
    feature_axis,
    single_axis,
    token_axis,
    traced_matrix,
)

StageBack = Literal["loss", "output", "weights", "scores", "qkv", "maps", "x"]
STAGES_BACK: tuple[StageBack, ...] = get_args(StageBack)
VECTOR_ROLES = ("q", "k", "v")
LIKELIEST = 6  # words of which one sees what the model says
INSIDE, ENDS = ("q", "k", "v", "scores", "weights", "output"), ("x", "q", "k", "v", "after")
TITLES = {
    "x": message("X"),
    "q": message("Q"),
    "k": message("K"),
    "v": message("V"),
    "scores": message("scores"),
    "weights": message("weights A"),
    "output": message("output"),
    "after": message("after: X + output W_o"),
    **{f"W_{role}": message("{matrix}", matrix=f"W_{role}") for role in VECTOR_ROLES},
}


def way_figure(correction: Prediction, stage: StageBack) -> Matrices:
    """How far back one has gone: the row of the logits, all matrices of a head with those not reached as frames, the
    maps, or the tokens before and after the attention."""
    if stage == "loss":
        return loss_rows(correction)
    if stage == "maps":
        return maps_figure(correction)
    reached, shown = STAGES_BACK.index(stage), ENDS if stage == "x" else INSIDE
    light = {"weights": {"sources": lambda i, j: (Cells("scores", row=i),)}}  # what lies between does not stand here
    upper = [forward_matrix(correction, key, **light.get(key, {})) for key in shown]
    lower = [
        gradient_matrix(correction, key, drawn=stage == "x" or made_at(key) <= reached, below=True) for key in shown
    ]
    return Matrices(
        key="way_back",
        name=message("Matrices of one attention head, and their gradients"),
        bands=(tuple(upper), tuple(lower)),
        first="d_q" if stage == "qkv" else f"d_{stage}",
        notice=tuple(NOTICE_AT[stage](correction)),
        weights=whose_gradients(correction.learner),
    )


def made_at(key: str) -> int:
    """The number of the stage at which the gradient of this matrix is found."""
    return STAGES_BACK.index("qkv" if key in VECTOR_ROLES else key)


def forward_matrix(correction: Prediction, key: str, **look: Any) -> Matrix:
    """A matrix that the model computed, or was given; it stands there before one goes back."""
    path = f"attention.{key}" if key in INSIDE else key
    rows, columns = axes_of(correction, key)
    look = {"given": True, "twin": f"d_{key}", "rows": rows, "columns": columns} | look
    if key == "weights":
        look["visible"] = correction.way.attention.visible
    return traced_matrix(correction.computation, path, TITLES[key], correction.tokens, **look)


def gradient_matrix(correction: Prediction, key: str, drawn: bool = True, below: bool = False) -> Matrix:
    """The gradient of a matrix, with its axes, its colour and its mask; `below` it, without the names of columns."""
    rows, columns = axes_of(correction, key)
    look = {
        "rows": rows,
        "columns": replace(columns, named=columns.named and not below),
        "scale": "gradient",
        "colour": ROLES.get(key.removeprefix("W_"), "ink"),
        "visible": correction.way.attention.visible if key in PAIRS else None,
        "drawn": drawn,
        "twin": key,
    }
    if key == "weights":
        look |= {"take": d_weights_seen, "name": "d_weights", "axes": ("queries", "keys"), "computed": True}
        look["sources"] = lambda i, j: (Cells("d_output", row=i), Cells("v", row=j))
    path = "" if key == "weights" else f"d_{key}"
    title = message("{gradient}", gradient=f"d_{key}")
    return traced_matrix(correction.computation, path, title, correction.tokens, **look)


def d_weights_seen(way: WayBack) -> Array:
    """The gradients of the weights, without those of masked keys: these weights stay 0."""
    return namespace(way.d_weights).where(way.attention.visible, way.d_weights, 0.0)


def axes_of(correction: Prediction, key: str) -> tuple[Axis, Axis]:
    """Tokens by features, queries by keys, or features by features."""
    rows, columns = getattr(correction.way, f"d_{key}").shape
    kind = {"k": KEYS, "v": KEYS, "x": TOKENS, "after": TOKENS}.get(key, QUERIES)
    return (
        feature_axis(rows) if key.startswith("W_") else token_axis(correction.tokens, kind),
        token_axis(correction.tokens, KEYS) if key in PAIRS else feature_axis(columns),
    )


# The first stage: the loss and the logits.


def loss_rows(correction: Prediction) -> Matrices:
    """The row of the position that was asked: what the model said of the likeliest words, and what was wanted."""
    (asked,) = correction.asked
    words = words_shown(correction)
    rows = single_axis(correction.tokens[asked], named=True)
    columns = Axis(message("words"), tuple(PRONOUN_WORDS[word] for word in words), named=True)

    def line(path: str, title: Message, **look: Any) -> tuple[Matrix]:
        axes = {"rows": rows, "columns": columns, "take": lambda a: a[[asked]][:, words]}
        return (traced_matrix(correction.computation, path, title, correction.tokens, **axes, **look),)

    return Matrices(
        key="loss_rows",
        name=message("From the loss to the gradient of the logits"),
        first="d_logits",
        heading=sentence_and_answer(correction),
        bands=(
            line("logits", message("logits"), given=True),
            line("loss.probabilities", message("probability p"), scale="weight", given=True),
            line("loss.targets", message("target"), scale="weight", given=True),
            line("d_logits", message("d_logits"), scale="gradient"),
        ),
        notice=(*notice_answer(correction), notice_logits(correction)),
        weights=whose_gradients(correction.learner),
    )


def words_shown(correction: Prediction) -> list[int]:
    """The words that the model finds likeliest, and the right one where it is none of them, in order."""
    return sorted({*(-correction.probabilities).argsort(kind="stable").tolist()[:LIKELIEST], correction.right})


def sentence_and_answer(correction: Prediction) -> Message:
    """What the model reads, and what it should say."""
    return message("{sentence} → {right}", sentence=" ".join(correction.tokens), right=PRONOUN_WORDS[correction.right])


def notice_answer(correction: Prediction) -> Iterator[Message]:
    """What the model said, what was right, and the loss."""
    yield message(
        "After {query} the right word is {right}. The model gives it {share}, so the loss is −ln of that, {loss}.",
        query=correction.names[correction.asked[-1]],
        right=word_of(correction.right),
        share=Percent(float(correction.probabilities[correction.right])),
        loss=Magnitude(correction.loss),
    )


def notice_logits(correction: Prediction) -> Message:
    """One logit up, all others down."""
    return message(
        "Only {right} has a negative d_logit: a step raises its logit and lowers those of the others. "
        "Of the {count} words, only the likeliest and the right one are shown.",
        right=word_of(correction.right),
        count=len(PRONOUN_WORDS),
    )


# Notices on the way.


def notice_d_output(correction: Prediction) -> Iterator[Message]:
    """Which row of d_output is not 0, and what its numbers say."""
    asked = correction.names[correction.asked[-1]]
    yield message(
        "The loss looks at only one prediction, that at {query}, so the other {others} rows of d_output are 0.",
        query=asked,
        others=len(correction.tokens) - 1,
    )
    yield message("d_output says how the loss changes as a feature of the output grows. A step goes the other way.")


def notice_d_weights(correction: Prediction) -> Iterator[Message]:
    """On which key more weight would help most."""
    asked = correction.asked[-1]
    row = correction.way.d_weights[asked]
    lowest = [j for (j,) in argmax_ties(-row, magnitude)]
    about = {"query": correction.names[asked], "keys": ListOf(tuple(correction.names[j] for j in lowest))}
    yield message("d_weight = d_output · value: how more weight on that value changes the loss.")
    yield plural(
        "The lowest d_weight of {query} is {least}, at {keys}: weight moved there lowers the loss most.",
        "The lowest d_weight of {query} is {least}, at each of {keys}: weight moved there lowers the loss most.",
        len(lowest),
        least=Magnitude(float(row.min())),
        **about,
    )


def notice_d_scores(correction: Prediction) -> Iterator[Message]:
    """Which scores go up, and that a row of gradients is 0 in sum."""
    row = row_at(correction, 1)
    up = rising(visible_keys(correction), row)
    if up.items:
        yield plural(
            "{keys} has a d_score below 0: a step raises that score.",
            "{keys} have d_scores below 0: a step raises these scores.",
            len(up.items),
            keys=up,
        )
        yield where_others_go(row)
    yield message("The row sums to 0: what some keys gain, others lose.")


def notice_d_qkv(correction: Prediction) -> Iterator[Message]:
    """One query, but every key and value."""
    asked = correction.asked[-1]
    weights = correction.way.attention.weights[asked]
    keys = [j for (j,) in argmax_ties(weights, percent)]
    share, said = Percent(float(weights.max())), ListOf(tuple(correction.names[j] for j in keys))
    yield message(
        "d_q is nonzero only in the row of {query}; d_k and d_v have a nonzero row for each key that "
        "{query} looked at.",
        query=correction.names[asked],
    )
    yield plural(
        "Each row of d_v is a weight times the same d_output: {keys} has the largest weight, {share}.",
        "Each row of d_v is a weight times the same d_output: {keys} have the largest weights, {share} each.",
        len(keys),
        keys=said,
        share=share,
    )


def notice_d_x(correction: Prediction) -> Iterator[Message]:
    """Where it ends: the vectors of the words."""
    lengths = np.linalg.norm(correction.way.d_x, axis=-1)
    longest = [i for (i,) in argmax_ties(lengths, magnitude)]
    tokens = ListOf(tuple(correction.names[i] for i in longest))
    yield message("Each row of d_x goes on to its token's row of the embedding table.")
    yield plural(
        "The longest row of d_x belongs to {tokens}, with length {length}.",
        "The longest rows of d_x belong to {tokens}, with length {length}.",
        len(longest),
        tokens=tokens,
        length=Magnitude(float(lengths.max())),
    )


# The maps.


def maps_figure(correction: Prediction) -> Matrices:
    """W_q, W_k and W_v: each gradient is Xᵀ times the gradient of what the map made."""
    made, below = [forward_matrix(correction, "x")], [None]
    for role in VECTOR_ROLES:
        made += [None, gradient_matrix(correction, role)]
        below += [forward_matrix(correction, f"W_{role}"), gradient_matrix(correction, f"W_{role}")]
    return Matrices(
        key="maps_back",
        name=message("The gradients of W_q, W_k and W_v"),
        first="d_W_v",
        bands=(tuple(made), tuple(below)),
        notice=tuple(notice_d_maps(correction)),
        weights=whose_gradients(correction.learner),
    )


def notice_d_maps(correction: Prediction) -> Iterator[Message]:
    """Which map moves most, and why d_W_q is a single pattern."""
    lengths = correction.lengths_of_maps
    q, k, v = (Magnitude(float(length)) for length in lengths)
    yield message("The gradients of W_q, W_k and W_v have lengths {q}, {k} and {v}.", q=q, k=k, v=v)
    yield message(
        "Only the prediction at {query} counts, so d_W_q is x of {query} times d_q of {query}: a matrix of rank 1.",
        query=correction.names[correction.asked[-1]],
    )


NOTICE_AT = {
    "output": notice_d_output,
    "weights": notice_d_weights,
    "scores": notice_d_scores,
    "qkv": notice_d_qkv,
    "x": notice_d_x,
}
