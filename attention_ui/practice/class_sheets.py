"""The worksheets of a class in one file: a sheet for each student, the keys, and a list of the codes."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from attention_ui.export.paper import key_section, sheet_section, whole_file
from lessons.screen.format import render, translate
from lessons.screen.message import message
from lessons.take_home.sheet import SheetChoices, sheet_code, sheets_of_class
from lessons.take_home.tasks import in_order_of_lessons, paper_task
from words import FIRST, speaking

ZIP = "application/zip"
NO_LONGER_KEPT = message(
    "This file was no longer kept on the server. Press “Write the sheets” again: they will be the same."
)


@dataclass(frozen=True)
class ClassOrder:
    """The sheet of the first student, how many students there are, the paper, and the language of the sheets."""

    choices: SheetChoices
    sheets: int
    paper: str
    language: str = FIRST


def written_class(order: ClassOrder) -> Iterator[object]:
    """Write the file in pieces: the code of each student when the sheet is done, at the end the whole file.

    It is written far from the visit that asked for it, so between two pieces its language is forgotten.
    """
    pieces, end = pieces_of_class(order), object()
    while True:
        with speaking(order.language):
            piece = next(pieces, end)
        if piece is end:
            return
        yield piece


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
        for place in range(choices.tasks):
            drawn.append(paper_task(choices, place, drawn))
            yield ""
        tasks = in_order_of_lessons(choices, drawn)
        keys.append(key_section(choices, tasks))
        codes.append(sheet_code(choices))
        yield sheet_section(choices, tasks)


def file_in_place_of_class() -> bytes:
    """What is handed out where the file is gone: one line that says so."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        packed.writestr("read me.txt", render(NO_LONGER_KEPT) + "\n")
    return held.getvalue()
