"""The process that writes the sheets and keys of a class as one PDF: `python -m attention_ui.practice.pdf_writer FILE`.

It reads an order from its input, names now and then the sheets that are done in a line of its output, and leaves the
PDF in the file. It gives way to whatever else runs on the machine.
"""

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from attention_ui.export.printed import printed_sheet, tasks_on_sheet
from attention_ui.export.typeset import Typeset, pdf_of
from lessons.take_home.sheet import SheetChoices, sheet_code, sheets_of_class
from words import speaking

SECONDS_BETWEEN_LINES = 2.0


def main() -> None:
    """Write what is asked for."""
    give_way()
    torch.set_num_threads(1)
    order = json.load(sys.stdin)
    choices = SheetChoices(**order["choices"] | {"lessons": tuple(order["choices"]["lessons"])})
    with speaking(order["language"]):
        file = Typeset([], [], order["paper"])
        for codes in told_now_and_then(add_sheets(file, choices, order["sheets"])):
            print(*codes, flush=True)
        Path(sys.argv[1]).write_bytes(pdf_of(file))


def give_way() -> None:
    """Let everything else go first: on Linux, whoever wakes up takes the processor at once.

    With a low priority alone it waits for the end of a slice; a page wakes several threads, one after the other.
    """
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    elif hasattr(os, "nice"):
        os.nice(19)


def add_sheets(file: Typeset, choices: SheetChoices, sheets: int) -> Iterator[str]:
    """Add a sheet and a key for each student; the code of each when it is done."""
    for one in sheets_of_class(choices, sheets):
        tasks = tasks_on_sheet(one)
        file.sheets.append(printed_sheet(one, tasks))
        file.keys.append(printed_sheet(one, tasks, key=True))
        yield sheet_code(one)


def told_now_and_then(codes: Iterable[str]) -> Iterator[list[str]]:
    """The same, several at once: each line wakes the server, and with it a page that is computed just then waits."""
    several, told = [], time.monotonic()
    for code in codes:
        several.append(code)
        if time.monotonic() - told >= SECONDS_BETWEEN_LINES:
            yield several
            several, told = [], time.monotonic()
    if several:
        yield several


if __name__ == "__main__":
    main()
