"""What is noted of a homework: short words that a browser can keep, one for each thing that happened at a stop.

A note names the homework by its mark, the stop by its place, what happened, and when.
"""

import re
from collections.abc import Iterable
from typing import Literal

MARK = 8  # hexadecimal digits
NOTE = re.compile(rf"h([0-9a-f]{{{MARK}}})_([0-9]{{1,2}})_(right|wrong|done)_([0-9a-f]{{8}})")
Happened = Literal["right", "wrong", "done"]


def noted(mark: str, place: int, happened: Happened, when: int) -> str:
    """A note, as a browser keeps it; `when` in seconds since 1970."""
    return f"h{mark}_{place}_{happened}_{when:08x}"


def notes_of_stop(notes: Iterable[str], mark: str, place: int) -> list[tuple[int, str]]:
    """What was noted of one stop, in the order in which it happened; of the same second what was wrong came first."""
    read = (found.groups() for note in notes if (found := NOTE.fullmatch(note)))
    here = [(int(when, 16), what) for which, stop, what, when in read if (which, int(stop)) == (mark, place)]
    return sorted(here, key=lambda note: (note[0], note[1] != "wrong"))
