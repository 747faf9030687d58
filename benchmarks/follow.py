"""A school follows: ten teachers step through a plan, and three hundred students' pages come along.

`python benchmarks/follow.py` prints a table: how long after a teacher's press do students stand at the new stop, and
what does a reader on a lesson feel of it?
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402
from client import Session  # noqa: E402
from load import EXAMPLE, SETTLE_SECONDS, Load, _read, a_few_at_a_time, until  # noqa: E402
from report import judged, say  # noqa: E402
from servers import OURS, Server  # noqa: E402

from classes.keeper import Keeper  # noqa: E402
from lessons.class_plan.plan import Plan  # noqa: E402
from lessons.class_plan.plan_file import written_plan  # noqa: E402
from lessons.class_plan.ready_made import ready_plan  # noqa: E402

CLASSES, STUDENTS, READERS, STEPS = 10, 300, 10, 4
APART_SECONDS, IDLE_SECONDS, PATIENCE_SECONDS = 12.0, 40.0, 60.0  # each teacher steps at a moment of his own


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    parser.add_argument("--at-once", action="store_true", help="all teachers press at the same moment")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTENTION_LAB_CLASSES"] = folder
        with Server(OURS) as server:
            asyncio.run(measure(server, Keeper(folder), options.students, 0.0 if options.at_once else APART_SECONDS))


async def measure(server: Server, keeper: Keeper, students: int, apart: float) -> None:
    """Readers alone; then readers beside classes that are led from screen to screen."""
    stops = [stop for stop in ready_plan(90).stops if stop.actions == ("show",) and stop.page not in ("home",)]
    plan = written_plan(Plan(stops=tuple(stops[:STEPS]))).decode()
    classes = [keeper.open_class() for _ in range(CLASSES)]
    for code, key in classes:
        keeper.bring_plan(code, key, plan)
    teachers, pupils, readers = (
        [Session(server.port, live=True) for _ in range(n)] for n in (CLASSES, students, READERS)
    )
    alone, beside, waits = Load(), Load(), []
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
        await asyncio.sleep(3 * SETTLE_SECONDS)
        over = asyncio.Event()
        reading = asyncio.create_task(_read(readers, 1, lambda _: over.is_set(), beside))
        for number in range(STEPS):
            say(f"step {number + 1}")
            page, chance = stops[number].page, random.Random(number)
            told = await asyncio.gather(
                *(
                    lead(teacher, pupils[place::CLASSES], page, chance.uniform(0, apart))
                    for place, teacher in enumerate(teachers)
                )
            )
            waits += [wait for of_class in told for wait in of_class]
        over.set()
        await reading
    finally:
        await asyncio.gather(*(visitor.close() for visitor in (*teachers, *pupils, *readers)))
    errors = [error for visitor in (*teachers, *pupils, *readers) for error in visitor.exceptions] + server.complaints()
    print_table(students, waits, alone, beside, errors)


async def lead(teacher: Session, pupils: list[Session], page: str, after: float) -> list[float]:
    """Press the key; seconds until each page of the class stands at the stop, its run ended."""
    await asyncio.sleep(after)
    began = time.perf_counter()
    pressed = asyncio.create_task(teacher.click("plan_next"))
    waits = await asyncio.gather(*(arrived(pupil, page, began) for pupil in pupils))
    await pressed
    await teacher.settle()
    return list(waits)


async def arrived(pupil: Session, page: str, began: float) -> float:
    """Seconds until this page stands there; infinite where it does not come."""
    while time.perf_counter() - began < PATIENCE_SECONDS:
        await asyncio.sleep(0.02)
        if pupil.path == page and pupil.finished > began:
            return pupil.finished - began
    return float("inf")


def print_table(students: int, waits: list[float], alone: Load, beside: Load, errors: list[str]) -> None:
    """Every number, with its goal."""
    typical, late = np.percentile(waits, (50, 95))
    print("| what | measured | beside | goal |\n|---|--:|--:|---|")
    print(f"| press → a student's page is at the stop, p50, s | {typical:.2f} | | |")
    print(f"| the same, p95, s | {late:.2f} | | {judged(late <= 2, '≤ 2')} |")
    goal = judged(beside.percentile(95) <= 1.5 * alone.percentile(95), "≤ 1.5 times")
    print(
        f"| a lesson while {students} follow, p95, ms (beside: alone) | {beside.percentile(95):.0f} | "
        f"{alone.percentile(95):.0f} | {goal} |"
    )
    for error in errors[:5]:
        print(error)


if __name__ == "__main__":
    main()
