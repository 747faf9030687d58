"""Compare what the app computes now with the record of what it has computed: `python3 lab.py test --truths`.

The record holds what links open, what every screen shows, says and asks, numbers without a screen, and what files of
before say. A change to it is meant, or it is a fault. One that is meant has a line in `reasons.txt`. What no line
covers fails, and so does a line that covers nothing. `--accept` writes what is covered, and entries that are new, into
the record.

Numbers agree in proportion to the largest beside them, and a text may differ in the last digit of a few numbers, so
that the record holds on every processor. What another processor finds otherwise all the same, such as a sentence on a
run of training, stands in its entry as well: `--either` adds it, and is to be used on another processor alone.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable

from tests.truths import reasons
from tests.truths.compare import Change, changes_of
from tests.truths.record import KINDS, Entries, computed, read_record, write_record

MOST_SHOWN, SHORT = 10, 150  # changes of one kind and place, and letters of each
MOST_LAST_DIGITS = 0.02  # of all texts: so many may differ in the last digit of a number; 0.009 were seen


def main() -> int:
    """Compare, print what has changed, and accept it where that is asked for; 1 where something is left."""
    asked, began = parse_arguments(), time.monotonic()
    kinds = asked.only or list(KINDS)
    lines = reasons.read_reasons()
    kept = {kind: read_record(kind) for kind in kinds}
    now = compute_all({kind: [*dict.fromkeys([*kept[kind], *KINDS[kind].asked()])] for kind in kinds})
    changes, last_digits = compare_all(kept, now)
    n_texts = sum(
        len(value)
        for every in kept.values()
        for entry in every.values()
        for value in entry.values()
        if isinstance(value, list)
    )
    n_new = sum(len(now[kind].keys() - kept[kind].keys()) for kind in kinds)
    print(
        f"{sum(map(len, kept.values()))} entries and {n_new} new ones in {time.monotonic() - began:.0f} s; "
        f"of {n_texts} texts {last_digits} differ in a last digit."
    )
    if asked.either:
        name_others(kept, now, changes)
        return 0
    left = list(reasons.not_covered(lines, changes))
    show(left)
    problems = list(reasons.unfit((line for line in lines if line.kind in kinds), many=asked.many))
    if last_digits > MOST_LAST_DIGITS * n_texts:
        problems.append("More texts differ in a last digit than another processor explains.")
    print(*problems, sep="\n", end="\n" if problems else "")
    failed = len({(change.kind, change.key) for change in left}) + len(problems)
    if asked.accept and not failed:
        for kind in kinds:
            write_record(kind, accepted(kept[kind], now[kind], changes))
        reasons.accept(lines)
        print("What was computed now is the record.")
    print(f"{sum(map(len, kept.values())) - failed} passed, {failed} failed")
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    """What stands after the command."""
    parser = argparse.ArgumentParser(prog="lab.py test --truths", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=KINDS, action="append", help="one kind of entry; may be repeated")
    parser.add_argument(
        "--accept", action="store_true", help="write what reasons cover, and what is new, into the record"
    )
    parser.add_argument("--many", action="store_true", help="let a line cover more than 200 entries")
    parser.add_argument("--either", action="store_true", help="let entries name what this processor finds as well")
    return parser.parse_args()


def compute_all(wanted: dict[str, list[str]]) -> dict[str, Entries]:
    """All of these entries as they are now; how far it is stands on the error output."""
    found: dict[str, Entries] = {kind: {} for kind in wanted}
    n_all = sum(map(len, wanted.values()))
    for kind, entries in computed(wanted):
        found[kind] |= entries
        print(f"\r{sum(map(len, found.values()))} of {n_all}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def compare_all(kept: dict[str, Entries], now: dict[str, Entries]) -> tuple[list[Change], int]:
    """What has changed, and how many texts differ in the last digit of a number alone."""
    found = [
        changes_of(kind, key, before, now[kind][key])
        for kind, entries in kept.items()
        for key, before in entries.items()
    ]
    return [change for each in found for change in each.changes], sum(each.last_digits for each in found)


def show(changes: Iterable[Change]) -> None:
    """The changes, sorted by kind and place, as far as one wants to read them."""
    by_place = Counter((change.kind, change.place) for change in changes)
    for (kind, place), count in sorted(by_place.items()):
        print(f"\n{kind} {place}: {count} changes")
        here = [change for change in changes if (change.kind, change.place) == (kind, place)]
        for change in here[:MOST_SHOWN]:
            print(
                f"  {change.key} · {change.what}\n    was: {shortened(change.before)}\n    now: {shortened(change.now)}"
            )
        if count > MOST_SHOWN:
            print(f"  … and {count - MOST_SHOWN} more")


def shortened(text: str) -> str:
    """A text in one line, and what it is where it is empty."""
    line = text.replace("\n", " / ")
    return (line if len(line) <= SHORT else f"{line[:SHORT]} …") or "–"


def accepted(kept: Entries, now: Entries, changes: Iterable[Change]) -> Entries:
    """The record once more: new where something has changed, and with the entries that are new."""
    changed = {change.key for change in changes}
    return {key: entry if key in changed or key not in kept else kept[key] for key, entry in now.items()}


def name_others(kept: dict[str, Entries], now: dict[str, Entries], changes: Iterable[Change]) -> None:
    """Add to each entry what this processor finds otherwise, part by part."""
    for kind, entries in kept.items():
        for key in {change.key for change in changes if change.kind == kind}:
            before, found = entries[key], now[kind][key]
            other = {
                name: found.get(name) for name in before.keys() | found.keys() if before.get(name) != found.get(name)
            }
            other.pop("or", None)
            entries[key] = before | {"or": [*before.get("or", ()), other]}
        write_record(kind, entries)
    print(f"{len({change.key for change in changes})} entries name what this processor finds as well.")


if __name__ == "__main__":
    sys.exit(main())
