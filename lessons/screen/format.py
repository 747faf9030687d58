"""How numbers, tokens and sentences are written in the reader's language; and which numbers read as the largest."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any

from attention_core.base.errors import Phrase
from attention_core.text.tokens import needs_base
from lessons.screen.message import (
    Argument,
    Fixed,
    Integer,
    ListOf,
    Magnitude,
    Message,
    Numeral,
    Percent,
    Token,
    message,
    said_by,
)
from lessons.screen.screen import Array, Axis, Question, Step
from words import cached_by_language, language

THE_OTHERS, NOT_A_NUMBER = re.compile(r"the other (\d+)"), "not a number"  # as `lessons.trace` writes them
BETWEEN_NUMBERS = re.compile(r"(?<=\d), (?=[−\d])")
WIDE_SIGN = "[\u201c\u201d\u3000-\u303f\u3040-\u30ff\u4e00-\u9fff\uff01-\uff60]"
# A template has a space beside a name for the sake of numbers; where a Chinese word stands in for one, none belongs.
BETWEEN_WIDE = re.compile(f"(?<={WIDE_SIGN}) (?={WIDE_SIGN})")
# In Chinese a space stands between a character and a letter or digit.
BESIDE_WIDE = re.compile("(?<=[0-9A-Za-z%])(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])(?=[0-9A-Za-z−√])")
POINT = re.compile(r"(?<=\d)\.(?=\d)")
DOTTED_CIRCLE = "\u25cc"  # what Unicode shows a combining mark on
ISOLATED, END_OF_ISOLATED = "\u2068", "\u2069"  # around what runs in its own direction
# What XML 1.0 cannot hold, however it is escaped.
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(sentence: Message) -> str:
    """The sentence as it is read."""
    here, (template, arguments, many, count) = language(), sentence
    template = here.template(template, many, count)
    if not arguments:
        return template
    said = here.put_in(template.format_map({name: format_value(value) for name, value in arguments.items()}))
    return said if here.spaced else BETWEEN_WIDE.sub("", said)


def template_of(sentence: Message) -> str:
    """The template of a sentence in the language of whoever reads it, for its count."""
    return language().template(sentence.template, sentence.many, sentence.count)


def translate(template: str, **arguments: Argument) -> str:
    """A sentence that is written at once."""
    return render(message(template, **arguments))


def render_all(sentences: Sequence[Message]) -> str:
    """Several sentences, one after the other."""
    return join_sentences(map(render, sentences))


def join_sentences(said: Iterable[str]) -> str:
    """Sentences that are written already, one after the other: in Chinese and Japanese without a space."""
    return template_of(TWO_SENTENCES).format(one="", other="").join(said)


def not_yet_said(sentences: Iterable[Message], before: Iterable[Message | None] = ()) -> list[str]:
    """Each sentence as it is read, once, and none that stands in what was said before."""
    known = [render(said) for said in before if said is not None]
    return [said for said in dict.fromkeys(map(render, sentences)) if not any(said in other for other in known)]


def format_value(argument: Argument) -> str:
    """An argument of a sentence as it is read."""
    return WAYS_TO_WRITE[type(argument)](argument)


@cached_by_language(maxsize=1024)
def quote_token(name: Token) -> str:
    """A token in quotes; with its position, from 1, where the same word comes more than once."""
    text, position, repeated = name
    if repeated:
        return template_of(REPEATED_TOKEN).format(token=visible_text(text), position=position + 1)
    return template_of(QUOTED_TOKEN).format(token=visible_text(text))


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    here = language()
    return here.listed(words) if here.spaced else BESIDE_WIDE.sub(" ", here.listed(words))


def number(value: float, decimals: int = 2) -> str:
    """A number with a true minus sign, and no minus before a zero."""
    return localised(with_point(value, decimals))


def with_point(value: float, decimals: int) -> str:
    """A number with a point before its decimals, whatever the language."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def magnitude(value: float) -> str:
    """A size that may be tiny: two decimals, or two digits below 0.01, and a power of ten below 0.0001; nothing at all
    reads 0.
    """
    if value == 0:
        return "0"
    if abs(value) >= 0.01:
        return number(value)
    if abs(value) >= 0.0001:
        return number(value, 1 - math.floor(math.log10(abs(value))))
    return localised(power_of_ten(value, 1))


def power_of_ten(value: float, digits: int = 0) -> str:
    """So many digits behind the point and a power of ten, as 2.9e−7."""
    return f"{value:.{digits}e}".replace("e-0", "e-").replace("-", "−")


