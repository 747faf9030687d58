"""What a worksheet is made of, and the code in which all of that is written.

The code is printed on the sheet; whoever types it in gets the key. It has ten characters. Of a sentence of its own it
holds only so much that another one is told: that sentence is typed once more. Its last digits tell a code that was
mistyped.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from attention_core.errors import InputError, Phrase
from attention_core.tokens import clean_text, tokenize
from lessons.screen.message import Message, message

TOPIC = message("Worksheets and lesson plans")
POINT = message("Take attention to class: a worksheet to solve by hand, with its key, or a plan for a whole lesson.")

# Their places are bits of every code that was ever printed: a new one comes last.
ON_PAPER = ("tokens", "dot_product", "projections", "scores", "mask", "softmax", "output")
USUAL_TASKS, MOST_TASKS, MOST_SHEETS, LAST_SHEET = 7, 12, 200, 999_999
DECIMALS = (1, 2)  # of what is rounded
PAPER_SENTENCE = "the cat sat down"
FEWEST_ON_PAPER, MOST_ON_PAPER, LONGEST_ON_PAPER = 2, 5, 60  # tokens, tokens, characters

CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without letters that look like a number, or like each other
MISREAD = str.maketrans("OIL", "011", " -–—−_")
CODE_LENGTH, GROUP = 10, 5
LONGEST_SHEET_CODE = 600  # characters, of what is typed: once, a sentence travelled in its code
BITS_OF_CHECK = 9
DIVIDES = 0b10_0001_0001  # x⁹ + x⁴ + 1, primitive: no wrong character, and no two that changed places, leave its rest
REST_OF_CODE = 0b1_0110_1001  # so that ten zeros are no code


@dataclass(frozen=True, kw_only=True)
class SheetChoices:
    """Lessons, how many tasks, the seed of all numbers, decimals of what is rounded, and the sentence.

    A sheet `in_one_thread` is one computation from X to the output: it has no lessons or tasks to choose.

    Raises ValueError, with a sentence for whoever chose, for what makes no sheet.
    """

    lessons: tuple[str, ...] = ON_PAPER
    tasks: int = USUAL_TASKS
    seed: int = 1
    decimals: int = 2
    text: str = PAPER_SENTENCE
    in_one_thread: bool = False

    def __post_init__(self):
        if not self.lessons:
            raise InputError("No lesson is chosen. A worksheet needs at least one.")
        if self.in_one_thread and (self.lessons, self.tasks) != (ON_PAPER, USUAL_TASKS):
            raise ValueError(f"a sheet in one thread has no tasks to choose, but got {self.tasks} of {self.lessons}")
        if tuple(lesson for lesson in ON_PAPER if lesson in self.lessons) != self.lessons:
            raise ValueError(f"lessons are some of {', '.join(ON_PAPER)}, in this order, but got {self.lessons}")
        for name, least, most in (("tasks", 1, MOST_TASKS), ("seed", 0, LAST_SHEET), ("decimals", *DECIMALS)):
            if not least <= getattr(self, name) <= most:
                raise InputError(
                    "{name} goes from {least} to {most}, but got {value}",
                    name=name,
                    least=least,
                    most=most,
                    value=getattr(self, name),
                )
        found = tokenize(clean_text(self.text).text, "words")
        if " ".join(found) != self.text or not FEWEST_ON_PAPER <= len(found) <= MOST_ON_PAPER:
            raise InputError("a sentence on paper has 2 to 5 tokens, separated by spaces")


def words_on_paper(typed: str) -> tuple[str, tuple[Message | Phrase, ...]]:
    """The tokens of a sentence that a sheet has room for, with a space between them; and what was changed, if much."""
    clean = clean_text(typed[:LONGEST_ON_PAPER])
    tokens, said = tokenize(clean.text, "words"), clean.notes
    if len(tokens) < FEWEST_ON_PAPER:
        return PAPER_SENTENCE, (
            *said,
            message(
                "A worksheet needs a sentence of at least {fewest} tokens, but this one has {tokens}. Until "
                "then, “{usual}” is used.",
                fewest=FEWEST_ON_PAPER,
                tokens=len(tokens),
                usual=PAPER_SENTENCE,
            ),
        )
    if len(tokens) > MOST_ON_PAPER or len(typed) > LONGEST_ON_PAPER:
        said = (
            *said,
            message("There is room for only {most} tokens on paper; the rest are left out.", most=MOST_ON_PAPER),
        )
    return " ".join(tokens[:MOST_ON_PAPER]), said


def sheets_of_class(choices: SheetChoices, sheets: int) -> tuple[SheetChoices, ...]:
    """A sheet for each student, with seeds one after the other; after the last seed comes 0."""
    seeds = ((choices.seed + place) % (LAST_SHEET + 1) for place in range(sheets))
    return tuple(replace(choices, seed=seed) for seed in seeds)


@dataclass(frozen=True)
class ReadCode:
    """What a code says: the choices of its sheet, but for a sentence of its own, and the mark of that sentence."""

    choices: SheetChoices
    mark: int = 0

    @property
    def wants_sentence(self) -> bool:
        """True where the sheet has a sentence of its own, which the code does not hold."""
        return self.mark != 0

    def fits(self, text: str) -> bool:
        """True for the sentence of the sheet: its tokens, with a space between them."""
        return mark_of(text) == self.mark

    def with_sentence(self, typed: str) -> SheetChoices:
        """The choices of the sheet with this sentence. Raises ValueError where it is not that of the code."""
        text, _ = words_on_paper(typed)
        if not self.fits(text):
            raise InputError("This is not the sentence of that sheet. Compare it, and the code, with the sheet.")
        return replace(self.choices, text=text)


def sheet_code(choices: SheetChoices) -> str:
    """The code of a sheet: two sheets have the same only if they are the same, or differ in their sentences alone."""
    packed = place_of_settings(choices) * (LAST_SHEET + 1) + choices.seed
    marked = packed << BITS_OF_CHECK | mark_of(choices.text)
    return "-".join(grouped(in_characters(marked << BITS_OF_CHECK | check_digits(marked), CODE_LENGTH)))


def read_code(code: str) -> ReadCode:
    """What a code says. Raises ValueError, with a sentence, for what is no code of a sheet."""
    if len(code) > LONGEST_SHEET_CODE:
        raise InputError(
            "This is not a worksheet code: it has {count} characters. Copy the code at the top of the sheet.",
            count=f"{len(code):,}",
        )
    plain = code.upper().translate(MISREAD)
    if len(plain) < CODE_LENGTH or set(plain) - set(CHARACTERS):
        raise InputError(
            "This is not a worksheet code: a code has at least {short_code} letters and digits, all from "
            "{characters}. Copy the code at the top of the sheet.",
            short_code=CODE_LENGTH,
            characters=CHARACTERS,
        )
    found = read_earlier_code(plain) or read_plain_code(plain)
    if found is None:
        raise InputError("No worksheet has this code: one of its characters is wrong. Compare it with the sheet.")
    return found


def choices_of_code(code: str, sentence: str = "") -> SheetChoices:
    """The choices of the sheet with this code, and this sentence if it has one of its own; raises ValueError."""
    found = read_code(code)
    return found.with_sentence(sentence) if found.wants_sentence else found.choices


def read_plain_code(plain: str) -> ReadCode | None:
    """The same of a code without signs between its characters; None where it is none."""
    marked, check = divmod(number_of(plain), 1 << BITS_OF_CHECK)
    packed, mark = divmod(marked, 1 << BITS_OF_CHECK)
    place, seed = divmod(packed, LAST_SHEET + 1)
    if len(plain) != CODE_LENGTH or check != check_digits(marked):
        return None
    try:
        return ReadCode(settings_at(place, seed), mark)
    except ValueError:
        return None


def place_of_settings(choices: SheetChoices) -> int:
    """A number for all that is chosen but the seed and the sentence; of a sheet in one thread it is the smallest."""
    marks = sum(1 << place for place, lesson in enumerate(ON_PAPER) if lesson in choices.lessons)
    place = 0 if choices.in_one_thread else marks * MOST_TASKS + choices.tasks - 1
    return place * len(DECIMALS) + choices.decimals - 1


def settings_at(place: int, seed: int) -> SheetChoices:
    """The choices with this number, and a seed. Raises ValueError where there are none."""
    rest, decimals = divmod(place, len(DECIMALS))
    if rest == 0:
        return SheetChoices(in_one_thread=True, decimals=1 + decimals, seed=seed)
    marks, tasks = divmod(rest, MOST_TASKS)
    if marks >> len(ON_PAPER):
        raise ValueError(f"no choices have the number {place}")
    return SheetChoices(lessons=lessons_of(marks), tasks=1 + tasks, decimals=1 + decimals, seed=seed)


def lessons_of(marks: int) -> tuple[str, ...]:
    """The lessons whose bits are set."""
    return tuple(lesson for place, lesson in enumerate(ON_PAPER) if marks >> place & 1)


def mark_of(text: str) -> int:
    """What a code holds of its sentence: 0 of the usual one. Two that differ in a letter have different marks."""
    most = (1 << BITS_OF_CHECK) - 1
    return 0 if text == PAPER_SENTENCE else 1 + rest_of(int.from_bytes(text.encode(), "big")) % most


def check_digits(marked: int) -> int:
    """What a mistyped code does not have."""
    return rest_of(marked << BITS_OF_CHECK) ^ REST_OF_CODE


def rest_of(value: int) -> int:
    """What is left of a number, its bits taken as a polynomial, when it is divided by `DIVIDES`: nine bits."""
    while (longer := value.bit_length() - DIVIDES.bit_length()) >= 0:
        value ^= DIVIDES << longer
    return value


def in_characters(value: int, count: int) -> str:
    """A number in so many characters, five bits each."""
    return "".join(CHARACTERS[value >> 5 * place & 31] for place in reversed(range(count)))


def number_of(characters: str) -> int:
    """The number that was written so."""
    value = 0
    for character in characters:
        value = value << 5 | CHARACTERS.index(character)
    return value


def grouped(text: str) -> Iterable[str]:
    """Five characters each, as one reads them out."""
    return (text[place : place + GROUP] for place in range(0, len(text), GROUP))


# Codes of sheets that were printed before a sentence was typed once more.

EARLIER_BITS_OF_SEED, EARLIER_BITS_OF_CHECK = 20, 18


def read_earlier_code(plain: str) -> ReadCode | None:
    """What such a code says; None where it is none."""
    packed, check = divmod(number_of(plain[:CODE_LENGTH]), 1 << EARLIER_BITS_OF_CHECK)
    rest, seed = divmod(packed, 1 << EARLIER_BITS_OF_SEED)
    marks, sizes = divmod(rest, 1 << 5)
    tail = number_of(plain[CODE_LENGTH:])
    try:
        sentence = tail.to_bytes(5 * (len(plain) - CODE_LENGTH) // 8, "big")
        if check != zlib.crc32(packed.to_bytes(5, "big") + sentence) & ((1 << EARLIER_BITS_OF_CHECK) - 1):
            return None
        text = sentence.decode() or PAPER_SENTENCE
        tasks, decimals, lessons = 1 + (sizes >> 1), 1 + (sizes & 1), lessons_of(marks)
        return ReadCode(SheetChoices(lessons=lessons, tasks=tasks, seed=seed, decimals=decimals, text=text))
    except (ValueError, OverflowError):
        return None
