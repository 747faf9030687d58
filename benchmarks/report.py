"""What every benchmark prints in the same way."""

import sys
import time


def judged(met: bool, goal: str) -> str:
    """A goal, and whether it was met."""
    return f"{goal}: {'met' if met else 'MISSED'}"


def say(what: str) -> None:
    """Where the measurement is, beside the table."""
    print(f"[{time.strftime('%H:%M:%S')}] {what}", file=sys.stderr, flush=True)
