"""A lesson beside a class whose PostgreSQL is frozen, and beside the same class while it answers, in turns.

`python benchmarks/outage.py` prints a table. Thirty students press cards all the time; what does a reader feel of it?
"""

import argparse
import asyncio
import random
import sys
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from database import Postgres, shared_database  # noqa: E402
from load import EXAMPLE, SETTLE_SECONDS, Load, a_few_at_a_time  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402

from classes.keeper import Keeper  # noqa: E402
from lessons.teachers.class_vote.question_link import first_asked, screen_asked, written_asked  # noqa: E402

STUDENTS, READERS, ROUNDS, ROUND_SECONDS = 30, 5, 5, 15.0
MOVES, PRESSES = (0.3, 1.0), (1.0, 4.0)  # seconds from one to the next


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=ROUND_SECONDS, help="of each round, twice")
    options = options_of(parser, rounds=1, seconds=4.0)
    with shared_database() as (database, keeper), Server(OURS) as server:
        asyncio.run(measure(server, keeper, database, options.rounds, options.seconds))


async def measure(server: Server, keeper: Keeper, database: Postgres, rounds: int, seconds: float) -> None:
    """Readers beside students who vote: while the database answers and while it is frozen, some rounds of it."""
    text = written_asked(first_asked("softmax"))
    code, key = keeper.open_class()
    keeper.ask(code, key, 0, len(screen_asked(text)[1].cards), text)
    students, readers = ([Session(server.port) for _ in range(n)] for n in (STUDENTS, READERS))
    answering, frozen = Load(), Load()
    try:
        opened = [partial(reader.open, "", EXAMPLE) for reader in readers]
        await a_few_at_a_time(opened + [partial(one.open, "class_vote", f"class={code}") for one in students])
        await asyncio.sleep(3 * SETTLE_SECONDS)
        for number in range(rounds):
            say(f"round {number + 1}")
            await beside(students, readers, number, seconds, answering)
            database.freeze()
            try:
                await beside(students, readers, number, seconds, frozen)
            finally:
                database.thaw()
            await asyncio.sleep(SETTLE_SECONDS)  # and all pages are drawn anew
    finally:
        await asyncio.gather(*(visitor.close() for visitor in (*students, *readers)))
    print_table(answering, frozen, [error for one in (*students, *readers) for error in one.exceptions])


async def beside(students: list[Session], readers: list[Session], number: int, seconds: float, load: Load) -> None:
    """One round: everybody goes on until it is over."""
    end = time.perf_counter() + seconds
    chances = (random.Random(100 * number + place) for place in range(STUDENTS + READERS))
    await asyncio.gather(
        *(press(one, next(chances), end) for one in students), *(move(one, next(chances), end, load) for one in readers)
    )


async def press(student: Session, chance: random.Random, end: float) -> None:
    """Press one card after the other."""
    while time.perf_counter() < end:
        await asyncio.sleep(chance.uniform(*PRESSES))
        await student.click(f"class_vote_{chance.choice('AB')}")


async def move(reader: Session, chance: random.Random, end: float, load: Load) -> None:
    """Move a slider again and again."""
    while time.perf_counter() < end:
        await asyncio.sleep(chance.uniform(*MOVES))
        load.latencies.append(await reader.set("d_k", chance.choice((2, 3, 4))))


def print_table(answering: Load, frozen: Load, errors: list[str]) -> None:
    """Both, with the goal."""
    print("| a lesson beside thirty students who vote, ms | database answers | frozen | ratio | goal |")
    print("|---|--:|--:|--:|---|")
    for percent in (50, 95):
        with_it, without = answering.percentile(percent), frozen.percentile(percent)
        goal = judged(without <= 1.5 * with_it, "≤ 1.5 times") if percent == 95 else ""
        print(f"| p{percent} | {with_it:.0f} | {without:.0f} | {without / with_it:.2f} | {goal} |")
    print(f"\n{len(answering.latencies)} and {len(frozen.latencies)} reruns of the lesson.")
    for error in errors[:5]:
        print(error)


if __name__ == "__main__":
    main()
