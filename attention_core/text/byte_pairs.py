"""Text → bytes → pieces → ids: byte-level byte-pair encoding, introduced with GPT-2 and used by most models today.

A text is cut into words, and each word into its bytes. There are 256 bytes, so no script has unknown characters. Then
pairs of neighbours are merged, the earliest learned first, and a frequent word ends as one piece. Each byte is written
as a visible character, the space as Ġ. Radford et al. 2019, section 2.2,
https://openai.com/research/better-language-models.

The package `tokenizers` computes the same pieces faster and knows special tokens as well: see `stored`.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from attention_core.base.errors import TechnicalError
from attention_core.base.inputs import check_each_id

SEEN = (*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1))
UNSEEN = tuple(byte for byte in range(256) if byte not in SEEN)
CHARACTER_OF = {byte: chr(byte) for byte in SEEN} | {byte: chr(256 + i) for i, byte in enumerate(UNSEEN)}
BYTE_OF = {character: byte for byte, character in CHARACTER_OF.items()}

# A contraction; letters, digits or other characters, with a space in front; spaces, but for the one before a word.
WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", re.ASCII)
DIGITS = re.compile(r"[0-9]|[^0-9]+")
ALL = re.compile(".+", re.DOTALL)


@dataclass(frozen=True)
class BytePairs:
    """A byte-pair tokenizer: its pieces, each at its id, and the pairs that are merged, the earliest learned first.

    With `digits_apart` every digit is a separate word, so that numbers are read digit by digit.
    """

    tokens: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]
    digits_apart: bool = False

    @functools.cached_property
    def ids(self) -> dict[str, int]:
        """The id of each piece."""
        return {token: i for i, token in enumerate(self.tokens)}

    @functools.cached_property
    def rank(self) -> dict[tuple[str, str], int]:
        """The place of each pair in the order in which pairs were learned, from 0 on."""
        return {pair: i for i, pair in enumerate(self.merges)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text. Raises InputError for a byte, or a merged pair, that is no piece of the model."""
        pieces = [piece for word in words_of(text, self.digits_apart) for piece in self.steps(word)[-1]]
        unknown = [piece for piece in pieces if piece not in self.ids]
        if unknown:
            raise TechnicalError(
                "“{text}” has the piece “{piece}”, which is none of the {n} of this model; choose a text without it",
                text=text,
                piece=unknown[0],
                n=len(self.tokens),
            )
        return [self.ids[piece] for piece in pieces]

    def steps(self, word: str) -> list[tuple[str, ...]]:
        """Return the pieces of a word at each step: its bytes at first, then the pieces after each merge."""
        return list(merge_pairs(written(word), self.rank))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids, with � for bytes that are no whole character. Raises InputError for unknown ids."""
        ids = tuple(ids)
        check_each_id(ids, len(self.tokens))
        return readable("".join(self.tokens[i] for i in ids))


def merge_pairs(word: Iterable[str], rank: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, ...]]:
    """Yield the pieces of a word as given, and again after each merge, until no learned pair is left.

    Of all neighbours the pair that was learned first is merged: Sennrich et al. 2016, https://arxiv.org/abs/1508.07909.
    """
    pieces = list(word)
    yield tuple(pieces)
    while len(pieces) > 1:
        pairs = list(itertools.pairwise(pieces))
        first = min(pairs, key=lambda pair: rank.get(pair, len(rank)))
        if first not in rank:
            break
        at = pairs.index(first)
        pieces[at : at + 2] = ["".join(first)]
        yield tuple(pieces)


def words_of(text: str, digits_apart: bool = False) -> Iterator[str]:
    """Yield the words of a text. No piece crosses the border of a word, and together the words are the text."""
    kinds = "".join(map(kind_of, text))
    for part in (DIGITS if digits_apart else ALL).finditer(kinds):
        for word in WORDS.finditer(part.group()):
            yield text[part.start() + word.start() : part.start() + word.end()]


def kind_of(character: str) -> str:
    """Return an ASCII character of the same kind: letters of all scripts count as letters, numbers as numbers."""
    if character.isascii():
        return character
    if character.isspace():
        return "\t"
    return {"L": "x", "N": "0"}.get(unicodedata.category(character)[0], "!")


def written(text: str) -> str:
    """Return the bytes of a text, each as a visible character. Raises InputError for half of a character."""
    try:
        return "".join(CHARACTER_OF[byte] for byte in text.encode())
    except UnicodeEncodeError as error:
        raise TechnicalError("half of a character has no bytes, as {text} has it", text=ascii(text)) from error


def readable(piece: str) -> str:
    """Return a piece as text: the characters of its bytes, with � for bytes that are no whole character.

    Raises InputError where a character stands for no byte.
    """
    strange = [character for character in piece if character not in BYTE_OF]
    if strange:
        raise TechnicalError(
            "each character of a piece stands for a byte, but in “{piece}” “{character}” stands for none",
            piece=piece,
            character=strange[0],
        )
    return bytes(BYTE_OF[character] for character in piece).decode(errors="replace")
