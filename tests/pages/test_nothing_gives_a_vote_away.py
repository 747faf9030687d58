"""While a class votes, no page of it says the answer: neither what the teacher projects nor what is on the phones.

The cards say it, of course, and a question to be read off a picture has its answer in that. Everything else that the
server sends is searched: all texts, the data of all charts with what pointing at them says, alternative texts, tables,
and the file of the votes.
"""

import csv
import io
import math
import re
from functools import cache

import pytest
from test_class_vote import fresh, student, teacher  # noqa: F401
from visiting import charts, read_plainly

from attention_ui.classroom.vote.asked import asked_here, text_of_stop
from attention_ui.classroom.vote.teacher import class_csv
from lessons.screen import Fixed, ListOf, Matrices, Percent, Token, format_value, render
from lessons.start.overview.model_view import ModelChoices, model_screen, read_sentence
from lessons.teachers.class_plan.ready_made import READY_MADE, ready_plan
from lessons.teachers.class_vote.question_link import askable, first_asked, read_asked, written_asked

STAGES = ("open", "closed", "shown", "again", "compared")
NUMBERS = 9  # of each lesson: every step three times
TEXTS = ("title", "header", "subheader", "markdown", "text", "caption", "code", "latex", "metric", "html", "expander")
LONG = 12  # letters of an answer that says something by itself
EXACTLY = 1e-6  # of a number: one that is as near as this to the answer is the answer


def stops_that_vote():
    """The stops at which each plan lets a class vote."""
    plans = [(minutes, place, stop) for minutes in READY_MADE for place, stop in enumerate(ready_plan(minutes).stops)]
    return [(minutes, place) for minutes, place, stop in plans if "ask" in stop.actions]


def needs_model(text):
    return read_asked(text).lesson == "read"


def skip_without_model(text, request):
    if needs_model(text):
        request.getfixturevalue("smollm2")


# What is sent.


def said_on(at, question):
    """All texts of a page but the question with its cards, and what a button, a table or a chart says."""
    lines = [str(getattr(element, "value", "")) for kind in TEXTS for element in at.get(kind)]
    lines = [line for line in lines if not line.startswith("<style>")]
    lines += [str(element.label) for kind in ("metric", "expander", "button") for element in at.get(kind)]
    lines += [cell for frame in at.dataframe for row in frame.value.astype(str).values.tolist() for cell in row]
    cards = {read_plainly(render(text)) for card in question.cards for text in (card.text, card.reason) if text}
    mine = {render(question.prompt), *cards}
    plain = [read_plainly(line).replace("**", "") for line in lines]
    return [line for line in plain if line not in mine and not is_card(line, cards)]


def is_card(line, cards):
    """A button to vote with, a card to read, or one in the preview of the next question."""
    return bool(re.match(r"[A-D]( ·|$)", line)) or line.split("\n\n")[0] in cards


def drawn_on(at):
    """Every row of every table of every chart, and all alternative texts."""
    for spec, tables, alt in charts(at):
        yield "alt", {"text": f"{alt} {spec.get('name of the figure', '')} {spec.get('title', '')}"}
        yield from ((name, row) for name, rows in tables.items() if name != "alt" for row in rows_in(rows))


def rows_in(data):
    """The rows of a table; whatever else is drawn, as a row for each text and each number in it."""
    if isinstance(data, dict) and not any(isinstance(value, list | dict) for value in data.values()):
        yield data
    elif isinstance(data, list | dict):
        for part in data.values() if isinstance(data, dict) else data:
            yield from rows_in(part)
    else:
        yield {"text": str(data), "v": data if isinstance(data, float) else None}


# What would give the answer away.


@cache
def secret(text):
    """The right card of a question, as a number with all its digits and as it is read."""
    question = asked_here(text).question
    right = question.cards[question.right].text
    numbers = [a.value for a in right.arguments.values() if isinstance(a, Fixed | Percent)]
    return render(right), [value for value in numbers if math.isfinite(value) and abs(value) not in (0.0, 1.0)]


def sentences_kept(text):
    """What the figures say of themselves, and what is said to whoever chooses a card."""
    here = asked_here(text)
    noticed = [sentence for figure in here.figures for sentence in figure.notice]
    said = [sentence for sentence in (here.screen.headline, *here.screen.lead, *here.screen.remarks) if sentence]
    return {render(sentence) for sentence in (*noticed, *said, *(card.reply for card in here.question.cards))}


def gives_away(at, text):
    """Everything on the page that says the answer, but the cards and what is given."""
    question, (answer, numbers), kept = asked_here(text).question, secret(text), sentences_kept(text)
    lines = said_on(at, question)
    given = {m.key for f in asked_here(text).figures if isinstance(f, Matrices) for m in f.matrices if m.given}
    found = [line for line in lines if any(sentence in line for sentence in kept)]
    found += [line for line in lines if stands_in(answer, line, question)]
    if question.step == "look":  # it is read off the picture
        return found + [row["text"] for name, row in drawn_on(at) if name == "alt" and kept & {row["text"].strip()}]
    for name, row in drawn_on(at):
        matrix = str(row.get("cell_tag") or "").strip("|").split(" ")[0]
        if matrix in given:
            continue
        words = " ".join(str(value) for value in row.values() if isinstance(value, str))
        floats = [value for value in row.values() if isinstance(value, float)]
        near = [value for value in floats for n in numbers if math.isclose(value, n, rel_tol=EXACTLY)]
        if re.match(r"\d+ of \d+ chose: ", str(row.get("say"))):  # how the class has voted
            continue
        alike = question.in_figure and stands_in(answer, words, question)  # of what is seen, other numbers may read so
        if near or alike or any(sentence in words for sentence in kept):
            found.append(f"{name}: {row}")
    return found


