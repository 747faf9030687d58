"""A question of a teacher's own: cards to choose from, a number within a tolerance, or a word."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

import msgspec

from attention_core.base.errors import InputError
from lessons.screen import Card, Message, Numeral, Part, Parts, Question, Table, message

MOST_PROMPT, MOST_CARD, MOST_WORD, MOST_CARDS = 300, 120, 40, 4
MOST_BARS = 12
NARROW, WIDE, SHORT_NAME = 350, 700, 6  # pixels of the bars: narrow ones fit a phone where their names are short
NUMBER = re.compile(r"[+\-−]?\d{1,12}(?:[.,]\d{1,9})?")
Kind = Literal["choices", "number", "word"]
KINDS: dict[Kind, Message] = {
    "choices": message("one of several"),
    "number": message("a number"),
    "word": message("a word"),
}


@dataclass(frozen=True, kw_only=True)
class OwnQuestion:
    """What a teacher asks. Of some `cards` the one at the place `right` is right, or none is; of numbers those are that
    lie within the `tolerance` of `number`. A word is never right or wrong.

    Raises ValueError, with a sentence, for what cannot be asked.
    """

    kind: Kind
    prompt: Annotated[str, msgspec.Meta(max_length=MOST_PROMPT)]
    cards: tuple[Annotated[str, msgspec.Meta(max_length=MOST_CARD)], ...] = ()
    right: int | None = None
    number: float | None = None
    tolerance: float = 0.0

    def __post_init__(self):
        if not self.prompt.strip():
            raise InputError("Type the question.")
        if self.kind == "choices":
            answers = [card.strip() for card in self.cards]
            if not 2 <= len(answers) <= MOST_CARDS or not all(answers) or len(set(answers)) < len(answers):
                raise InputError("A multiple-choice question needs 2 to {most} different answers.", most=MOST_CARDS)
            if self.right is not None and not 0 <= self.right < len(answers):
                raise InputError("The right answer must be one of the {count} answers.", count=len(answers))
        elif not all(map(math.isfinite, (self.number or 0.0, self.tolerance))) or self.tolerance < 0:
            raise InputError("A tolerance is a number from 0 up.")

    @property
    def is_written(self) -> bool:
        """True where the class writes its answer."""
        return self.kind != "choices"

    def fits(self, answer: str) -> bool:
        """True for a number within the tolerance of the right one."""
        value = number_of(answer)
        # Half a unit in the last place of a double is no mistake of a student's.
        slack = self.tolerance * (1 + 1e-9) + 1e-12
        return self.number is not None and value is not None and abs(value - self.number) <= slack

    def question(self) -> Question:
        """The question as every page asks one; without cards where the answer is written."""
        cards = tuple(Card(literal(card), self.reply(place)) for place, card in enumerate(self.cards))
        return Question(literal(self.prompt), cards, -1 if self.right is None else self.right)

    def reply(self, place: int) -> Message:
        """What is said to whoever chose a card."""
        if self.right is None:
            return message("No answer to this question is right or wrong.")
        return message("That is right.") if place == self.right else message("That is not right.")


def literal(text: str) -> Message:
    """A visitor's text as an argument: no template is ever made of it."""
    return message("{text}", text=text)


def number_of(typed: object) -> float | None:
    """The number that somebody means, with a point or a comma; None for what is none."""
    text = typed.strip().replace(" ", "") if isinstance(typed, str) and len(typed) <= MOST_WORD else ""
    return float(text.replace(",", ".").replace("−", "-")) if NUMBER.fullmatch(text) else None


def plain_number(value: float) -> Numeral:
    """A number with all its digits, and without a power of ten."""
    return Numeral(f"{Decimal(repr(value)):f}".removesuffix(".0").replace("-", "−"))


def right_number(own: OwnQuestion) -> Message | None:
    """Which number is right; None where none is."""
    if own.number is None:
        return None
    number = plain_number(own.number)
    if not own.tolerance:
        return message("The right number is {number}.", number=number)
    tolerance = plain_number(own.tolerance)
    return message("The right number is {number}, give or take {tolerance}.", number=number, tolerance=tolerance)


