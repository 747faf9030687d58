"""The way back: every gradient beside the matrix it belongs to, from the loss to the vectors of the words."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from lessons.backward.derivation import PAIR_GRADIENTS, VECTOR_ROLES, ChainRule, chain_rule, word_of
from lessons.backward.one_prediction import PRONOUN_WORDS, Prediction, whose_gradients
from lessons.kit.head_derivation import HeadDerivation
from lessons.kit.matrices import KEYS, QUERIES, ROLES, TOKENS, feature_axis, head_matrix, single_axis, token_axis
from lessons.screen.format import argmax_ties, magnitude, percent
from lessons.screen.message import ListOf, Magnitude, Message, Percent, message, plural
from lessons.screen.screen import Axis, Cells, Colour, Matrices, Matrix, Step

StageBack = Literal["loss", "output", "weights", "scores", "qkv", "maps", "x"]
STAGES_BACK: tuple[StageBack, ...] = get_args(StageBack)
INSIDE, ENDS = ("q", "k", "v", "scores", "weights", "output"), ("x", "q", "k", "v", "after")
TWO_BANDS = 480  # pixels of the screen of a laptop
FORWARD_TITLES = {
    "x": message("X"),
    "q": message("Q"),
    "k": message("K"),
    "v": message("V"),
    "scores": message("scores"),
    "weights": message("weights A"),
    "output": message("output"),
}


def way_figure(correction: Prediction, stage: StageBack) -> Matrices:
    """How far back one has gone: the row of the logits, all matrices of a head with those not reached as frames, the
    maps, or the tokens before and after the attention."""
    rule = chain_rule(correction)
    if stage == "loss":
        return loss_rows(correction, rule)
    if stage == "maps":
        return maps_figure(correction, rule)
    reached, shown = STAGES_BACK.index(stage), ENDS if stage == "x" else INSIDE
    upper = tuple(
        after_matrix(correction, rule) if key == "after" else forward_matrix(correction, key) for key in shown
    )
    lower = tuple(
        gradient_matrix(correction, rule, f"d_{key}", drawn=stage == "x" or made_at(key) <= reached, below=True)
        for key in shown
    )
    return Matrices(
        key="way_back",
        name=message("Matrices of one attention head, and their gradients"),
        bands=(upper, lower),
        first="d_q" if stage == "qkv" else f"d_{stage}",
        notice=tuple(NOTICE_AT[stage](correction)),
        height=TWO_BANDS,
        numbered=True,
        weights=whose_gradients(correction.learner),
    )


def made_at(key: str) -> int:
    """The number of the stage at which the gradient of this matrix is found."""
    return STAGES_BACK.index("qkv" if key in VECTOR_ROLES else key)


def forward_derivation(correction: Prediction) -> HeadDerivation:
    """How the model's own numbers come about."""
    return HeadDerivation(
        correction.names, correction.numbers, correction.attention.visible.tolist(), correction.divisor
    )


def forward_matrix(correction: Prediction, key: str) -> Matrix:
    """A matrix that the model computed; it stands there before one goes back."""
    values = np.array(correction.numbers[key])
    derivation = forward_derivation(correction)

    def sources(i: int, j: int) -> Iterator[Cells]:
        yield Cells(f"d_{key}", i, j)
        yield from derivation.sources(key, i, j)

    return head_matrix(derivation, key, FORWARD_TITLES[key], values, given=True, sources=sources)


def after_matrix(correction: Prediction, rule: ChainRule) -> Matrix:
    """The tokens after the attention, with the shortcut around it."""
    values = np.array(correction.numbers["after"])
    rows, columns = axes_of(correction, "after", values)
    return Matrix(
        key="after",
        title=message("after: X + output W_o"),
        values=values,
        rows=rows,
        columns=columns,
        given=True,
        **followed_back(rule, "after"),
    )


def gradient_matrix(
    correction: Prediction, rule: ChainRule, key: str, drawn: bool = True, below: bool = False
) -> Matrix:
    """A gradient, with the axes, the colour and the mask of what it is the gradient of; `below` that, without names."""
    of, values = key.removeprefix("d_"), np.array(rule.numbers[key])
    rows, columns = axes_of(correction, of, values)
    columns = replace(columns, named=columns.named and not below)
    return Matrix(
        key=key,
        title=message("{gradient}", gradient=key),
        values=values,
        rows=rows,
        columns=columns,
        scale="gradient",
        colour=colour_of(of),
        visible=rule.visible if key in PAIR_GRADIENTS else None,
        drawn=drawn,
        **followed_back(rule, key),
    )


def followed_back(rule: ChainRule, key: str) -> dict[str, object]:
    """How the cells of a gradient come about, as a `Matrix` takes it."""

    def step(i: int, j: int) -> Step:
        return rule.step(key, i, j)

    def before(i: int, j: int) -> Iterator[Step]:
        return rule.before(key, i, j)

    def sources(i: int, j: int) -> tuple[Cells, ...]:
        return rule.sources(key, i, j)

    return {"step": step, "before": before, "sources": sources}


