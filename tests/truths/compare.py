"""What changed between an entry of the record and what is computed now, with the room that another processor needs."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

RELATIVE, LEAST = 1e-5, 1e-6  # of the largest number beside it; and of what is smaller than a tenth
SEVERAL = 3  # digits: a number with fewer is written with so many decimals on purpose
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+|·10\^\(?[−-]?\d+\)?)?%?")
TINY = re.compile(r"(?:e[−-]|·10\^\(?[−-])0*(?:[5-9]|\d\d)")  # what is left of rounding has no digits to rely on


class Change(NamedTuple):
    """One thing that is not as it was: its kind and place, the entry, and the texts before and now."""

    kind: str
    place: str
    key: str
    what: str
    before: str
    now: str

    @property
    def text(self) -> str:
        """All that a reason may quote."""
        return "\n".join((self.key, self.what, self.before, self.now))


class Found(NamedTuple):
    """The changes, and how many texts differ in the last digit of a number alone."""

    changes: list[Change]
    last_digits: int


def changes_of(kind: str, key: str, before: dict[str, Any], now: dict[str, Any]) -> Found:
    """Compare one entry with what is computed now. Beside its own values it may list, under `or`, those that another
    processor found: the nearest counts.
    """
    place = str(before.get("page") or place_of(key))
    several = [before, *(before | other for other in before.get("or", ()))]
    return min((differences(kind, place, key, one, now) for one in several), key=lambda found: len(found.changes))


def differences(kind: str, place: str, key: str, before: dict[str, Any], now: dict[str, Any]) -> Found:
    """All that differs between two entries."""
    found, last_digits = [], 0
    for name in sorted((before.keys() | now.keys()) - {"or"}):
        was, is_now = before.get(name), now.get(name)
        if name == "numbers":
            different = different_numbers(was or {}, is_now or {})
            found += [Change(kind, place, key, *each) for each in different]
        elif isinstance(was or is_now, list):
            gone, new, flips = different_texts(was or [], is_now or [])
            last_digits += flips if name != "derived" else 0  # whose lines have as many digits as there are
            found += [Change(kind, place, key, name, text, "") for text in gone]
            found += [Change(kind, place, key, name, "", text) for text in new]
        elif was != is_now:
            found.append(Change(kind, place, key, name, str(was), str(is_now)))
    return Found(found, last_digits)


def place_of(key: str) -> str:
    """The page of a link, or the first word of any other entry."""
    return re.split(r"[?/ >]", key.strip(), maxsplit=1)[0] or "home"


def different_numbers(before: dict[str, Any], now: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The matrices that are gone, new, of another shape, or somewhere too far from what they were."""
    for name in sorted(before.keys() | now.keys()):
        if name not in now or name not in before:
            yield name, "numbers" if name in before else "", "numbers" if name in now else ""
            continue
        was, is_now = (np.asarray(numbers[name], dtype=float) for numbers in (before, now))
        if was.shape != is_now.shape:
            yield name, f"shape {was.shape}", f"shape {is_now.shape}"
        elif not agree(was, is_now):
            with np.errstate(invalid="ignore"):  # ∞ − ∞ where both are infinite
                apart = np.where((was == is_now) | (np.isnan(was) & np.isnan(is_now)), 0.0, np.abs(was - is_now))
            worst = np.unravel_index(np.nan_to_num(apart, nan=np.inf).argmax(), was.shape)
            yield name, f"{was[worst]:.6g} at {tuple(map(int, worst))}", f"{is_now[worst]:.6g}"


def agree(before: np.ndarray, now: np.ndarray) -> bool:
    """As near as two processors are: in proportion to the largest number among them."""
    largest = np.abs(before[np.isfinite(before)]).max(initial=0.0)
    return np.allclose(now, before, rtol=0, atol=max(RELATIVE * largest, LEAST), equal_nan=True)


def different_texts(before: Iterable[str], now: Iterable[str]) -> tuple[list[str], list[str], int]:
    """Texts that are gone, and texts that are new; and how many stand in both but for the last digit of a number."""
    was, is_now, flips = set(before), set(now), 0
    gone, new = sorted(was - is_now), sorted(is_now - was)
    for text in [*gone]:
        same = next((other for other in new if reads_alike(text, other)), None)
        if same is not None:
            gone.remove(text)
            new.remove(same)
            flips += 1
    return gone, new, flips


def reads_alike(one: str, other: str) -> bool:
    """True where only last digits differ, of numbers with decimals and of percentages."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    ours, theirs = NUMBER.findall(one), NUMBER.findall(other)
    largest = max((abs(Written.read(text).value) for text in ours), default=0.0)
    return all(beside(*both, largest) for both in zip(ours, theirs, strict=True))


def beside(one: str, other: str, largest: float) -> bool:
    """True for the same number, for two that rounding left over, and for two that differ by one in their last digit, or
    no more than numbers beside the `largest` of their text may.

    Whole numbers are counts: they are the same or not. As many digits are written, unless there are several anyway.
    """
    if one == other or (TINY.search(one) and TINY.search(other)):
        return True
    ours, theirs = Written.read(one), Written.read(other)
    rounded = ours.unit < 1 or one.endswith("%")
    as_written = ours.unit == theirs.unit or min(ours.significant, theirs.significant) >= SEVERAL
    most = max(1.5 * max(ours.unit, theirs.unit), RELATIVE * largest)
    return one.endswith("%") == other.endswith("%") and rounded and as_written and abs(ours.value - theirs.value) < most


class Written(NamedTuple):
    """A number as it is written: its value, what a one in its last digit is worth, and how many digits count."""

    value: float
    unit: float
    significant: int

    @classmethod
    def read(cls, text: str) -> "Written":
        """The number in a text that `NUMBER` finds."""
        digits, power = re.match(r"([\d,.]+)(?:(?:e|·10\^\(?)([−-]?\d+))?", text).groups()
        times = 10.0 ** int((power or "0").replace("−", "-"))
        decimals = len(digits.partition(".")[2])
        counted = re.sub(r"\D", "", digits).lstrip("0")
        return cls(float(digits.replace(",", "")) * times, 10.0**-decimals * times, len(counted))
