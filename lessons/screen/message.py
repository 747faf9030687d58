"""What is said: templates, and arguments that stay numbers until somebody says them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from attention_core.base.errors import Phrase


@dataclass(frozen=True)
class Fixed:
    """A number as a sentence writes it, with so many decimals."""

    value: float
    decimals: int = 2


class Numeral(str):
    """A number that was written already, with a point, as Python writes it."""


@dataclass(frozen=True)
class Percent:
    """A part of a whole, written as a percentage."""

    value: float


@dataclass(frozen=True)
class Magnitude:
    """The size of something that may be tiny: two decimals, or a power of ten below 0.01."""

    value: float


@dataclass(frozen=True)
class Integer:
    """How many there are of something numerous, written with its thousands set apart."""

    value: int


class Token(NamedTuple):
    """A token of the sentence, written in quotes; with its position where the same word comes more than once."""

    text: str
    position: int
    repeated: bool = False


@dataclass(frozen=True)
class ListOf:
    """Several things in one sentence: “a”, “b” and “c”."""

    items: tuple["Argument", ...]


class Message(NamedTuple):
    """A sentence with numbers in it. `template` is the English text, by which translators find it.

    The arguments stay numbers until somebody says the sentence, so that a test can compare them with the tensors,
    and each language can write them in its own way. `many` is the template for every `count` but one.
    """

    template: str
    arguments: Mapping[str, "Argument"] = MappingProxyType({})
    many: str | None = None
    count: int = 1


# A text stands as it is: a symbol, a name of ours, or a learner's word.
Argument = int | str | Fixed | Percent | Magnitude | Integer | Token | ListOf | Message | Phrase


def reason(error: Exception) -> Argument:
    """Why something could not be: what the error says, so that each language can say it; or else its text."""
    return argument_of(error)


def said_by(phrase: Phrase) -> Message:
    """A template of the layers below and its arguments, as a sentence."""
    return Message(phrase.template, {name: argument_of(value) for name, value in phrase.arguments.items()})


def argument_of(value: Any) -> Argument:
    """An argument of theirs as one of ours."""
    if hasattr(value, "template"):
        return said_by(value)
    return value if type(value) in (int, str) else str(value)


def message(template: str, **arguments: Argument) -> Message:
    """A sentence; the names in braces stand for the arguments."""
    return Message(template, arguments)


def plural(one: str, many: str, count: int, **arguments: Argument) -> Message:
    """A sentence about a number of things, which it may name as {count}."""
    return Message(one, {"count": count} | arguments, many, count)