def axes_of(correction: Prediction, of: str, values: Float[np.ndarray, "rows columns"]) -> tuple[Axis, Axis]:
    """Tokens by features, queries by keys, or features by features."""
    if of.startswith("W_"):
        return feature_axis(values.shape[0]), feature_axis(values.shape[1])
    pairs = of in ("weights", "scores")
    columns = token_axis(correction.tokens, KEYS) if pairs else feature_axis(values.shape[1])
    return token_axis(correction.tokens, {"k": KEYS, "v": KEYS, "x": TOKENS, "after": TOKENS}.get(of, QUERIES)), columns


def colour_of(of: str) -> Colour:
    """That of the role, also for the map that makes it."""
    return ROLES.get(of.removeprefix("W_"), "ink")


# The first stage: the loss and the logits.


def loss_rows(correction: Prediction, rule: ChainRule) -> Matrices:
    """The row of the position that was asked: what the model said of every word, and what was wanted."""
    (asked,) = correction.asked
    rows = single_axis(correction.tokens[asked], named=True)
    columns = Axis(message("words"), PRONOUN_WORDS, named=True)

    def line(key: str, title: Message, **look: object) -> tuple[Matrix]:
        def step(_: int, t: int) -> Step:
            return rule.step(key, asked, t)

        def before(_: int, t: int) -> Iterator[Step]:
            return rule.before(key, asked, t)

        values = np.array(correction.numbers[key][asked])[None]
        look |= {"step": step, "before": before}
        return (Matrix(key=key, title=title, values=values, rows=rows, columns=columns, **look),)

    return Matrices(
        key="loss_rows",
        name=message("From the loss to the gradient of the logits"),
        first="d_logits",
        numbered=True,
        heading=sentence_and_answer(correction),
        bands=(
            line("logits", message("logits"), given=True),
            line("probabilities", message("probability"), scale="weight", given=True),
            line("targets", message("wanted"), scale="weight", given=True),
            line("d_logits", message("d_logits"), scale="gradient"),
        ),
        notice=(*notice_answer(correction), notice_logits(correction)),
        height=360,
        weights=whose_gradients(correction.learner),
    )


def sentence_and_answer(correction: Prediction) -> Message:
    """What the model reads, and what it should say."""
    _, right = said_and_wanted(correction)
    return message("{sentence} → {right}", sentence=" ".join(correction.tokens), right=PRONOUN_WORDS[right])


def said_and_wanted(correction: Prediction) -> tuple[list[float], int]:
    """The probabilities at the last position that was asked, and the right word."""
    asked = correction.asked[-1]
    return correction.numbers["probabilities"][asked], int(correction.batch.targets[0, asked])


def notice_answer(correction: Prediction) -> Iterator[Message]:
    """What the model said, what was right, and the loss."""
    probabilities, right = said_and_wanted(correction)
    about = {"query": correction.names[correction.asked[-1]], "right": word_of(right)}
    likeliest = [t for (t,) in argmax_ties(np.array(probabilities), percent)]
    about |= {"share": Percent(probabilities[right]), "loss": Magnitude(loss_of_one(correction))}
    if likeliest == [right]:
        yield message(
            "At {query} the right word is {right}, and the model says so: it gives {right} the largest "
            "probability, {share}. The loss is −ln of that, {loss}.",
            **about,
        )
        return
    yield message(
        "At {query} the right word is {right}. The model gives it {share}, so the loss is −ln of that, {loss}.", **about
    )
    words = ListOf(tuple(map(word_of, likeliest)))
    yield plural(
        "The largest probability goes to {words}.",
        "The largest probability goes to each of {words}.",
        len(likeliest),
        words=words,
    )


def loss_of_one(correction: Prediction) -> float:
    """The loss of a correction, as a number."""
    return float(correction.loss.loss)


def notice_logits(correction: Prediction) -> Message:
    """One logit up, all others down."""
    _, right = said_and_wanted(correction)
    return message(
        "Only {right} has a negative d_logit: a step against the gradient raises its logit and lowers those of the "
        "{others} other words. The d_logits sum to 0.",
        right=word_of(right),
        others=len(PRONOUN_WORDS) - 1,
    )


# Notices on the way.


def notice_d_output(correction: Prediction) -> Iterator[Message]:
    """One row alone."""
    asked = correction.names[correction.asked[-1]]
    yield message(
        "The loss looks at one prediction, that at {query}: the rows of d_output of the {others} other positions "
        "are 0.",
        query=asked,
        others=len(correction.tokens) - 1,
    )
    yield message(
        "A number of d_output says: when this feature of the output grows by a little, the loss grows by so many "
        "times as much. A step goes the other way."
    )


