"""A school on a bad day: ten classes vote and follow at once, a server is killed, and then PostgreSQL is frozen.

`python benchmarks/school_day.py` prints a table: does every vote count once, is every teacher's count right soon after
the last one, is anybody thrown out, and what does a reader on a lesson feel of it? Two servers share a PostgreSQL; who
was at the one that is killed opens its link again at the other, as a browser does behind the proxy. A server is killed
ROUNDS times: in one round readers press some 17 times, too few for a percentile.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import websockets  # noqa: E402
from client import Session  # noqa: E402
from database import Postgres, shared_database  # noqa: E402
from load import EXAMPLE, SETTLE_SECONDS, Load, a_few_at_a_time  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from school import CLASSES, IDLE_SECONDS, ONCE, STUDENTS, School, look_round, opened, tells  # noqa: E402
from servers import OURS, Fleet  # noqa: E402

from classes.keeper import Keeper  # noqa: E402
from lessons.teachers.class_plan.plan import Plan, Stop  # noqa: E402
from lessons.teachers.class_plan.plan_file import written_plan  # noqa: E402
from lessons.teachers.class_plan.ready_made import ready_plan  # noqa: E402
from lessons.teachers.class_vote.question_link import first_asked, screen_asked, written_asked  # noqa: E402

WITHIN, KILLED_AFTER, FROZEN_SECONDS, PATIENCE_SECONDS = 6.0, 2.0, 10.0, 60.0
VOTING = CLASSES // 2  # the others follow their teachers to a screen meanwhile, and vote in the second round
ROUNDS = 4
SHOWN = [stop for stop in ready_plan(90).stops if stop.actions == ("show",) and stop.page != "home"]
STOPS = tuple({stop.page: stop for stop in SHOWN}.values())  # in each round another screen
GONE = (ConnectionError, TimeoutError, LookupError, OSError, websockets.ConnectionClosed)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"in each a server is killed; {len(STOPS)} at most")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help="seconds that the readers are alone")
    options = options_of(parser, **ONCE, rounds=2)  # before the second there is a new server
    with shared_database() as (database, keeper), Fleet(2, OURS) as fleet:
        asyncio.run(measure(fleet, keeper, database, options.students, STOPS[: options.rounds], options.idle))


async def measure(
    fleet: Fleet, keeper: Keeper, database: Postgres, students: int, stops: tuple[Stop, ...], idle: float
) -> None:
    """Readers alone; beside half a school that votes and half that follows to these stops, with a server killed at
    each; beside all who vote while the database is frozen.
    """
    text = written_asked(first_asked("softmax"))
    cards, places = len(screen_asked(text)[1].cards), iter(range(CLASSES))

    def prepare(code: str, key: str) -> None:
        if next(places) < VOTING:
            keeper.ask(code, key, 0, cards, text)
        else:
            keeper.bring_plan(code, key, written_plan(Plan(stops=stops)).decode())

    async with opened(fleet, keeper, students, prepare, idle) as school:
        day = Day(fleet, keeper, school)
        killed = Round()
        for number, stop in enumerate(stops):
            if number:
                await day.begin_again()
                await day.ask(range(VOTING), text, cards)
            say("half of them vote, half follow, and a server is killed")
            killed.add(await day.round(range(VOTING), [*day.follows(stop), day.kill_a_server()], seed=number + 1))
        await day.ask(range(CLASSES), text, cards)
        say("all vote, and PostgreSQL is frozen")
        frozen = await day.round(range(CLASSES), [day.freeze(database)])
        out = sum("class_vote_A" not in keys(pupil) for pupil in school.pupils)
        print_table(students, killed, frozen, out, school)


@dataclass
class Round:
    """What came of one round of votes: how many were cast and count, how long after the last one the teachers knew, and
    what readers felt.
    """

    cast: int = 0
    counted: int = 0
    told: float = 0.0
    beside: Load = field(default_factory=Load)

    def add(self, other: "Round") -> None:
        """Take over what came of another one."""
        self.cast, self.counted = self.cast + other.cast, self.counted + other.counted
        self.told = max(self.told, other.told)
        self.beside.add(other.beside)


@dataclass
class Day:
    """What happens to a school."""

    fleet: Fleet
    keeper: Keeper
    school: School

    async def ask(self, places: range, text: str, cards: int) -> None:
        """The teachers of these classes ask the next question; all their students see it."""
        for code, key in (self.school.classes[place] for place in places):
            self.keeper.ask(code, key, self.keeper.look(code).number, cards, text)
        pupils = [pupil for place in places for pupil in self.school.pupils_of(place)]
        await asyncio.gather(*(self.sees(pupil, "class_vote_A") for pupil in pupils))
        await becomes(lambda: not any(has_chosen(pupil, letter) for pupil in pupils for letter in "AB"))

    async def begin_again(self) -> None:
        """A new server in the place of the one that was killed, and all who were there before."""
        await asyncio.to_thread(self.fleet.start_again, 1)
        port = self.fleet.servers[1].port
        await look_round(port)
        teachers = [("class_vote", self.school.teachers_link(place)) for place in range(CLASSES)]
        links = dict(zip(map(id, self.school.teachers), teachers, strict=True))
        links |= {id(reader): ("", EXAMPLE) for reader in self.school.readers}
        moved = self.school.everybody[1::2]  # of two servers the second had every other visitor
        await a_few_at_a_time([partial(visitor.open_again, port, *links.get(id(visitor), ())) for visitor in moved])
        await asyncio.sleep(3 * SETTLE_SECONDS)

    async def round(self, places: range, besides: list[Coroutine], seed: int = 1) -> Round:
        """Everybody of these classes votes once, while these other things happen."""
        beside, over, chance = Load(), asyncio.Event(), random.Random(seed)
        reading = self.school.reading(beside, over, seed)
        pupils = [(pupil, place) for place in places for pupil in self.school.pupils_of(place)]
        votes = [self.vote(pupil, chance.uniform(0, WITHIN), chance.choice("AB")) for pupil, _ in pupils]
        await asyncio.gather(*besides, *votes)
        last = time.perf_counter()
        await asyncio.gather(*(self.told(place) for place in places))
        told = time.perf_counter() - last
        over.set()
        await reading
        rooms = [(place, self.keeper.look(self.school.classes[place][0])) for place in places]
        counted = sum(self.keeper.answered(room.code, room.number, 1) for _, room in rooms)
        return Round(len(pupils), counted, told, beside)

    async def vote(self, pupil: Session, after: float, letter: str) -> None:
        """Press a card until it says that it is chosen, coming back where the server is gone."""
        await asyncio.sleep(after)
        while not has_chosen(pupil, letter):
            try:
                await self.sees(pupil, f"class_vote_{letter}")
                if not has_chosen(pupil, letter):
                    await pupil.click(f"class_vote_{letter}")
                    await becomes(lambda: pupil.is_lost or has_chosen(pupil, letter))
            except GONE:
                await asyncio.sleep(0.1)

    async def sees(self, visitor: Session, key: str) -> None:
        """The page has a widget with this key, at another server where its own is gone."""
        if visitor.is_lost:
            await visitor.open_again(self.fleet.servers[0].port)
        await becomes(lambda: visitor.is_lost or key in keys(visitor))

    async def told(self, place: int) -> None:
        """The teacher's page tells how many there are to answer."""
        teacher, voters = self.school.teachers[place], len(self.school.pupils_of(place))
        await self.sees(teacher, "class_to_closed")
        await becomes(lambda: tells(teacher, voters))

    def follows(self, stop: Stop) -> list[Coroutine]:
        """The teachers who do not ask bring their classes to this screen."""
        return [self.lead(place, stop) for place in range(VOTING, CLASSES)]

    async def lead(self, place: int, stop: Stop) -> None:
        """Press the key; all pages of the class come to the stop, those of the server that is killed by their link."""
        await self.school.teachers[place].click("plan_next")
        await asyncio.gather(*(self.arrives(pupil, stop) for pupil in self.school.pupils_of(place)))

    async def arrives(self, pupil: Session, stop: Stop) -> None:
        """The page is where its class is."""
        while pupil.path != stop.page:
            if pupil.is_lost:
                await pupil.open_again(self.fleet.servers[0].port)
            await asyncio.sleep(0.05)

    async def kill_a_server(self) -> None:
        """In the middle of it. The teachers who were at it come back at once."""
        await asyncio.sleep(KILLED_AFTER)
        self.fleet.servers[1].kill()
        await asyncio.sleep(0.5)
        lost = [
            (teacher, self.school.teachers_link(place))
            for place, teacher in enumerate(self.school.teachers)
            if teacher.is_lost
        ]
        port = self.fleet.servers[0].port  # a browser keeps the key, a client of the protocol does not
        await asyncio.gather(*(teacher.open_again(port, "class_vote", link) for teacher, link in lost))

    async def freeze(self, database: Postgres) -> None:
        """For ten seconds the database answers nobody."""
        database.freeze()
        await asyncio.sleep(FROZEN_SECONDS)
        database.thaw()


