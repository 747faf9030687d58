"""How wide a text is, in letters, and its lines: a letter of Chinese or Japanese is as wide as two."""

import functools
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable

KANA = re.compile("[\u3041-\u30ff]")
NEVER_FIRST = "。、，．：；？！」』）】〉》”’…ー々"
OPENING, CLOSING = "「『（【〈《“‘", f"[{NEVER_FIRST}]*"
WORD = "[^\\s\u2e80-\uffef“”‘’…]+"  # of a script with spaces: it stays whole
LETTER = re.compile(f"[{OPENING}]*(?:{WORD}|.)(?:{CLOSING})\\s*")
# In Japanese a word's ending and the particles after it are hiragana: they stay with what stands before them, as does a
# number with what it counts.
HIRAGANA, KATAKANA, KANJI = "[\u3041-\u309f]", "[\u30a1-\u30ff]", "[\u3400-\u9fff々]"
STEM = rf"(?:\d[\d.,]*{KANJI}+|{WORD}|{KATAKANA}+|{KANJI}+|{HIRAGANA}+|.)"
PHRASE = re.compile(rf"[{OPENING}]*{STEM}{CLOSING}{HIRAGANA}*{CLOSING}\s*")

MANY = 1000  # lines: more than any text takes
DIFFERENT = 4096  # letters whose widths are kept: a page asks for the same ones thousands of times


@functools.lru_cache(maxsize=DIFFERENT)
def is_wide_letter(letter: str) -> bool:
    """True for a letter as wide as two others."""
    return unicodedata.east_asian_width(letter) in "WF"


@functools.lru_cache(maxsize=DIFFERENT)
def has_no_width(letter: str) -> bool:
    """True for a mark that stands on the letter before it, and for what only says how a text is set."""
    return unicodedata.category(letter) in ("Mn", "Me", "Cf")


def letters(text: str) -> int:
    """The width of a text."""
    return len(text) + sum(map(is_wide_letter, text)) - sum(map(has_no_width, text))


def wrapped(text: str, most: int, lines: int = MANY) -> list[str]:
    """The text in lines of at most so many letters; what does not fit so many `lines` ends with an ellipsis.

    Japanese lines end between phrases where that takes no more lines than there are, else after any letter of theirs.
    """
    if not any(map(is_wide_letter, text)):
        return textwrap.wrap(text, most, max_lines=lines, placeholder=" …")
    found = []
    for unit in (PHRASE, LETTER) if KANA.search(text) else (LETTER,):
        found = filled(unit.findall(text), most)
        if len(found) <= lines:
            return found
    return [*found[: lines - 1], f"{found[lines - 1].rstrip()[:-1]}…"]


def filled(units: Iterable[str], most: int) -> list[str]:
    """Lines of units that stay together; one that is longer than a line is cut."""
    found = [""]
    for unit in units:
        for part in [unit] if letters(unit) <= most else pieces(unit, most):
            # What ends a sentence or a quotation never begins a line.
            if letters(found[-1] + part.rstrip()) > most and part[0] not in NEVER_FIRST:
                found.append("")
            found[-1] += part
    return [line.strip() for line in found]


def pieces(unit: str, most: int) -> list[str]:
    """What is longer than a line, letter by letter; a word without wide letters in pieces half as long as a line."""
    found = LETTER.findall(unit)
    return found if len(found) > 1 else textwrap.wrap(unit, max(1, most // 2), drop_whitespace=False)


def balanced(text: str, most: int) -> list[str]:
    """The text in as few lines of at most so many letters as it needs, about equally long."""
    enough = len(wrapped(text, most))
    least = min(most, math.ceil(letters(text) / max(enough, 1)) or 1)
    tried = (wrapped(text, width) for width in range(least, most + 1))
    return next(lines for lines in tried if len(lines) == enough)
