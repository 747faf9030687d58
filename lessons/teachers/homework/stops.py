"""What a student does at each stop of a homework, and how far it is by what was noted of it."""

from collections.abc import Collection
from dataclasses import replace
from hashlib import sha256
from typing import Literal, NamedTuple

from lessons.code.exercises import KEYS
from lessons.one_head.puzzle.levels import LEVELS
from lessons.screen import Message, message
from lessons.teachers.class_plan.plan import Action, Plan, Stop
from lessons.teachers.class_plan.plan_file import encoded_plan
from lessons.teachers.homework.notes import MARK, Happened, notes_of_stop

Kind = Literal["question", "own", "exercise", "level", "look"]
How = Literal["first", "later", "wrong", "done", "open"]
ASKING: frozenset[Action] = frozenset(("ask", "again", "votes", "answer"))
HOW: dict[How, Message] = {
    "first": message("right at the first try"),
    "later": message("right at a later try"),
    "wrong": message("not right yet"),
    "done": message("done"),
    "open": message("open"),
}
WHAT_TO_DO: dict[Kind, Message] = {
    "question": message("Answer the question"),
    "own": message("Answer the question"),
    "exercise": message("Solve the exercise"),
    "level": message("Build the head"),
    "look": message("Look at it"),
}


class Result(NamedTuple):
    """How far a stop is, and since when, in seconds since 1970; 0 where nobody has noted it."""

    how: How = "open"
    when: int = 0

    @property
    def finished(self) -> bool:
        """True where nothing is left to be done."""
        return self.how in ("first", "later", "done")


def for_students(plan: Plan) -> Plan:
    """The plan without what only its teacher is told, what to say, and without the pictures that no link can hold."""
    return replace(plan, stops=tuple(replace(stop, says="") for stop in plan.stops)).without_pictures()


def mark_of(plan: Plan) -> str:
    """By this a homework is told from others. It is made of all that its plan says: a changed plan is another one."""
    return sha256(encoded_plan(plan)).hexdigest()[:MARK]


def kind_of_stop(stop: Stop) -> Kind:
    """What a student does there. A poll has no right answer, so there is nothing to solve."""
    if stop.own is not None:
        return "own"
    if stop.page == "exercises" and task_of(stop) in KEYS:
        return "exercise"
    if stop.page == "build" and task_of(stop) in LEVELS:
        return "level"
    return "question" if stop.screen and ASKING & set(stop.actions) else "look"


def task_of(stop: Stop) -> str:
    """The exercise or the level that its link names; else the first, as its page opens."""
    if stop.page == "exercises":
        return stop.link.get("exercise", KEYS[0])
    return stop.link.get("level", next(iter(LEVELS))) if stop.page == "build" else ""


def result_of(
    stop: Stop, place: int, mark: str, notes: Collection[str], exercises: Collection[str], levels: Collection[str]
) -> Result:
    """How far a stop is, by what was noted of it and by the exercises and levels that are solved anyhow."""
    happened = notes_of_stop(notes, mark, place)
    kind, when = kind_of_stop(stop), next((when for when, what in happened if what != "wrong"), 0)
    if kind in ("question", "own"):
        if not happened:
            return Result()
        if happened[0][1] != "wrong":
            return Result("done" if happened[0][1] == "done" else "first", when)
        return Result("later", when) if when else Result("wrong", happened[0][0])
    solved = {"exercise": exercises, "level": levels}.get(kind, ())
    return Result("done", when) if when or task_of(stop) in solved else Result()


def results_of(plan: Plan, notes: Collection[str], exercises: Collection[str], levels: Collection[str]) -> list[Result]:
    """How far each stop is."""
    mark = mark_of(plan)
    return [result_of(stop, place, mark, notes, exercises, levels) for place, stop in enumerate(plan.stops)]


def news(happened: Happened, before: Result) -> bool:
    """True where it is worth a note: what is finished stays so, and a first wrong answer is one, however many come."""
    return not before.finished and not (happened == "wrong" and before.how == "wrong")
