"""Measure the app beside an ordinary one on this machine, and print a table: `python benchmarks/run.py`.

Only ratios within one run mean something; what the machine does besides changes the milliseconds. Everything
stays on this machine: servers on free ports of 127.0.0.1, which end with the run, and one headless Chromium.
"""

import argparse
import os
import platform
import signal
import statistics
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from browser import KeyPresses, measure_key_presses, measure_launches, measure_lessons, typical  # noqa: E402
from load import Load, press_start_at_once, run_class  # noqa: E402
from report import judged, options_of, say  # noqa: E402
from servers import ORDINARY, OURS, Server  # noqa: E402
from training_speed import BARS, measure_training  # noqa: E402

SECTIONS = ("class", "starts", "training", "keys", "lessons", "launch")
FINISHED_WITHIN = {"characters": 10.0, "induction": 30.0}  # seconds, for the last of a class


@dataclass(frozen=True)
class Plan:
    """How long to measure what, and with how many visitors."""

    sessions: int = 30
    readers: int = 10  # on a lesson, while a class trains
    our_rounds: int = 3
    our_seconds: float = 20.0
    ordinary_seconds: float = 30.0
    alone_seconds: float = 20.0
    start_rounds: int = 3
    training_rounds: int = 6
    presses: int = 30
    lesson_presses: int = 15
    launches: int = 3


QUICK = Plan(
    our_rounds=1,
    our_seconds=8.0,
    ordinary_seconds=8.0,
    alone_seconds=8.0,
    start_rounds=1,
    training_rounds=3,
    presses=6,
    lesson_presses=4,
    launches=1,
)
ONCE = Plan(
    sessions=3,
    readers=1,
    our_rounds=1,
    our_seconds=4.0,
    ordinary_seconds=4.0,
    alone_seconds=4.0,
    start_rounds=1,
    training_rounds=1,
    presses=1,
    lesson_presses=1,
    launches=1,
)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    ours: str
    other: str = ""
    ratio: str = ""
    goal: str = ""


def main() -> None:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_const", dest="plan", const=QUICK, help="some minutes; coarse numbers")
    parser.set_defaults(plan=Plan())
    parser.add_argument("--only", choices=SECTIONS, action="append", help="only this part; may be given repeatedly")
    parser.add_argument("--seed", type=int, default=1, help="for the visitors' thinking times and choices")
    options = options_of(parser, plan=ONCE)
    # So that the servers end with this program when it is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    busy = os.getloadavg()[0]
    plan, chosen, started = options.plan, options.only or SECTIONS, time.perf_counter()
    notes: list[str] = []
    print("| what | ours | ordinary | ratio | goal |\n|---|--:|--:|--:|---|", flush=True)
    if "launch" in chosen:
        print_rows(launch_rows(plan))
    if "keys" in chosen:
        print_rows(key_rows(plan, notes))
    if "lessons" in chosen:
        print_rows(lesson_rows(plan))
    if "training" in chosen:
        print_rows(training_rows(plan))
    if "class" in chosen:
        print_rows(class_rows(plan, options.seed, notes))
    if "starts" in chosen:
        for task, seconds in FINISHED_WITHIN.items():
            print_rows(start_rows(plan, task, seconds, notes))
    notes.append(f"{machine()}; {time.perf_counter() - started:.0f} s of measuring; load before: {busy:.1f}.")
    for note in notes:
        print(f"\n{note}")


def launch_rows(plan: Plan) -> list[Row]:
    """From the command to the painted page, and the memory then."""
    say("launching")
    launch = typical(measure_launches(plan.launches))
    return [
        Row("launch → server answers, s", f"{launch.ready:.1f}"),
        Row("launch → overview painted, s", f"{launch.painted:.1f}", goal=judged(launch.painted <= 2.5, "≤ 2.5")),
        Row("memory after the first session, MB", f"{launch.memory:.0f}", goal=judged(launch.memory < 450, "< 450")),
    ]


def key_rows(plan: Plan, notes: list[str]) -> list[Row]:
    """A key press in a real browser, beside the same page without its figure and beside nearly empty pages."""
    say("pressing keys")
    keys = measure_key_presses(plan.presses)
    if keys.changed_again:
        notes.append(f"After {keys.changed_again} key presses the figure changed more than once.")
    rows = []
    for kind in (kind for kind in keys.times if kind != "ours"):
        goal = "≤ 2" if kind == "the same page without its figure" else ""
        rows += [
            key_row(f"key press → repainted, p{percent}, ms (beside: {kind})", keys, kind, percent, goal)
            for percent in (50, 95)
        ]
    return rows


