"""A plan: the stops of a lesson, each a screen with what is asked there and what is done, one key after the other."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from lessons.class_plan.own_question import OwnQuestion
from lessons.screen.message import message

MOST_STOPS, MOST_MINUTES, MOST_PAUSE = 40, 120, 900  # the pause in seconds
MOST_ACTIONS, MOST_SAID, MOST_TITLE = 8, 600, 80
PAUSE_SECONDS = 120
Action = Literal["show", "ask", "pause", "again", "votes", "answer", "train"]
ACTIONS: dict[Action, object] = {
    "show": message("Show the screen"),
    "ask": message("Ask the class"),
    "pause": message("Talk in pairs"),
    "again": message("Vote again"),
    "votes": message("Show how the class voted"),
    "answer": message("Show the answer"),
    "train": message("Train once"),
}
Short = Annotated[str, msgspec.Meta(max_length=MOST_SAID)]
Name = Annotated[str, msgspec.Meta(pattern="^[A-Za-z_]{1,40}$")]


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A screen, by the address of its `page` and what its `link` says, and the actions there.

    `screen` is the screen as `question_link` writes it, so that its question can be asked and its answers told before;
    empty where it is a page with none. A question of the teacher's `own` is asked in the place of it. `says` is what
    the teacher wants to say. Where time is short a stop may be left `out`; after one that `ends` a thought one can
    stop.
    """

    page: Name
    link: Annotated[dict[Name, Short], msgspec.Meta(max_length=40)] = field(default_factory=dict)
    actions: Annotated[tuple[Action, ...], msgspec.Meta(min_length=1, max_length=MOST_ACTIONS)] = ("show",)
    minutes: Annotated[int, msgspec.Meta(ge=1, le=MOST_MINUTES)] = 5
    pause: Annotated[int, msgspec.Meta(ge=10, le=MOST_PAUSE)] = PAUSE_SECONDS
    screen: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    own: OwnQuestion | None = None
    says: Short = ""
    out: bool = False
    ends: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Stops in their order. `language` fixes that of all pages; on the projector figures are `large`. What is done at
    home has a `title`.
    """

    stops: Annotated[tuple[Stop, ...], msgspec.Meta(min_length=1, max_length=MOST_STOPS)]
    language: Annotated[str, msgspec.Meta(max_length=10)] = ""
    large: bool = True
    title: Annotated[str, msgspec.Meta(max_length=MOST_TITLE)] = ""

    @property
    def minutes(self) -> int:
        """How long all of it takes."""
        return self.begins_at(len(self.stops))

    def begins_at(self, place: int) -> int:
        """After how many minutes a stop begins."""
        return sum(stop.minutes for stop in self.stops[:place])

    @property
    def steps(self) -> "tuple[Step, ...]":
        """What one key does after the other."""
        return tuple(Step(place, action) for place, stop in enumerate(self.stops) for action in stop.actions)

    def with_stop(self, place: int, **changes: Any) -> "Plan":
        """The plan with something else at one stop."""
        stops = list(self.stops)
        stops[place] = replace(stops[place], **changes)
        return replace(self, stops=tuple(stops))

    def moved(self, place: int, to: int) -> "Plan":
        """The plan with a stop at another place; one that does not exist changes nothing."""
        stops = list(self.stops)
        if 0 <= to < len(stops):
            stops.insert(to, stops.pop(place))
        return replace(self, stops=tuple(stops))

    def without(self, place: int) -> "Plan":
        """The plan without a stop; the last one stays."""
        stops = (*self.stops[:place], *self.stops[place + 1 :])
        return replace(self, stops=stops or self.stops)


class Step(NamedTuple):
    """One action at one stop, which is counted from 0."""

    stop: int
    action: Action
