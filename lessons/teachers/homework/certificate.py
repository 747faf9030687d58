"""A certificate: the file in which a student hands in a homework. A stranger may have written it, so it is checked.

Its check sum finds slips and damage, and nothing else: whoever can read this file can write such a certificate.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated, Any
from unicodedata import category, normalize

import msgspec

from attention_core.base.errors import InputError, TechnicalError
from attention_core.text.tokens import clean_text
from lessons.shared.nesting import check_nesting
from lessons.teachers.class_plan.plan import MOST_SAID, MOST_STOPS, MOST_TITLE, Name, Plan, Stop
from lessons.teachers.class_vote.question_link import read_asked
from lessons.teachers.homework.stops import How, Kind, kind_of_stop, mark_of, results_of

KIND, VERSION, CHECK = "attention-lab-certificate", 1, "check"
MOST_BYTES, MOST_NAME, MOST_SOLVED, MOST_ASKED = 100_000, 60, 100, 400
LONGEST_FILE, IN_A_NAME = 40, "LMN"  # characters of a file's name; letters, their marks, digits
Moment = Annotated[str, msgspec.Meta(pattern=r"^(\d{4}-\d\d-\d\dT\d\d:\d\dZ)?$")]  # of universal time; empty for never
Solved = Annotated[tuple[Name, ...], msgspec.Meta(max_length=MOST_SOLVED)]


@dataclass(frozen=True, kw_only=True)
class StopDone:
    """A stop: its page, what its link says, the seed of its numbers where it has any; what was to be done, how far it
    is, and when that was noted. Where an answer was wrong, what was `asked`; earlier versions do not say it.
    """

    page: Name
    link: Annotated[dict[Name, Annotated[str, msgspec.Meta(max_length=MOST_SAID)]], msgspec.Meta(max_length=40)]
    seed: int | None
    kind: Kind
    result: How
    when: Moment
    asked: Annotated[str, msgspec.Meta(max_length=MOST_ASKED)] = ""

    @property
    def went_wrong(self) -> bool:
        """True for a question whose first answer was wrong, whatever came later."""
        return self.result in ("later", "wrong")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Who did which homework, when the file was made, and what was done; `solved` is all that is solved in the browser
    besides: exercises and levels.
    """

    title: Annotated[str, msgspec.Meta(max_length=MOST_TITLE)]
    homework: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{8}$")]  # its mark
    name: Annotated[str, msgspec.Meta(max_length=MOST_NAME)]
    made: Moment
    stops: Annotated[tuple[StopDone, ...], msgspec.Meta(min_length=1, max_length=MOST_STOPS)]
    exercises: Solved
    levels: Solved


def certificate_of(
    plan: Plan,
    name: str,
    now: int,
    notes: Collection[str],
    exercises: Collection[str],
    levels: Collection[str],
    asks: Callable[[Stop], str] = lambda stop: "",
) -> Certificate:
    """The certificate of a homework at this time, in seconds since 1970. `asks` says what a stop asks."""
    results = results_of(plan, notes, exercises, levels)
    stops = tuple(
        StopDone(
            page=stop.page,
            link=stop.link,
            seed=seed_of(stop),
            kind=kind_of_stop(stop),
            result=result.how,
            when=moment(result.when) if result.when else "",
            asked=clean_text(asks(stop), MOST_ASKED).text if result.how in ("later", "wrong") else "",
        )
        for stop, result in zip(plan.stops, results, strict=True)
    )
    return Certificate(
        title=plan.title,
        homework=mark_of(plan),
        name=clean_text(name, MOST_NAME).text,
        made=moment(now),
        stops=stops,
        exercises=tuple(sorted(exercises)),
        levels=tuple(sorted(levels)),
    )


def file_of(certificate: Certificate) -> str:
    """A name for its file: that of whoever it belongs to, in letters and digits of any script."""
    words = "".join(sign if category(sign)[0] in IN_A_NAME else " " for sign in normalize("NFC", certificate.name))
    named = "_".join(words.split())[:LONGEST_FILE].strip("_")
    return f"certificate_{named}.json" if named else "certificate.json"


def moment(seconds: int) -> str:
    """A time of the clock, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%MZ")


def seed_of(stop: Stop) -> int | None:
    """The seed of the numbers of its screen, where it has one."""
    return read_asked(stop.screen).example.seed if stop.screen else None


def written_certificate(certificate: Certificate) -> bytes:
    """The certificate as a file: JSON, to be read by people as well."""
    said = {KIND: VERSION} | msgspec.to_builtins(certificate)
    return json.dumps(said | {CHECK: check_sum(said)}, indent=1, ensure_ascii=False).encode()


def check_sum(said: dict[str, Any]) -> str:
    """SHA-256 of all that a certificate says, written in one way: with sorted names and nothing between."""
    return sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_certificate(data: bytes) -> Certificate:
    """The certificate in a file. Raises ValueError, with a sentence, for anything else, and for one that is damaged."""
    if len(data) > MOST_BYTES:
        raise InputError("A certificate has at most {most} bytes, but this file has more.", most=f"{MOST_BYTES:,}")
    try:
        check_nesting(data)
        said = msgspec.json.decode(data.removeprefix(BOM_UTF8))  # strict: no NaN, and no half of a letter
    except TechnicalError as error:
        raise InputError("This is no certificate: {why}.", why=str(error)) from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError("This is no certificate: it cannot be read as JSON.") from error
    if not isinstance(said, dict) or type(said.get(KIND)) is not int or CHECK not in said:
        raise InputError("This is not a homework certificate.")
    if said[KIND] != VERSION:
        raise InputError("This certificate is from another version of the app.")
    claimed = said.pop(CHECK)
    if claimed != check_sum(said):
        raise InputError("The checksum does not match: the file was changed or damaged. Ask for the file again.")
    try:
        return msgspec.convert({name: value for name, value in said.items() if name != KIND}, Certificate)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError("This is no certificate: {why}.", why=str(error)[:200]) from error
