"""Worksheets and their keys as HTML: whole files that need nothing else, and print on A4 or Letter.

Every text goes through `escape`, and the files allow themselves neither a script nor anything from elsewhere.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from attention_ui.export.printed import PrintedCard, PrintedCell, PrintedSheet, PrintedTable, PrintedTask, printed_sheet
from lessons.screen.format import translate
from lessons.screen.message import message
from lessons.take_home.sheet import SheetChoices, sheet_code
from lessons.take_home.tasks import PaperTask
from words import language, tag_of

PAPER_SIZES = {"a4": "A4", "letter": message("Letter")}  # by their names in style sheets
ALLOWED = "default-src 'none'; style-src 'unsafe-inline'"
CORNER = '<td class="corner"></td>'


def whole_file(title: str, sections: Iterable[str], paper: str) -> Iterator[str]:
    """A file piece by piece: what it needs, then section after section."""
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
    """One worksheet: its code, how to round, and its tasks, with room to write."""
    return in_section(printed_sheet(choices, tasks))


def key_section(choices: SheetChoices, tasks: Sequence[PaperTask]) -> str:
    """The key of one worksheet: every answer, and how it comes about."""
    return in_section(printed_sheet(choices, tasks, key=True))


def in_section(sheet: PrintedSheet) -> str:
    """What begins on a page of its own."""
    kind = "sheet thread" if sheet.in_one_thread else "sheet"
    pages = [[[in_task(task) for task in row] for row in page] for page in sheet.pages]
    if sheet.upside_down:
        pages[-1][-1].append(turned_around(sheet))
    written = "".join(f'<div class="page">{"".join(map(in_row, page))}</div>\n' for page in pages)
    return f'<section class="{kind}">\n{head_of(sheet)}{written}</section>\n'


def in_row(tasks: Sequence[str]) -> str:
    """Tasks beside each other."""
    return tasks[0] if len(tasks) == 1 else f'<div class="row">{"".join(tasks)}</div>\n'


def head_of(sheet: PrintedSheet) -> str:
    """Title and code, room for a name, a sentence of its own, and how to round."""
    title, code = escape(sheet.title), f'<span class="code">{escape(sheet.code)}</span>'
    if sheet.is_key:
        head = f"<h1>{title} {code}</h1>\n"
    else:
        name, word = escape(translate("Name")), escape(translate("Sheet"))
        head = (
            f'<h1>{title}</h1>\n<div class="head"><span class="write">{name}</span><span>{word} {code}</span></div>\n'
        )
    said = escape(translate("Sentence"))
    sentence = f"<p>{said} <b>{escape(sheet.sentence)}</b></p>\n" if sheet.sentence else ""
    return f'{head}{sentence}<p class="about">{escape(sheet.about)}</p>\n'


def turned_around(sheet: PrintedSheet) -> str:
    """What one turns the sheet around to read."""
    tables = "".join(map(paper_table, sheet.upside_down))
    return f'<div class="turned"><p>{escape(sheet.upside_down_says)}</p>\n<div class="tables">{tables}</div></div>\n'


def in_task(task: PrintedTask) -> str:
    """A task, to do or solved."""
    cards = "".join(map(card_in_list, task.cards))
    parts = (
        f'<div class="task"><h2>{escape(task.heading)}</h2>\n<p>{escape(task.asks)}</p>\n',
        *(f'<div class="tables">{"".join(map(paper_table, row))}</div>\n' for row in task.tables),
        listed_lines(task.lines),
        f"<p><b>{escape(task.verdict)}</b></p>\n" if task.verdict else "",
        f'<ol class="cards">{cards}</ol>\n' if cards else "",
        listed_lines(task.card_lines),
        '<div class="room"></div>' if task.room else "",
        "</div>\n",
    )
    return "".join(parts)


def paper_table(table: PrintedTable) -> str:
    """A table with the names of its rows and columns."""
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in table.columns)
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th>{"".join(map(in_cell, row))}</tr>'
        for label, row in zip(table.rows, table.cells, strict=True)
    )
    kind = ' class="numbered"' if all(label.isdigit() for label in table.rows) else ""
    return f"<table{kind}><caption>{escape(table.caption)}</caption><tr>{CORNER}{head}</tr>{body}</table>"


def in_cell(cell: PrintedCell) -> str:
    """A cell, empty or not; one to fill in says so to whoever hears it."""
    if cell.look == "blank":
        name = escape(translate("to fill in"))
        return f'<td class="blank" aria-label="{name}"></td>'
    kind = "" if cell.look == "given" else f' class="{cell.look}"'
    return f"<td{kind}>{escape(cell.text)}</td>"


def listed_lines(lines: Sequence[str]) -> str:
    """Lines of arithmetic, if there are any."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="lines">{items}</ul>\n' if items else ""


def card_in_list(card: PrintedCard) -> str:
    """A card to choose from; in a key with what there is to say to whoever chose it."""
    text = f"<b>✓ {escape(card.text)}</b>" if card.right else escape(card.text)
    return f"<li>{text}{f' — {escape(card.reply)}' if card.reply else ''}</li>"


def file_name_of(what: str, choices: SheetChoices) -> str:
    """A name for the file of a sheet or key, by the beginning of its code."""
    return f"{what}_{re.sub('[^A-Z0-9]', '_', sheet_code(choices)[:11])}.html"
