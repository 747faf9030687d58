"""Worksheets and their keys as HTML: whole files that need nothing else, and print on A4 or Letter.

Every text goes through `escape`, and the files allow themselves neither a script nor anything from elsewhere.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from attention_ui.page.question import LETTERS
from lessons.screen.format import labels_of, render, render_all, translate
from lessons.screen.message import Message, message
from lessons.screen.screen import Matrix, Question
from lessons.take_home.sheet import SheetChoices, sheet_code
from lessons.take_home.tasks import (
    PAPER_TOPICS,
    Blanks,
    PaperTask,
    answers_of,
    how_to_round,
    what_they_sum_to,
    written_cell,
)
from words import language, tag_of

PAPER_SIZES = {"a4": "A4", "letter": message("Letter")}  # by their names in style sheets
ALLOWED = "default-src 'none'; style-src 'unsafe-inline'"
CORNER = '<td class="corner"></td>'
Cell = Callable[[int, int], str]  # from a row and a column to a cell of a table


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
    title, name, sheet = map(escape, (translate("Attention on paper"), translate("Name"), translate("Sheet")))
    head = (
        f'<h1>{title}</h1>\n<div class="head">'
        f'<span class="write">{name}</span>'
        f'<span>{sheet} <span class="code">{escape(sheet_code(choices))}</span></span></div>\n'
        f'<p class="about">{escaped(*how_to_round(choices.decimals))}</p>\n'
    )
    places = enumerate(tasks, start=1)
    return in_section(head, (task_to_do(number, task, choices.decimals) for number, task in places))


def key_section(choices: SheetChoices, tasks: Sequence[PaperTask]) -> str:
    """The key of one worksheet: every answer, and how it comes about."""
    title = escape(translate("Key of sheet"))
    head = (
        f'<h1>{title} <span class="code">{escape(sheet_code(choices))}</span></h1>\n'
        f'<p class="about">{escaped(*how_to_round(choices.decimals))}</p>\n'
    )
    places = enumerate(tasks, start=1)
    return in_section(head, (task_solved(number, task, choices.decimals) for number, task in places))


def in_section(head: str, tasks: Iterable[str]) -> str:
    """What begins on a page of its own."""
    return f'<section class="sheet">\n{head}{"".join(tasks)}</section>\n'


def task_to_do(number: int, task: PaperTask, decimals: int) -> str:
    """A task: what is asked, what is given, and what is to be filled in or chosen."""
    asked = [paper_table(blanks.matrix, lambda i, j, row=blanks.row: blank_cell(i == row)) for blanks in task.blanks]
    below = cards_to_choose(task.question) if task.question else '<div class="room"></div>'
    return in_task(number, task, f"{tables(task, decimals, asked)}{below}")


def task_solved(number: int, task: PaperTask, decimals: int) -> str:
    """A task with its answers, and the derivation of each."""
    asked = [solved_table(blanks, decimals) for blanks in task.blanks]
    lines = "".join(derivations(blanks, decimals) for blanks in task.blanks)
    cards = f"{cards_answered(task.question)}{listed_lines(task.derived)}" if task.question else ""
    return in_task(number, task, f"{tables(task, decimals, asked)}{lines}{cards}")


def in_task(number: int, task: PaperTask, inner: str) -> str:
    """What every task begins with."""
    heading = f"<h2>{number}. {escaped(PAPER_TOPICS[task.lesson])}</h2>"
    return f'<div class="task">{heading}\n<p>{escaped(task.asks)}</p>\n{inner}</div>\n'


def tables(task: PaperTask, decimals: int, asked: Sequence[str]) -> str:
    """What is given, and beside it what is asked for."""

    def given(matrix: Matrix) -> Cell:
        return lambda i, j: f"<td>{escape(written_cell(matrix, i, j, decimals))}</td>"

    return f'<div class="tables">{"".join([*(paper_table(m, given(m)) for m in task.given), *asked])}</div>\n'


def paper_table(matrix: Matrix, cell: Cell) -> str:
    """A matrix with the names of its rows and columns."""
    columns, rows = labels_of(matrix.columns), labels_of(matrix.rows)
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th>{"".join(cell(i, j) for j in range(len(columns)))}</tr>'
        for i, label in enumerate(rows)
    )
    return f"<table><caption>{escaped(matrix.title)}</caption><tr>{CORNER}{head}</tr>{body}</table>"


def blank_cell(asked: bool) -> str:
    """A cell to fill in, or one that nobody asks for."""
    empty = escape(translate("to fill in"))
    fill = f'<td class="blank" aria-label="{empty}"></td>'
    return fill if asked else '<td class="unasked">·</td>'


def solved_table(blanks: Blanks, decimals: int) -> str:
    """The row as it should be filled in."""
    answers = {(answer.row, answer.column): answer.text for answer in answers_of(blanks, decimals)}

    def cell(i: int, j: int) -> str:
        return f'<td class="answer">{escape(answers[i, j])}</td>' if (i, j) in answers else blank_cell(False)

    return paper_table(blanks.matrix, cell)


def derivations(blanks: Blanks, decimals: int) -> str:
    """How each number of the row comes about; a line that several need stands once."""
    lines = dict.fromkeys(line for answer in answers_of(blanks, decimals) for line in answer.lines)
    total = what_they_sum_to(blanks, decimals)
    return listed_lines([*lines, *([render(total)] if total else [])])


def listed_lines(lines: Sequence[str]) -> str:
    """Lines of arithmetic, if there are any."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="lines">{items}</ul>\n' if items else ""


def cards_to_choose(question: Question) -> str:
    """The answers to choose from."""
    return f'<ol class="cards">{"".join(f"<li>{escaped(card.text)}</li>" for card in question.cards)}</ol>\n'


def cards_answered(question: Question) -> str:
    """The right answer, and what there is to say to whoever chose another."""
    texts = [escaped(card.text) for card in question.cards]
    texts[question.right] = f"<b>✓ {texts[question.right]}</b>"
    lines = [f"<li>{text} — {escaped(card.reply)}</li>" for text, card in zip(texts, question.cards, strict=True)]
    verdict = translate("{letter} is right.", letter=LETTERS[question.right])
    right = f"<p><b>{escape(verdict)}</b></p>\n"
    return f'{right}<ol class="cards">{"".join(lines)}</ol>\n'


def escaped(*sentences: Message) -> str:
    """Sentences that can stand in HTML."""
    return escape(render_all(sentences))


def file_name_of(what: str, choices: SheetChoices) -> str:
    """A name for the file of a sheet or key, by the beginning of its code."""
    return f"{what}_{re.sub('[^A-Z0-9]', '_', sheet_code(choices)[:11])}.html"
