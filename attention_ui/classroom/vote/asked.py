"""What a class is asked, made again from its text: a question of a screen, or one of the teacher's own."""

from dataclasses import dataclass

from attention_ui.process.real_models import encoder_model, smollm2
from classes.keeper import WRITTEN
from lessons.screen import Figure, Question, Screen
from lessons.teachers.class_plan.own_question import OwnQuestion, read_own, written_own
from lessons.teachers.class_plan.plan import Stop
from lessons.teachers.class_vote.question_link import read_asked, screen_asked


@dataclass(frozen=True, eq=False)
class Asked:
    """A question, the figures that it is about, and the teacher's own words where it is one of those."""

    question: Question | None
    screen: Screen | None
    own: OwnQuestion | None = None
    is_level: bool = False  # of building a head: it is answered there, by solving it

    @property
    def figures(self) -> tuple[Figure, ...]:
        """What the class looks at."""
        return () if self.screen is None else self.screen.figures

    @property
    def cards(self) -> int:
        """How many cards there are to choose from."""
        return WRITTEN if self.own is not None and self.own.is_written else len(self.question.cards)

    @property
    def right(self) -> int | None:
        """The place of the right card, where one is right."""
        return None if self.question is None or self.question.right < 0 else self.question.right


def asked_here(text: str) -> Asked:
    """What is asked with this text, with the real models of this process. Raises ValueError where that cannot be."""
    if (own := read_own(text)) is not None:
        return Asked(own.own.question(), screen_here(own.screen)[0] if own.screen else None, own.own)
    screen, question = screen_here(text)
    return Asked(question, screen, is_level=read_asked(text).lesson == "build")


def screen_here(text: str) -> tuple[Screen, Question | None]:
    """The screen that this text makes, and its question."""
    written = None
    if read_asked(text).lesson == "generate":
        from attention_ui.writing.asked import screen_written as written  # and with it all that writes

    return screen_asked(text, smollm2(), encoder_model(), written)


def lesson_asked(text: str) -> str:
    """The lesson that a question is about; empty for one that is about no screen."""
    own = read_own(text)
    screen = text if own is None else own.screen
    return read_asked(screen).lesson if screen else ""


def text_of_stop(stop: Stop) -> str:
    """What a stop asks, as a text; empty where it asks nothing."""
    return stop.screen if stop.own is None else written_own(stop.own, stop.screen)
