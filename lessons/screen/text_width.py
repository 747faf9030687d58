"""How wide a text is, in letters: one of Chinese or Japanese is as wide as two, and a line may end after any."""

import textwrap
import unicodedata


def is_wide_letter(letter: str) -> bool:
    """True for a letter as wide as two others."""
    return unicodedata.east_asian_width(letter) in "WF"


def has_no_width(letter: str) -> bool:
    """True for a mark that stands on the letter before it, and for what only says how a text is set."""
    return unicodedata.category(letter) in ("Mn", "Me", "Cf")


def letters(text: str) -> int:
    """The width of a text."""
    return len(text) + sum(map(is_wide_letter, text)) - sum(map(has_no_width, text))


def wrapped(text: str, most: int, lines: int) -> list[str]:
    """The text in lines of at most so many letters; what does not fit so many lines ends with an ellipsis."""
    if not any(map(is_wide_letter, text)):
        return textwrap.wrap(text, most, max_lines=lines, placeholder=" …")
    found = [""]
    for letter in text:
        # What ends a sentence or a quotation never begins a line.
        if letters(found[-1] + letter) > most and letter not in "。、，．：；？！」』）”":
            found.append("")
        found[-1] += letter
    return found if len(found) <= lines else [*found[: lines - 1], f"{found[lines - 1][:-1]}…"]
