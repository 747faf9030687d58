"""Which class this visit is in, and who this visitor is there."""

import secrets
import time
from urllib.parse import urljoin

import streamlit as st

from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.watching import doubt, doubt_other_tabs, unwatch, watch
from attention_ui.page.progress import KEEPER, known_by
from attention_ui.process.addresses import sender
from attention_ui.session import (
    address_of,
    forget_in_link,
    get_state,
    said_in_link,
    say_in_link,
    set_state,
    text_in_link,
)
from attention_ui.streamlit_insides import browser_mark
from classes.keeper import NO_CLASS
from classes.keys import token_of, typed_code
from classes.limits import Delays, Held, Limiter
from classes.stages import RefusedError, Room, UnreachableError, told_as
from lessons.screen import Message, Text, message, reason
from words import FIRST, language

# `class` is the code of a class, `teacher` the key of whoever rules it.
CLASS_CODE, TEACHER_KEY = Text("class", "", 12), Text("teacher", "", 40)  # which no control shows
FOLLOWING = ("class_followed", "class_alone", "class_plan")  # what a visit knows of the way it goes along
TOLD_SECONDS = 60.0  # for which a refusal stays on the page
OVER = told_as("This class is over: its teacher has closed it, or its time is up. None of it is kept.")
PRESS_AGAIN = message("Your last click may not have been carried out: if this page does not show it, click again.")
TOO_FAST = told_as(
    "One network may open at most {count} classes in {minutes} minutes. Wait a few minutes, then try again."
)
TOO_MANY = told_as("{count} classes of your network are open, which is the maximum. Close one of them, then try again.")
MOST_OPENINGS, OPENING_MINUTES, MOST_OPEN = 10, 10, 40  # of one address
clock = time.monotonic  # what the door goes by
GUESSES, OPENINGS, OPENED = Delays(), Limiter(MOST_OPENINGS, 60 * OPENING_MINUTES), Held()


def address() -> str:
    """Where this visitor comes from. It is not kept: what an address may do is counted in memory."""
    return sender(st.context.ip_address, st.context.headers.get_all("X-Forwarded-For"))


def voter(code: str) -> str:
    """The token of this browser in a class; of this visit, where the browser sends no cookie."""
    mark = browser_mark()
    if mark is None:
        if get_state("voter_mark") is None:
            set_state("voter_mark", secrets.token_bytes(16))
        mark = get_state("voter_mark")
    return token_of(mark, code)


def seconds_at_the_door() -> float:
    """How long until this visit is told whether the class of its link exists.

    Wrong codes from its address make it longer. Whoever is inside or has the teacher's key does not wait.
    """
    code = typed_code(text_in_link("class"))
    if code is None or code == get_state("class_inside"):
        return 0.0
    asked, told_at = get_state("class_tried") or ("", 0.0)
    if asked != code:
        told_at = clock() + GUESSES.seconds(address())
        if brings_key(code):
            told_at = 0.0
        elif doubted_where_away("revision", code) < 0:
            GUESSES.wrong(address())
        set_state("class_tried", (code, told_at))
    return max(0.0, told_at - clock())


def brings_key(code: str) -> bool:
    """True where the link has the key of this class, of which nobody need guess any."""
    key = text_in_link("teacher")
    return bool(key) and doubted_where_away("rules", code, key)


def doubted_where_away(deed: str, code: str, *values: object) -> object:
    """What the database answers to whoever comes in; where it cannot be reached, the page is drawn anew later."""
    try:
        return getattr(class_keeper(), deed)(code, *values)
    except UnreachableError:
        watch(code, voter(code))
        doubt()
        raise


def opened_room() -> Room | None:
    """The class that the link names, or else the one this visit is in; None without one.

    While the database cannot be reached, it is the class as it was last.
    """
    asked, inside = text_in_link("class"), get_state("class_inside")
    code = typed_code(asked) if asked else inside
    if not asked and inside is None:
        return None
    try:
        if code is None:
            raise RefusedError(NO_CLASS)
        if code != inside and not brings_key(code):
            doubted_where_away("join", code)
        watched = watch(code, voter(code), leads=bool(own_key() or text_in_link("teacher")))
        room = last_known("look", code)
        watched.revision = room.revision
    except RefusedError as error:
        if str(error) == NO_CLASS:
            leave_class()
            if code is not None and code == inside:
                raise RefusedError(OVER) from error
        raise
    enter(code, text_in_link("teacher"))
    return room


def enter(code: str, key: str) -> None:
    """From now on this visit is in a class, and its address says so."""
    set_state("class_tried", None)
    if get_state("class_inside") != code:
        set_state("class_inside", code)
        set_state("class_key", "")
    if key:
        set_state("class_key", key)
    say_in_link("class", code)
    if get_state("class_key"):
        say_in_link("teacher", get_state("class_key"))


