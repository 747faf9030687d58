"""Worksheets and their keys as HTML: a whole file that needs nothing else, and prints on A4 or Letter.

Every text goes through `escape`, and a file allows itself neither a script nor anything from elsewhere.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import chain, repeat
from pathlib import Path

from lessons.screen import Matrix, labels_of, message, render, render_all, translate
from lessons.teachers.take_home.numbers import on_paper
from lessons.teachers.take_home.sheet import PAPER_SENTENCE, SheetChoices, sheet_code
from lessons.teachers.take_home.tasks import Blanks, PaperTask, decimals_in, derivations, sum_on_paper, written_cell
from lessons.teachers.take_home.thread import how_to_check
from words import language, tag_of

PAPER_SIZES = {"a4": "A4", "letter": message("Letter")}  # by their names in style sheets
ALLOWED = "default-src 'none'; style-src 'unsafe-inline'"
SIGMA, UNASKED = "Σ", "·"
CORNER = '<td class="corner"></td>'


def whole_file(title: str, sections: Iterable[str], paper: str) -> Iterator[str]:
    """A file with these sections, each of which begins on a new page: part by part."""
    yield (
        f'<!doctype html>\n<html lang="{tag_of(language().code)}"><head><meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n"
        f'<meta http-equiv="Content-Security-Policy" content="{ALLOWED}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>@page {{ size: {paper.title()}; margin: 15mm; }}\n{style_of_paper()}</style></head>\n"
        "<body><main>\n"
    )
    yield from sections
    yield "</main></body></html>\n"


@functools.cache
def style_of_paper() -> str:
    """The style sheet of worksheets and keys."""
    return Path(__file__).with_name("paper.css").read_text(encoding="utf-8")


def sheet_section(choices: SheetChoices, tasks: Sequence[PaperTask]) -> str:
    """One worksheet: its code, what its sums are for, and its tasks, with room to write."""
    return section_of(choices, tasks, key=False)


def key_section(choices: SheetChoices, tasks: Sequence[PaperTask]) -> str:
    """The key of one worksheet: every answer, and how those of each last row come about."""
    return section_of(choices, tasks, key=True)


def section_of(choices: SheetChoices, tasks: Sequence[PaperTask], *, key: bool) -> str:
    """A sheet or its key: its head, and its tasks on their pages, the code on each."""
    heads = chain([head_of(choices, key)], repeat(f'<p class="code">{escape(sheet_code(choices))}</p>\n'))
    rows = pages_of(tasks, choices.decimals, key)
    pages = (f'<div class="page">\n{head}{"".join(page)}</div>\n' for head, page in zip(heads, rows, strict=False))
    return f'<section class="{"key" if key else "sheet"}">\n{"".join(pages)}</section>\n'


def head_of(choices: SheetChoices, key: bool) -> str:
    """Title and code, room for a name, a sentence of its own, and what the sums are for."""
    code = f'<span class="code">{escape(sheet_code(choices))}</span>'
    title = escape(translate("Key to sheet") if key else translate("Attention on paper"))
    name, word, said = (escape(text) for text in (translate("Name"), translate("Sheet"), translate("Sentence")))
    if key:
        head = f"<h1>{title} {code}</h1>\n"
    else:
        head = (
            f'<h1>{title}</h1>\n<div class="head"><span class="write">{name}</span><span>{word} {code}</span></div>\n'
        )
    own = choices.text != PAPER_SENTENCE  # it is typed with the code
    sentence = f"<p>{said} <b>{escape(choices.text)}</b></p>\n" if own else ""
    return f'{head}{sentence}<p class="about">{escape(render_all(how_to_check(choices)))}</p>\n'


def pages_of(tasks: Sequence[PaperTask], decimals: int, key: bool) -> Iterator[list[str]]:
    """The rows of each page; a row is a task, or two beside each other."""
    rows: list[list[str]] = []
    for number, task in enumerate(tasks, start=1):
        goes_on = number > 1 and task.topic == tasks[number - 2].topic
        written = written_task(f"{number}." if goes_on else f"{number}. {render(task.topic)}", task, decimals, key)
        if task.begins_page:
            yield [in_row(row) for row in rows]
            rows = []
        if task.beside:
            rows[-1].append(written)
        else:
            rows.append([written])
    yield [in_row(row) for row in rows]


def in_row(tasks: Sequence[str]) -> str:
    """Tasks beside each other."""
    return tasks[0] if len(tasks) == 1 else f'<div class="row">{"".join(tasks)}</div>\n'


def written_task(heading: str, task: PaperTask, decimals: int, key: bool) -> str:
    """A task, to do or solved: what is asked, what is given, and the tables to fill in."""
    given = [table_of(matrix, lambda i, j, m=matrix: td(written_cell(m, i, j, decimals))) for matrix in task.given]
    asked = [(solved_table if key else blank_table)(blanks, decimals) for blanks in task.blanks]
    lines = dict.fromkeys(line for blanks in task.blanks for line in derivations(blanks, decimals)) if key else ()
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    parts = (
        f'<div class="task"><h2>{escape(heading)}</h2>\n<p>{escape(render(task.asks))}</p>\n',
        *(f'<div class="tables">{"".join(row)}</div>\n' for row in (given, asked) if row),
        f'<ul class="lines">{items}</ul>\n' if items else "",
        "</div>\n",
    )
    return "".join(parts)


def blank_table(blanks: Blanks, decimals: int) -> str:
    """A table to fill in: empty where something is asked for. A row of one number has no sum, which would be that."""
    rows = range(len(blanks.matrix.rows.labels))
    sums = [blank_cell() for _ in rows]
    if blanks.sums == "given":
        told = sums_of(blanks, decimals)
        sums = [told[row] if blanks.counted(row) > 1 else unasked_cell() for row in rows]
    return table_of(blanks.matrix, lambda i, j: blank_cell() if blanks.matrix.sees(i, j) else unasked_cell(), sums)


def solved_table(blanks: Blanks, decimals: int) -> str:
    """The table as it should be filled in."""

    def cell(i: int, j: int) -> str:
        if not blanks.matrix.sees(i, j):
            return unasked_cell()
        look = "crossed" if blanks.is_crossed_out(i, j) else "answer"
        return td(written_cell(blanks.matrix, i, j, decimals), look)

    return table_of(blanks.matrix, cell, sums_of(blanks, decimals))


def sums_of(blanks: Blanks, decimals: int) -> list[str]:
    """What the rows of a table sum to: an answer where it is asked for."""
    places, fixed = decimals_in(blanks.matrix, decimals), blanks.matrix.scale == "weight"
    rows, look = range(len(blanks.matrix.rows.labels)), "answer" if blanks.sums == "asked" else "sum"
    return [td(on_paper(sum_on_paper(blanks, row, decimals), places, fixed), look) for row in rows]


def table_of(matrix: Matrix, cell: Callable[[int, int], str], sums: Sequence[str] = ()) -> str:
    """A matrix with the names of its rows and columns, and where they are given, the sums of its rows behind them."""
    columns, rows = labels_of(matrix.columns), labels_of(matrix.rows)
    heads = "".join(f'<th scope="col">{escape(label)}</th>' for label in (*columns, *([SIGMA] if sums else [])))
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th>{"".join(cell(i, j) for j in range(len(columns)))}'
        f"{sums[i] if sums else ''}</tr>"
        for i, label in enumerate(rows)
    )
    kind = ' class="numbered"' if all(label.isdigit() for label in rows) else ""
    return f"<table{kind}><caption>{escape(render(matrix.title))}</caption><tr>{CORNER}{heads}</tr>{body}</table>"


def blank_cell() -> str:
    """A cell to fill in, which says so to whoever hears it."""
    name = escape(translate("to fill in"))
    return f'<td class="blank" aria-label="{name}"></td>'


def unasked_cell() -> str:
    """A cell in which there is nothing to fill in."""
    return td(UNASKED, "unasked")


def td(text: str, look: str = "") -> str:
    """A cell and what it is: given, or an answer, crossed out, a sum, unasked."""
    kind = f' class="{look}"' if look else ""
    return f"<td{kind}>{escape(text)}</td>"


def file_name_of(choices: SheetChoices) -> str:
    """A name for the file of a sheet, by its code."""
    return f"worksheet_{re.sub('[^A-Z0-9]', '_', sheet_code(choices))}.html"