def percent(value: float) -> str:
    """A share as a whole percentage; what is small but not zero, or large but not the whole, never reads 0 or 100%."""
    if 0 < value <= 0.005:
        return template_of(UNDER).format(share=language().percent.format(1))
    if 0.995 <= value < 1 - 1e-6:
        return template_of(OVER).format(share=language().percent.format(99))
    return language().percent.format(f"{value:.0%}".removesuffix("%"))


def localised(digits: str) -> str:
    """Arithmetic or a single number, made with points as Python makes it, as the reader's language writes numbers.

    Where a comma stands before the decimals, semicolons stand between numbers.
    """
    decimal = language().decimal
    if decimal == ".":
        return digits
    return POINT.sub(decimal, BETWEEN_NUMBERS.sub("; ", digits))


def visible_text(token: str) -> str:
    """The token as it can be seen: a space gets a sign of its own, and a mark that stands alone a dotted circle.

    What is invisible at its beginning is called by its code point, U+200D. What is written from right to left is
    isolated, so that nothing around it is reordered.
    """
    text = token.replace(" ", "␣")
    if text.isascii() or text.startswith(ISOLATED):
        return text
    unseen = "".join(takewhile(cannot_be_seen, text))
    text = "".join(f"U+{ord(sign):04X}" for sign in unseen) + text[len(unseen) :]
    if unicodedata.category(text[0]).startswith("M"):
        text = DOTTED_CIRCLE + text
    from_the_right = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return f"{ISOLATED}{text}{END_OF_ISOLATED}" if from_the_right else text


def cannot_be_seen(sign: str) -> bool:
    """True for what has no shape of its own: joiners, direction marks, controls and what Unicode has not assigned."""
    return needs_base(sign) or unicodedata.category(sign).startswith("C")


LABELLED = message("{meaning}: {arithmetic}")
QUOTED_TOKEN, REPEATED_TOKEN = message("“{token}”"), message("“{token}” ({position})")
TWO_SENTENCES = message("{one} {other}")
UNDER, OVER = message("under {share}"), message("over {share}")
WAYS_TO_WRITE: dict[type, Callable[[Any], str]] = {
    str: str,
    Numeral: localised,
    int: str,
    Token: quote_token,
    Message: render,
    Fixed: lambda a: number(a.value, a.decimals),
    Percent: lambda a: percent(a.value),
    Magnitude: lambda a: magnitude(a.value),
    Integer: lambda a: language().digits(f"{a.value:,}"),
    Phrase: lambda a: render(said_by(a)),
    ListOf: lambda a: listed([format_value(item) for item in a.items]),
}


def names(tokens: Sequence[str]) -> tuple[Token, ...]:
    """The tokens as sentences name them."""
    return tuple(Token(text, position, tokens.count(text) > 1) for position, text in enumerate(tokens))


def argmax_ties(values: Array, write: Callable[[float], str] = number) -> list[tuple[int, ...]]:
    """Where the largest number stands: every index whose number reads the same as it. Infinite ones do not count.

    A superlative is true only where this finds one index; else the sentence names all of them, or says that they tie.
    """
    cells = [(index, value) for index, value in entries(values.tolist()) if math.isfinite(value)]
    if not cells:
        return []
    most = max(value for _, value in cells)
    return [index for index, value in cells if write(value) == write(most)]


def entries(values: list | float, index: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], float]]:
    """Every number of a nested list, with its index."""
    if not isinstance(values, list):
        return [(index, values)]
    return [entry for i, inner in enumerate(values) for entry in entries(inner, (*index, i))]


def labels_of(axis: Axis) -> tuple[str, ...]:
    """What each row or column is called."""
    return tuple(map(format_value, axis.labels))


def labelled(name: str | Message, what: str | Message) -> str:
    """Two texts with a colon between, as the language writes it."""
    return template_of(LABELLED).format(meaning=format_value(name), arithmetic=format_value(what))


def equation(step: Step) -> str:
    """The arithmetic of a step and its result; where there is nothing to compute, the number alone."""
    text = THE_OTHERS.sub(lambda found: translate("the other {count}", count=int(found[1])), step.text)
    return localised(text.replace(NOT_A_NUMBER, translate("not a number")) if NOT_A_NUMBER in text else text)


def distinguishable(*values: float, least: int = 2) -> tuple[Fixed, ...]:
    """Different numbers with as many decimals as it takes to tell them apart, so many at `least`."""
    enough = next((n for n in range(least, 9) if len({number(value, n) for value in values}) == len(values)), 9)
    return tuple(Fixed(value, enough) for value in values)


def as_text(question: Question) -> str:
    """A question as it is read: two that read alike are the same."""
    return "\n".join([render(question.prompt), *(render(card.text) for card in question.cards)])
