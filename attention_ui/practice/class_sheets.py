"""The worksheets of a class in one file: a sheet for each student, and the keys.

It is a PDF, written by a process of its own; where there is no typst, two files of HTML and a list of the codes.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from attention_ui.export.paper import key_section, sheet_section, whole_file
from attention_ui.export.printed import tasks_on_sheet
from attention_ui.export.typeset import pdf_that_says
from lessons.screen.format import render, translate
from lessons.screen.message import message
from lessons.take_home.sheet import SheetChoices, sheet_code, sheets_of_class
from lessons.take_home.tasks import in_order_of_lessons, paper_task
from runs.page_lock import PageLock
from words import FIRST, speaking

ZIP, PDF = "application/zip", "application/pdf"
ROOT, PDF_WRITER = Path(__file__).parents[2], "attention_ui.practice.pdf_writer"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}  # one core at most: visitors need the others
NO_LONGER_KEPT = message("The server no longer has this file. Press “Write the sheets” again: they will be the same.")


@dataclass(frozen=True)
class ClassOrder:
    """The sheet of the first student, how many students there are, the paper, the language, and the kind of file."""

    choices: SheetChoices
    sheets: int
    paper: str
    language: str = FIRST
    as_pdf: bool = False


def written_class(order: ClassOrder, pages: PageLock) -> Iterator[object]:
    """Write the file in pieces: the code of each student when the sheet is done, at the end the whole file.

    It is written far from the visit that asked for it, so between two pieces its language is forgotten.
    """
    pieces, end = pieces_of_pdf(order, pages) if order.as_pdf else pieces_of_class(order), object()
    while True:
        with speaking(order.language):
            piece = next(pieces, end)
        if piece is end:
            return
        yield piece


def pieces_of_pdf(order: ClassOrder, pages: PageLock) -> Iterator[object]:
    """The same from the process that writes it; while it is waited for, nobody's page is held up."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "worksheets.pdf"
        writer = subprocess.Popen(
            [sys.executable, "-m", PDF_WRITER, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
            text=True,
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),  # of Windows
        )
        assert writer.stdin and writer.stdout
        try:
            with pages.away(), writer.stdin as asked:
                json.dump(asdict(order), asked)
            while codes := next_line(writer, pages):
                yield from codes.split()
            if writer.returncode:
                raise RuntimeError(f"the process that writes worksheets ended with {writer.returncode}")
            yield file.read_bytes()
        finally:
            writer.kill()
            writer.wait()
            writer.stdout.close()


def next_line(writer: subprocess.Popen[str], pages: PageLock) -> str:
    """What the process says next; nothing once it has ended."""
    assert writer.stdout
    with pages.away():
        said = writer.stdout.readline().strip()
        if not said:
            writer.wait()
    return said


def pieces_of_class(order: ClassOrder) -> Iterator[object]:
    """Write the sheets and keys of a class, piece by piece, in the language of whoever asked."""
    held, keys, codes = io.BytesIO(), [], []
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        with packed.open("sheets.html", "w") as file:
            for piece in whole_file(translate("Worksheets"), sections_of_class(order, keys, codes), order.paper):
                file.write(piece.encode())
                yield codes[-1] if piece.startswith("<section") else None
        with packed.open("keys.html", "w") as file:
            for piece in whole_file(translate("Keys"), keys, order.paper):
                file.write(piece.encode())
                yield None
        lines = [f"{place},{code}" for place, code in enumerate(codes, start=1)]
        packed.writestr("codes.csv", "\n".join(["student,code", *lines, ""]))
    yield held.getvalue()


def sections_of_class(order: ClassOrder, keys: list[str], codes: list[str]) -> Iterator[str]:
    """Sheet after sheet; the key and the code of each are put with the others. Between the tasks, nothing.

    So a page for which somebody waits never waits for more than a task.
    """
    for choices in sheets_of_class(order.choices, order.sheets):
        drawn = []
        for place in range(0 if choices.in_one_thread else choices.tasks):
            drawn.append(paper_task(choices, place, drawn))
            yield ""
        tasks = tasks_on_sheet(choices) if choices.in_one_thread else in_order_of_lessons(choices, drawn)
        keys.append(key_section(choices, tasks))
        codes.append(sheet_code(choices))
        yield sheet_section(choices, tasks)


def file_in_place_of_class(as_pdf: bool = False) -> bytes:
    """What is handed out where the file is gone: one line that says so."""
    if as_pdf:
        return pdf_that_says(render(NO_LONGER_KEPT))
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        packed.writestr("read me.txt", render(NO_LONGER_KEPT) + "\n")
    return held.getvalue()