def leave_class() -> None:
    """Take this visit out of its class."""
    for name in (*FOLLOWING, "class_inside", "class_key", "class_known", "class_tried", "vote_to_send"):
        set_state(name, None)
    unwatch()
    forget_in_link("class", "teacher", "follow", "notes")


def own_key() -> str:
    """The teacher's key that this visit has; empty for a student's."""
    return get_state("class_key") or ""


def take_kept_key() -> bool:
    """Lead the class of this link again, with the key that the tab has kept, after its page was loaded anew; once.

    The addresses of lessons do not hold the key: whoever is sent one would have it.
    """
    kept, code = known_by(KEEPER).get("ruled"), get_state("class_inside")
    if own_key() or get_state("class_key_taken") or not isinstance(kept, list) or len(kept) != 2 or kept[0] != code:
        return False
    try:
        leads = isinstance(kept[1], str) and doubted_where_away("rules", code, kept[1][:40])
    except UnreachableError:  # it is asked again with the next run
        return False
    set_state("class_key_taken", True)
    if leads:
        set_state("class_key", kept[1][:40])
    return bool(leads)


def send_vote(*vote: object) -> None:
    """Choose a card, or send what was written.

    What the database does not take now is kept, and sent again when the page is drawn anew.
    """
    set_state("vote_to_send", vote)
    send_kept_vote()


def send_kept_vote() -> None:
    """Send the vote that has not arrived, if there is one; where it is refused, the page will say why."""
    vote = get_state("vote_to_send")
    if vote is None:
        return
    try:
        deed = class_keeper().write if isinstance(vote[-1], str) else class_keeper().vote
        deed(*vote)
        doubt_other_tabs()
    except UnreachableError:
        doubt()
        return
    except RefusedError as error:
        set_state("class_note", reason(error))
    set_state("vote_to_send", None)


def kept_vote(room: Room) -> int | str | None:
    """The card or the answer that was chosen in this stage of this question and has not arrived yet."""
    code, _, *asked, place = get_state("vote_to_send") or (None,) * 5
    return place if (code, *asked) == (room.code, room.number, room.stage) else None


def last_known(deed: str, *values: object, otherwise: object = None) -> object:
    """What the database answers; while it cannot be reached, what it answered last, and the page is drawn anew later.

    Where nothing is known and `otherwise` neither, `UnreachableError` is raised.
    """
    known = get_state("class_known") or {}
    try:
        answer = getattr(class_keeper(), deed)(*values)
    except UnreachableError:
        doubt()
        answer = known.get((deed, *values), otherwise)
        if answer is None:
            raise
        return answer
    set_state("class_known", known | {(deed, *values): answer})
    return answer


def do(deed: str, *values: object) -> bool:
    """Do something to a class; where that is refused, the answer is False, and the page will say why."""
    try:
        getattr(class_keeper(), deed)(*values)
    except UnreachableError:
        set_state("class_note", PRESS_AGAIN)
    except RefusedError as error:
        set_state("class_note", reason(error))
    else:
        return True
    return False


def open_class() -> None:
    """A new class, which this visit rules."""
    where = address()
    try:
        if OPENED.count(where, lambda code: class_keeper().revision(code) >= 0) >= MOST_OPEN:
            raise RefusedError(TOO_MANY, count=MOST_OPEN)
        if not OPENINGS.take(where):
            raise RefusedError(TOO_FAST, count=MOST_OPENINGS, minutes=OPENING_MINUTES)
        code, key = class_keeper().open_class()
        OPENED.add(where, code)
        enter(code, key)
    except RefusedError as error:
        set_state("class_note", reason(error))


def refuse_class(why: Message) -> None:
    """Tell this visit for a while why it is in no class, however often its page is drawn again meanwhile."""
    set_state("class_refused", (why, clock() + TOLD_SECONDS))


def refused_lately() -> Message | None:
    """What the visit was told last, if that was just now."""
    why, until = get_state("class_refused") or (None, 0.0)
    return why if clock() < until else None


def join_class(field: str) -> None:
    """The class whose code was typed in this field."""
    typed = str(get_state(field) or "")[:12]
    leave_class()
    set_state("class_refused", None)
    say_in_link("class", typed)


def join_link(code: str) -> str:
    """The whole address that students open, in the language that the teacher's address fixes for the class, if any."""
    return urljoin(st.context.url or "", address_of("class_vote", {"class": code} | said_in_link("lang")))


def time_of(seconds: float) -> str:
    """A time as it is read."""
    if language().code == FIRST:
        return time.strftime("%d %B, %H:%M UTC", time.gmtime(seconds))
    from babel.dates import format_datetime

    return format_datetime(seconds, "long", locale=language().code)