def lesson_rows(plan: Plan) -> list[Row]:
    """The same for every lesson."""
    say("pressing keys on the lessons")
    measured = measure_lessons(plan.lesson_presses)
    return [
        key_row(f"new seed → repainted, {lesson}, p50, ms (beside: without its figure)", keys, "without", 50, "≤ 2")
        for lesson, keys in measured.items()
    ]


def key_row(what: str, keys: KeyPresses, beside: str, percent: float, goal: str) -> Row:
    """One percentile of ours and of another page."""
    ours, its = keys.percentile("ours", percent), keys.percentile(beside, percent)
    return Row(what, f"{ours:.0f}", f"{its:.0f}", f"{ours / its:.1f}", goal and judged(ours <= 2 * its, goal))


def training_rows(plan: Plan) -> list[Row]:
    """Steps per second beside the notebook's loop."""
    say("training")
    speeds = measure_training(plan.training_rounds)
    rows = []
    for what, ours, notebook, goal in (
        ("recorded", "alone", "notebook", BARS["alone"]),
        ("30 runs together, all recorded", "together", "notebook", BARS["together"]),
        ("recorded and drawn twice a second", "drawn", "notebook_beside", 2.5),
        ("in the server, its page open", "in_server", "notebook_beside_server", 2.5),
    ):
        mine, its = (statistics.median(getattr(speeds, name)) for name in (ours, notebook))
        ratio = speeds.ratio(ours, notebook)
        met = judged(ratio >= goal, f"≥ {goal:g}")
        rows.append(Row(f"training steps/s: {what}", f"{mine:.0f}", f"{its:.0f}", f"{ratio:.1f}", met))
    cost = 1 / speeds.ratio("alone", "unrecorded")
    rows.append(Row("training, recorded and measured ÷ alone, time", f"{cost:.2f}", goal=judged(cost <= 1.1, "≤ 1.1")))
    return rows


def class_rows(plan: Plan, seed: int, notes: list[str]) -> list[Row]:
    """Reruns of the overview with one session, with a class, and with a class that trains."""
    kinds = {"alone": Load(), "class": Load(), "training": Load()}
    ours, ordinary = kinds, {kind: Load() for kind in kinds}
    ours["alone"] = one_class(OURS, 1, plan.alone_seconds, False, seed)
    ordinary["alone"] = one_class(ORDINARY, 1, plan.alone_seconds, False, seed)
    for number in range(plan.our_rounds):
        if number == plan.our_rounds // 2:
            ordinary["class"].add(one_class(ORDINARY, plan.sessions, plan.ordinary_seconds, False, seed))
            ordinary["training"].add(one_class(ORDINARY, plan.sessions, plan.ordinary_seconds, True, seed))
        ours["class"].add(one_class(OURS, plan.sessions, plan.our_seconds, False, seed + number))
        ours["training"].add(one_class(OURS, plan.sessions, plan.our_seconds, True, seed + number))
    for name, loads in (("ours", ours), ("the ordinary page", ordinary)):
        notes += class_notes(name, loads)
    return [*latency_rows(plan.sessions, ours, ordinary), *memory_rows(plan.sessions, ours, ordinary)]


def start_rows(plan: Plan, task: str, seconds: float, notes: list[str]) -> list[Row]:
    """A class opens the training page and presses Start at the same moment, each with a seed of its own."""
    say(f"{plan.sessions} press Start at once: {task}")
    with Server(OURS) as server:
        starts = press_start_at_once(server, task, plan.sessions, plan.readers, plan.alone_seconds, plan.start_rounds)
    moved, finished = max(starts.moved), max(starts.finished)
    beside, idle = (load.percentile(95) for load in (starts.lessons_beside, starts.lessons_idle))
    notes += [f"{task}: {error}" for error in starts.lessons_beside.errors[:1]]
    notes.append(
        f"{task}: {len(starts.lessons_idle.latencies)} reruns of a lesson while nothing was trained, "
        f"{len(starts.lessons_beside.latencies)} while the class trained."
    )
    what = f"{plan.sessions} press Start at once, {task}:"
    return [
        Row(f"{what} the last sees it move, s", f"{moved:.2f}", goal=judged(moved <= 1, "≤ 1")),
        Row(
            f"{what} the last sees it finished, s",
            f"{finished:.1f}",
            goal=judged(finished <= seconds, f"≤ {seconds:g}"),
        ),
        Row(
            f"{what} a lesson beside, p95, ms (beside: while nothing is trained)",
            f"{beside:.0f}",
            f"{idle:.0f}",
            f"{beside / idle:.2f}",
            judged(beside <= 1.5 * idle, "≤ 1.5"),
        ),
    ]


