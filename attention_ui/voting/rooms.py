"""Which database keeps the classes, which class this visit is in, and who this visitor is there."""

import functools
import logging
import os
import secrets
import sqlite3
import time

import streamlit as st

from attention_ui.links import Length, LinkRule, forget_in_link, say_in_link, text_in_link
from attention_ui.state import get_state, set_state
from attention_ui.streamlit_insides import browser_mark
from classes.keeper import NO_CLASS, Keeper
from classes.keys import token_of, typed_code
from classes.limits import Limiter
from classes.stages import RefusedError, Room, told_as
from lessons.sentence import reason
from words import FIRST, language

log = logging.getLogger(__name__)
FOLDER_OF_CLASSES, URL_OF_CLASSES = "ATTENTION_LAB_CLASSES", "ATTENTION_LAB_CLASSES_URL"
# `class` is the code of a class, `teacher` the key of whoever rules it.
LINK_RULES: dict[str, LinkRule] = {"class": Length(12), "teacher": Length(40)}
NOT_KEPT = told_as("This server cannot keep classes just now: whoever runs it finds the reason in its log.")
WAIT = told_as("There were too many codes of no class, or too many classes. Wait a minute, then try again.")
GUESSES, ALL_GUESSES = Limiter(10, 60), Limiter(600, 60)  # wrong codes in a minute: of a visitor, and of all together
OPENINGS, ALL_OPENINGS = Limiter(10, 3600), Limiter(300, 3600)  # new classes in an hour
EVERYBODY = "everybody"


@functools.lru_cache(maxsize=1)
def class_keeper() -> Keeper:
    """The database of this process: PostgreSQL where its address is set, else SQLite."""
    try:
        if url := os.environ.get(URL_OF_CLASSES):
            from classes.postgres import PostgresKeeper  # a package that only several processes need

            return PostgresKeeper(url)
        return Keeper(os.environ.get(FOLDER_OF_CLASSES) or None)
    except (OSError, sqlite3.Error, ImportError) as error:
        log.exception("classes cannot be kept: look at ATTENTION_LAB_CLASSES and ATTENTION_LAB_CLASSES_URL")
        raise RefusedError(NOT_KEPT) from error


def forget_old_classes() -> None:
    """Delete the classes whose time is over, where this process has any."""
    if class_keeper.cache_info().currsize:
        class_keeper().forget()


def limited(*limiters: Limiter) -> None:
    """Refuse a visitor who has tried too often, and everybody where all together have."""
    if any(limiter.exhausted(who) for limiter, who in zip(limiters, (voter(""), EVERYBODY), strict=True)):
        raise RefusedError(WAIT)


def tried(*limiters: Limiter) -> None:
    """Count one more try."""
    for limiter, who in zip(limiters, (voter(""), EVERYBODY), strict=True):
        limiter.count(who)


def voter(code: str) -> str:
    """The token of this browser in a class; of this visit, where the browser sends no cookie."""
    mark = browser_mark()
    if mark is None:
        if get_state("voter_mark") is None:
            set_state("voter_mark", secrets.token_bytes(16))
        mark = get_state("voter_mark")
    return token_of(mark, code)


def opened_room() -> Room | None:
    """The class that the link names, or else the one this visit is in; None without one. Guessing is limited."""
    asked, inside = text_in_link("class"), get_state("class_inside")
    code = typed_code(asked) if asked else inside
    if not asked and inside is None:
        return None
    try:
        if code is None or code != inside:
            limited(GUESSES, ALL_GUESSES)
        if code is None:
            raise RefusedError(NO_CLASS)
        room = class_keeper().look(code)
    except RefusedError as error:
        if str(error) == NO_CLASS:
            if code is None or code != inside:
                tried(GUESSES, ALL_GUESSES)
            leave_class()
        raise
    enter(code, text_in_link("teacher"))
    return room


def enter(code: str, key: str) -> None:
    """From now on this visit is in a class, and its address says so."""
    if get_state("class_inside") != code:
        set_state("class_inside", code)
        set_state("class_key", "")
    if key:
        set_state("class_key", key)
    say_in_link("class", code)
    if get_state("class_key"):
        say_in_link("teacher", get_state("class_key"))


def leave_class() -> None:
    """This visit is in no class any more."""
    for name in ("class_inside", "class_key"):
        set_state(name, None)
    forget_in_link("class", "teacher")


def own_key() -> str:
    """The teacher's key that this visit has; empty for a student's."""
    return get_state("class_key") or ""


def do(deed: str, *values: object) -> None:
    """Do something to a class; where that is refused, the page will say why."""
    try:
        getattr(class_keeper(), deed)(*values)
    except RefusedError as error:
        set_state("class_note", reason(error))


def open_class() -> None:
    """A new class, which this visit rules."""
    try:
        limited(OPENINGS, ALL_OPENINGS)
        tried(OPENINGS, ALL_OPENINGS)
        enter(*class_keeper().open_class())
    except RefusedError as error:
        set_state("class_note", reason(error))


def join_class(field: str) -> None:
    """The class whose code was typed in this field."""
    typed = str(get_state(field) or "")[:12]
    leave_class()
    say_in_link("class", typed)


def join_link(code: str) -> str:
    """The address that students open."""
    return f"{(st.context.url or '').split('?')[0]}?class={code}"


def time_of(seconds: float) -> str:
    """A time as it is read."""
    if language().code == FIRST:
        return time.strftime("%d %B, %H:%M UTC", time.gmtime(seconds))
    from babel.dates import format_datetime

    return format_datetime(seconds, "long", locale=language().code)
