"""A level put to a class: whoever opens it has it before him, and then he has solved it."""

from attention_core.puzzles import OTHERS, PUZZLES
from lessons.one_head.puzzle.lesson import BuildChoices
from lessons.one_head.puzzle.levels import LEVELS
from lessons.screen import Card, Code, Message, Percent, Question, Screen, message

SOLVED, NOT_YET = 0, 1  # the places of the cards


def task_screen(choices: BuildChoices) -> Screen:
    """What the class is asked. The level itself is seen on its own page, with everybody's own numbers."""
    return Screen(figures=(), code=Code(()), ask=lambda _: level_question(choices.level))


def level_question(level: str) -> Question:
    """The goal, and how far one is with it. Neither card is right: nobody presses them, the page does."""
    goal = Percent(PUZZLES[level].goal)
    reached = message("At least {goal} on {count} other sentences.", goal=goal, count=OTHERS)
    missing = message("Less than {goal} on {count} other sentences.", goal=goal, count=OTHERS)
    cards = (Card(message("solved"), reached), Card(message("not yet"), missing))
    return Question(message("Build a head. {goal}", goal=LEVELS[level].goal), cards, -1, in_figure=False)


def how_many_solved(solved: int, opened: int) -> Message:
    """How far the class is."""
    return message("Solved so far: {solved} of {opened}", solved=solved, opened=opened)
