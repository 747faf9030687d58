"""How deep a file of JSON is nested: what a stranger wrote is measured before anything walks through it."""

import re

from attention_core.base.errors import TechnicalError

MOST_LEVELS = 10  # what is saved here has about half of it
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)  # to the end of the file, where it does not end before
BRACKET = re.compile(rb"[\[\]{}]")


def check_nesting(file: bytes) -> None:
    """Raise InputError for lists and objects within each other beyond MOST_LEVELS. Brackets in texts do not count."""
    level = 0
    for bracket in BRACKET.findall(TEXT.sub(b"", file)):
        level += 1 if bracket in b"[{" else -1
        if level > MOST_LEVELS:
            raise TechnicalError("its lists and objects are nested more than {most} levels deep", most=MOST_LEVELS)
