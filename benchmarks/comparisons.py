"""Whether each classical comparison shows its point: `python benchmarks/comparisons.py [--quick] [--only name]`.

A table: the accuracy of both runs at their end (the middle one of all seeds, the least and the most), and for how
many seeds the runs differ as the question leads one to expect.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from report import options_of

sys.path.insert(0, str(Path(__file__).parent.parent))

from attention_core.learning.training import Evaluation, TrainingSettings, train
from lessons.learning.train.compare_runs import COMPARISONS

SEEDS, QUICK_SEEDS = 10, 3


def only_the_first_learns(first: Evaluation, second: Evaluation) -> bool:
    """What most questions are about: with the part in question the task is learnt, without it it is not."""
    return first.learnt and not second.learnt


def the_second_reads_the_answers(first: Evaluation, second: Evaluation) -> bool:
    """It has more of them right than even the best guess from all that a mask leaves visible."""
    best = COMPARISONS["mask"].task.best_accuracy
    return first.accuracy <= best + 0.01 and second.accuracy > best + 0.01


EXPECTED: dict[str, Callable[[Evaluation, Evaluation], bool]] = dict.fromkeys(COMPARISONS, only_the_first_learns)
EXPECTED["mask"] = the_second_reads_the_answers


def main() -> None:
    """Run what was asked for, and print the table line by line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(COMPARISONS), action="append", help="may be given repeatedly")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="for each")
    parser.add_argument("--quick", action="store_const", dest="seeds", const=QUICK_SEEDS, help=f"{QUICK_SEEDS} seeds")
    options = options_of(parser, seeds=1)
    torch.set_num_threads(1)
    print("| comparison | first: accuracy | second: accuracy | as expected | both runs, s |\n|---|--:|--:|--:|--:|")
    for name in options.only or COMPARISONS:
        print(row(name, options.seeds), flush=True)


def row(name: str, seeds: int) -> str:
    """A line of the table."""
    started = time.perf_counter()
    pairs = [tuple(last_measured(settings) for settings in COMPARISONS[name].settings(seed)) for seed in range(seeds)]
    seconds = (time.perf_counter() - started) / seeds
    first, second = (spread([run.accuracy for run in runs]) for runs in zip(*pairs, strict=True))
    met = sum(EXPECTED[name](*pair) for pair in pairs)
    return f"| {name} | {first} | {second} | {met}/{seeds} | {seconds:.1f} |"


def last_measured(settings: TrainingSettings) -> Evaluation:
    """How a run stands at its end."""
    return [step.evaluation for step in train(settings) if step.evaluation is not None][-1]


def spread(values: list[float]) -> str:
    """The middle one, the least and the most."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} … {max(values):.2f})"


if __name__ == "__main__":
    main()
