"""Every choice that a link can make: those of the lessons, and of the controls in all parts of the app."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from attention_ui.classroom.homework import homework
from attention_ui.classroom.plan import leading, plan_view
from attention_ui.classroom.vote import rooms
from attention_ui.contents import CONTENTS, Entry, lesson_of
from attention_ui.controls import editing, example, get_model, heads, learnt, model_view, pictures, read
from attention_ui.page import code, tokens_page
from attention_ui.practice import exercise_view, platform_view, take_home_view
from attention_ui.session import LinkRules, chart
from attention_ui.training import controls as training_controls
from attention_ui.writing import controls as writing_controls
from attention_ui.writing import writers
from lessons.screen import Message, OneOf, declared_in, message
from lessons.shared import shared_choices
from lessons.start.overview import matrices_view, row_view
from words import LANGUAGES, tag_of


def lesson_behind(entry: Entry) -> ModuleType:
    """The whole lesson of a page, as far as one file has it."""
    package = lesson_of(Path(entry.file))
    has_lesson = (Path(package.__file__).parent / "lesson.py").exists()
    return import_module(f"{package.__name__}.lesson") if has_lesson else package


LESSONS = {entry.address: lesson_behind(entry) for entry in CONTENTS}
ONE_HEAD = [LESSONS[entry.address] for entry in CONTENTS if entry.section == "one_head" and entry.address != "build"]
CONTROLS = (
    pictures,
    model_view,
    read,
    code,
    tokens_page,
    row_view,
    training_controls,
    writing_controls,
    writers,
    exercise_view,
    take_home_view,
    platform_view,
    plan_view,
)
# Controls that several pages have, and what is chosen in the lessons on one head and on several.
SHARED = (
    *(chart, example, editing, learnt, get_model, shared_choices, matrices_view, heads),
    *ONE_HEAD,
)
SPOKEN = OneOf("lang", "", {tag_of(code): code for code in LANGUAGES})  # with a menu of its own
LINK_RULES = {
    choice.name: choice
    for module in (*SHARED, *CONTROLS, rooms, leading, homework, *LESSONS.values())
    for choice in declared_in(module)
} | {SPOKEN.name: SPOKEN}
GOES_ALONG = frozenset(("lang", "hide", "class", "follow", "homework", "stop")).union(
    choice.name for module in SHARED for choice in declared_in(module)
)

SINGLE_TASKS = message(
    "The link asks for a worksheet of single tasks; these are gone, and only connected ones are left."
)
# What links may still say though it is gone, a name or one value of a name: it is left out, so that what one finds at
# first opens, and a sentence says so; none where nothing is missed.
RETIRED: dict[str, Message | None] = {
    "cost_view=measured": message("Times measured on this machine are gone from Cost; the counts are shown."),
    "paper=key": None,  # the code of a sheet has a line among the worksheets
    "paper_kind": None,
    "paper_kind=tasks": SINGLE_TASKS,
    "paper_tasks": SINGLE_TASKS,
    **{
        f"on_paper_{lesson}": SINGLE_TASKS
        for lesson in ("tokens", "dot_product", "projections", "scores", "mask", "softmax", "output")
    },
}
RULES = LinkRules(LINK_RULES, GOES_ALONG, RETIRED)
