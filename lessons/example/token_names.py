"""What the tokens of a real model are called: each in the vocabulary, and each in a text."""

import codecs
import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from attention_core.stored.tokenizing import Tokenizer
from attention_core.text.byte_pairs import BYTE_OF
from attention_core.text.tokens import Vocabulary
from lessons.example.real_model import RealModel

LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
BROKEN = "\ufffd"  # stands for bytes that are no whole character
SIGNS = "␣⏎↵⇥◌"  # by which white space is seen, and what a mark without a letter stands on


@functools.lru_cache(maxsize=4)
def vocabulary_of(model: RealModel) -> Vocabulary:
    """Every token of a model as it stands in a text, at its id; by its id alone where it reads as nothing or as others.

    The embedding may have more rows than the tokenizer has tokens: those are read as nothing.
    """
    size = model.transformer.config.vocabulary
    texts = model.tokenizer.decode_batch([[i] for i in range(size)], skip_special_tokens=False)
    texts = [text if BROKEN not in text else in_bytes(model.tokenizer, i) for i, text in enumerate(texts)]
    times = Counter(texts)
    return Vocabulary(tuple(text if text and times[text] == 1 else f"<{i}>" for i, text in enumerate(texts)))


def in_bytes(tokenizer: Tokenizer, token: int) -> str:
    """A token that is no whole character, by its bytes in hexadecimal: <E381>."""
    return f"<{bytes_of(tokenizer, token).hex().upper()}>"


def bytes_of(tokenizer: Tokenizer, token: int) -> bytes:
    """The bytes that a token stands for in a text; where it stands for nothing, those of its id, such as <12>."""
    piece = tokenizer.id_to_token(token)
    if piece is None:
        return f"<{token}>".encode()
    if all(character in BYTE_OF for character in piece):
        return bytes(BYTE_OF[character] for character in piece)
    return piece.encode()


def text_of(model: RealModel, ids: Sequence[int]) -> str:
    """The text that these tokens make together; � stands at its end for a character that is not finished.

    A token that stands for nothing is called by its id.
    """
    runs = groupby(ids, lambda token: model.tokenizer.id_to_token(token) is None)
    texts = (
        "".join(f"<{token}>" for token in run) if nothing else decoded(model.tokenizer, run) for nothing, run in runs
    )
    return "".join(texts)


def decoded(tokenizer: Tokenizer, ids: Iterable[int]) -> str:
    """The text of these tokens, special ones among them."""
    return tokenizer.decode([*ids], skip_special_tokens=False)


def parts_of_text(model: RealModel, ids: Sequence[int]) -> tuple[str, ...]:
    """The part of the text that each token stands for; one after the other they are the text.

    A character of several tokens stands at the first of them, and the others are empty. Bytes that are no whole
    character, such as one that is not finished, are given in hexadecimal.
    """
    parts, begun = [], []  # texts, and the tokens of a character that is not whole yet
    for token in ids:
        if text_begun(model, [*begun, token]) is None:
            parts += [in_bytes(model.tokenizer, other) for other in begun]
            begun = []
        begun.append(token)
        text = text_begun(model, begun)
        if text is None:
            parts.append(in_bytes(model.tokenizer, token))
        elif text:
            parts += [text, *[""] * (len(begun) - 1)]
        if text != "":
            begun = []
    return *parts, *(in_bytes(model.tokenizer, token) for token in begun)


def text_begun(model: RealModel, ids: Sequence[int]) -> str | None:
    """The text of these tokens; "" as long as its last character is not whole, None where their bytes are no text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(b"".join(bytes_of(model.tokenizer, token) for token in ids))
    except UnicodeDecodeError:
        return None
    return "" if decoder.getstate()[0] else text


def called_alone(model: RealModel, token: int) -> str:
    """A token by itself as it stands in a text; by its bytes where they are no whole character, or else by its id."""
    text = text_of(model, [token])
    return in_bytes(model.tokenizer, token) if BROKEN in text else text or f"<{token}>"


def typed(text: str, signs: str = SIGNS) -> str:
    """A text of somebody's own, with those of our signs that it has by their code points: U+2423 is no space."""
    return "".join(f"U+{ord(sign):04X}" if sign in signs else sign for sign in text)


def is_unfinished(model: RealModel, ids: Sequence[int]) -> bool:
    """Whether these tokens end within a character. A � at the end may also have been typed."""
    text = b"".join(bytes_of(model.tokenizer, token) for token in ids)
    return text.decode(errors="replace").endswith(BROKEN) and not text.endswith(BROKEN.encode())


def told_apart(parts: Sequence[str]) -> tuple[str, ...]:
    """The same where each is to be seen: of a character of several tokens the first is 日₁, the next 日₂.

    A sign of ours, such as ␣ for a space, is called by its code point where it was typed.
    """
    groups = [0]
    for part in parts[1:]:
        groups.append(groups[-1] + (part != ""))
    called = []
    for _, places in groupby(range(len(parts)), lambda place: groups[place]):
        first, *more = places
        text = typed(parts[first])
        numbered = [text + str(1).translate(LOWERED), *(text.strip() + str(n).translate(LOWERED) for n in range(2, 99))]
        called += numbered[: 1 + len(more)] if more else [text]
    return tuple(called)