def notice_d_weights(correction: Prediction) -> Iterator[Message]:
    """On which key more weight would help most."""
    asked = correction.asked[-1]
    row = np.array(correction.numbers["d_weights"][asked])
    lowest = [j for (j,) in argmax_ties(-row, magnitude)]
    about = {"query": correction.names[asked], "keys": ListOf(tuple(correction.names[j] for j in lowest))}
    yield message("d_weight = d_output · value: what more weight on that value would do to the loss.")
    yield plural(
        "The lowest d_weight of {query} is {least}, at {keys}: weight moved there from the others lowers the loss "
        "most.",
        "The lowest d_weight of {query} is {least}, at {keys} alike: weight moved there from the others lowers the "
        "loss most.",
        len(lowest),
        least=Magnitude(float(row.min())),
        **about,
    )


def notice_d_scores(correction: Prediction) -> Iterator[Message]:
    """Which scores go up, and that a row of gradients is 0 in sum."""
    row = correction.numbers["d_scores"][correction.asked[-1]]
    up = ListOf(tuple(name for name, d in zip(correction.names, row, strict=True) if d < 0))
    if up.items:
        yield plural(
            "Below 0 is the d_score of {keys}: a step against the gradient raises that score and lowers the others.",
            "Below 0 are the d_scores of {keys}: a step against the gradient raises these scores and lowers the "
            "others.",
            len(up.items),
            keys=up,
        )
    yield message("The row sums to 0: weights share one whole, so what some keys gain others lose.")


def notice_d_qkv(correction: Prediction) -> Iterator[Message]:
    """One query, but every key and value."""
    asked = correction.asked[-1]
    weights = correction.attention.weights[asked]
    keys = [j for (j,) in argmax_ties(weights, percent)]
    share, said = Percent(float(weights.max())), ListOf(tuple(correction.names[j] for j in keys))
    yield message(
        "d_q has numbers in the row of {query} alone, for no other prediction counts. d_k and d_v have a row "
        "for each key that {query} looked at.",
        query=correction.names[asked],
    )
    if len(keys) == len(correction.names):
        yield message(
            "Each row of d_v is a weight times the same d_output. Here every weight is {share}, so the rows are alike.",
            share=share,
        )
    else:
        yield plural(
            "Each row of d_v is a weight times the same d_output: {keys} has the largest weight, {share}, and the "
            "longest row.",
            "Each row of d_v is a weight times the same d_output: {keys} have the largest weights, {share}, and the "
            "longest rows.",
            len(keys),
            keys=said,
            share=share,
        )


def notice_d_x(correction: Prediction) -> Iterator[Message]:
    """Where it ends: the vectors of the words."""
    lengths = np.linalg.norm(np.array(correction.numbers["d_x"]), axis=-1)
    longest = [i for (i,) in argmax_ties(lengths, magnitude)]
    tokens = ListOf(tuple(correction.names[i] for i in longest))
    yield message("X is the end of the way: each row of d_x goes on to the row of the embedding table that made it.")
    yield plural(
        "The longest row of d_x belongs to {tokens}, with length {length}.",
        "The longest rows of d_x belong to {tokens}, with length {length}.",
        len(longest),
        tokens=tokens,
        length=Magnitude(float(lengths.max())),
    )
    yield message(
        "Over the shortcut {query} also gets d_after, the gradient of the sum of x and what attention found.",
        query=correction.names[correction.asked[-1]],
    )


# The maps.


def maps_figure(correction: Prediction, rule: ChainRule) -> Matrices:
    """W_q, W_k and W_v: each gradient is Xᵀ times the gradient of what the map made."""
    made, below = [forward_matrix(correction, "x")], [None]
    for role in VECTOR_ROLES:
        made += [None, gradient_matrix(correction, rule, f"d_{role}")]
        below += [map_matrix(correction, f"W_{role}"), gradient_matrix(correction, rule, f"d_W_{role}")]
    return Matrices(
        key="maps_back",
        name=message("The gradients of W_q, W_k and W_v"),
        first="d_W_v",
        numbered=True,
        height=TWO_BANDS,
        bands=(tuple(made), tuple(below)),
        notice=tuple(notice_d_maps(correction)),
        weights=whose_gradients(correction.learner),
    )


def map_matrix(correction: Prediction, name: str) -> Matrix:
    """One of the maps, which training has made."""
    values = np.array(correction.numbers[name])
    rows, columns = axes_of(correction, name, values)
    return Matrix(
        key=name,
        title=message("{matrix}", matrix=name),
        values=values,
        rows=rows,
        columns=columns,
        given=True,
        colour=colour_of(name),
        sources=lambda i, j: (Cells(f"d_{name}", i, j),),
    )


def notice_d_maps(correction: Prediction) -> Iterator[Message]:
    """Which map moves most, and why d_W_q is a single pattern."""
    lengths = np.array([np.linalg.norm(correction.numbers[f"d_W_{role}"]) for role in "qkv"])
    longest = [i for (i,) in argmax_ties(lengths, magnitude)]
    q, k, v = (Magnitude(float(length)) for length in lengths)
    yield message("The gradients of W_q, W_k and W_v have lengths {q}, {k} and {v}.", q=q, k=k, v=v)
    if len(longest) == 1:
        yield message("Of the three, a step moves {matrix} most.", matrix=f"W_{'qkv'[longest[0]]}")
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
