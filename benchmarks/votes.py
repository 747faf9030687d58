"""A school votes: so many students of several classes press a card within three seconds, and others read a lesson.

`python benchmarks/votes.py` prints a table: is every vote counted, when do the teachers' pages say so, and what does
a reader on a lesson feel of it?
"""

import argparse
import asyncio
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from load import Load, _read, until  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from school import IDLE_SECONDS, ONCE, STUDENTS, built, opened, tells  # noqa: E402
from servers import Fleet  # noqa: E402

from classes.keeper import Keeper  # noqa: E402
from lessons.teachers.class_vote.question_link import first_asked, screen_asked, written_asked  # noqa: E402

WITHIN, BETWEEN_SECONDS, ROUNDS = 3.0, 12.0, 8


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="votes of each student")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help="seconds that the readers are alone")
    options = options_of(parser, **ONCE, rounds=1)
    with built(options.replicas) as (fleet, keeper):
        asyncio.run(measure(fleet, keeper, options.students, options.rounds, options.idle))


async def measure(fleet: Fleet, keeper: Keeper, students: int, rounds: int, idle: float) -> None:
    """Readers alone; readers beside students who wait; readers beside students who vote, some rounds of it."""
    text = written_asked(first_asked("softmax"))
    cards = len(screen_asked(text)[1].cards)
    waiting, voting, told, took, counted = Load(), Load(), [], [], 0
    async with opened(fleet, keeper, students, lambda code, key: keeper.ask(code, key, 0, cards, text), idle) as school:
        cpu, began = fleet.cpu_seconds(), time.perf_counter()
        await _read(school.readers, 1, until(time.perf_counter() + idle), waiting)
        cores = (fleet.cpu_seconds() - cpu) / (time.perf_counter() - began)
        for number in range(rounds):
            say(f"vote {number + 1}")
            over, chance = asyncio.Event(), random.Random(number)
            reading = school.reading(voting, over, 2 + number)
            took += await asyncio.gather(
                *(vote(pupil, chance.uniform(0, WITHIN), "ABC"[n % 3]) for n, pupil in enumerate(school.pupils))
            )
            told.append(await all_told(school.teachers, len(school.pupils_of(0))))
            counted += sum(keeper.answered(code, number + 1, 1) for code, _ in school.classes)
            over.set()
            await reading
            if number + 1 < rounds:  # the same students vote in the next round on another question
                for code, key in school.classes:
                    keeper.ask(code, key, number + 1, cards, text)
                await asyncio.sleep(BETWEEN_SECONDS)
    cast = rounds * students
    print_table(counted, cast, students, told, took, school.alone, waiting, voting, cores, school.errors())


def print_table(
    counted: int,
    cast: int,
    students: int,
    told: list[float],
    took: list[float],
    alone: Load,
    waiting: Load,
    voting: Load,
    cores: float,
    errors: list[str],
) -> None:
    """Every number, with its goal."""
    idle = alone.percentile(95)
    slowest, typical = max(took), sorted(took)[len(took) // 2]
    rows = [
        ("votes that count, of those cast", f"{counted}", f"{cast}", judged(counted == cast, "all")),
        (
            "the last teacher's count is right after the last vote, s",
            f"{max(told):.2f}",
            "",
            judged(max(told) <= 1, "≤ 1"),
        ),
        ("press → “your answer”, p50 and slowest, s", f"{typical:.2f}, {slowest:.2f}", "", ""),
        ("processor while the students wait, cores", f"{cores:.2f}", "", ""),
    ]
    for what, load in (("wait for a question", waiting), ("vote", voting)):
        beside = load.percentile(95)
        rows.append(
            (
                f"a lesson while {students} {what}, p95, ms (beside: alone)",
                f"{beside:.0f}",
                f"{idle:.0f}",
                judged(beside <= 1.5 * idle, "≤ 1.5 times"),
            )
        )
    print("| what | measured | beside | goal |\n|---|--:|--:|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(f"\n{len(alone.latencies)}, {len(waiting.latencies)} and {len(voting.latencies)} reruns of the lesson.")
    for error in errors[:5]:
        print(error)


async def vote(pupil: Session, after: float, letter: str) -> float:
    """Press a card; seconds until it says that it is chosen."""
    await asyncio.sleep(after)
    began = time.perf_counter()
    await pupil.click(f"class_vote_{letter}")
    return time.perf_counter() - began


async def all_told(teachers: list[Session], voters: int) -> float:
    """Seconds after the last vote until every teacher's page tells the right number."""
    began = time.perf_counter()
    async with asyncio.timeout(60):
        while not all(tells(t, voters) for t in teachers):
            await asyncio.sleep(0.01)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
