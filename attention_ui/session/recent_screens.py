"""The screens that a visit has seen last, for a teacher who wants to ask about one of them."""

from types import ModuleType

from attention_ui.state import get_state, set_state
from lessons import name_of
from lessons.example.example import Example
from lessons.teachers.class_plan.plan import MOST_SAID, Stop
from lessons.teachers.class_plan.plan_file import NOT_FOR_PLANS
from lessons.teachers.class_vote.question_link import ScreenLink, written_asked


def remember_screen(lesson: ModuleType, address: str, example: Example, head: int, choices: object) -> None:
    """Keep the choices of a screen, and which question stood on it."""
    name = name_of(lesson)
    asked = ScreenLink(name, example, head, choices, get_state(f"{address}_question") or 0)
    set_state("screens_seen", (get_state("screens_seen") or {}) | {name: asked})
    set_state("lesson_seen", name)
    set_state("address_seen", address)


def forget_screen(lesson: ModuleType) -> None:
    """Keep that a page was seen last whose question nobody else's screen can ask."""
    name = name_of(lesson)
    set_state(
        "screens_seen", {known: seen for known, seen in (get_state("screens_seen") or {}).items() if known != name}
    )
    set_state("lesson_seen", name)


def stop_seen() -> Stop | None:
    """The screen that was seen last, as a stop of a plan, with its whole link; None where others cannot make it."""
    seen, address = seen_of(get_state("lesson_seen") or ""), get_state("address_seen")
    if seen is None or address is None:
        return None
    link = get_state("visit_link").on_page(address, ()) if get_state("visit_link") else {}
    link = {name: value for name, value in link.items() if name not in NOT_FOR_PLANS and len(value) <= MOST_SAID}
    try:
        return Stop(page=address, link=link, actions=("show", "ask", "answer"), screen=written_asked(seen))
    except ValueError:
        return None


def seen_of(lesson: str) -> ScreenLink | None:
    """The screen of a lesson that was seen last."""
    return (get_state("screens_seen") or {}).get(lesson)
