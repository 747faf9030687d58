"""How reliably each task is learnt with its recommended settings: `python benchmarks/tasks.py [--quick] [--only task]`.

A table: the share of seeds that reach success, and the middle step and time at which they do. For the four fixed
vectors success is to know them by heart, and the accuracy on other tokens shows that nothing else was learnt.
"""

import argparse
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from report import options_of

sys.path.insert(0, str(Path(__file__).parent.parent))

from attention_core.learning.steps import TrainingStep
from attention_core.learning.tasks import TASKS, FourVectorsTask
from attention_core.learning.training import Evaluation, recommended, train

SEEDS, QUICK_SEEDS = 20, 5


@dataclass(frozen=True)
class Outcome:
    """One run: where it first was learnt, whether it still was at the end, and how it stood there."""

    step: int | None
    seconds: float | None
    whole: float
    learnt: bool
    last: Evaluation


def main() -> None:
    """Run what was asked for, and print the table line by line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(TASKS), action="append", help="only this task; may be given repeatedly")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="for each")
    parser.add_argument("--quick", action="store_const", dest="seeds", const=QUICK_SEEDS, help=f"{QUICK_SEEDS} seeds")
    options = options_of(parser, seeds=1)
    torch.set_num_threads(1)
    print("| task | learnt | at step | after, s | whole run, s | accuracy, least | weight on the right cells, least |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name in options.only or TASKS:
        outcomes = [run(name, seed) for seed in range(options.seeds)]
        print(row(name, outcomes), flush=True)


def run(name: str, seed: int) -> Outcome:
    """Train one task with one seed to the end."""
    settings, started = recommended(TASKS[name], seed), time.perf_counter()
    learnt: tuple[int | None, float | None] = (None, None)
    last = None
    for step in train(settings):
        if step.evaluation is not None:
            last = step
            if succeeded(name, step) and learnt[0] is None:
                learnt = (step.step, time.perf_counter() - started)
    return Outcome(*learnt, time.perf_counter() - started, succeeded(name, last), last.evaluation)


def succeeded(name: str, step: TrainingStep) -> bool:
    """Whether the task is learnt at this step."""
    task = TASKS[name]
    if isinstance(task, FourVectorsTask):
        return step.loss <= task.MEMORISED
    return step.evaluation.learnt


def row(name: str, outcomes: list[Outcome]) -> str:
    """A line of the table. Learnt means: at the end of the run, not only on the way."""
    learnt = [outcome for outcome in outcomes if outcome.learnt]
    step = f"{statistics.median(o.step for o in learnt):.0f}" if learnt else "–"
    seconds = f"{statistics.median(o.seconds for o in learnt):.2f}" if learnt else "–"
    whole = statistics.median(o.whole for o in outcomes)
    accuracy, weight = min(o.last.accuracy for o in outcomes), min(o.last.weight for o in outcomes)
    share = f"{len(learnt)}/{len(outcomes)}"
    return f"| {name} | {share} | {step} | {seconds} | {whole:.2f} | {accuracy:.3f} | {weight:.2f} |"


if __name__ == "__main__":
    main()
