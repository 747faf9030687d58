"""Every choice that a link can make: those of the lessons, and of the controls in all parts of the app."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from attention_ui.class_plan import homework, leading, plan_view
from attention_ui.controls import editing, example, heads, learnt, model_view, pictures, read
from attention_ui.page import code, get_model, tokens_page
from attention_ui.page.contents import CONTENTS, Entry
from attention_ui.practice import exercise_view, platform_view, take_home_view
from attention_ui.session import chart
from attention_ui.training import controls as training_controls
from attention_ui.voting import rooms
from attention_ui.writing import controls as writing_controls
from attention_ui.writing import writers
from lessons.kit import shared_choices
from lessons.overview import matrices_view, row_view
from lessons.screen.choice import OneOf, declared_in
from lessons.screen.message import Message, message
from words import LANGUAGES, tag_of


def lesson_behind(entry: Entry) -> ModuleType:
    """The whole lesson of a page, as far as one file has it."""
    name = f"lessons.{Path(entry.file).stem}"
    folder = Path(import_module(name).__file__).parent
    return import_module(f"{name}.lesson" if (folder / "lesson.py").exists() else name)


LESSONS = [(entry.section, lesson_behind(entry)) for entry in CONTENTS]
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
    *(lesson for section, lesson in LESSONS if section == "one_head"),
)
SPOKEN = OneOf("lang", "", {tag_of(code): code for code in LANGUAGES})  # with a menu of its own
LINK_RULES = {
    choice.name: choice
    for module in (*SHARED, *CONTROLS, rooms, leading, homework, *(lesson for _, lesson in LESSONS))
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
