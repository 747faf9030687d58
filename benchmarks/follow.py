"""A school follows: ten teachers step through a plan, and three hundred students' pages come along.

`python benchmarks/follow.py` prints a table: how long after a teacher's press do students stand at the new stop, and
what does a reader on a lesson feel of it? One process draws one page at a time: `--replicas 2` shares them between two.
"""

import argparse
import asyncio
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402
from client import Session  # noqa: E402
from load import Load  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from school import IDLE_SECONDS, ONCE, STUDENTS, built, opened  # noqa: E402
from servers import Fleet  # noqa: E402

from classes.keeper import Keeper  # noqa: E402
from lessons.teachers.class_plan.plan import Plan  # noqa: E402
from lessons.teachers.class_plan.plan_file import written_plan  # noqa: E402
from lessons.teachers.class_plan.ready_made import ready_plan  # noqa: E402

STEPS, APART_SECONDS, PATIENCE_SECONDS = 4, 12.0, 60.0  # each teacher steps at a moment of his own


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--steps", type=int, default=STEPS, help="of each teacher")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help="seconds that the readers are alone")
    parser.add_argument("--at-once", action="store_true", help="all teachers press at the same moment")
    options = options_of(parser, **ONCE, steps=1, at_once=True)
    apart = 0.0 if options.at_once else APART_SECONDS
    with built(options.replicas) as (fleet, keeper):
        asyncio.run(measure(fleet, keeper, options.students, options.steps, options.idle, apart))


async def measure(fleet: Fleet, keeper: Keeper, students: int, steps: int, idle: float, apart: float) -> None:
    """Readers alone; then readers beside classes that are led from screen to screen."""
    stops = [stop for stop in ready_plan(90).stops if stop.actions == ("show",) and stop.page not in ("home",)]
    plan = written_plan(Plan(stops=tuple(stops[:steps]))).decode()
    beside, waits = Load(), []
    async with opened(fleet, keeper, students, lambda code, key: keeper.bring_plan(code, key, plan), idle) as school:
        over, cpu = asyncio.Event(), fleet.cpu_seconds()
        reading = school.reading(beside, over)
        for number in range(steps):
            say(f"step {number + 1}")
            page, chance = stops[number].page, random.Random(number)
            told = await asyncio.gather(
                *(
                    lead(teacher, school.pupils_of(place), page, chance.uniform(0, apart))
                    for place, teacher in enumerate(school.teachers)
                )
            )
            waits += [wait for of_class in told for wait in of_class]
        over.set()
        await reading
        each = 1000 * (fleet.cpu_seconds() - cpu) / (steps * students)
    print_table(students, waits, each, school.alone, beside, school.errors())


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


def print_table(students: int, waits: list[float], each: float, alone: Load, beside: Load, errors: list[str]) -> None:
    """Every number, with its goal."""
    typical, late = np.percentile(waits, (50, 95))
    print("| what | measured | beside | goal |\n|---|--:|--:|---|")
    print(f"| press → a student's page is at the stop, p50, s | {typical:.2f} | | |")
    print(f"| the same, p95, s | {late:.2f} | | {judged(late <= 2, '≤ 2')} |")
    print(f"| processor of the servers, for each page that moved (readers in it), ms | {each:.0f} | | |")
    print(
        f"| a lesson while {students} follow, p50, ms (beside: alone) | {beside.percentile(50):.0f} | "
        f"{alone.percentile(50):.0f} | |"
    )
    goal = judged(beside.percentile(95) <= 1.5 * alone.percentile(95), "≤ 1.5 times")
    print(
        f"| a lesson while {students} follow, p95, ms (beside: alone) | {beside.percentile(95):.0f} | "
        f"{alone.percentile(95):.0f} | {goal} |"
    )
    for error in errors[:5]:
        print(error)


if __name__ == "__main__":
    main()
