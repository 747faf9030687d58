"""The worksheets of a class as one PDF: `python benchmarks/sheets.py`.

Two hundred different sheets and their keys beside one, written in turns; and how long lessons take to answer while such
a file is written, beside how long they take while its process is held. It needs Linux and the package of
requirements-pdf.txt.
"""

import argparse
import asyncio
import contextlib
import os
import resource
import signal
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import Session  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import OURS, Server  # noqa: E402

from attention_ui.practice.class_sheets import ClassOrder, written_class  # noqa: E402
from lessons.take_home.sheet import SheetChoices  # noqa: E402
from runs.page_lock import PageLock  # noqa: E402

MANY, MOST_TIMES_ONE, MOST_TIMES_P95 = 200, 20, 1.5
KINDS = {"single tasks": SheetChoices(), "one thread": SheetChoices(in_one_thread=True)}
PAUSE_SECONDS, WARM_UP, MOVES_IN_A_TURN = 0.1, 10, 8
VALUES = (2, 3)  # of d_k, in turns


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sheets", type=int, default=MANY, help="of a class")
    parser.add_argument("--only", choices=PARTS, help="one of the two tables")
    options = options_of(parser, rounds=1, sheets=20)
    for part in PARTS.values() if options.only is None else [PARTS[options.only]]:
        part(options.rounds, options.sheets)


def print_times(rounds: int, sheets: int) -> None:
    """How long a file takes."""
    print(f"| what | one | {sheets} | ratio | goal |\n|---|--:|--:|--:|---|")
    for kind, choices in KINDS.items():
        one, many = [], []
        for seed in range(rounds):
            say(f"{kind}, round {seed + 1}")
            one.append(write(choices, 1))
            many.append(write(choices, sheets))
        for place, what in enumerate(("s", "s of a processor")):
            few, all_of_them = (statistics.median(times[place] for times in those) for those in (one, many))
            ratio = all_of_them / few
            goal = judged(ratio <= MOST_TIMES_ONE, f"≤ {MOST_TIMES_ONE}")
            print(f"| {kind}, {what} | {few:.2f} | {all_of_them:.1f} | {ratio:.1f} | {goal} |", flush=True)


def print_lessons(rounds: int, sheets: int) -> None:
    """How long lessons take beside it."""
    print("| lessons | held | beside | ratio | goal |\n|---|--:|--:|--:|---|")
    for kind in KINDS:
        with Server(OURS) as server:
            held, beside = asyncio.run(lessons_beside(server, kind, rounds, sheets))
        for share, goal in ((50, None), (95, MOST_TIMES_P95)):
            few, more = (1000 * statistics.quantiles(times, n=100)[share - 1] for times in (held, beside))
            told = judged(more <= goal * few, f"≤ {goal}") if goal else ""
            print(
                f"| p{share} beside {sheets} of {kind}, ms | {few:.0f} | {more:.0f} | {more / few:.2f} | {told} |",
                flush=True,
            )


PARTS = {"times": print_times, "lessons": print_lessons}


def write(choices: SheetChoices, sheets: int) -> tuple[float, float]:
    """Seconds until a file is there, and what its process took of a processor."""
    began, before = time.perf_counter(), used_by_children()
    *_, pdf = written_class(ClassOrder(choices, sheets, "a4", as_pdf=True), PageLock())
    assert pdf.startswith(b"%PDF")
    return time.perf_counter() - began, used_by_children() - before


def used_by_children() -> float:
    """Seconds that processes which have ended took of a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def lessons_beside(server: Server, kind: str, rounds: int, sheets: int) -> tuple[list[float], list[float]]:
    """How long a lesson takes to answer a moved control: while the process that writes is held, and while it runs.

    The two take turns every few moves, so that what else the machine does counts for both.
    """
    held, beside = [], []
    query = f"paper_sheets={sheets}&paper_kind={'thread' if kind == 'one thread' else 'tasks'}"
    async with Session(server.port) as student:
        await student.open("", "example=journey&picture=steps")
        for number in range(WARM_UP):
            await moved(student, number)
        for number in range(rounds):
            say(f"lessons beside {kind}, round {number + 1}")
            async with Session(server.port, live=True) as teacher:
                await teacher.open("take_home", f"{query}&paper_seed={1000 * number}")
                await teacher.click("paper_write")
                await teacher.settle()
                while not any(shown.label == "Save the PDF" for shown in teacher.elements()):
                    for times, tell in ((held, signal.SIGSTOP), (beside, signal.SIGCONT)):
                        tell_writers(server, tell)
                        times += [await moved(student, place) for place in range(MOVES_IN_A_TURN)]
    return held, beside


def tell_writers(server: Server, what: int) -> None:
    """Hold the processes that the server has started, or let them go on."""
    for child in server.children():
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, what)


async def moved(student: Session, number: int) -> float:
    """Move a control, after a pause."""
    await asyncio.sleep(PAUSE_SECONDS)
    return await student.set("d_k", VALUES[number % 2])


if __name__ == "__main__":
    main()
