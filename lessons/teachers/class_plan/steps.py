"""What the next key does with a class: which link it follows, how long the timer runs, and what becomes of the vote."""

from typing import NamedTuple

from lessons.teachers.class_plan.plan import Action, Plan

# To which stages a question of a plan can be brought by hand, where showing a vote closes it; and which actions do so.
BY_HAND = {
    "open": ("shown",),
    "closed": ("shown",),
    "shown": ("again", "explained"),
    "again": ("compared",),
    "compared": ("explained",),
}
BROUGHT_BY: dict[str, Action] = {"shown": "votes", "compared": "votes", "again": "again", "explained": "answer"}


class Now(NamedTuple):
    """Where a class is: the link it follows, and its question, with what is asked and in which stage."""

    link: str
    number: int
    stage: str
    asked: str


class Done(NamedTuple):
    """Where an action brings it: the same, the seconds of its timer, and whether the question is a new one."""

    link: str
    number: int
    stage: str
    seconds: int = 0
    asks: bool = False


def after_step(plan: Plan, place: int, now: Now, link: str, asked: str) -> Done:
    """What the action at this place of the plan does, at a stop with this `link` and this question (`asked`).

    Without a question, whatever concerns a vote shows the screen. An answer that nobody was asked for shows it as well.
    """
    step = plan.steps[place]
    same = bool(asked) and now.asked == asked and now.stage != "waiting"
    stay = Done(link, now.number, now.stage)
    match step.action:
        case "pause":
            return Done(now.link, now.number, stage_while_talking(now.stage), plan.stops[step.stop].pause)
        case "ask" if asked:
            if same and now.stage in ("open", "closed"):  # the teacher went back, and comes again
                return Done("", now.number, "open")
            return Done("", now.number + 1, "open", asks=True)
        case "again" if asked:
            return Done("", now.number, "again") if same else Done("", now.number + 1, "open", asks=True)
        case "votes" if same:
            return Done("", now.number, "compared" if now.stage in ("again", "compared") else "shown")
        case "answer" if same:
            return Done("", now.number, "explained")
    return stay


def left_to_hand(plan: Plan, place: int, stage: str) -> list[str]:
    """The stages to which the question of a stop can be brought next, and no step that is to come there brings it."""
    here = plan.steps[place].stop
    to_come = {step.action for step in plan.steps[place + 1 :] if step.stop == here}
    return [to for to in BY_HAND.get(stage, ()) if BROUGHT_BY[to] not in to_come]


def stage_while_talking(stage: str) -> str:
    """While the class talks, no vote is open."""
    return {"open": "closed", "again": "compared"}.get(stage, stage)
