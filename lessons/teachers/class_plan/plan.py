"""A plan: the stops of a lesson, each a screen with what is asked there and what is done, one key after the other."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from lessons.screen import message
from lessons.teachers.class_plan.own_question import OwnQuestion

MOST_STOPS, MOST_MINUTES, MOST_PAUSE = 40, 120, 900  # the pause in seconds
MOST_ACTIONS, MOST_SAID, MOST_TITLE = 8, 600, 80
MOST_SHOWN = 2_000  # characters of a text that is shown to the class
MOST_PICTURES, MOST_PICTURE = 5, 150_000  # of a plan; the bytes of one
SLIDE_PAGE = "class_vote"  # where a text or a picture is shown
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
Hash = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]  # SHA-256 of a picture's bytes


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A screen, by the address of its `page` and what its `link` says, and the actions there.

    `screen` is the screen as `question_link` writes it, so that its question can be asked and its answers told before;
    empty where it is a page with none. A question of the teacher's `own` is asked in the place of it. `says` is what
    the teacher wants to say. Where time is short a stop may be left `out`; after one that `ends` a thought one can
    stop.

    A slide of the teacher's own shows a `text` or a `picture`, which is named by its hash, or both, in the place of a
    screen.
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
    text: Annotated[str, msgspec.Meta(max_length=MOST_SHOWN)] = ""
    picture: Hash | None = None

    @property
    def is_slide(self) -> bool:
        """True for a text or a picture of the teacher's own."""
        return bool(self.text or self.picture)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Stops in their order. `language` fixes that of all pages; on the projector figures are `large`. What is done at
    home has a `title`. `pictures` holds the bytes of those that slides show, by their hash, where the plan has them
    with it: as a file, and while its teacher changes it.

    Who makes a plan begins with one that has no stops; nothing else can be done with it.
    """

    stops: Annotated[tuple[Stop, ...], msgspec.Meta(max_length=MOST_STOPS)] = ()
    language: Annotated[str, msgspec.Meta(max_length=10)] = ""
    large: bool = True
    title: Annotated[str, msgspec.Meta(max_length=MOST_TITLE)] = ""
    pictures: dict[Hash, bytes] = field(default_factory=dict)

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

    def with_new(self, place: int, stop: Stop) -> "Plan":
        """The plan with one more stop, which comes before the one at this place, or at the end."""
        return replace(self, stops=(*self.stops[:place], stop, *self.stops[place:]))

    def without(self, place: int) -> "Plan":
        """The plan without a stop, and without a picture that no other stop shows."""
        return with_pictures_shown(replace(self, stops=(*self.stops[:place], *self.stops[place + 1 :])))

    def without_pictures(self) -> "Plan":
        """The plan without the stops that show a picture: what fits into a link."""
        return replace(self, stops=tuple(stop for stop in self.stops if not stop.picture), pictures={})


class Step(NamedTuple):
    """One action at one stop, which is counted from 0."""

    stop: int
    action: Action


def with_pictures_shown(plan: Plan) -> Plan:
    """The plan with the pictures that its stops show, and no others."""
    shown = {stop.picture for stop in plan.stops}
    return replace(plan, pictures={name: data for name, data in plan.pictures.items() if name in shown})
