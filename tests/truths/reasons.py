"""The lines that say why something in the record has changed, and what each of them covers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.truths.compare import Change

FILE = Path(__file__).parent / "reasons.txt"
LINE = re.compile(r'(?P<kind>links|screens|numbers|files) (?P<place>\S+)(?: "(?P<words>.+)")?: (?P<why>\S.*)')
ACCEPTED = "# Accepted:"
MOST_COVERED = 200  # entries, without --many


@dataclass
class Reason:
    """A line of the file, and the entries that it covers."""

    line: str
    kind: str
    place: str
    words: re.Pattern[str]
    covers: set[str] = field(default_factory=set)

    def fits(self, change: Change) -> bool:
        """True for a change of its kind, at its place, in which its words stand."""
        return (change.kind, change.place) == (self.kind, self.place) and self.words.search(change.text) is not None


def read_reasons() -> list[Reason]:
    """Those that were not accepted yet. Raises ValueError for a line that is none."""
    lines = FILE.read_text(encoding="utf-8").partition(ACCEPTED)[0].splitlines()
    return [reason_of(line) for line in lines if line.strip() and not line.startswith("#")]


def reason_of(line: str) -> Reason:
    """A line as it is read: {} in its words stands for anything."""
    found = LINE.fullmatch(line.strip())
    if found is None:
        raise ValueError(f'expected a line like: screens cost "words": why it changed; but got: {line}')
    words = ".+?".join(map(re.escape, re.split(r"\{\w*\}", found["words"] or "")))
    return Reason(line.strip(), found["kind"], found["place"], re.compile(words, re.DOTALL))


def not_covered(reasons: Iterable[Reason], changes: Iterable[Change]) -> Iterator[Change]:
    """The changes that no line covers; the lines remember those that they do."""
    for change in changes:
        fitting = [reason for reason in reasons if reason.fits(change)]
        for reason in fitting:
            reason.covers.add(change.key)
        if not fitting:
            yield change


def unfit(reasons: Iterable[Reason], *, many: bool) -> Iterator[str]:
    """A sentence on each line that covers nothing, or too much."""
    for reason in reasons:
        if not reason.covers:
            yield f"This line covers nothing; leave it out: {reason.line}"
        elif len(reason.covers) > MOST_COVERED and not many:
            yield f"This line covers {len(reason.covers)} entries, more than {MOST_COVERED}; say --many: {reason.line}"


def accept(reasons: Iterable[Reason]) -> None:
    """Put the lines below those that were accepted before, with how many entries each covered."""
    text = FILE.read_text(encoding="utf-8")
    head = "".join(line for line in text.partition(ACCEPTED)[0].splitlines(keepends=True) if line.startswith("#"))
    before = text.partition(ACCEPTED)[2]
    new = "".join(f"\n{reason.line} [{len(reason.covers)}]" for reason in reasons)
    FILE.write_text(f"{head}\n{ACCEPTED}{before.rstrip()}{new}\n", encoding="utf-8")