def answer_of(own: OwnQuestion, typed: str) -> str:
    """The answer as it is counted: a number as Python writes it, words in small letters. Raises ValueError for none."""
    if own.kind == "number":
        value = number_of(typed)
        if value is None:
            raise InputError("Type a number, such as 0.25 or 12.")
        return f"{value:g}" if len(f"{value:g}") < MOST_WORD and float(f"{value:g}") == value else repr(value)
    word = " ".join("".join(letter if letter.isprintable() else " " for letter in typed).split()).lower()
    if not 0 < len(word) <= MOST_WORD:
        raise InputError("Type a word of 1 to {most} letters.", most=MOST_WORD)
    return word


def distribution_of_numbers(own: OwnQuestion, answers: Sequence[tuple[str, int]], *, explained: bool) -> Parts:
    """A bar for each number that was given, in their order; numbers far too many are gathered in ranges."""
    numbers = sorted((float(answer), count) for answer, count in answers)
    voters = sum(count for _, count in numbers)
    groups = gathered(numbers)
    parts = tuple(
        Part(
            name=name,
            shares=(count / voters,),
            says=(message("{count} of {voters} answered {answer}.", count=count, voters=voters, answer=name),),
        )
        for name, count in groups
    )
    notice = [middle_of(numbers)]
    if explained and own.number is not None:
        right = sum(count for answer, count in answers if own.fits(answer))
        notice.append(
            message(
                "Right answers: {right} of {voters} ({number}, give or take {tolerance}).",
                right=right,
                voters=voters,
                number=plain_number(own.number),
                tolerance=plain_number(own.tolerance),
            )
        )
    return Parts(
        key="class_numbers",
        name=message("The numbers given as answers"),
        rows=(message("The vote"),),
        parts=parts,
        notice=tuple(notice),
        width=NARROW if all(len(name) <= SHORT_NAME for name, _ in groups) else WIDE,
    )


def gathered(numbers: Sequence[tuple[float, int]]) -> list[tuple[str, int]]:
    """Each number with its count; where there are more than fit side by side, equal ranges from least to most."""
    if len(numbers) <= MOST_BARS:
        return [(f"{value:g}", count) for value, count in numbers]
    least, most = numbers[0][0], numbers[-1][0]
    width = (most - least) / MOST_BARS
    bins: Counter[int] = Counter()
    for value, count in numbers:
        bins[min(MOST_BARS - 1, int((value - least) / width))] += count
    return [(f"{least + n * width:.3g} – {least + (n + 1) * width:.3g}", bins[n]) for n in range(MOST_BARS)]


def middle_of(numbers: Sequence[tuple[float, int]]) -> Message:
    """How many numbers there are, from which to which, and the one in the middle."""
    every = [value for value, count in numbers for _ in range(count)]
    middle = (every[(len(every) - 1) // 2] + every[len(every) // 2]) / 2
    return message(
        "From {least} to {most}; half of the class answered at most {middle}.",
        least=f"{every[0]:g}",
        most=f"{every[-1]:g}",
        middle=f"{middle:g}",
    )


def table_of_words(answers: Sequence[tuple[str, int]]) -> Table:
    """Every word with its count, the most frequent first."""
    return Table(
        key="class_words",
        name=message("The words given as answers"),
        columns=(message("answer"), message("how many")),
        cells=tuple(answers),
    )


class OwnAsked(msgspec.Struct, forbid_unknown_fields=True):
    """A question of one's own as it is put to a class, perhaps about a screen, which `question_link` wrote."""

    own: OwnQuestion
    screen: Annotated[str, msgspec.Meta(max_length=20_000)] = ""


def written_own(own: OwnQuestion, screen: str = "") -> str:
    """The question as a text."""
    return msgspec.json.encode(OwnAsked(own, screen)).decode()


def read_own(text: str) -> OwnAsked | None:
    """The question that was written so; None for a text that is none of one's own."""
    try:
        return msgspec.json.decode(text, type=OwnAsked)
    except (msgspec.MsgspecError, ValueError):
        return None
