"""The questions of the lessons, and of a teacher, as items of a platform: written texts, numbers and pictures.

A question comes in several versions: the same question about other weights, each drawn from a seed of its own. What is
to be predicted is asked before its numbers are seen, so its item shows only what is given.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from attention_core.base.errors import InputError
from attention_core.base.randomness import MAX_SEED
from lessons import name_of
from lessons.example.example import Example, first_query, run_afresh
from lessons.example.source import DEFAULT_SENTENCE
from lessons.learning.train import lesson as train
from lessons.one_head.output import lesson as output
from lessons.order import lesson_path
from lessons.screen import (
    Code,
    Facts,
    Figure,
    Message,
    Question,
    Screen,
    equation,
    labelled,
    message,
    render,
    translate,
)
from lessons.shared.formulas import spoken_formula
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.class_vote.asked_runs import TrainChoices
from lessons.teachers.platform.tables import NumberTable, in_words, tables_of

ON_PLATFORM = (
    "tokens",
    "dot_product",
    "projections",
    "scores",
    "mask",
    "softmax",
    "output",
    "heads",
    "positions",
    "pytorch",
    "train",
    "backward",
    "variants",
    "cost",
)
MOST_QUESTIONS, MOST_VERSIONS, LAST_SEED = 6, 20, 999_999
LONGEST_SENTENCE = 60  # characters
LAST_STEPS = 3  # of a derivation: what comes before is about other numbers
COLOURED = re.compile(r"\\textcolor\{\w+\}\{([^{}]*)\}")
OWN_TITLE = message("The teacher's question")


@dataclass(frozen=True, kw_only=True)
class PlatformChoices:
    """Of which lessons the first so many questions, in how many versions, from which seed on, on which sentence.

    Raises ValueError, with a sentence for whoever chose, for what makes no file.
    """

    lessons: tuple[str, ...] = ON_PLATFORM
    questions: int = 3
    versions: int = 1
    seed: int = 1
    text: str = DEFAULT_SENTENCE

    def __post_init__(self):
        if not self.lessons or not set(self.lessons) <= set(ON_PLATFORM):
            raise ValueError(f"lessons are some of {', '.join(ON_PLATFORM)}, but got {self.lessons}")
        limits = {"questions": (1, MOST_QUESTIONS), "versions": (1, MOST_VERSIONS), "seed": (0, LAST_SEED)}
        for name, (least, most) in limits.items():
            if not least <= getattr(self, name) <= most:
                raise InputError(
                    "{name} goes from {least} to {most}, but got {value}",
                    name=name,
                    least=least,
                    most=most,
                    value=getattr(self, name),
                )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each version; after the last one comes 0."""
        return tuple((self.seed + place) % (LAST_SEED + 1) for place in range(self.versions))


@dataclass(frozen=True)
class Picture:
    """A figure as a file of SVG, and its numbers in words, for whoever does not see it."""

    svg: bytes
    alt: str


def undrawn(figure: Figure, covered: bool) -> bytes | None:
    """No picture: the figure becomes tables of its numbers."""
    return None


Draw = Callable[[Figure, bool], bytes | None]


@dataclass(frozen=True)
class Option:
    """An answer to choose, the thought that leads to it, and what is said to whoever chooses it."""

    text: str
    reason: str
    feedback: str


@dataclass(frozen=True, kw_only=True)
class Item:
    """One version of a question. `key` is the same for all versions, and `about` names what it belongs to.

    Of some `options` the one at the place `right` is right; where there are none, a number is typed, and those are
    right that lie within the `tolerance`. The explanation is for everybody who has answered.
    """

    key: str
    seed: int | None
    about: str
    title: str
    prompt: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[NumberTable, ...] = ()
    notes: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    right: int = 0
    number: float = 0.0
    tolerance: float = 0.0
    explanation: tuple[str, ...] = ()
    formula: str = ""

    @property
    def identifier(self) -> str:
        """Its name in a file: letters, digits and underscores."""
        return self.key if self.seed is None else f"{self.key}_seed_{self.seed}"

    @property
    def fingerprint(self) -> bytes:
        """The same for versions that read alike: their answers may stand in another order."""
        options = sorted((option.text, option.reason, option.feedback) for option in self.options)
        read = (self.key, self.prompt, self.pictures, self.tables, self.explanation, options)
        return sha256(repr(read).encode()).digest()


def items_of(choices: PlatformChoices, wanted: Iterable[str] = (), draw: Draw = undrawn) -> Iterator[Item]:
    """Version by version all questions, but none that reads like an earlier one; where some are `wanted`, by their
    keys, no others.

    What `draw` makes no picture of becomes tables. Each item is made when it is asked for, and none is kept here.
    """
    wanted, written = frozenset(wanted), set()
    asked = {key.rpartition("_")[0] for key in wanted}
    lessons = tuple(lesson for lesson in choices.lessons if not wanted or lesson in asked)
    if not lessons:
        return
    choices = replace(choices, lessons=lessons)
    for seed in choices.seeds:
        for item in items_of_seed(choices, seed, draw):
            if (not wanted or item.key in wanted) and item.fingerprint not in written:
                written.add(item.fingerprint)
                yield item


