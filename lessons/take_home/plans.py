"""Two plans for a lesson in front of a class: which screens, in which order, and what to ask the room before each.

A stop is a screen, by its link, and perhaps a second one to show after the answers. What to ask, which answers come and
what to say to each are those of the screen that the link opens: nothing of it is written here.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType

from attention_core.masks import causal_mask
from attention_core.permutation import random_permutation
from lessons.dot_product import lesson as dot_product
from lessons.example.example import Example, ExampleTrace, first_query, learnt_example, run_example
from lessons.exercises.every import EXERCISES
from lessons.mask import lesson as mask
from lessons.output import lesson as output
from lessons.overview import sentence_view as look
from lessons.positions import lesson as positions
from lessons.projections import lesson as projections
from lessons.scores import lesson as scores
from lessons.screen.format import render
from lessons.screen.message import ListOf, Message, Percent, message, plural
from lessons.screen.screen import Question, Screen
from lessons.softmax import lesson as softmax
from lessons.tokens import lesson as tokens

TAUGHT = learnt_example("stories")
MIDWAY = replace(TAUGHT, updates=160)  # two weights are large, and neither takes most
LARGE_D_K, SHARPER = 512, 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class Linked:
    """A screen, and the link that opens it: the address of its page and the controls."""

    lesson: ModuleType
    choices: Callable[[ExampleTrace], object]
    link: Mapping[str, str]
    example: Example

    @property
    def address(self) -> str:
        """Of its page; the first screen is the home page."""
        return "home" if self.lesson is look else self.lesson.__name__.split(".")[1]

    @property
    def settings(self) -> dict[str, str]:
        """What the link says, the example first."""
        moment = {} if self.example is TAUGHT else {"trained_for": str(self.example.updates)}
        return {"example": self.example.source, **moment, **self.link}

    def screen(self) -> Screen:
        """What the link opens."""
        trace = run_example(self.example)
        return self.lesson.screen(trace, 0, self.choices(trace))


@dataclass(frozen=True, eq=False, kw_only=True)
class Stop:
    """One stop of a plan: a screen with its question, and what to show then; or an exercise by its key.

    Where time is short a stop may be left `out`; after one that `ends` a thought one can stop.
    """

    minutes: int
    opens: Linked | None = None
    then: Linked | None = None
    exercise: str = ""
    out: bool = False
    ends: bool = False


@dataclass(frozen=True)
class Expected:
    """An answer that will come: what it says, the thought that leads to it, and what to say then."""

    text: Message
    thought: Message | None
    reply: Message


@dataclass(frozen=True)
class Planned:
    """A stop, computed: what to ask, the right answer, the wrong ones that will come, and what the next screen says.

    `shown` is what the link of the next screen says beside its controls.
    """

    asks: Message
    right: Expected | None
    wrong: tuple[Expected, ...]
    shows: tuple[Message, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)


def stop_of(
    lesson: ModuleType,
    ask: Callable[[ExampleTrace], object],
    show: Callable[[ExampleTrace], object] | None,
    minutes: int,
    *,
    opens: Mapping[str, str] | None = None,
    then: Mapping[str, str] | None = None,
    now: Example = MIDWAY,
    later: Example = MIDWAY,
    **when: bool,
) -> Stop:
    """A stop at a lesson: its screen before, and the one that is shown after the answers."""
    after = show and Linked(lesson=lesson, choices=show, link=then or {}, example=later)
    before = Linked(lesson=lesson, choices=ask, link=opens or {}, example=now)
    return Stop(minutes=minutes, opens=before, then=after, **when)


BEFORE_TRAINING = replace(TAUGHT, updates=0)
AT_LOOK = functools.partial(
    stop_of,
    look,
    lambda t: look.Choices(first_query(t)),
    lambda t: look.Choices(first_query(t)),
    now=TAUGHT,
    later=BEFORE_TRAINING,
)
AT_TOKENS = functools.partial(stop_of, tokens, lambda t: tokens.Choices(), None)
AT_DOT_PRODUCT = functools.partial(
    stop_of,
    dot_product,
    lambda t: dot_product.Choices("all", first_query(t)),
    lambda t: dot_product.Choices("equal", first_query(t)),
    opens={"view": "all"},
    then={"view": "equal"},
)
AT_PROJECTIONS = functools.partial(
    stop_of,
    projections,
    lambda t: projections.Choices("q"),
    lambda t: projections.Choices("mirror"),
    opens={"role": "q"},
    then={"role": "mirror"},
)
AT_SCORES = functools.partial(
    stop_of,
    scores,
    lambda t: scores.Choices(),
    lambda t: scores.Choices(LARGE_D_K),
    then={"measured_d_k": str(LARGE_D_K)},
)
AT_MASK = functools.partial(
    stop_of,
    mask,
    lambda t: mask.Choices(causal_mask(len(t.tokens))),
    lambda t: mask.Choices(causal_mask(len(t.tokens)), "late"),
    opens={"masking": "change"},
    then={"masking": "late"},
)
AT_SOFTMAX = functools.partial(
    stop_of,
    softmax,
    lambda t: softmax.Choices(first_query(t)),
    lambda t: softmax.Choices(first_query(t), SHARPER),
    then={"temperature": str(SHARPER)},
)
AT_OUTPUT = functools.partial(
    stop_of,
    output,
    lambda t: output.Choices("all", len(t.tokens) - 1),
    lambda t: output.Choices("parts", first_query(t)),
    opens={"of": "all"},
    then={"of": "parts"},
)
AT_POSITIONS = functools.partial(
    stop_of,
    positions,
    lambda t: positions.Choices(random_permutation(len(t.tokens), 0)),
    lambda t: positions.Choices(random_permutation(len(t.tokens), 0), kind="sinusoidal"),
    opens={"order_view": "output"},
    then={"positions": "sinusoidal"},
)

PLANS: dict[int, tuple[Stop, ...]] = {
    45: (
        AT_LOOK(5),
        AT_TOKENS(3, out=True),
        AT_PROJECTIONS(8),
        AT_SCORES(7, out=True),
        AT_MASK(6),
        AT_SOFTMAX(8, ends=True),
        AT_OUTPUT(8),
    ),
    90: (
        AT_LOOK(5),
        AT_TOKENS(4, out=True),
        AT_DOT_PRODUCT(9),
        AT_PROJECTIONS(9),
        AT_SCORES(9, ends=True),
        AT_MASK(8),
        AT_SOFTMAX(10, ends=True),
        Stop(minutes=14, exercise="softmax", out=True),
        AT_OUTPUT(10, ends=True),
        AT_POSITIONS(12),
    ),
}


@functools.cache
def planned(stop: Stop) -> Planned:
    """What a stop asks, and what its screens say."""
    if stop.exercise:
        exercise = EXERCISES[stop.exercise]
        hints = tuple(Expected(message("A known mistake"), None, hint) for hint in exercise.hints)
        return Planned(exercise.asks, None, hints)
    screen = stop.opens.screen()
    then = stop.then and stop.then.screen()
    found = Planned(*where_will_it_look(stop.opens)) if screen.ask is None else asked_first(screen)
    return found if then is None else replace(found, shows=what_is_noticed(then), shown=how_shown(then, found.asks))


def asked_first(screen: Screen) -> Planned:
    """The question with which a screen opens."""
    question = screen.ask(0)
    return Planned(question.prompt, *answers_expected(question))


def how_shown(screen: Screen, asked: Message) -> dict[str, str]:
    """What a link says so that a screen is seen after the answers: uncovered, and above it no question but that one."""
    if screen.ask is None:
        return {}
    same = render(screen.ask(0).prompt) == render(asked)
    return {"cover": "false"} | ({} if same else {"hide": "predict"})


def answers_expected(question: Question) -> tuple[Expected, tuple[Expected, ...]]:
    """The right answer, and the others."""
    cards = [Expected(card.text, card.reason, card.reply) for card in question.cards]
    return cards.pop(question.right), tuple(cards)


def what_is_noticed(screen: Screen) -> tuple[Message, ...]:
    """What a screen says of itself: its headline, or what there is to notice in its figures, each once."""
    if screen.headline is not None:
        return (screen.headline,)
    return tuple(dict((render(said), said) for figure in screen.figures for said in figure.notice).values())


def where_will_it_look(opens: Linked) -> tuple[Message, Expected, tuple[Expected, ...]]:
    """What to ask before the first screen, which says the answer at once: where the token looks that asks."""
    trace = run_example(opens.example)
    query, names = first_query(trace), trace.names
    row = trace.heads.select(0).weights[query]
    *others, _ = [key for key in row.argsort().tolist() if trace.heads.visible[0, query, key]]
    asks = message(
        "Before you open it, write the sentence on the board: {tokens}. Which of these does {query} look at most?",
        tokens=ListOf(names),
        query=names[query],
    )
    wrong = tuple(
        Expected(
            message("{key}", key=names[key]),
            None,
            message("{key} gets {share} of its weight.", key=names[key], share=Percent(float(row[key]))),
        )
        for key in reversed(others)
    )
    most = int(row.argmax())
    return asks, Expected(message("{key}", key=names[most]), None, opens.screen().headline), wrong


def if_time_is_short(plan: tuple[Stop, ...]) -> tuple[Message, ...]:
    """Which stops can be left out, how much that saves, and after which of them one can end."""
    out = [place for place, stop in enumerate(plan, start=1) if stop.out]
    ends = [place for place, stop in enumerate(plan, start=1) if stop.ends]
    saved = sum(stop.minutes for stop in plan if stop.out)
    return (
        message(
            "If time is short, leave out {stops}: that saves {minutes} minutes.", stops=stops_named(out), minutes=saved
        ),
        message("If time runs out, end after {stops}, where a thought is complete.", stops=stops_named(ends)),
    )


def stops_named(places: list[int]) -> Message:
    """Stop 2; or stops 2 and 4."""
    return plural("stop {places}", "stops {places}", len(places), places=ListOf(tuple(places)))


def begins_at(plan: tuple[Stop, ...], place: int) -> int:
    """After how many minutes a stop begins."""
    return sum(stop.minutes for stop in plan[:place])
