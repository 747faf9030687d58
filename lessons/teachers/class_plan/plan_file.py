"""A plan as a file and as a link. A stranger may have written either, so each is checked before anything is done."""

import base64
import binascii
import zlib
from collections.abc import Callable, Collection
from dataclasses import replace
from hashlib import sha256
from urllib.parse import urlencode

import msgspec

from attention_core.base.errors import InputError
from lessons.shared.nesting import check_nesting
from lessons.teachers.class_plan.plan import MOST_PICTURES, SLIDE_PAGE, Plan, Stop, with_pictures_shown
from lessons.teachers.class_vote.question_link import read_asked

MOST_BYTES = 1024 * 1024  # of a file
MOST_WITHOUT = 200_000  # bytes of a plan without its pictures, as a class keeps it
MOST_LINK = 12_000  # characters of a plan in a link
LONGEST_ADDRESS = 3_000  # of a stop
NOT_FOR_PLANS = ("class", "teacher", "follow", "plan", "homework", "stop")  # they say who somebody is, or hold a plan


def written_plan(plan: Plan) -> bytes:
    """The plan as a file: JSON, to be read by people as well. Its pictures are in it, as base64 writes them."""
    return msgspec.json.format(encoded_plan(plan), indent=2)


def encoded_plan(plan: Plan) -> bytes:
    """The plan as JSON. Of slides nothing is said where there are none: what is made of other plans stays the same."""
    said = msgspec.to_builtins(plan)
    stops = [
        {name: what for name, what in stop.items() if what or name not in ("text", "picture")} for stop in said["stops"]
    ]
    pictures = said.pop("pictures")
    return msgspec.json.encode(said | {"stops": stops} | ({"pictures": pictures} if pictures else {}))


def text_of_plan(plan: Plan) -> str:
    """The plan as a class keeps it: of its pictures no more than their hashes."""
    return written_plan(replace(plan, pictures={})).decode()


def read_plan(data: bytes, pages: Collection[str], languages: Collection[str] = ()) -> Plan:
    """The plan that a class keeps, for these pages. Raises ValueError, with a sentence, for anything else."""
    return checked(replace(decoded(data), pictures={}), pages, languages)


def read_file(
    data: bytes, redrawn: Callable[[bytes], bytes], pages: Collection[str], languages: Collection[str] = ()
) -> Plan:
    """The plan in a file. Its pictures are a stranger's as well: each is `redrawn`, and only what that makes is kept.

    Raises ValueError, with a sentence, for anything else.
    """
    plan = decoded(data)
    if len(plan.pictures) > MOST_PICTURES:
        raise InputError(
            "A plan has at most {most} pictures, but this file has {count}: take some out, and save the plan again.",
            most=MOST_PICTURES,
            count=len(plan.pictures),
        )
    plan = checked(plan, pages, languages)
    for number, stop in enumerate(plan.stops, start=1):
        if stop.picture and stop.picture not in plan.pictures:
            raise InputError(
                "Stop {number} shows a picture that is not in this file: save the plan again.", number=number
            )
    for name in {stop.picture for stop in plan.stops} & plan.pictures.keys():
        plan = with_picture_in_place(plan, name, redrawn(plan.pictures[name]))
    return with_pictures_shown(plan)


def with_picture_in_place(plan: Plan, name: str, data: bytes) -> Plan:
    """The plan with another picture where it shows the one with this name."""
    new = hash_of_picture(data)
    stops = tuple(replace(stop, picture=new) if stop.picture == name else stop for stop in plan.stops)
    return replace(plan, stops=stops, pictures=plan.pictures | {new: data})


def hash_of_picture(data: bytes) -> str:
    """By this a picture is told from others, and fetched."""
    return sha256(data).hexdigest()


def decoded(data: bytes) -> Plan:
    """A plan that is written soundly, whatever it says."""
    if len(data) > MOST_BYTES:
        raise InputError("A plan has at most {most} bytes, but this file has more.", most=f"{MOST_BYTES:,}")
    try:
        check_nesting(data)
        return msgspec.json.decode(data, type=Plan)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError(
            "This is not a lesson plan: {why}. Save one here to see how it is written.", why=str(error)[:200]
        ) from error


def checked(plan: Plan, pages: Collection[str], languages: Collection[str]) -> Plan:
    """The plan, if all of its stops can be gone to; without a language that is none."""
    if not plan.stops:
        raise InputError("This plan has no stops, but it needs at least one: add a stop, and save the plan again.")
    check_length(plan)
    for number, stop in enumerate(plan.stops, start=1):
        check_stop(stop, number, pages)
    return plan if plan.language in languages else replace(plan, language="")


def check_length(plan: Plan) -> None:
    """Raise ValueError, with a sentence, for a plan that no class keeps, or whose file nobody could open."""
    if len(text_of_plan(plan).encode()) > MOST_WITHOUT:
        raise InputError(
            "Without its pictures, a plan has at most {most} bytes, but this one has more: shorten its texts, or leave "
            "out some stops.",
            most=f"{MOST_WITHOUT:,}",
        )
    if len(written_plan(plan)) > MOST_BYTES:
        raise InputError(
            "The file of a plan has at most {most} bytes, but this one would have more: remove a picture.",
            most=f"{MOST_BYTES:,}",
        )


def check_stop(stop: Stop, number: int, pages: Collection[str]) -> None:
    """Raise ValueError, with a sentence, for a stop that cannot be gone to, or asks what cannot be asked."""
    if stop.page not in pages:
        raise InputError("Stop {number} names no page of this app.", number=number)
    if stop.is_slide and (stop.page != SLIDE_PAGE or stop.link or stop.screen or stop.own is not None):
        raise InputError(
            "Stop {number} shows a text or a picture, so it can be neither a screen nor a question as well.",
            number=number,
        )
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
    """The plan as a link spells it, without what shows a picture. Raises ValueError for one that is too long for that,
    or of which nothing is left.
    """
    plan = plan.without_pictures()
    if not plan.stops:
        raise InputError("A link needs at least one stop, and a picture does not fit into one: add another stop.")
    packed = zlib.compress(encoded_plan(plan), 9)
    code = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(code) > MOST_LINK:
        raise InputError("This plan is too long for a link: save it as a file.")
    return code


def plan_of_link(code: str, pages: Collection[str], languages: Collection[str] = ()) -> Plan:
    """The plan that a link spells. Raises ValueError, with a sentence, for anything else."""
    try:
        packed = base64.b64decode(code[: MOST_LINK + 1] + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        unpack = zlib.decompressobj()
        data = unpack.decompress(packed, MOST_WITHOUT + 1)  # no more of it is unpacked, whatever it claims to hold
        if not unpack.eof and len(data) <= MOST_WITHOUT:
            raise ValueError("cut off")
    except (binascii.Error, zlib.error, ValueError) as error:
        raise InputError("The link does not hold a complete plan: copy it again, or open the plan's file.") from error
    return checked(decoded(data).without_pictures(), pages, languages)