def stands_in(answer, line, question):
    """Whether a line says the answer: a number with decimals, or several words. A lone name stands in many places."""
    right = question.cards[question.right].text
    if any(isinstance(argument, Token) for argument in right.arguments.values()):
        return False
    if re.fullmatch(r"−?[\d,]+\.\d+%?", answer):
        return answer in re.findall(r"−?[\d,]+\.\d+%?", line)
    return len(answer) >= LONG and answer in line


def go_to(fresh, code, key, text, stage):  # noqa: F811
    """Bring a class to a stage of this question, with one vote where any can be seen."""
    room = fresh.look(code)
    fresh.ask(code, key, room.number, asked_here(text).cards, text)
    number = room.number + 1
    fresh.vote(code, "somebody", number, "open", 0)
    ways = {"open": "", "closed": "closed", "shown": "closed shown", "again": "closed again"}
    ways["compared"] = "closed again compared"
    before = "open"
    for after in ways[stage].split():
        fresh.step(code, key, number, before, after)
        before = after


def check(fresh, at, code, key, text, stages):  # noqa: F811
    one = student(code)
    for stage in stages:
        go_to(fresh, code, key, text, stage)
        question = asked_here(text).question
        for page in (at, one):
            page.run()
            assert not page.exception, page.exception
            found = gives_away(page, text)
            assert not found, (stage, render(question.prompt), secret(text)[0], found[:4])
        lines = [*csv.reader(io.StringIO(class_csv(code).decode("utf-8-sig")))][-len(question.cards) :]
        assert not any(line[4] or line[7] for line in lines), "the file says which card is right"


@pytest.mark.parametrize(("minutes", "place"), stops_that_vote())
def test_no_stop_of_a_plan_says_its_answer_while_the_class_votes(fresh, minutes, place, request):  # noqa: F811
    text = text_of_stop(ready_plan(minutes).stops[place])
    skip_without_model(text, request)
    check(fresh, *teacher(), text, STAGES)


@pytest.mark.parametrize("lesson", [lesson for lesson in askable() if lesson != "generate"])
def test_no_question_of_a_lesson_is_answered_on_the_page_of_the_class(fresh, lesson, request, whole):  # noqa: F811
    asked = first_asked(lesson)
    skip_without_model(written_asked(asked), request)
    at, code, key = teacher()
    seen = set()
    for number in range(NUMBERS if whole else 4):
        text = written_asked(type(asked)(**{**vars(asked), "number": number}))
        prompt = render(asked_here(text).question.prompt)
        if prompt not in seen:
            seen.add(prompt)
            check(fresh, at, code, key, text, ("open",))


def test_the_answer_is_found_where_it_is_said(fresh):  # noqa: F811
    """The search itself: once the answer is shown, it finds it."""
    found = set()
    at, code, key = teacher()
    for _, place in [stop for stop in stops_that_vote() if stop[0] == 45]:
        text = text_of_stop(ready_plan(45).stops[place])
        go_to(fresh, code, key, text, "shown")
        fresh.step(code, key, fresh.look(code).number, "shown", "explained")
        if gives_away(at.run(), text):
            found.add(place)
    assert len(found) == len([stop for stop in stops_that_vote() if stop[0] == 45])
    cards = len(asked_here(text).question.cards)
    right = [*csv.reader(io.StringIO(class_csv(code).decode("utf-8-sig")))][-cards:]
    assert [line[4] for line in right].count("yes") == 1


# What was said before.


def said_at(stop, request):
    """The sentences of a stop's screen, and of its answers once they are shown."""
    if not stop.screen:
        if stop.link.get("picture") != "model":
            return []
        shown = model_screen(read_sentence(request.getfixturevalue("smollm2"), ModelChoices()), None)
    else:
        skip_without_model(stop.screen, request)
        shown = asked_here(stop.screen).screen
    sentences = [s for s in (shown.headline, *shown.lead, *shown.remarks) if s]
    return [*sentences, *(sentence for figure in shown.figures for sentence in figure.notice)]


def tokens_in(sentence):
    arguments = [a for v in sentence.arguments.values() for a in (v.items if isinstance(v, ListOf) else (v,))]
    return {format_value(argument) for argument in arguments if isinstance(argument, Token)}


@pytest.mark.parametrize(("minutes", "place"), stops_that_vote())
def test_no_earlier_stop_says_the_answer(minutes, place, request):
    """A number of a sentence, or the token that it names beside the one that is asked about, and none of the others."""
    text = text_of_stop(ready_plan(minutes).stops[place])
    skip_without_model(text, request)
    question, (answer, _) = asked_here(text).question, secret(text)
    right, prompt = tokens_in(question.cards[question.right].text), tokens_in(question.prompt)
    wrong = {name for card in question.cards for name in tokens_in(card.text)} - right - prompt
    for stop in ready_plan(minutes).stops[:place]:
        for sentence in said_at(stop, request):
            named = tokens_in(sentence)
            assert not (right and right | prompt <= named and not wrong & named), render(sentence)
            assert not stands_in(answer, render(sentence), question), render(sentence)
