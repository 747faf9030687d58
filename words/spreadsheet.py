"""Tables as files for a spreadsheet. It would compute a text that begins like a formula: in these files none does."""

import csv
import io
import unicodedata
from collections.abc import Iterable

FORMULAS_BEGIN = frozenset("=+-−@＝＋－＠")
SEPARATORS = frozenset(",;|\t\n\r\v\f")  # a spreadsheet begins a new cell at one of them: its user says at which
MINUS = "−"  # with which our own texts write numbers: they stay as they are
UNSEEN = "CMZ"  # Unicode's categories of controls, of marks that join the letter before them, and of spaces

Cell = str | int | float | None


def csv_file(lines: Iterable[Iterable[Cell]]) -> bytes:
    """The lines of a table as a file. Numbers stay numbers, texts become harmless, and None is an empty cell.

    The mark at its beginning tells a spreadsheet in which alphabet it is written.
    """
    held = io.StringIO(newline="")
    csv.writer(held).writerows([harmless(cell) if isinstance(cell, str) else cell for cell in line] for line in lines)
    return held.getvalue().encode("utf-8-sig")


def harmless(text: str) -> str:
    """A text of which no spreadsheet computes any part, wherever it begins a new cell.

    An apostrophe stands before each sign that would begin a formula. A quotation mark before it counts as unseen: it
    may belong to the file.
    """
    safe, begins = [], True
    for place, sign in enumerate(text):
        if begins and sign in FORMULAS_BEGIN and not (sign == MINUS and text[place + 1 : place + 2].isdecimal()):
            safe.append("'")
        begins = sign in SEPARATORS or (begins and (sign == '"' or unicodedata.category(sign)[0] in UNSEEN))
        safe.append(sign)
    return "".join(safe)
