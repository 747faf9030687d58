"""Worksheets and keys as they are printed: texts and tables in the reader's language, for a file of any kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lessons.screen.format import labels_of, render, render_all, translate
from lessons.screen.message import message
from lessons.screen.screen import LETTERS, Matrix, Question
from lessons.take_home.numbers import on_paper
from lessons.take_home.sheet import PAPER_SENTENCE, SheetChoices, sheet_code
from lessons.take_home.tasks import (
    PAPER_TOPICS,
    Blanks,
    PaperTask,
    answers_of,
    decimals_in,
    how_to_round,
    sheet_tasks,
    sum_on_paper,
    what_they_sum_to,
    written_cell,
)
from lessons.take_home.thread import how_to_check, thread_tasks, to_go_on_with

SIGMA, UNASKED = "Σ", "·"
GO_ON = message("If your sum differs, go on with these.")


@dataclass(frozen=True)
class PrintedCell:
    """What stands in a cell, and what it is: given, blank, an answer, crossed (out), a sum, or unasked."""

    text: str
    look: str = "given"


@dataclass(frozen=True)
class PrintedTable:
    """A table with the names of its rows and columns."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[tuple[PrintedCell, ...], ...]


@dataclass(frozen=True)
class PrintedCard:
    """A card to choose; in a key with what there is to say of it."""

    text: str
    reply: str = ""
    right: bool = False


@dataclass(frozen=True, kw_only=True)
class PrintedTask:
    """A task: what is asked, its tables, then cards or room to write, or in a key how the answers come about."""

    heading: str
    asks: str
    tables: tuple[tuple[PrintedTable, ...], ...]  # rows, of tables that stand beside each other
    lines: tuple[str, ...] = ()
    verdict: str = ""
    cards: tuple[PrintedCard, ...] = ()
    card_lines: tuple[str, ...] = ()
    room: bool = False


Page = tuple[tuple[PrintedTask, ...], ...]  # rows, of tasks that stand beside each other


@dataclass(frozen=True, kw_only=True)
class PrintedSheet:
    """A sheet or its key: pages, each of which may go on on more paper. `upside_down` stands beside the last task."""

    title: str
    code: str
    is_key: bool
    in_one_thread: bool
    sentence: str  # where it is not the usual one: it is typed with the code
    about: str
    pages: tuple[Page, ...]
    upside_down: tuple[PrintedTable, ...] = ()
    upside_down_says: str = ""


def tasks_on_sheet(choices: SheetChoices) -> tuple[PaperTask, ...]:
    """The tasks of a sheet, whichever kind it is."""
    return thread_tasks(choices) if choices.in_one_thread else sheet_tasks(choices)


def printed_sheet(choices: SheetChoices, tasks: Sequence[PaperTask], key: bool = False) -> PrintedSheet:
    """A sheet with room to write, or its key: every answer, and how it comes about."""
    about = how_to_check(choices) if choices.in_one_thread else how_to_round(choices.decimals)
    aside = to_go_on_with(tasks) if choices.in_one_thread and not key else ()
    return PrintedSheet(
        title=translate("Key to sheet") if key else translate("Attention on paper"),
        code=sheet_code(choices),
        is_key=key,
        in_one_thread=choices.in_one_thread,
        sentence="" if choices.text == PAPER_SENTENCE else choices.text,
        about=render_all(about),
        pages=pages_of(tasks, choices, key),
        upside_down=tuple(solved_table(blanks, choices.decimals, "given") for blanks in aside),
        upside_down_says=render(GO_ON) if aside else "",
    )


def pages_of(tasks: Sequence[PaperTask], choices: SheetChoices, key: bool) -> tuple[Page, ...]:
    """The tasks in their rows, and these on their pages. A key goes on where a sheet begins a page."""
    pages: list[list[list[PrintedTask]]] = [[]]
    for number, task in enumerate(tasks, start=1):
        goes_on = choices.in_one_thread and number > 1 and task.lesson == tasks[number - 2].lesson
        heading = f"{number}." if goes_on else f"{number}. {render(PAPER_TOPICS[task.lesson])}"
        printed = (task_solved if key else task_to_do)(heading, task, choices.decimals)
        if task.begins_page and not key:
            pages.append([])
        if task.beside:
            pages[-1][-1].append(printed)
        else:
            pages[-1].append([printed])
    return tuple(tuple(map(tuple, rows)) for rows in pages)


