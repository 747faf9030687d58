"""A plan as a file and as a link. A stranger may have written either, so each is checked before anything is done."""

import base64
import binascii
import zlib
from collections.abc import Collection
from dataclasses import replace
from urllib.parse import urlencode

import msgspec

from attention_core.errors import InputError
from lessons.class_plan.plan import Plan, Stop
from lessons.class_vote.question_link import read_asked
from lessons.kit.nesting import check_nesting

MOST_BYTES = 200_000  # of a file
MOST_LINK = 12_000  # characters of a plan in a link
LONGEST_ADDRESS = 3_000  # of a stop
NOT_FOR_PLANS = ("class", "teacher", "follow", "plan", "homework", "stop")  # they say who somebody is, or hold a plan


def written_plan(plan: Plan) -> bytes:
    """The plan as a file: JSON, to be read by people as well."""
    return msgspec.json.format(msgspec.json.encode(plan), indent=2)


def read_plan(data: bytes, pages: Collection[str], languages: Collection[str] = ()) -> Plan:
    """The plan that was written so, for these pages. Raises ValueError, with a sentence, for anything else."""
    if len(data) > MOST_BYTES:
        raise InputError("A plan has at most {most} bytes, but this file has more.", most=f"{MOST_BYTES:,}")
    try:
        check_nesting(data)
        plan = msgspec.json.decode(data, type=Plan)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError(
            "This is not a lesson plan: {why}. Save one here to see how it is written.", why=str(error)[:200]
        ) from error
    for number, stop in enumerate(plan.stops, start=1):
        check_stop(stop, number, pages)
    return plan if plan.language in languages else replace(plan, language="")


def check_stop(stop: Stop, number: int, pages: Collection[str]) -> None:
    """Raise ValueError, with a sentence, for a stop that cannot be gone to, or asks what cannot be asked."""
    if stop.page not in pages:
        raise InputError("Stop {number} names no page of this app.", number=number)
    if set(stop.link) & set(NOT_FOR_PLANS) or len(urlencode(stop.link)) > LONGEST_ADDRESS:
        raise InputError(
            "The link of stop {number} contains something that a plan may not contain, or too much.", number=number
        )
    if stop.screen:
        try:
            read_asked(stop.screen)
        except ValueError as error:
            raise InputError(
                "The screen of stop {number} is from another version of the app.", number=number
            ) from error


def plan_in_link(plan: Plan) -> str:
    """The plan as a link spells it. Raises ValueError for one that is too long for that."""
    packed = zlib.compress(msgspec.json.encode(plan), 9)
    code = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(code) > MOST_LINK:
        raise InputError("This plan is too long for a link: save it as a file.")
    return code


def plan_of_link(code: str, pages: Collection[str], languages: Collection[str] = ()) -> Plan:
    """The plan that a link spells. Raises ValueError, with a sentence, for anything else."""
    try:
        packed = base64.b64decode(code[: MOST_LINK + 1] + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        unpack = zlib.decompressobj()
        data = unpack.decompress(packed, MOST_BYTES + 1)  # no more of it is unpacked, whatever it claims to hold
        if not unpack.eof and len(data) <= MOST_BYTES:
            raise ValueError("cut off")
    except (binascii.Error, zlib.error, ValueError) as error:
        raise InputError("The link does not hold a complete plan: copy it again, or open the plan's file.") from error
    return read_plan(data, pages, languages)
