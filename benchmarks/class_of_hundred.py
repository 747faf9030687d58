"""A hundred visitors at once, for minutes: `python benchmarks/class_of_hundred.py` prints a table.

They open links, move sliders, step, turn pages, train, and leave without a word; others come. With `--replicas 2`
two servers share them evenly, as behind a proxy. The same is done to the ordinary page, more briefly. Those who left
are forgotten after a minute, not after five as in the app's own settings, so that ten minutes show whether memory
stays flat. Everything stays on this machine. The load is made by one process that says how much of a core it took
itself and how late it woke, for what it adds to every wait.
"""

import argparse
import asyncio
import math
import os
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from client import TRAINING_PAGES, Session  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import ORDINARY, OURS, Fleet  # noqa: E402
from simulated_class import Class, Seen, movable, patiently, some_value, take_seat  # noqa: E402

SAMPLE_SECONDS = 2.0
NAP_SECONDS = 0.05  # how often the client asks itself whether it wakes in time
ALONE_RERUNS = 60
MEGABYTES_OF_A_GIGABYTE = 1024
TIDY_SECONDS = 10  # for Python to collect what it forgot
SLOWEST = 5  # times a rerun alone: the slowest twentieth of the lessons
BUSY = 0.5  # of a core: beyond half, waits grow quickly