def one_class(folder: Path, sessions: int, seconds: float, training: bool, seed: int) -> Load:
    """One class at a fresh server."""
    say(f"{folder.name}: {sessions} session(s){', training' if training else ''}")
    with Server(folder) as server:
        return run_class(server, sessions=sessions, seconds=seconds, training=training, seed=seed)


def latency_rows(sessions: int, ours: dict[str, Load], ordinary: dict[str, Load]) -> list[Row]:
    """Percentiles of the latencies, and what training adds."""
    rows = []
    several = f"{sessions} sessions"
    for kind, what in (("alone", "1 session"), ("class", several), ("training", f"{several}, {sessions} trainings")):
        for percent, name in ((50, "p50"), (95, "p95"), (100, "max")):
            mine, its = ours[kind].percentile(percent), ordinary[kind].percentile(percent)
            goal = judged(its >= 20 * mine, "≥ 20") if (kind, percent) == ("class", 95) else ""
            rows.append(Row(f"rerun, {what}: {name}, ms", f"{mine:.0f}", f"{its:.0f}", f"{its / mine:.0f}", goal))
    slower, its_slower = (
        loads["training"].percentile(95) / loads["class"].percentile(95) for loads in (ours, ordinary)
    )
    goal = judged(slower <= 1.5, "≤ 1.5 (ours)")
    rows.append(Row("rerun p95 with trainings ÷ without", f"{slower:.2f}", f"{its_slower:.2f}", goal=goal))
    mine, its = (statistics.fmean(loads["training"].training_speeds) for loads in (ours, ordinary))
    rows.append(
        Row(f"steps/s of the {sessions} trainings together", f"{mine:.0f}", f"{its:.0f}" if its else "no page told")
    )
    fairness = statistics.median(ours["training"].fairness)
    rows.append(
        Row(
            "steps of the training least served ÷ most served", f"{fairness:.2f}", goal=judged(fairness >= 0.8, "≥ 0.8")
        )
    )
    return rows


def memory_rows(sessions: int, ours: dict[str, Load], ordinary: dict[str, Load]) -> list[Row]:
    """Resident memory of the servers."""
    pairs = [
        ("after the first session", "class", "memory_first"),
        (f"with {sessions} sessions, at the end", "class", "memory_end"),
        (f"with {sessions} sessions and trainings, at the end", "training", "memory_end"),
    ]
    rows = []
    for what, kind, name in pairs:
        mine, its = getattr(ours[kind], name), getattr(ordinary[kind], name)
        goal = judged(mine < 450, "< 450") if name == "memory_first" else ""
        rows.append(Row(f"memory {what}, MB", f"{mine:.0f}", f"{its:.0f}", f"{mine / its:.2f}", goal))
    return rows


def class_notes(name: str, loads: dict[str, Load]) -> Iterable[str]:
    """How much was measured, and what went wrong."""
    counts = ", ".join(f"{len(load.latencies)} ({kind}, {load.cores:.2f} cores)" for kind, load in loads.items())
    yield f"Reruns measured, {name}: {counts}."
    for kind, load in loads.items():
        if load.unfinished:
            yield f"{name}, {kind}: {load.unfinished} reruns were still unfinished; the time waited so far was counted."
        if load.trainings_over:
            yield f"{name}, {kind}: {load.trainings_over} trainings ended before the class did."
        if load.errors:
            yield f"{name}, {kind}: {len(load.errors)} errors, the first: {load.errors[0]}"


def print_rows(rows: list[Row]) -> None:
    """Lines of the table, in Markdown, as soon as they are known."""
    for row in rows:
        print(f"| {row.what} | {row.ours} | {row.other} | {row.ratio} | {row.goal} |", flush=True)


def machine() -> str:
    """The machine, in general terms."""
    version = ".".join(platform.python_version_tuple()[:2])
    return f"{len(os.sched_getaffinity(0))} virtual cores, {platform.system()}, Python {version}"


if __name__ == "__main__":
    main()
