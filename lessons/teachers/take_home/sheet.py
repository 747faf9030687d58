"""What a worksheet is made of, and the code in which all of that is written.

The code is printed on the sheet; whoever types it in gets the key. It has ten characters. Of a sentence of its own it
holds only so much that another one is told: that sentence is typed once more. Its last digits tell a code that was
mistyped.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from attention_core.base.errors import InputError, Phrase
from attention_core.text.tokens import clean_text, tokenize
from lessons.screen import Message, message

TOPIC = message("Worksheets and lesson plans")
POINT = message("Take attention to class: a worksheet to solve by hand, with its key, or a plan for a whole lesson.")
MOST_SHEETS, LAST_SHEET = 200, 999_999
DECIMALS = (1, 2)  # of what is rounded
PAPER_SENTENCE = "the cat sat down"
FEWEST_ON_PAPER, MOST_ON_PAPER, LONGEST_ON_PAPER = 2, 5, 60  # tokens, tokens, characters

CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without letters that look like a number, or like each other
MISREAD = str.maketrans("OIL", "011", " -–—−_")
CODE_LENGTH, GROUP = 10, 5
LONGEST_SHEET_CODE = 600  # characters, of what is typed: once, a sentence travelled in its code
BITS_OF_CHECK, EARLIER_BITS_OF_CHECK = 9, 18
DIVIDES = 0b10_0001_0001  # x⁹ + x⁴ + 1, primitive: no wrong character, and no two that changed places, leave its rest
REST_OF_CODE = 0b1_0110_1001  # so that ten zeros are no code


@dataclass(frozen=True, kw_only=True)
class SheetChoices:
    """The seed of all numbers, decimals of what is rounded, and the sentence.

    Raises ValueError, with a sentence for whoever chose, for what makes no sheet.
    """

    seed: int = 1
    decimals: int = 2
    text: str = PAPER_SENTENCE

    def __post_init__(self):
        for name, least, most in (("seed", 0, LAST_SHEET), ("decimals", *DECIMALS)):
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
    packed = (choices.decimals - 1) * (LAST_SHEET + 1) + choices.seed
    marked = packed << BITS_OF_CHECK | mark_of(choices.text)
    return "-".join(grouped(in_characters(marked << BITS_OF_CHECK | check_digits(marked), CODE_LENGTH)))


def read_code(code: str) -> ReadCode:
    """What a code says. Raises ValueError, with a sentence, for what is no code of a sheet that is still made."""
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
    marked, check = divmod(number_of(plain), 1 << BITS_OF_CHECK)
    packed, mark = divmod(marked, 1 << BITS_OF_CHECK)
    place, seed = divmod(packed, LAST_SHEET + 1)
    is_code = len(plain) == CODE_LENGTH and check == check_digits(marked)
    if is_code and place < len(DECIMALS):
        return ReadCode(SheetChoices(seed=seed, decimals=1 + place), mark)
    if is_code or is_earlier_code(plain):
        raise InputError(
            "This is the code of a sheet with single tasks; these sheets are gone, and version 0.1 makes their key."
        )
    raise InputError("No worksheet has this code: one of its characters is wrong. Compare it with the sheet.")


def is_earlier_code(plain: str) -> bool:
    """True for a code of single tasks that was printed when the sentence of a sheet travelled in its code."""
    packed, check = divmod(number_of(plain[:CODE_LENGTH]), 1 << EARLIER_BITS_OF_CHECK)
    size = 5 * (len(plain) - CODE_LENGTH) // 8  # bytes of the sentence
    sentence = number_of(plain[CODE_LENGTH:]) % (1 << 8 * size)
    return check == zlib.crc32(packed.to_bytes(5, "big") + sentence.to_bytes(size, "big")) % (
        1 << EARLIER_BITS_OF_CHECK
    )


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
