"""Three plans that come with the app: of 45 and 90 minutes on a small model, of 60 on a head of the real one.

Each votes, lets neighbours talk, trains once, and ends with a task. What is asked and answered there is that of the
screens: nothing of it is written here.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from attention_core.measured.permutation import random_permutation
from attention_core.one_head.masks import causal_mask
from lessons import name_of
from lessons.example.example import Example, ExampleTrace, first_query, learnt_example, run_example
from lessons.example.real_model import DEFAULT_HEAD, DEFAULT_LAYER
from lessons.model.positions import lesson as positions
from lessons.model.read.choices import BEGINS, TEXTS, ReadChoices
from lessons.one_head.dot_product import lesson as dot_product
from lessons.one_head.mask import lesson as mask
from lessons.one_head.output import lesson as output
from lessons.one_head.projections import lesson as projections
from lessons.one_head.scores import lesson as scores
from lessons.one_head.softmax import lesson as softmax
from lessons.one_head.tokens import lesson as tokens
from lessons.start.overview import sentence_view
from lessons.teachers.class_plan.plan import Action, Plan, Stop
from lessons.teachers.class_vote.asked_runs import TrainChoices
from lessons.teachers.class_vote.question_link import ScreenLink, written_asked

TAUGHT = learnt_example("stories")
MIDWAY = replace(TAUGHT, updates=160)  # two weights are large, and neither takes most
BEFORE_TRAINING = replace(TAUGHT, updates=0)
REAL = Example(source="language", layer=DEFAULT_LAYER + 1, text="")
LARGE_D_K, SHARPER = 512, 0.5
# Numbers of questions that are worth two votes: what they ask cannot be read from the figures before.
PREDICTED, LONGER_VECTOR, SHARPER_ROW = 1, 4, 4
QUERY_OF_GIRL, ONE_MORE_TOKEN = 22, 2  # of a small head, whose X and W_q stand on the screen whole; of any head
ASK: tuple[Action, ...] = ("ask", "answer")
VOTE_TWICE: tuple[Action, ...] = ("ask", "pause", "again", "answer")
UNCOVERED = {"cover": "false", "hide": "predict"}  # what is shown after the answers, with no other question above it
CURVES_ALONE = {"hide": "predict,stage,beside,divided_figure"}  # the matrices take a projector's whole screen


def stop_at(
    lesson: ModuleType,
    choices: Callable[[ExampleTrace], object],
    minutes: int,
    actions: tuple[Action, ...],
    link: Mapping[str, str] | None = None,
    example: Example = MIDWAY,
    number: int = 0,
    **when: Any,
) -> Stop:
    """A stop at a lesson, on the screen that these choices make, and its question with this `number`.

    The first is one that its page asks as well, and that can be read from the figures. Of any other the page asks
    nothing: two questions at once would confuse.
    """
    name, head = name_of(lesson), DEFAULT_HEAD if example is REAL else 0
    screen = written_asked(ScreenLink(name, example, head, choices(run_example(example)), number))
    shown = UNCOVERED if actions == ("show",) else {"hide": "predict"} if number else {}
    said = said_of_example(example) | shown | dict(link or {})
    return Stop(page=page_of(lesson), link=said, actions=actions, minutes=minutes, screen=screen, **when)


def page_of(lesson: ModuleType) -> str:
    """The address of its page; the first screen is the home page."""
    return "home" if lesson is sentence_view else name_of(lesson)


def said_of_example(example: Example) -> dict[str, str]:
    """What a link says of the example."""
    if example is REAL:
        return {"example": "language", "layer": str(DEFAULT_LAYER + 1), "head": str(DEFAULT_HEAD + 1)}
    moment = {} if example.updates == TAUGHT.updates else {"trained_for": str(example.updates)}
    return {"example": example.source} | moment


AT_LOOK = functools.partial(stop_at, sentence_view, lambda t: sentence_view.Choices(first_query(t)))
AT_TOKENS = functools.partial(stop_at, tokens, lambda t: tokens.Choices(), link={"cuts": "example"})
AT_DOT_PRODUCT = functools.partial(
    stop_at,
    dot_product,
    lambda t: dot_product.Choices("all", first_query(t)),
    link={"view": "all"},
    number=LONGER_VECTOR,
)
THEN_DOT_PRODUCT = functools.partial(
    stop_at, dot_product, lambda t: dot_product.Choices("equal", first_query(t)), link={"view": "equal"}
)
AT_PROJECTIONS = functools.partial(
    stop_at, projections, lambda t: projections.Choices("q"), link={"role": "q"}, number=QUERY_OF_GIRL
)
THEN_PROJECTIONS = functools.partial(
    stop_at, projections, lambda t: projections.Choices("mirror"), link={"role": "mirror"}
)
AT_SCORES = functools.partial(stop_at, scores, lambda t: scores.Choices(), number=PREDICTED)
THEN_SCORES = functools.partial(
    stop_at, scores, lambda t: scores.Choices(LARGE_D_K), link={"measured_d_k": str(LARGE_D_K)} | CURVES_ALONE
)
AT_MASK = functools.partial(
    stop_at, mask, lambda t: mask.Choices(causal_mask(len(t.tokens))), link={"masking": "change"}, number=PREDICTED
)
THEN_MASK = functools.partial(
    stop_at, mask, lambda t: mask.Choices(causal_mask(len(t.tokens)), "late"), link={"masking": "late"}
)
AT_SOFTMAX = functools.partial(stop_at, softmax, lambda t: softmax.Choices(first_query(t)), number=SHARPER_ROW)
THEN_SOFTMAX = functools.partial(
    stop_at, softmax, lambda t: softmax.Choices(first_query(t), SHARPER), link={"temperature": str(SHARPER)}
)
AT_OUTPUT = functools.partial(
    stop_at, output, lambda t: output.Choices("one", first_query(t)), link={"of": "one"}, number=PREDICTED
)
THEN_OUTPUT = functools.partial(
    stop_at, output, lambda t: output.Choices("parts", first_query(t)), link={"of": "parts"}
)
AT_POSITIONS = functools.partial(
    stop_at,
    positions,
    lambda t: positions.Choices(random_permutation(len(t.tokens), 0)),
    link={"order_view": "output"},
    number=PREDICTED,
)
THEN_POSITIONS = functools.partial(
    stop_at,
    positions,
    lambda t: positions.Choices(random_permutation(len(t.tokens), 0), kind="sinusoidal"),
    link={"positions": "sinusoidal"},
)
SHOW: tuple[Action, ...] = ("show",)


def training(minutes: int) -> Stop:
    """A question on a training run, which then is trained in front of the class."""
    screen = written_asked(ScreenLink("train", TAUGHT, 0, TrainChoices()))
    link = {"task": "induction", "hide": "predict"}
    return Stop(page="train", link=link, actions=("ask", "answer", "train"), minutes=minutes, screen=screen)


def task(minutes: int, exercise: str = "softmax", **when: Any) -> Stop:
    """An exercise, in class or to take home."""
    return Stop(page="exercises", link={"exercise": exercise}, minutes=minutes, **when)


def reading(view: str, minutes: int, actions: tuple[Action, ...], **when: Any) -> Stop:
    """A question on the whole real model, which must be on this machine for it."""
    begin = BEGINS[view]
    layer, head = map(int, begin.head.split("."))
    text = TEXTS[begin.sentence]
    asks = text.split().index(begin.word.strip()) if begin.word else None  # each word of it is one token
    choices = ReadChoices(view=view, text=text, layer=layer, head=head, word=asks)
    screen = written_asked(ScreenLink("read", Example(), 0, choices))
    return Stop(page="read", link={"read_view": view}, actions=actions, minutes=minutes, screen=screen, **when)


REAL_LOOK = Stop(page="home", link={"picture": "model"}, minutes=6)


def plan_of_45() -> tuple[Stop, ...]:
    """One head, from the first look to its output."""
    return (
        AT_LOOK(4, SHOW, example=TAUGHT),
        AT_LOOK(1, SHOW, example=BEFORE_TRAINING),
        AT_TOKENS(2, ASK, out=True),
        AT_PROJECTIONS(6, VOTE_TWICE),
        THEN_PROJECTIONS(1, SHOW),
        AT_SCORES(4, ASK, out=True),
        THEN_SCORES(1, SHOW, out=True),
        AT_MASK(5, VOTE_TWICE),
        THEN_MASK(1, SHOW),
        AT_SOFTMAX(6, VOTE_TWICE),
        THEN_SOFTMAX(1, SHOW, ends=True),
        training(5),
        AT_OUTPUT(5, VOTE_TWICE),
        THEN_OUTPUT(1, SHOW, ends=True),
        task(2),
    )


def plan_of_90() -> tuple[Stop, ...]:
    """One head with every step of it, an exercise in class, and the order of the tokens."""
    return (
        AT_LOOK(4, SHOW, example=TAUGHT),
        AT_LOOK(1, SHOW, example=BEFORE_TRAINING),
        AT_TOKENS(3, ASK, out=True),
        AT_DOT_PRODUCT(7, VOTE_TWICE),
        THEN_DOT_PRODUCT(1, SHOW),
        AT_PROJECTIONS(7, VOTE_TWICE),
        THEN_PROJECTIONS(1, SHOW),
        AT_SCORES(7, VOTE_TWICE),
        THEN_SCORES(1, SHOW, ends=True),
        AT_MASK(6, VOTE_TWICE),
        THEN_MASK(1, SHOW),
        AT_SOFTMAX(8, VOTE_TWICE),
        THEN_SOFTMAX(2, SHOW, ends=True),
        task(12, out=True),
        training(8),
        AT_OUTPUT(8, VOTE_TWICE),
        THEN_OUTPUT(1, SHOW, ends=True),
        AT_POSITIONS(8, VOTE_TWICE),
        THEN_POSITIONS(1, SHOW),
        task(3, "mask"),
    )


def plan_of_60() -> tuple[Stop, ...]:
    """One head of the real model on its sentence, and then the whole model."""
    return (
        REAL_LOOK,
        AT_PROJECTIONS(7, VOTE_TWICE, example=REAL, number=ONE_MORE_TOKEN),
        THEN_PROJECTIONS(1, SHOW, example=REAL),
        AT_SCORES(6, ASK, example=REAL, out=True),
        AT_MASK(6, VOTE_TWICE, example=REAL),
        AT_SOFTMAX(7, VOTE_TWICE, example=REAL),
        THEN_SOFTMAX(1, SHOW, example=REAL, ends=True),
        AT_OUTPUT(6, VOTE_TWICE, example=REAL),
        THEN_OUTPUT(1, SHOW, example=REAL, ends=True),
        reading("sink", 5, ASK),
        reading("off", 6, VOTE_TWICE, out=True),
        training(6),
        task(2),
    )


READY_MADE: dict[int, Callable[[], tuple[Stop, ...]]] = {45: plan_of_45, 60: plan_of_60, 90: plan_of_90}


@functools.cache
def ready_plan(minutes: int) -> Plan:
    """A plan for so many minutes."""
    return Plan(stops=READY_MADE[minutes]())
