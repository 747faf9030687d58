"""What a worksheet is made of, and the code in which all of that is written.

The code is printed on the sheet; whoever types it in gets the key. It has ten characters, and more where the sheet has
a sentence of its own, which travels in it. Its check digits tell a code that was mistyped.
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
MOST_TASKS, MOST_SHEETS, LAST_SHEET = 12, 200, 999_999
DECIMALS = (1, 2)  # of what is rounded
PAPER_SENTENCE = "the cat sat down"
FEWEST_ON_PAPER, MOST_ON_PAPER, LONGEST_ON_PAPER = 2, 5, 60  # tokens, tokens, characters

CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without letters that look like a number, or like each other
MISREAD = str.maketrans("OIL", "011", " -–—−_")
BITS_OF_SEED, BITS_OF_CHECK, SHORT_CODE, GROUP = 20, 18, 10, 5
LONGEST_SHEET_CODE = 600  # characters


@dataclass(frozen=True, kw_only=True)
class SheetChoices:
    """Lessons, how many tasks, the seed of all numbers, decimals of what is rounded, and the sentence.

    Raises ValueError, with a sentence for whoever chose, for what makes no sheet.
    """

    lessons: tuple[str, ...] = ON_PAPER
    tasks: int = 7
    seed: int = 1
    decimals: int = 2
    text: str = PAPER_SENTENCE

    def __post_init__(self):
        if not self.lessons:
            raise InputError("A worksheet needs at least one lesson, and none is chosen: choose one.")
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
                "A worksheet needs a sentence of at least {fewest} tokens, and this has {tokens}. Until then it is "
                "“{usual}”.",
                fewest=FEWEST_ON_PAPER,
                tokens=len(tokens),
                usual=PAPER_SENTENCE,
            ),
        )
    if len(tokens) > MOST_ON_PAPER or len(typed) > LONGEST_ON_PAPER:
        said = (*said, message("There is room for {most} tokens on paper: the first are used.", most=MOST_ON_PAPER))
    return " ".join(tokens[:MOST_ON_PAPER]), said


def sheets_of_class(choices: SheetChoices, sheets: int) -> tuple[SheetChoices, ...]:
    """A sheet for each student, with seeds one after the other; after the last seed comes 0."""
    seeds = ((choices.seed + place) % (LAST_SHEET + 1) for place in range(sheets))
    return tuple(replace(choices, seed=seed) for seed in seeds)


def sheet_code(choices: SheetChoices) -> str:
    """The code of a sheet: two sheets have the same only if they are the same."""
    marks = sum(1 << place for place, lesson in enumerate(ON_PAPER) if lesson in choices.lessons)
    packed = (marks << 4 | choices.tasks - 1) << 1 | choices.decimals - 1
    packed = packed << BITS_OF_SEED | choices.seed
    tail = b"" if choices.text == PAPER_SENTENCE else choices.text.encode()
    head = in_characters(packed << BITS_OF_CHECK | check_digits(packed, tail), SHORT_CODE)
    longer = in_characters(int.from_bytes(tail, "big"), -(-8 * len(tail) // 5)) if tail else ""
    return "-".join(grouped(head + longer))


def choices_of_code(code: str) -> SheetChoices:
    """The choices that a code was made of. Raises ValueError, with a sentence, for what is no code of a sheet."""
    if len(code) > LONGEST_SHEET_CODE:
        raise InputError(
            "This is not the code of a worksheet: it has {count} characters. Copy the code at the top of the sheet.",
            count=f"{len(code):,}",
        )
    plain = code.upper().translate(MISREAD)
    if len(plain) < SHORT_CODE or set(plain) - set(CHARACTERS):
        raise InputError(
            "This is not the code of a worksheet: a code has {short_code} or more letters and digits, all from "
            "{characters}. Copy the code at the top of the sheet.",
            short_code=SHORT_CODE,
            characters=CHARACTERS,
        )
    packed, check = divmod(number_of(plain[:SHORT_CODE]), 1 << BITS_OF_CHECK)
    tail = number_of(plain[SHORT_CODE:]) if plain[SHORT_CODE:] else 0
    try:
        whole = tail.to_bytes(5 * (len(plain) - SHORT_CODE) // 8, "big")
        choices = unpacked(packed, whole.decode() or PAPER_SENTENCE)
    except (ValueError, OverflowError):
        choices = None
    if choices is None or check != check_digits(packed, whole):
        raise InputError("No worksheet has this code: one of its characters is wrong. Compare it with the sheet.")
    return choices


def unpacked(packed: int, text: str) -> SheetChoices:
    """The choices in the bits of a code. Raises ValueError for what none has."""
    rest, seed = divmod(packed, 1 << BITS_OF_SEED)
    marks, sizes = divmod(rest, 1 << 5)
    lessons = tuple(lesson for place, lesson in enumerate(ON_PAPER) if marks >> place & 1)
    return SheetChoices(lessons=lessons, tasks=1 + (sizes >> 1), seed=seed, decimals=1 + (sizes & 1), text=text)


def check_digits(packed: int, tail: bytes) -> int:
    """What a mistyped code does not have."""
    return zlib.crc32(packed.to_bytes(5, "big") + tail) & ((1 << BITS_OF_CHECK) - 1)


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