def items_of_seed(choices: PlatformChoices, seed: int, draw: Draw) -> Iterator[Item]:
    """One version of all questions."""
    for lesson, topic, screen in screens_of(choices, seed):
        prompts = set()
        for place in range(choices.questions):
            item = item_of(f"{lesson}_{place + 1}", topic, place, seed, screen, draw)
            if item.prompt not in prompts:  # a screen with few questions asks them again
                prompts.add(item.prompt)
                yield item


def screens_of(choices: PlatformChoices, seed: int) -> Iterator[tuple[str, Message, Screen]]:
    """The screen of each lesson, with weights drawn from this seed, in the order of the lessons.

    That of the output is about one query: its questions are about the values, which the screen of all queries leaves
    out.
    """
    trace = run_afresh(Example(source="sentence", text=choices.text, seed=seed))
    opened = {name_of(module): (module, first) for module, first in lesson_path(trace)}
    opened["output"] = output, output.Choices("one", first_query(trace))
    for lesson in ON_PLATFORM:
        if lesson not in choices.lessons:
            continue
        if lesson == "train":
            run = replace(TrainChoices().settings, seed=seed % MAX_SEED)
            yield lesson, train.TOPIC, Screen(figures=(), code=Code(()), ask=train.questions_about(run))
        else:
            module, first = opened[lesson]
            yield lesson, module.TOPIC, module.screen(trace, 0, first)


def item_of(key: str, topic: Message, place: int, seed: int, screen: Screen, draw: Draw) -> Item:
    """The question with this number of a screen, with the numbers it is asked about, in the reader's language."""
    assert screen.ask is not None  # only lessons that ask come here
    question = screen.ask(place)
    figures = first_pictures(screen.figures)
    pictures, tables = shown(figures, question.in_figure, draw)
    said = [figure.weights for figure in figures if (pictures or tables) and figure.weights is not None]
    about = render(topic)
    return Item(
        key=key,
        seed=seed,
        about=about,
        title=translate("{topic}, question {number}, seed {seed}", topic=about, number=place + 1, seed=seed),
        prompt=render(question.prompt),
        pictures=pictures,
        tables=tables,
        notes=tuple(dict.fromkeys(map(render, said))),
        options=options_of(question),
        right=question.right,
        explanation=explanation_of(question, screen),
        formula="" if screen.formula is None else COLOURED.sub(r"\1", spoken_formula(screen.formula)),
    )


def shown(figures: Iterable[Figure], covered: bool, draw: Draw) -> tuple[tuple[Picture, ...], tuple[NumberTable, ...]]:
    """Those figures that can be drawn as pictures, and the others as tables; none of one that is covered as a whole."""
    pictures, tables = [], []
    for figure in figures:
        numbers = tables_of(figure, covered=covered)
        svg = draw(figure, covered) if numbers else None
        if svg is None:
            tables += numbers
        else:
            pictures.append(Picture(svg, " ".join(map(in_words, numbers))))
    return tuple(pictures), tuple(tables)


def first_pictures(figures: tuple[Figure, ...]) -> list[Figure]:
    """What a question stands beside: the first figure and what is beside it, with the facts before it."""
    first: list[Figure] = []
    for figure in figures:
        if first and not isinstance(first[-1], Facts) and not figure.beside:
            break
        first.append(figure)
    return first


def options_of(question: Question) -> tuple[Option, ...]:
    """The cards of a question."""
    return tuple(
        Option(render(card.text), "" if card.reason is None else render(card.reason), render(card.reply))
        for card in question.cards
    )


def explanation_of(question: Question, screen: Screen) -> tuple[str, ...]:
    """Why the right answer is right, and where it is a number that the screen can derive, how that comes about."""
    why = render(question.cards[question.right].reply)
    if question.about is None or screen.derive is None:
        return (why,)
    steps = list(screen.derive(*question.about))[-LAST_STEPS:]
    return (why, *(labelled(step.meaning, equation(step)) for step in steps))


def own_items(questions: Iterable[OwnQuestion]) -> Iterator[Item]:
    """A teacher's own questions that have a right answer: to choose, or a number within a tolerance."""
    right = [own for own in questions if (own.right if own.kind == "choices" else own.number) is not None]
    for place, own in enumerate(right, start=1):
        yield Item(
            key=f"own_{place}",
            seed=None,
            about=render(OWN_TITLE),
            title=translate("{topic}, {number}", topic=OWN_TITLE, number=place),
            prompt=own.prompt,
            options=options_of(own.question()),
            right=own.right or 0,
            number=own.number or 0.0,
            tolerance=own.tolerance,
        )
