"""What single lessons compute on top of the running example."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.embeddings import embed, with_unknown_row
from attention_core.tokens import Vocabulary, clean_text, tokenize
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