def keys(visitor: Session) -> set[str]:
    """What the buttons of a page are called."""
    return {shown.id.rpartition("-")[2] for shown in visitor.elements("button")}


def has_chosen(pupil: Session, letter: str) -> bool:
    """True where the page says that the vote has arrived."""
    key = f"class_vote_{letter}"
    return key in keys(pupil) and "your answer" in pupil.widget(key).label


async def becomes(true: Callable[[], object]) -> None:
    """Wait until it is."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not true():
            await asyncio.sleep(0.02)


def print_table(students: int, killed: Round, frozen: Round, out: int, school: School) -> None:
    """Every number, with its goal."""
    alone = school.alone.percentile(95)
    print(f"{students} students of {CLASSES} classes.\n")
    print("| what | a server killed | PostgreSQL frozen | goal |\n|---|--:|--:|---|")
    counts = [f"{it.counted} of {it.cast}" for it in (killed, frozen)]
    rows = [
        (
            "votes that count, of those cast",
            *counts,
            judged(all(it.counted == it.cast for it in (killed, frozen)), "all"),
        ),
        (
            "the last teacher's count is right after the last vote, s",
            f"{killed.told:.2f}",
            f"{frozen.told:.2f}",
            judged(max(killed.told, frozen.told) <= 1.5, "≤ 1.5"),
        ),
        ("students who are out of their class at the end", "", f"{out}", judged(out == 0, "none")),
        (
            f"a lesson beside, p95, ms (alone {alone:.0f})",
            *(f"{it.beside.percentile(95):.0f}" for it in (killed, frozen)),
            judged(max(it.beside.percentile(95) for it in (killed, frozen)) <= 1.5 * alone, "≤ 1.5 times"),
        ),
    ]
    for row in rows:
        print(f"| {' | '.join(row)} |")
    for error in school.errors()[:5]:
        print(error)


if __name__ == "__main__":
    main()
