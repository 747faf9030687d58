"""How wide a text is, in letters: one of Chinese or Japanese is as wide as two, and a line may end after any."""

import math
import re
import textwrap
import unicodedata

OPENS, ENDS = "（「『“", "。、，．：；？！」』）”"
WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
# A number or a name, or one letter, with the brackets around it. In braces: of how many letters at most.
UNBROKEN = rf"[{OPENS}]*(?:[^\s“{WIDE}]{{{{1,{{}}}}}}|.)[{ENDS}]*"
HANGING = 2  # letters that stand beyond the end of a line where one ends that may begin none


def is_wide_letter(letter: str) -> bool:
    """True for a letter as wide as two others."""
    return unicodedata.east_asian_width(letter) in "WF"


def letters(text: str) -> int:
    """The width of a text."""
    return len(text) + sum(map(is_wide_letter, text))


def wrapped(text: str, most: int, lines: int | None = None) -> list[str]:
    """The text in lines of at most so many letters; what does not fit so many `lines` ends with an ellipsis.

    In Chinese or Japanese a line ends before any letter but those of a number or a name, what ends a sentence, and what
    follows an opening bracket.
    """
    if not any(map(is_wide_letter, text)):
        return textwrap.wrap(text, most, max_lines=lines, placeholder=" …")
    found = [""]
    for piece in re.findall(UNBROKEN.format(most), text):
        if letters(found[-1] + piece) > most + HANGING * (piece[-1] in ENDS) and found[-1]:
            found[-1] = found[-1].rstrip()
            found.append("")
        found[-1] += piece if found[-1] else piece.lstrip()
    return found if lines is None or len(found) <= lines else [*found[: lines - 1], f"{found[lines - 1][:-1]}…"]


def balanced(text: str, most: int) -> list[str]:
    """The text in as few lines of at most so many letters as it needs, about equally long."""
    enough = len(wrapped(text, most))
    tried = (wrapped(text, least) for least in range(math.ceil(letters(text) / max(enough, 1)) or 1, most + 1))
    return next(lines for lines in tried if len(lines) == enough)
