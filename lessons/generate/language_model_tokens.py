"""The language model as one that writes: its pieces as tokens of a text, and what somebody typed in them."""

import functools

from attention_core.language_model import Encoded, language_model
from attention_core.pieces import SPACE, START
from attention_core.tokens import Vocabulary, clean_text
from lessons.example.prompt import MAX_START, Beginning
from lessons.read.lesson import NOT_A_WRITER, changes, trained_on
from lessons.screen.message import Message, message, plural


@functools.cache
def written_pieces() -> Vocabulary:
    """The language model's pieces as a text has them: one that begins a word begins with a space."""
    return Vocabulary(tuple(token.replace(SPACE, " ") for token in language_model().pieces.tokens))


def beginning_in_pieces(raw: str) -> Beginning:
    """What a text begins with, the start token in front, and what had to be changed in it; the start alone if empty."""
    clean = clean_text(raw, MAX_START)
    encoded = language_model().encode(clean.text, keep_end=True)
    tokens = written_pieces().decode(encoded.ids)
    return Beginning(tuple(tokens), (*clean.notes, *changes(clean.text, encoded), *beginning_cut(encoded)))


def beginning_cut(encoded: Encoded) -> tuple[Message, ...]:
    """Says that a text is too long and its beginning is cut, since what comes next depends on its end."""
    if not encoded.cut:
        return ()
    return (
        plural(
            "It sees {context} tokens at once, so {count} token at the beginning of your text is left out.",
            "It sees {context} tokens at once, so {count} tokens at the beginning of your text are left out.",
            encoded.cut,
            context=language_model().model.config.context,
        ),
    )


def about_the_writer(start_in_sight: bool) -> tuple[Message, ...]:
    """What its tokens are, what it was trained on, how well it predicts, and what it cannot do."""
    pieces = message(
        "Its tokens are {size} pieces of words; one that begins a word begins with a space, ␣. {start} "
        "precedes every text; the text above leaves it out.",
        size=len(written_pieces()),
        start=START,
    )
    lost = message("{start} is out of sight by now, but every text it was trained on began with it.", start=START)
    return (pieces, *(() if start_in_sight else (lost,)), trained_on(), NOT_A_WRITER)
