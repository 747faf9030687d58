"""The stages of a question, and what a class is at one moment."""

from dataclasses import dataclass

# What a teacher may do next; a new question can be asked at any time.
NEXT: dict[str, tuple[str, ...]] = {
    "waiting": (),
    "open": ("closed",),
    "closed": ("shown", "again"),
    "shown": ("again", "explained"),
    "again": ("compared",),
    "compared": ("explained",),
    "explained": (),
}
VOTES_IN = {"open": 1, "again": 2}  # the stages in which votes are taken, and in which round
ROUNDS = (1, 2)


def told_as(text: str) -> str:
    """The text as it is; catalogues of translations find it by this."""
    return text


class RefusedError(Exception):
    """What cannot be; its message is a sentence for whoever asked for it.

    It keeps the template and what stands for the names in it, so that it can be said in other languages.
    """

    def __init__(self, template: str, **arguments: object):
        self.template, self.arguments = template, arguments
        super().__init__(template.format(**arguments))


class UnreachableError(RefusedError):
    """What could not be done because the database is away, full, or too slow: later it may be."""


@dataclass(frozen=True)
class Room:
    """A class at one moment: the number of its question, counted from 1, its stage, and the question as a text.

    `revision` grows whenever a teacher does something. `until` is the time at which all is forgotten, in seconds since
    1970. Before the first question, the stage is "waiting", the number 0 and `asked` is empty. A question without
    cards is answered in writing.

    A class that is led through a plan is at the step with this `place`, from 0; −1 before it begins. Its students
    follow the `link`, or where that is empty, look at the question. `seconds` are left of the timer, and so many have
    `passed` since the step began. Its plan is known by the revision at which it was `brought`; −1 without one.
    """

    code: str
    until: float
    revision: int
    number: int
    stage: str
    cards: int
    asked: str
    place: int = -1
    link: str = ""
    seconds: float = 0.0
    passed: float = 0.0
    brought: int = -1

    @property
    def voting(self) -> int | None:
        """The round in which votes are taken just now; None where none are."""
        return VOTES_IN.get(self.stage)

    @property
    def shows(self) -> bool:
        """True where the distribution may be seen."""
        return self.stage in ("shown", "compared", "explained")


@dataclass(frozen=True)
class Lead:
    """Where a class is brought: to a step of its plan, with the link of its screen and the seconds of its timer, and to
    a stage of the question with this number, which is a new one where something is `asked`.
    """

    place: int
    link: str
    seconds: int
    number: int
    stage: str
    cards: int = 0
    asked: str = ""


@dataclass(frozen=True)
class Votes:
    """How a class voted on one question: how many chose each card in each round.

    `moved` counts those who voted in both rounds, by their first and second card.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    moved: tuple[tuple[int, ...], ...]
