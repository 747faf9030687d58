"""What a teacher is told of a stop: what to ask, which answers come, what to say to each, and what the screen shows."""

from dataclasses import dataclass

from lessons.code.exercises.every import EXERCISES
from lessons.example.example import first_query, run_example
from lessons.screen import ListOf, Message, Percent, Question, Screen, message, plural
from lessons.teachers.class_plan.own_question import OwnQuestion, right_number
from lessons.teachers.class_plan.plan import Plan
from lessons.teachers.class_vote.question_link import ScreenLink


@dataclass(frozen=True)
class Expected:
    """An answer that will come: what it says, the thought that leads to it, and what to say then."""

    text: Message
    thought: Message | None
    reply: Message | None


@dataclass(frozen=True)
class Notes:
    """What to ask, the right answer, the others that will come, and what there is to see."""

    asks: Message | None = None
    right: Expected | None = None
    wrong: tuple[Expected, ...] = ()
    shows: tuple[Message, ...] = ()


def notes_of_exercise(key: str) -> Notes:
    """What an exercise asks, and the known mistakes by what helps."""
    if key not in EXERCISES:
        return Notes()
    exercise = EXERCISES[key]
    hints = tuple(Expected(message("A known mistake"), None, hint) for hint in exercise.hints)
    return Notes(exercise.asks, None, hints)


def notes_of_screen(asked: ScreenLink, screen: Screen, question: Question | None) -> Notes:
    """What a screen asks and shows. Before one that says the answer at once, one asks where its token will look; of a
    head that has learned nothing yet, nobody can say.
    """
    if question is None:
        learnt = asked.lesson == "overview" and asked.example.updates != 0
        notes = where_will_it_look(asked, screen) if learnt else Notes()
        return Notes(notes.asks, notes.right, notes.wrong, what_is_noticed(screen))
    return Notes(question.prompt, *answers_expected(question), what_is_noticed(screen))


def notes_of_own(own: OwnQuestion) -> Notes:
    """What a question of the teacher's own takes for right."""
    question = own.question()
    if own.kind != "choices" or own.right is None:
        right = right_number(own)
        others = tuple(Expected(card.text, None, card.reply) for card in question.cards)
        return Notes(question.prompt, None, others, () if right is None else (right,))
    return Notes(question.prompt, *answers_expected(question))


def answers_expected(question: Question) -> tuple[Expected, tuple[Expected, ...]]:
    """The right answer, and the others."""
    cards = [Expected(card.text, card.reason, card.reply) for card in question.cards]
    return cards.pop(question.right), tuple(cards)


def what_is_noticed(screen: Screen) -> tuple[Message, ...]:
    """What a screen says of itself: its headline, or what there is to notice in its figures."""
    if screen.headline is not None:
        return (screen.headline,)
    return tuple(said for figure in screen.figures for said in figure.notice)


def where_will_it_look(asked: ScreenLink, screen: Screen) -> Notes:
    """What to ask before a screen that says the answer at once: where the token looks that asks."""
    trace = run_example(asked.example)
    query, names = first_query(trace), trace.names
    row = trace.heads.select(asked.head).weights[query]
    *others, most = [key for key in row.argsort().tolist() if trace.heads.visible[0, query, key]]
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
    return Notes(asks, Expected(message("{key}", key=names[most]), None, screen.headline), wrong)


def if_time_is_short(plan: Plan) -> tuple[Message, ...]:
    """Which stops can be left out, how much that saves, and after which of them one can end."""
    out = [place for place, stop in enumerate(plan.stops, start=1) if stop.out]
    ends = [place for place, stop in enumerate(plan.stops, start=1) if stop.ends]
    saved = sum(stop.minutes for stop in plan.stops if stop.out)
    said = []
    if out:
        said.append(
            plural(
                "If time is short, leave out {stops}: that saves {count} minute.",
                "If time is short, leave out {stops}: that saves {count} minutes.",
                saved,
                stops=stops_named(out),
            )
        )
    if ends:
        said.append(
            message("If time runs out, end after {stops}, where a thought is complete.", stops=stops_named(ends))
        )
    return tuple(said)


def stops_named(places: list[int]) -> Message:
    """Stop 2; or stops 2 and 4."""
    return plural("stop {places}", "stops {places}", len(places), places=ListOf(tuple(places)))
