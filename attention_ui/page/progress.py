"""Progress without an account: of which lessons a question is solved, which exercises, which heads are built, and what
was done of a homework.

A visit knows it, the visitor's browser keeps it (see in_browser/keeper), and a file takes it elsewhere. The server
keeps nothing of it beyond the visit. What a browser or a file says is a stranger's word until it is checked.
"""

import json
import secrets
from dataclasses import dataclass

from attention_core.base.errors import InputError
from attention_ui.contents import CONTENTS
from attention_ui.session import get_state, set_state
from attention_ui.streamlit_insides import IN_BROWSER, part_of_page
from lessons.code.exercises import KEYS
from lessons.one_head.puzzle.levels import LEVELS
from lessons.shared.nesting import check_nesting
from lessons.teachers.homework.notes import NOTE

ASKS = [
    entry
    for entry in CONTENTS
    if entry.section not in ("start", "teachers") and entry.address not in ("build", "exercises")
]
LESSON_TITLES = {entry.address: entry.title for entry in ASKS}
KNOWN = {"lessons": frozenset(LESSON_TITLES), "exercises": frozenset(KEYS), "levels": frozenset(LEVELS)}
NOTES = "homework"  # its names are notes
SOLVED_KINDS = (*KNOWN, NOTES)
LATER = {"levels": [], NOTES: []}  # what files that were saved earlier do not have
SAVED_AS, SAVED_VERSION = "attention-lab-progress", 1
MOST_BYTES, MOST_NAMES = 60_000, 1000
KEEPER = "progress_keeper"


@dataclass(frozen=True)
class Progress:
    """The lessons of which a question is solved, by their addresses; the keys of solved exercises, and of levels in
    which a head is built; what was noted of homework."""

    lessons: frozenset[str] = frozenset()
    exercises: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    homework: frozenset[str] = frozenset()

    def __or__(self, other: "Progress") -> "Progress":
        return Progress(**{kind: getattr(self, kind) | getattr(other, kind) for kind in SOLVED_KINDS})

    def lists(self) -> dict[str, list[str]]:
        """The progress as lists of names, in a fixed order."""
        return {kind: sorted(getattr(self, kind)) for kind in SOLVED_KINDS}


def save_progress(solved: Progress) -> bytes:
    """The progress as a file."""
    return json.dumps({SAVED_AS: SAVED_VERSION, **solved.lists()}, indent=1).encode()


def load_progress(file: bytes) -> tuple[Progress, int]:
    """What a file holds, and how many of its names are unknown here. Raises ValueError with a sentence."""
    if len(file) > MOST_BYTES:
        raise InputError(
            "It has {count} bytes; a file saved here has at most {most_bytes}.",
            count=f"{len(file):,}",
            most_bytes=f"{MOST_BYTES:,}",
        )
    try:
        check_nesting(file)
        said = json.loads(file.decode())
    except ValueError:
        raise InputError("It cannot be read as JSON. Choose a file saved here.") from None
    if not isinstance(said, dict) or SAVED_AS not in said:
        raise InputError("It does not contain saved progress. Choose a file saved here.")
    if type(said[SAVED_AS]) is not int or said[SAVED_AS] != SAVED_VERSION:
        raise InputError(
            "Its version is not {saved_version}, the only one that can be read here.",
            saved_version=SAVED_VERSION,
        )
    said = LATER | said
    if set(said) != {SAVED_AS, *SOLVED_KINDS}:
        raise InputError(
            "It should contain {one}, {other} and {third}, and nothing else. Choose a file saved here.",
            **dict(zip(("one", "other", "third"), KNOWN, strict=True)),
        )
    for kind in SOLVED_KINDS:
        if not isinstance(said[kind], list) or not all(isinstance(name, str) for name in said[kind]):
            raise InputError("Its {kind} should be a list of names. Choose a file saved here.", kind=kind)
    solved = known_progress(said)
    return solved, sum(len(set(said[kind]) - getattr(solved, kind)) for kind in SOLVED_KINDS)


def known_progress(said: object) -> Progress:
    """What can be understood of what a browser says; the rest is nothing."""
    lists = {kind: said.get(kind) for kind in SOLVED_KINDS} if isinstance(said, dict) else {}
    return Progress(
        **{
            kind: frozenset(name for name in names[:MOST_NAMES] if isinstance(name, str) and is_known(kind, name))
            for kind, names in lists.items()
            if isinstance(names, list)
        }
    )


def is_known(kind: str, name: str) -> bool:
    """True for a name that means something here."""
    return NOTE.fullmatch(name) is not None if kind == NOTES else name in KNOWN[kind]


def progress() -> Progress:
    """What this visitor has solved, as far as this visit knows."""
    return get_state("progress") or Progress()


def add_progress(more: Progress) -> None:
    """Add what has been solved to the progress."""
    set_state("progress", progress() | more)


def solve_question(lesson: str) -> None:
    """The right answer to a question of this lesson was chosen."""
    add_progress(Progress(lessons=frozenset([lesson])))


def share_of_exercises() -> float:
    """How many of all exercises are solved, from 0 to 1."""
    return len(progress().exercises) / len(KEYS)


def exchange_progress() -> None:
    """Take over what this browser kept of earlier visits, and have it keep what is solved by now.

    A script stores it and does nothing else; it answers only where there is something to tell. What it said to a server
    that is gone, a new visit knows when its part of the page is drawn.
    """
    take_progress(KEEPER, "progress_taken")
    ruled = [get_state("class_inside"), get_state("class_key")] if get_state("class_key") else []
    draw_keeper(KEEPER, what="progress", solved=progress().lists(), ruled=ruled)
    take_progress(KEEPER, "progress_taken")


def draw_keeper(key: str, **data: object) -> None:
    """The part of the page that stores: of the whole app one for progress, and with the exercises one for code."""
    keeper = part_of_page(IN_BROWSER / "keeper", "keeper.js")
    keeper(key=key, data=data | {"forget": forgotten()}, on_known_change=do_nothing)


def do_nothing() -> None:
    """Streamlit hands on what a part of the page has sent only where something is called for it."""


def known_by(keeper: str) -> dict:
    """What a keeper has told of what this browser kept."""
    return told_by(keeper, "known")


def told_by(part: str, name: str) -> dict:
    """What a part of the page has sent under this name; whatever a stranger sends in its place is nothing."""
    sent = get_state(part)
    told = sent.get(name) if isinstance(sent, dict) else None
    return told if isinstance(told, dict) else {}


def take_progress(keeper: str, taken: str) -> None:
    """Take over what a keeper has told, once: the browser goes on sending it, also when all is to be forgotten."""
    solved = known_progress(known_by(keeper).get("solved"))
    if solved != (get_state(taken) or Progress()):
        set_state(taken, solved)
        add_progress(solved)


def forgotten() -> str:
    """A word that is new whenever all is to be forgotten; the browser forgets once for each."""
    return get_state("progress_forgotten") or ""


def forget_everything() -> None:
    """What was solved, in this visit, in this browser, and the code that was written for the exercises."""
    set_state("progress", Progress())
    set_state("progress_forgotten", secrets.token_hex(8))
    set_state("first_tries", {})
    for lesson in LESSON_TITLES:
        set_state(f"{lesson}_answer", None)
    for key in KEYS:
        for what in ("code", "verdict", "tries", "solution"):
            set_state(f"exercise_{what}_{key}", None)
    for key in LEVELS:
        set_state(f"build_tries_{key}", None)