def task_to_do(heading: str, task: PaperTask, decimals: int) -> PrintedTask:
    """A task: what is asked, what is given, and what is to be filled in or chosen."""
    whole = any(blanks.row is None for blanks in task.blanks)
    return PrintedTask(
        heading=heading,
        asks=render(task.asks),
        tables=rows_of_tables(task, decimals, [blank_table(blanks, decimals) for blanks in task.blanks]),
        cards=tuple(PrintedCard(render(card.text)) for card in task.question.cards) if task.question else (),
        room=bool(task.blanks) and not whole,
    )


def task_solved(heading: str, task: PaperTask, decimals: int) -> PrintedTask:
    """A task with its answers, and the derivation of each."""
    question = task.question
    lines = (line for blanks in task.blanks for line in derivations(blanks, decimals))
    return PrintedTask(
        heading=heading,
        asks=render(task.asks),
        tables=rows_of_tables(task, decimals, [solved_table(blanks, decimals) for blanks in task.blanks]),
        lines=tuple(dict.fromkeys(lines)),
        verdict=translate("{letter} is right.", letter=LETTERS[question.right]) if question else "",
        cards=cards_answered(question) if question else (),
        card_lines=task.derived,
    )


def rows_of_tables(
    task: PaperTask, decimals: int, asked: Sequence[PrintedTable]
) -> tuple[tuple[PrintedTable, ...], ...]:
    """What is given and what is asked for: whole tables stand below what is given, a single row beside it."""
    given = tuple(
        table_of(matrix, lambda i, j, m=matrix: PrintedCell(written_cell(m, i, j, decimals))) for matrix in task.given
    )
    if given and any(blanks.row is None for blanks in task.blanks):
        return given, tuple(asked)
    return ((*given, *asked),)


def table_of(matrix: Matrix, cell: Callable[[int, int], PrintedCell], sums: Sequence[PrintedCell] = ()) -> PrintedTable:
    """A matrix with a cell for each row and column, and where they are given, the sums of its rows behind them."""
    columns, rows = labels_of(matrix.columns), labels_of(matrix.rows)
    cells = [[cell(i, j) for j in range(len(columns))] for i in range(len(rows))]
    if sums:
        columns, cells = (*columns, SIGMA), [[*row, total] for row, total in zip(cells, sums, strict=True)]
    return PrintedTable(render(matrix.title), columns, rows, tuple(map(tuple, cells)))


def blank_table(blanks: Blanks, decimals: int) -> PrintedTable:
    """A table to fill in: empty where something is asked for."""

    def cell(i: int, j: int) -> PrintedCell:
        return PrintedCell("", "blank") if blanks.asks(i, j) else PrintedCell(UNASKED, "unasked")

    asked = blanks.sums == "asked"
    sums = [PrintedCell("", "blank")] * len(blanks.matrix.rows.labels) if asked else sums_of(blanks, decimals, "sum")
    return table_of(blanks.matrix, cell, sums)


def solved_table(blanks: Blanks, decimals: int, look: str = "answer") -> PrintedTable:
    """The table as it should be filled in."""

    def cell(i: int, j: int) -> PrintedCell:
        if not blanks.asks(i, j):
            return PrintedCell(UNASKED, "unasked")
        text = written_cell(blanks.matrix, i, j, decimals)
        return PrintedCell(text, "crossed" if blanks.is_crossed_out(i, j) else look)

    return table_of(blanks.matrix, cell, sums_of(blanks, decimals, look if blanks.sums == "asked" else "sum"))


def sums_of(blanks: Blanks, decimals: int, look: str) -> list[PrintedCell]:
    """What the rows of a table sum to, where that is printed or asked for."""
    if blanks.sums is None:
        return []
    places = decimals_in(blanks.matrix, decimals)
    fixed = blanks.matrix.scale == "weight"
    rows = range(len(blanks.matrix.rows.labels))
    return [PrintedCell(on_paper(sum_on_paper(blanks, row, decimals), places, fixed), look) for row in rows]


def derivations(blanks: Blanks, decimals: int) -> list[str]:
    """How each number that is asked for comes about; a line that several need stands once."""
    lines = dict.fromkeys(line for answer in answers_of(blanks, decimals) for line in answer.lines)
    total = what_they_sum_to(blanks, decimals)
    return [*lines, *([render(total)] if total else [])]


def cards_answered(question: Question) -> tuple[PrintedCard, ...]:
    """The cards, and what there is to say to whoever chose one."""
    return tuple(
        PrintedCard(render(card.text), render(card.reply), place == question.right)
        for place, card in enumerate(question.cards)
    )
