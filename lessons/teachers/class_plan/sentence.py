"""A plan on another sentence: wherever one of its screens takes one."""

from dataclasses import replace

from attention_core.base.errors import InputError
from attention_core.text.tokens import clean_text
from lessons.example.example import run_example
from lessons.example.real_model import RealModel
from lessons.screen import format_value
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.class_vote.question_link import read_asked, written_asked

LONGEST_SENTENCE = 120


def with_sentence(plan: Plan, sentence: str, model: RealModel | None = None) -> Plan:
    """The plan with this sentence. Raises ValueError, with a sentence, where a screen cannot show it."""
    text = clean_text(sentence, LONGEST_SENTENCE).text
    if not text:
        raise InputError("Type a sentence of at least one word.")
    return replace(plan, stops=tuple(stop_with(stop, text, model) for stop in plan.stops))


def stop_with(stop: Stop, text: str, model: RealModel | None) -> Stop:
    """One stop on this sentence. Masks and orders were made for so many tokens, so there must be as many of them."""
    if stop.page == "home" and not stop.screen:
        return replace(stop, link=stop.link | {"look_text": text})
    if not stop.screen:
        return stop
    asked = read_asked(stop.screen)
    if asked.lesson == "read":
        choices = replace(asked.choices, text=text, word=None, together=())
        said = stop.link | {"read": "own", "read_text": text}
        return replace(stop, link=said, screen=written_asked(replace(asked, choices=choices)))
    source = asked.example.source
    if source != stop.link.get("example"):  # the screen has sentences of its own
        return stop
    here = asked.example.given_by.with_model(asked.example, model)
    before, after = run_example(here), run_example(replace(here, text=text))
    if after.notes:
        raise InputError("This sentence does not fit: {why}", why=format_value(after.notes[0]))
    if len(before.tokens) != len(after.tokens):
        raise InputError(
            "The sentence must have as many tokens as that of the plan, {before}, but it has {after}.",
            before=len(before.tokens),
            after=len(after.tokens),
        )
    example = replace(asked.example, text=text)
    return replace(
        stop, link=stop.link | {f"says_{source}": text}, screen=written_asked(replace(asked, example=example))
    )