@dataclass
class Report:
    """What the servers showed. Memory in megabytes, of the server that has most; times in seconds."""

    replicas: int
    seen: Seen = field(default_factory=Seen)
    alone: list[float] = field(default_factory=list)
    cpu_per_rerun: float = 0.0
    memory_first: float = 0.0  # the first visitor has been to every page
    memory_opened: float = 0.0  # and all have opened theirs
    memory: list[tuple[float, float]] = field(default_factory=list)  # seconds since the class began, megabytes
    memory_left: float = 0.0
    memory_forgotten: float = 0.0
    last_ready: float = 0.0
    seconds: float = 0.0
    cores: float = 0.0
    client_cores: float = 0.0
    naps: list[float] = field(default_factory=list)  # how much too late the client woke
    complaints: list[str] = field(default_factory=list)

    def memory_after(self, seconds: float) -> float:
        """The memory at the first look after so many seconds."""
        return next((memory for when, memory in self.memory if when >= seconds), self.memory[-1][1])

    def memory_of_half(self, half: int) -> float:
        """The mean memory in the first half of the class (0), from its first minute on, or in the second (1)."""
        middle = self.memory[-1][0] / 2
        begin, end = ((min(60, middle / 2), middle), (middle, math.inf))[half]
        looks = [memory for when, memory in self.memory if begin <= when < end]
        return sum(looks) / len(looks)

    @property
    def rerun_alone(self) -> float:
        """Milliseconds of a rerun of a lesson, alone with the server: the middle one."""
        return 1000 * sorted(self.alone)[len(self.alone) // 2]

    @property
    def errors(self) -> list[str]:
        """All that went wrong, told by the pages, by the log of the server, or by silence."""
        return self.seen.errors + self.complaints


@dataclass(frozen=True)
class Plan:
    """How many, how long, and when the server forgets those who left."""

    sessions: int
    seconds: float
    ordinary_seconds: float
    think: tuple[float, float]
    forget_after: int
    seed: int
    replicas: int

    @property
    def rest_seconds(self) -> float:
        """Until a server that nobody asks has collected everything: a minute and more, where it forgets as usual."""
        return self.forget_after + TIDY_SECONDS


def main() -> None:
    """Measure, and print the table."""
    plan, with_ordinary = plan_from_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    busy = os.getloadavg()[0]
    ours = asyncio.run(measure(OURS, plan, plan.seconds, plan.replicas))
    ordinary = asyncio.run(measure(ORDINARY, plan, plan.ordinary_seconds, 1)) if with_ordinary else None
    print("| what | ours | ordinary | ratio | goal |\n|---|--:|--:|--:|---|")
    for what, mine, its, ratio, digits, goal in rows(plan, ours, ordinary):
        print(f"| {what} | {in_digits(mine, digits)} | {in_digits(its, digits)} | {ratio} | {goal} |")
    for note in notes(plan, ours, ordinary, busy):
        print(f"\n{note}")


def plan_from_options() -> tuple[Plan, bool]:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--think", type=float, nargs=2, default=(4.0, 16.0), help="seconds between two actions")
    parser.add_argument("--forget-after", type=int, default=60, help="disconnectedSessionTTL of the server, seconds")
    parser.add_argument("--no-ordinary", action="store_true", help="only this app")
    parser.add_argument("--quick", action="store_true", help="20 visitors for half a minute, forgotten after 10 s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replicas", type=int, default=1, help="servers of this app that share the class evenly")
    chosen = options_of(parser, sessions=2, minutes=0.2, think=(0.5, 1.0), forget_after=1)
    if chosen.quick:
        chosen.sessions, chosen.minutes, chosen.forget_after = 20, 0.5, 10
    seconds = 60 * chosen.minutes
    think = (chosen.think[0], chosen.think[1])
    plan = Plan(chosen.sessions, seconds, min(seconds, 120.0), think, chosen.forget_after, chosen.seed, chosen.replicas)
    return plan, not chosen.no_ordinary


async def measure(folder: Path, plan: Plan, seconds: float, replicas: int) -> Report:
    """One server or several, from the first visitor until the last is forgotten."""
    report = Report(replicas)
    with Fleet(replicas, folder, "--server.disconnectedSessionTTL", str(plan.forget_after)) as fleet:
        say(f"{folder.name}: one visitor looks round")
        for one in reversed(fleet.servers):  # what the report keeps is the last one's: the first server
            async with Session(one.port) as first:
                await look_round(fleet, first, plan, report)
                pages = tuple(first.pages) or ("",)
        say(f"{folder.name}: {plan.sessions} open it at once")
        await open_at_once(fleet, plan, pages, report)
        say(f"{folder.name}: a class of {plan.sessions}, {seconds:.0f} s, on {len(pages)} pages")
        await hold_class(fleet, plan, pages, seconds, report)
        report.memory_left = fleet.memory()
        say(f"{folder.name}: all have left; they are forgotten after {plan.forget_after} s")
        await be_forgotten(fleet, plan)
        report.memory_forgotten = fleet.memory()
        report.complaints = fleet.complaints()
        if "Traceback" in (log := fleet.log()):
            say(f"the first of the server's tracebacks:\n{log[log.index('Traceback') :][:4000]}")
    return report


async def look_round(fleet: Fleet, visitor: Session, plan: Plan, report: Report) -> None:
    """Every page once, for what a first visit loads; then sliders of lessons, alone with the server."""
    chance = random.Random(plan.seed)
    await visitor.open()
    lessons = [path for path in visitor.pages if path not in TRAINING_PAGES] or [""]
    for path in visitor.pages:
        await visitor.goto(path)
    if "read" in visitor.pages:
        async with Session(visitor.port) as other:
            await other.open("read", "read_view=flip")  # the view that opens a second model
    await asyncio.sleep(plan.rest_seconds)
    report.memory_first = fleet.memory()
    computed, alone = 0.0, []
    for number in range(ALONE_RERUNS):
        if visitor.pages and number % 6 == 0:
            await visitor.goto(lessons[number // 6 % len(lessons)])
        if not (sliders := [shown for shown in movable(visitor) if shown.kind in ("slider", "number_input")]):
            continue
        widget = chance.choice(sliders)
        cpu = fleet.cpu_seconds()
        alone.append(await patiently(visitor.set(widget.id, some_value(widget, chance))))
        computed += fleet.cpu_seconds() - cpu
    report.alone, report.cpu_per_rerun = alone, computed / len(alone)
    report.seen.errors += visitor.exceptions


async def open_at_once(fleet: Fleet, plan: Plan, pages: tuple[str, ...], report: Report) -> None:
    """The whole class opens its link at the same moment."""
    chance = random.Random(plan.seed)
    visitors = [Session(fleet.port(seat)) for seat in range(plan.sessions)]
    began = time.perf_counter()
    before = fleet.memory()
    opened = await asyncio.gather(*(visitor.open(chance.choice(pages)) for visitor in visitors), return_exceptions=True)
    report.last_ready = time.perf_counter() - began
    report.memory_opened = fleet.memory() - before
    report.seen.errors += [f"{type(e).__name__}: {e}" for e in opened if isinstance(e, Exception)]
    for visitor in visitors:
        report.seen.errors += visitor.exceptions
    await asyncio.gather(*(visitor.cut() for visitor in visitors if visitor.is_open))


async def hold_class(fleet: Fleet, plan: Plan, pages: tuple[str, ...], seconds: float, report: Report) -> None:
    """All seats at once, while the server's memory and the client's own wakefulness are watched."""
    began, cpu, own = time.perf_counter(), fleet.cpu_seconds(), time.process_time()
    room = Class(fleet.port, pages, began + seconds, plan.think, report.seen)
    watchers = [asyncio.create_task(watch_memory(fleet, report)), asyncio.create_task(watch_naps(report))]
    seats = [take_seat(room, seat, random.Random(plan.seed * 10_000 + seat)) for seat in range(plan.sessions)]
    await asyncio.gather(*seats)
    report.seconds = time.perf_counter() - began
    report.cores = (fleet.cpu_seconds() - cpu) / report.seconds
    report.client_cores = (time.process_time() - own) / report.seconds
    for watcher in watchers:
        watcher.cancel()


async def watch_memory(fleet: Fleet, report: Report) -> None:
    """A look at the memory every few seconds."""
    began = time.perf_counter()
    while True:
        report.memory.append((time.perf_counter() - began, fleet.memory()))
        await asyncio.sleep(SAMPLE_SECONDS)


async def watch_naps(report: Report) -> None:
    """How much later than asked for this process wakes: what it adds to a wait, at most."""
    while True:
        asked = time.perf_counter() + NAP_SECONDS
        await asyncio.sleep(NAP_SECONDS)
        report.naps.append(time.perf_counter() - asked)


async def be_forgotten(fleet: Fleet, plan: Plan) -> None:
    """Wait until the server may forget those who left; a last visitor makes it look. Then it tidies up by itself."""
    await asyncio.sleep(plan.forget_after + 2)
    for one in fleet.servers:
        async with Session(one.port) as last:
            await last.open()
    await asyncio.sleep(plan.rest_seconds)


def rows(plan: Plan, ours: Report, ordinary: Report | None) -> list[tuple]:
    """The lines of the table: what, ours, the ordinary page's, how many times better ours is, digits, goal."""

    def row(what, read, digits=0, goal="", more_is_better=False):
        mine, its = read(ours), read(ordinary) if ordinary else None
        known = its is not None and mine and its and not math.isnan(its / mine)
        ratio = f"{mine / its if more_is_better else its / mine:.3g}" if known else ""
        return what, mine, its, ratio, digits, goal

    slow = ours.seen.percentile("lessons", 95) / ours.rerun_alone
    lines = [
        row("errors", lambda r: len(r.errors), goal=judged(not ours.errors, "0")),
        row(
            f"{plan.sessions} open at once: the last is ready, s",
            lambda r: r.last_ready,
            2,
            judged(ours.last_ready <= 3, "≤ 3"),
        ),
    ]
    for name, what in (("lessons", "lessons"), ("training", "training pages"), ("openings", "opening a link")):
        for percent, title in ((50, "p50"), (95, "p95"), (100, "max")):
            wanted = f"≤ {SLOWEST} × {ours.rerun_alone:.0f}"
            goal = judged(slow <= SLOWEST, wanted) if (name, percent) == ("lessons", 95) else ""
            lines.append(row(f"{what}: {title}, ms", lambda r, n=name, p=percent: r.seen.percentile(n, p), goal=goal))
    first, halves = ours.memory_first, [ours.memory_of_half(half) for half in range(2)]
    most = max(memory for _, memory in ours.memory)
    lines += [
        row("a rerun of a lesson alone with the server: p50, ms", lambda r: r.rerun_alone, 1),
        row("memory: one visitor has seen every page, MB", lambda r: r.memory_first),
        row("memory: first half of the class, MB", lambda r: r.memory_of_half(0)),
        row(
            "memory: second half, MB",
            lambda r: r.memory_of_half(1),
            goal=judged(halves[1] <= 1.05 * halves[0], "within 5 %"),
        ),
        row(
            "memory: most, MB",
            lambda r: max(memory for _, memory in r.memory),
            goal=judged(most <= 1.4 * first, "≤ 1.4 × one visitor's"),
        ),
        row("memory: all have left, MB", lambda r: r.memory_left),
        row(
            "memory: and are forgotten, MB",
            lambda r: r.memory_forgotten,
            goal=judged(ours.memory_forgotten <= 1.15 * first, "within 15 % of one visitor's"),
        ),
        row("memory of one session, kB", lambda r: 1024 * r.memory_opened * r.replicas / plan.sessions),
        row("processor time of one rerun of a lesson, ms", lambda r: 1000 * r.cpu_per_rerun, 1),
        row(
            "visitors for half a core, at this pace",
            lambda r: BUSY * sum(plan.think) / 2 / r.cpu_per_rerun,
            more_is_better=True,
        ),
        row("visitors for a gigabyte", carried, more_is_better=True),
    ]
    return lines


def in_digits(number: float | None, digits: int) -> str:
    """A number of the table; nothing where nothing was measured, words where no answer came."""
    return "" if number is None else "none came" if math.isnan(number) else f"{number:.{digits}f}"


def carried(report: Report) -> float:
    """How many sessions fit beside the program itself, by what each of the class's took, trainings included."""
    each = max(report.memory[-1][1] - report.memory_first, 0.1) * report.replicas / max(len(report.seen.openings), 1)
    return max(MEGABYTES_OF_A_GIGABYTE - report.memory_first, 0) / each


def notes(plan: Plan, ours: Report, ordinary: Report | None, busy: float) -> list[str]:
    """How much was done, what the client took, and what went wrong."""
    servers = "one server" if plan.replicas == 1 else f"{plan.replicas} servers"
    lines = [
        f"{plan.sessions} visitors of {servers}, {plan.think[0]:g} to {plan.think[1]:g} s between two actions; "
        f"those who left are forgotten after {plan.forget_after} s; load of the machine before: {busy:.1f}."
    ]
    for name, report in (("ours", ours), ("the ordinary page", ordinary)):
        if report is None:
            continue
        seen, naps = report.seen, sorted(report.naps)
        done = (
            f"{len(seen.lessons)} on lessons, {len(seen.training)} on training pages, {len(seen.openings)} links, "
            f"{seen.watched} refreshes, {seen.trainings} trainings, {seen.cut} lines cut, {seen.lost} presses too late"
        )
        late = 1000 * naps[int(0.95 * len(naps))]
        lines.append(
            f"{name}: {seen.runs / report.seconds:.1f} runs a second for {report.seconds:.0f} s ({done}); server "
            f"{report.cores:.2f} cores, client {report.client_cores:.2f} cores, which woke {late:.0f} ms late (p95); "
            f"alone with the server, a rerun took {report.rerun_alone:.0f} ms (p50)."
        )
        lines += [f"{name}, memory by the minute, MB: " + by_the_minute(report)]
        lines += [f"{name}, error: {error}" for error in sorted(set(report.errors))[:8]]
    return lines


def by_the_minute(report: Report) -> str:
    """The memory at the beginning, and every minute of the class."""
    minutes = range(int(report.memory[-1][0] / 60) + 1)
    return ", ".join(f"{report.memory_after(60 * minute):.0f}" for minute in minutes)


if __name__ == "__main__":
    main()
