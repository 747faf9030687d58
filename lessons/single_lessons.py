"""What single lessons compute on top of the running example."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import AttentionTrace
from attention_core.embeddings import embed, with_unknown_row
from attention_core.tokens import Vocabulary, clean_text, tokenize
from lessons.captions import name, number, percent
from lessons.example import MAX_TOKENS, ExampleTrace


@dataclass(frozen=True, eq=False)
class Lookup:
    """What becomes of words that the text may not hold: refused by its vocabulary, or taken by a row for all unknown.

    `refusal` is the vocabulary's own sentence, None where it knows every token.
    """

    tokens: tuple[str, ...]
    refusal: str | None
    ids: tuple[int, ...]
    rows: Float[Tensor, "tokens d_model"]
    unknown_id: int


def look_up(trace: ExampleTrace, text: str) -> Lookup:
    """Look words up in the table of the example, as it is and with a row more. At most MAX_TOKENS of them."""
    tokens = tuple(tokenize(clean_text(text).text, trace.example.unit)[:MAX_TOKENS])
    vocabulary = Vocabulary.in_order_of_appearance(trace.tokens)
    first = [trace.tokens.index(token) for token in vocabulary.tokens]
    ids = vocabulary.encode_with_unknown(tokens)
    try:
        vocabulary.encode(tokens)
        refusal = None
    except ValueError as error:
        refusal = str(error)
    rows = embed(torch.tensor(ids, dtype=torch.long), with_unknown_row(trace.x[first]))
    return Lookup(tokens, refusal, tuple(ids), rows, len(vocabulary))


def lookup_caption(lookup: Lookup) -> str:
    """Whether the vocabulary knows the words, and what a row for unknown ones would do."""
    if not lookup.tokens:
        return "Type a word to look it up."
    if lookup.refusal is None:
        return "The table knows every one of these: each gets the row it has in the text."
    strangers = len({token for token, i in zip(lookup.tokens, lookup.ids, strict=True) if i == lookup.unknown_id})
    shared = f"all {strangers} get that same row" if strangers > 1 else "it gets that row"
    return (
        f"As it is, the table refuses: {lookup.refusal}. With one row more for all unknown words (number "
        f"{lookup.unknown_id}, the mean of the others), {shared}, like any other word it does not know."
    )


def asymmetry(scores: Float[Tensor, "tokens tokens"]) -> float:
    """The largest difference between a score and its mirror image: 0 for a symmetric matrix."""
    return float((scores - scores.mT).abs().max())


def asymmetry_caption(trace: ExampleTrace, head: int) -> str:
    """XXᵀ is symmetric, QKᵀ in general is not: both as numbers."""
    plain, projected = trace.x @ trace.x.mT, trace.heads.select(head).scores
    i, j = divmod(int((projected - projected.mT).abs().argmax()), len(trace.tokens))
    sentence = f"X Xᵀ differs from its mirror image by at most {number(asymmetry(plain))}, "
    sentence += f"Q Kᵀ by up to {number(asymmetry(projected))}."
    if asymmetry(projected) < 0.005:
        return sentence
    one, other = name(trace.tokens, i), name(trace.tokens, j)
    return (
        f"{sentence} {one} scores {other} with {number(float(projected[i, j]))}, "
        f"{other} scores {one} with {number(float(projected[j, i]))}."
    )


@dataclass(frozen=True, eq=False)
class RowSoftmax:
    """The softmax of one query's visible scores, step by step."""

    keys: tuple[int, ...]  # the places of the visible keys
    scores: Float[Tensor, " visible"]
    shifted: Float[Tensor, " visible"]
    powers: Float[Tensor, " visible"]
    weights: Float[Tensor, " visible"]

    @property
    def entropy(self) -> float:
        """In nats: 0 when one key has all the weight, ln n when n keys share evenly."""
        return float(torch.special.entr(self.weights).sum())

    @property
    def effective_keys(self) -> float:
        """How many keys that share evenly would have the same entropy."""
        return float(torch.tensor(self.entropy).exp())


def softmax_row(attention: AttentionTrace, query: int, *, factor: float = 1.0, shift: float = 0.0) -> RowSoftmax:
    """The steps from one query's scores to its weights; the scores first multiplied and shifted if asked."""
    visible = attention.visible[query]
    scores = attention.masked[query][visible] * factor + shift
    shifted = scores - scores.max()
    powers = shifted.exp()
    keys = tuple(visible.nonzero().flatten().tolist())
    return RowSoftmax(keys, scores, shifted, powers, powers / powers.sum())


def temperature_caption(tokens: tuple[str, ...], row: RowSoftmax, temperature: float) -> str:
    """`softmax_caption`, with the temperature at which it is true."""
    return f"At temperature {number(temperature, 1)}: {softmax_caption(tokens, row)}"


def softmax_caption(tokens: tuple[str, ...], row: RowSoftmax) -> str:
    """How widely the query looks."""
    most = int(row.weights.argmax())
    return (
        f"The largest weight, {percent(float(row.weights[most]))}, goes to {name(tokens, row.keys[most])}. "
        f"The entropy is {number(row.entropy)}: as if {number(row.effective_keys, 1)} of "
        f"{len(row.keys)} keys shared evenly."
    )


def shift_caption(row: RowSoftmax, shifted: RowSoftmax, multiplied: RowSoftmax, shift: float, factor: float) -> str:
    """Adding a constant to all scores changes no weight; multiplying them does."""
    added = float((shifted.weights - row.weights).abs().max())
    scaled = float((multiplied.weights - row.weights).abs().max())
    return (
        f"Add {number(shift, 1)} to every score and no weight changes by more than {number(added, 3)}. "
        f"Multiply every score by {number(factor, 1)} and a weight changes by {number(scaled, 3)}."
    )
