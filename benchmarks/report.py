"""What every benchmark asks and prints in the same way."""

import argparse
import sys
import time
from typing import NoReturn

LACKING = "This cannot be measured here: "


def options_of(parser: argparse.ArgumentParser, **once: object) -> argparse.Namespace:
    """What the command line asks for. With `--once` options that it does not name have the values of `once`.

    So briefly runs whoever wants to know whether a measurement still works, not what it finds: the tests run every
    command like this.
    """
    parser.add_argument("--once", action="store_true", help="the least that runs all of it; the numbers mean nothing")
    if parser.parse_args().once:
        parser.set_defaults(**once)
    return parser.parse_args()


def lack(what: str) -> NoReturn:
    """End where the machine does not have what a measurement needs. The tests skip a command that says this."""
    sys.exit(f"{LACKING}{what}")


def judged(met: bool, goal: str) -> str:
    """A goal, and whether it was met."""
    return f"{goal}: {'met' if met else 'MISSED'}"


def say(what: str) -> None:
    """Where the measurement is, beside the table."""
    print(f"[{time.strftime('%H:%M:%S')}] {what}", file=sys.stderr, flush=True)
