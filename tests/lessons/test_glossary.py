"""No lesson uses a word of the field before a lesson has said it, or shows its meaning beside it."""

import re

import pytest
from finding import part_of

from lessons.screen import render
from lessons.shared.glossary import TERMS, words_of
from lessons.teachers.class_vote.question_link import askable, first_asked, screen_of_lesson

FORMS = {
    "query": "quer(y|ies)",
    "loss": "loss(es)?",
    "training step": "training steps?|updates?",
    "residual": "residuals?",
    "nat": "nats?",
    "embedding": "embeddings?",
}
MOST_LETTERS = 130  # of a meaning: two short lines


def lessons_in_order():
    names = {term.first_in for term in TERMS.values()} | set(askable()) | {"train", "generate"}
    return sorted(names, key=lambda name: part_of(name).PLACE)


LESSONS = lessons_in_order()


def module_of(lesson):
    if lesson == "overview":
        return part_of(lesson, "row_view")
    return part_of(lesson, "lesson")


def read_first(lesson):
    """What a visitor reads first: topic, point, what figures are and show, the first question and its cards."""
    module = module_of(lesson)
    said = [getattr(module, "TOPIC", None), module.POINT]
    if lesson in askable() and lesson not in ("read", "generate"):  # whose screens need what a visitor has written
        screen = screen_of_lesson(first_asked(lesson), None, None)
        for figure in screen.figures:
            said += [figure.name, *figure.notice]
        question = screen.ask(0)
        said += [question.prompt]
        for card in question.cards:
            said += [card.text, card.reason]
    return " ".join(render(sentence) for sentence in said if sentence is not None)


def uses(term, text):
    return re.search(rf"\b({FORMS.get(term, re.escape(term) + 's?')})\b", text, re.I)


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_word_comes_before_its_meaning(lesson):
    text, here = read_first(lesson), LESSONS.index(lesson)
    early = {name: term.first_in for name, term in TERMS.items() if LESSONS.index(term.first_in) > here}
    found = {name: text[max(0, m.start() - 60) : m.end() + 30] for name in early if (m := uses(name, text))}
    assert not found, found


def test_each_word_has_two_short_sentences_and_a_lesson():
    for name, term in TERMS.items():
        meaning = render(term.meaning)
        assert len(re.findall(r"[.]( |$)", meaning)) == 2, meaning
        assert len(meaning) <= MOST_LETTERS, (len(meaning), meaning)
        assert term in words_of(term.first_in) and term.first_in in LESSONS
        assert name == render(term.name) or name == "residual"
