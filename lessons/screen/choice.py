"""What a learner can choose, declared once: of it are made a control, what a link may say of it, and its type.

A lesson declares a choice beside its `Choices`, and annotates a field with the `type` of it:

    VIEW = OneOf("view", message("Step"), {"one": message("one query"), "all": message("all at once")})

    class Choices:
        view: VIEW.type = VIEW.begin

So what a question for a class may hold is what its control offers, and the control can be drawn from the field.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from types import ModuleType
from typing import Annotated, Any, Literal

from lessons.screen.message import Message

Label = str | Message  # a name of the field, the same in every language, or a sentence


@dataclass(frozen=True)
class Limit:
    """The whole numbers that may be chosen."""

    least: int
    most: int

    def clamp(self, value: int) -> int:
        """The nearest number within the limits."""
        return min(max(value, self.least), self.most)


@dataclass(frozen=True)
class Span:
    """The numbers, whole or not, that may be chosen."""

    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Choice:
    """What every choice has: its name, in links and as the key of its control, and its label.

    `only` says to which values of another field of the same `Choices` it belongs; with others it is not asked.
    `width`, in pixels, is that of its control where that is not as wide as its place.
    """

    name: str
    label: Label
    _: KW_ONLY
    only: tuple[str, Collection] | None = None
    width: int | None = None

    @property
    def kind(self) -> type:
        """The type of the value that is chosen."""
        raise NotImplementedError

    @property
    def type(self) -> Any:
        """The annotation of the field that holds what is chosen; it knows where it comes from."""
        return Annotated[self.kind, self]


@dataclass(frozen=True, eq=False)
class OneOf(Choice):
    """One of a few options, named in links by their keys and shown by their labels; the first where none begins.

    They stand in a row, as steps that one goes through, in a list that unfolds, or on a slider; numbers evenly spaced,
    on a scale. The label of a row is unseen unless it is `labelled`. Where a link `always` says which, it keeps its
    meaning whatever begins one day.
    """

    options: Mapping[Any, Label]
    begin: Any = None
    _: KW_ONLY
    look: Literal["row", "steps", "list", "slider", "scale"] = "row"
    labelled: bool = False
    always: bool = False

    def __post_init__(self):
        if self.begin is None:
            object.__setattr__(self, "begin", next(iter(self.options)))

    @property
    def kind(self) -> Any:
        """Exactly these, where they can be told from each other as they are written."""
        return float if any(isinstance(option, float) for option in self.options) else Literal[tuple(self.options)]


@dataclass(frozen=True, eq=False)
class Number(Choice):
    """A number within limits, on a slider or `typed`; whole ones are `counted_from` 1 where a reader counts so."""

    limit: Limit | Span
    begin: Any
    _: KW_ONLY
    typed: bool = False
    step: float | None = None
    counted_from: int = 0

    @property
    def kind(self) -> type:
        """The type of the number: whole where its limits are."""
        return int if isinstance(self.limit, Limit) else float


@dataclass(frozen=True, eq=False)
class Text(Choice):
    """A text of so many characters at most, or of any length where something else says that it was cut."""

    most: int | None
    begin: str = ""
    _: KW_ONLY
    placeholder: Label = ""

    kind = property(lambda self: str)


@dataclass(frozen=True, eq=False)
class Switch(Choice):
    """A choice between on and off."""

    begin: bool = False

    kind = property(lambda self: bool)
    options = {"true": "true", "false": "false"}


@dataclass(frozen=True, eq=False)
class OneToken(Choice):
    """A token of the example, counted from 0; a link counts from 1. The last one at first, and where it is not asked.

    Where a causal mask hides none of what is looked at, it is not `masked`.
    """

    limit: Limit
    _: KW_ONLY
    masked: bool = True

    kind = property(lambda self: int)


@dataclass(frozen=True, eq=False)
class DrawnMask(OneOf):
    """A mask over the tokens of the example, of one of some kinds. The field holds the mask itself."""


def said_in_links(option: object) -> str:
    """How a link names an option."""
    return f"{option:g}" if isinstance(option, float) else str(option)


def spellings(option: object) -> list[str]:
    """How else a link may name it: a number with one decimal or two, where it has no more."""
    written = [f"{option:.1f}", f"{option:.2f}"] if isinstance(option, float) else []
    return [word for word in written if float(word) == option]


def numbers(options: Iterable[float]) -> dict[float, str]:
    """Numbers to choose from, each under its own name."""
    return {option: said_in_links(option) for option in options}


def choices_of(choices: type) -> dict[str, Choice]:
    """What is declared of the fields of a lesson's `Choices`, by their names."""
    said = {field.name: getattr(field.type, "__metadata__", ()) for field in fields(choices)}
    return {name: choice for name, about in said.items() for choice in about if isinstance(choice, Choice)}


def declared_in(module: ModuleType) -> Iterator[Choice]:
    """All choices that are declared in a module, by themselves or several together."""
    for value in vars(module).values():
        several = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        yield from (choice for choice in several if isinstance(choice, Choice))
