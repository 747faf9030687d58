"""From what somebody typed to tokens, and from tokens to ids.

A text is cut in one of two ways: into words (a punctuation mark that is not inside a word is a separate token) or into
characters (an accent or an emoji's modifier stays with the character it changes).
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from attention_core.base.errors import InputError, Phrase, TechnicalError
from attention_core.base.inputs import check_each_id

Unit = Literal["words", "characters"]
ZERO_WIDTH_JOINER = "\u200d"
JOINERS = ("\u200c", ZERO_WIDTH_JOINER)
VARIATION_SELECTORS = "".join(map(chr, range(0xFE00, 0xFE10)))


@dataclass(frozen=True)
class CleanText:
    """A text that is safe to cut and to show, with notes on what was changed to make it so."""

    text: str
    notes: tuple[Phrase, ...] = ()


def clean_text(raw: str, max_characters: int = 2000) -> CleanText:
    """Remove what cannot be shown (controls, direction marks, broken surrogates) and cut what is too long.

    Runs of white space become one space, and the text is normalised (NFC). The notes say in full sentences what was cut
    or removed; for marks without a letter to stand on there is none.
    """
    kept = raw[:max_characters]
    shown = "".join(" " if c.isspace() else c for c in kept if c.isspace() or not is_invisible(c))
    based = [word for word in unicodedata.normalize("NFC", shown).split() if not all(map(needs_base, word))]
    text = " ".join(word.lstrip(ZERO_WIDTH_JOINER + VARIATION_SELECTORS) for word in based)
    notes = []
    if len(raw) > max_characters:
        count, most = f"{len(raw):,}", f"{max_characters:,}"
        notes.append(Phrase("The text has {count} characters; the first {most} are used.", count=count, most=most))
    if len(shown) < len(kept):
        notes.append(Phrase("Invisible characters were left out: {count}.", count=len(kept) - len(shown)))
    return CleanText(text, tuple(notes))


def is_invisible(character: str) -> bool:
    """Return whether a character is a control, a direction mark, a lone surrogate or a private code point.

    The two joiners are kept: emoji and some scripts are spelt with them.
    """
    return character not in JOINERS and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co")


def needs_base(character: str) -> bool:
    """Return whether a character can only be seen together with one before it."""
    return character in JOINERS or character in VARIATION_SELECTORS


def tokenize(text: str, unit: Unit) -> list[str]:
    """Return the tokens of a text, in order. An empty text has none. Raises InputError for an unknown unit."""
    if unit not in get_args(Unit):
        raise TechnicalError("a text is cut into words or characters, but got {unit}", unit=repr(unit))
    if unit == "characters":
        return split_characters(text)
    return [token for chunk in text.split() for token in split_punctuation(chunk)]


def split_punctuation(chunk: str) -> list[str]:
    """Separate a word from the punctuation around it; each mark becomes one token.

    Marks inside a word stay: “don’t” is one token.
    """
    characters = split_characters(chunk)
    start, end = 0, len(characters)
    while start < end and is_punctuation(characters[start]):
        start += 1
    while end > start and is_punctuation(characters[end - 1]):
        end -= 1
    word = ["".join(characters[start:end])] if start < end else []
    return [*characters[:start], *word, *characters[end:]]


def is_punctuation(character: str) -> bool:
    """Return whether a character is Unicode punctuation. A mark that a selector turns into an emoji is not."""
    return len(character) == 1 and unicodedata.category(character).startswith("P")


def split_characters(text: str) -> list[str]:
    """Split a text into the characters a reader would count: marks and joiners stay with what they change."""
    characters: list[str] = []
    for c in text:
        joined = characters and (characters[-1].endswith(ZERO_WIDTH_JOINER) or is_half_flag(characters[-1], c))
        if characters and (joined or c == ZERO_WIDTH_JOINER or changes_previous(c)):
            characters[-1] += c
        else:
            characters.append(c)
    return characters


def is_half_flag(before: str, character: str) -> bool:
    """Return whether a letter completes a flag: flags are spelt with pairs of regional letters."""
    return len(before) == 1 and all("\U0001f1e6" <= c <= "\U0001f1ff" for c in (before, character))


def changes_previous(character: str) -> bool:
    """Return whether a character is a combining mark, a variation selector or the skin tone of an emoji."""
    return unicodedata.category(character) in ("Mn", "Mc", "Me") or "\U0001f3fb" <= character <= "\U0001f3ff"


@dataclass(frozen=True)
class Vocabulary:
    """The different tokens that are known; a token's id is its index."""

    tokens: tuple[str, ...]

    @classmethod
    def in_order_of_appearance(cls, tokens: Sequence[str]) -> "Vocabulary":
        """Give the first new token id 0, the next id 1: adding words at the end changes no id."""
        return cls(tuple(dict.fromkeys(tokens)))

    @classmethod
    def in_alphabetical_order(cls, tokens: Sequence[str]) -> "Vocabulary":
        """Sort the tokens by code point, as character models usually do."""
        return cls(tuple(sorted(set(tokens))))

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The id of each token."""
        return {token: i for i, token in enumerate(self.tokens)}

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Return the id of each token. Raises InputError that names the unknown tokens."""
        unknown = [token for token in dict.fromkeys(tokens) if token not in self.ids]
        if unknown:
            some = ", ".join(repr(token) for token in unknown[:5]) + (", …" if len(unknown) > 5 else "")
            raise InputError("these tokens are not in the vocabulary of {n}: {tokens}", n=len(self), tokens=some)
        return [self.ids[token] for token in tokens]

    def encode_with_unknown(self, tokens: Sequence[str]) -> list[int]:
        """Return the id of each token. All unknown tokens share one more id, the last, and cannot be told apart."""
        return [self.ids.get(token, len(self)) for token in tokens]

    def decode(self, ids: Sequence[int]) -> list[str]:
        """Return the token of each id. Raises InputError for an id without a token."""
        check_each_id(ids, len(self))
        return [self.tokens[i] for i in ids]
