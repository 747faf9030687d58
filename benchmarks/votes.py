"""A school votes: so many students of several classes press a card within three seconds, and others read a lesson.

`python benchmarks/votes.py` prints a table: is every vote counted, when do the teachers' pages say so, and what does
a reader on a lesson feel of it?
"""

import argparse
import asyncio
import os
import random
import re
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from load import EXAMPLE, SETTLE_SECONDS, Load, _read, a_few_at_a_time, until  # noqa: E402
from report import judged, say  # noqa: E402
from servers import OURS, Server  # noqa: E402

from classes.keeper import Keeper  # noqa: E402
from lessons.class_vote.question_link import first_asked, screen_asked, written_asked  # noqa: E402

CLASSES, STUDENTS, READERS = 10, 300, 10
WITHIN, IDLE_SECONDS, BETWEEN_SECONDS, ROUNDS_OF_VOTES = 3.0, 40.0, 12.0, 8


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTENTION_LAB_CLASSES"] = folder
        with Server(OURS) as server:
            asyncio.run(measure(server, Keeper(folder), options.students))


async def measure(server: Server, keeper: Keeper, students: int) -> None:
    """Readers alone; readers beside students who wait; readers beside students who vote, some rounds of it."""
    text = written_asked(first_asked("softmax"))
    cards = len(screen_asked(text)[1].cards)
    classes = [keeper.open_class() for _ in range(CLASSES)]
    for code, key in classes:
        keeper.ask(code, key, 0, cards, text)
    teachers, pupils, readers = (
        [Session(server.port, live=True) for _ in range(n)] for n in (CLASSES, students, READERS)
    )
    alone, waiting, voting = Load(), Load(), Load()
    try:
        await a_few_at_a_time([partial(reader.open, "", EXAMPLE) for reader in readers])
        await asyncio.sleep(3 * SETTLE_SECONDS)
        await _read(readers, 0, until(time.perf_counter() + IDLE_SECONDS), alone)
        say("the students come in")
        opened = [
            partial(t.open, "class_vote", f"class={c}&teacher={k}") for t, (c, k) in zip(teachers, classes, strict=True)
        ]
        opened += [partial(p.open, "class_vote", f"class={classes[n % CLASSES][0]}") for n, p in enumerate(pupils)]
        await a_few_at_a_time(opened)
        await asyncio.sleep(SETTLE_SECONDS)
        cpu, began = server.cpu_seconds(), time.perf_counter()
        await _read(readers, 1, until(time.perf_counter() + IDLE_SECONDS), waiting)
        cores = (server.cpu_seconds() - cpu) / (time.perf_counter() - began)
        told, took, counted = [], [], 0
        for number in range(ROUNDS_OF_VOTES):
            say(f"vote {number + 1}")
            over = asyncio.Event()
            reading = asyncio.create_task(_read(readers, 2 + number, lambda _, over=over: over.is_set(), voting))
            chance = random.Random(number)
            took += await asyncio.gather(
                *(vote(pupil, chance.uniform(0, WITHIN), "ABC"[n % 3]) for n, pupil in enumerate(pupils))
            )
            told.append(await all_told(teachers, students // CLASSES))
            counted += sum(keeper.answered(code, number + 1, 1) for code, _ in classes)
            over.set()
            await reading
            if number + 1 < ROUNDS_OF_VOTES:  # the same students vote in the next round on another question
                for code, key in classes:
                    keeper.ask(code, key, number + 1, cards, text)
                await asyncio.sleep(BETWEEN_SECONDS)
    finally:
        await asyncio.gather(*(visitor.close() for visitor in (*teachers, *pupils, *readers)))
    errors = [error for visitor in (*teachers, *pupils, *readers) for error in visitor.exceptions] + server.complaints()
    print_table(counted, students, told, took, alone, waiting, voting, cores, errors)


def print_table(
    counted: int,
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
    cast, idle = ROUNDS_OF_VOTES * students, alone.percentile(95)
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
        while not all(re.search(rf"\b{voters} have answered", " ".join(t.texts("text"))) for t in teachers):
            await asyncio.sleep(0.01)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
