"""Many certificates as a table: a line for each student."""

from collections.abc import Sequence
from typing import NamedTuple

from attention_core.text.tokens import clean_text
from lessons.code.exercises.every import EXERCISES
from lessons.one_head.puzzle.levels import LEVELS
from lessons.screen import Argument, Message, format_value, message, reason, render
from lessons.teachers.homework.certificate import Certificate, read_certificate
from words.spreadsheet import csv_file

MOST_CERTIFICATES, LONGEST_FILE_NAME = 60, 80  # files that are read at a time, characters that are shown
NO_NAME = message("no name given")
COLUMNS = (
    message("name"),
    message("homework"),
    message("saved at (UTC)"),
    message("questions"),
    message("right at the first try"),
    message("right later"),
    message("wrong at first"),
    message("tasks"),
    message("tasks solved"),
    message("seeds"),
    message("titles of all exercises solved"),
    message("titles of all heads built"),
)
EXERCISE_TITLES: dict[str, Argument] = {key: exercise.title for key, exercise in EXERCISES.items()}
LEVEL_TITLES: dict[str, Argument] = {key: level.title for key, level in LEVELS.items()}


class Brought(NamedTuple):
    """A file that was brought: its name, and what is in it."""

    name: str
    data: bytes


def read_all(files: Sequence[Brought]) -> tuple[list[Certificate], list[Message]]:
    """The certificates in these files by the names in them, and a sentence on each file that is none, or one again."""
    read: list[tuple[str, Certificate]] = []
    said: list[Message] = []
    for file in files[:MOST_CERTIFICATES]:
        name = clean_text(file.name, LONGEST_FILE_NAME).text
        try:
            certificate = read_certificate(file.data)
        except ValueError as error:
            said.append(message("{file}: {why}", file=name, why=reason(error)))
            continue
        twin = next((other for other, same in read if same == certificate), None)
        if twin is None:
            read.append((name, certificate))
        else:
            said.append(message("{file}: the same certificate as {other}; it counts once.", file=name, other=twin))
    if len(files) > MOST_CERTIFICATES:
        said.append(
            message("Only the first {most} files have been read. Add the others afterwards.", most=MOST_CERTIFICATES)
        )
    return sorted((certificate for _, certificate in read), key=lambda one: (one.name.casefold(), one.made)), said


def lines_of(certificates: Sequence[Certificate]) -> list[dict[str, str | int]]:
    """A line for each certificate, by the names of the columns."""
    columns = [render(column) for column in COLUMNS]
    return [dict(zip(columns, line_of(certificate), strict=True)) for certificate in certificates]


def line_of(certificate: Certificate) -> tuple[str | int, ...]:
    """One line."""
    questions = [stop.result for stop in certificate.stops if stop.kind in ("question", "own")]
    tasks = [stop.result for stop in certificate.stops if stop.kind in ("exercise", "level")]
    seeds = sorted({stop.seed for stop in certificate.stops if stop.seed is not None})
    return (
        clean_text(certificate.name).text or render(NO_NAME),
        f"{clean_text(certificate.title).text} ({certificate.homework})".strip(),
        certificate.made.replace("T", " ").removesuffix("Z"),
        len(questions),
        questions.count("first"),
        questions.count("later"),
        went_wrong(certificate),
        len(tasks),
        tasks.count("done"),
        " ".join(map(str, seeds)),
        titles_of(certificate.exercises, EXERCISE_TITLES),
        titles_of(certificate.levels, LEVEL_TITLES),
    )


def went_wrong(certificate: Certificate) -> str:
    """The stops at which the first answer was wrong, counted from 1, with what was asked there."""
    wrong = [(place, clean_text(stop.asked).text) for place, stop in enumerate(certificate.stops, 1) if stop.went_wrong]
    return "; ".join(f"{place}: {asked}" if asked else str(place) for place, asked in wrong)


def titles_of(keys: Sequence[str], titles: dict[str, Argument]) -> str:
    """What is solved, in the order of the lessons, by its titles; what is unknown here is left out."""
    return ", ".join(format_value(title) for key, title in titles.items() if key in keys)


def csv_of_lines(lines: Sequence[dict[str, str | int]]) -> bytes:
    """The table as a file."""
    return csv_file([lines[0] if lines else (), *(line.values() for line in lines)])
