"""The screens that a visit has seen last, for a teacher who wants to ask about one of them."""

from types import ModuleType

from attention_ui.session.state import get_state, set_state
from lessons.class_vote.question_link import ScreenLink
from lessons.example.example import Example


def remember_screen(lesson: ModuleType, address: str, example: Example, head: int, choices: object) -> None:
    """Keep the choices of a screen, and which question stood on it."""
    name = lesson.__name__.split(".")[1]
    asked = ScreenLink(name, example, head, choices, get_state(f"{address}_question") or 0)
    set_state("screens_seen", (get_state("screens_seen") or {}) | {name: asked})
    set_state("lesson_seen", name)


def remember_page(address: str) -> None:
    """Keep that a page was seen last whose questions nobody else's screen can ask."""
    set_state("lesson_seen", address)


def seen_of(lesson: str) -> ScreenLink | None:
    """The screen of a lesson that was seen last."""
    return (get_state("screens_seen") or {}).get(lesson)
