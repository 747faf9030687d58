"""The page of the class, as teachers, students and strangers open it."""

import csv
import io
import itertools
import re

import pytest
from visiting import ROOT, chart, open_page, texts, visitor

from attention_ui.voting import rooms, watching
from attention_ui.voting.rooms import class_keeper
from classes.keeper import NO_CLASS, NOT_YOURS, Keeper
from classes.limits import Limiter
from lessons.asked import askable, first_asked, read_asked, screen_asked, written_asked
from lessons.example import MINE, Example
from lessons.formatting import spoken

PAGE = "practice/class_vote"


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """A database of its own for each test, and nobody who has tried before."""
    keeper = Keeper(tmp_path)

    def kept():
        return keeper

    kept.cache_info = class_keeper.cache_info
    watching.WATCHED.clear()
    for module in ("rooms", "page", "student", "teacher", "view", "watching"):
        monkeypatch.setattr(f"attention_ui.voting.{module}.class_keeper", kept)
    for name in ("GUESSES", "ALL_GUESSES", "OPENINGS", "ALL_OPENINGS"):
        monkeypatch.setattr(rooms, name, Limiter(10, 3600))
    return keeper


def keys(at):
    return {button.key for button in at.button}


def press(at, key):
    at.button(key=key).click().run()
    assert not at.exception, at.exception
    return at


def said(at, name):
    """What the address says of a name; AppTest has a list where the script did not write it."""
    value = at.query_params[name]
    return value[-1] if isinstance(value, list) else value


def teacher():
    at = press(open_page(PAGE), "class_open")
    return at, said(at, "class"), said(at, "teacher")


def student(code, **more):
    return open_page(PAGE, **{"class": code}, **more)


def asking(lesson="softmax"):
    """A teacher whose class has been asked a question."""
    at, code, key = teacher()
    at.selectbox(key="class_lesson").set_value(lesson).run()
    return press(at, "class_ask"), code, key


def vote(at, letter):
    return press(at, f"class_vote_{letter}")


def everything(at):
    """All words on the page but those in charts."""
    kinds = ("title", "header", "markdown", "text", "caption", "code")
    return "\n".join([element.value for kind in kinds for element in at.get(kind)] + [b.label for b in at.button])


def covered(at):
    return all("wait until the class has voted" in chart(at, i)[2] for i in range(len(at.get("vega_lite_chart"))))


def test_a_class_votes_twice_and_is_shown_the_answer(fresh):
    at, code, _key = asking()
    question = screen_asked(fresh.look(code).asked)[1]
    first, second = student(code), student(code)
    right, wrong = "ABCD"[question.right], "ABCD"[(question.right + 1) % len(question.cards)]
    for one in (first, second):
        assert (
            f"class_vote_{right}" in keys(one) and covered(one) and not any(e in everything(one) for e in ("✓ right",))
        )
        vote(one, wrong)
    vote(first, right)
    assert [b.key for b in first.button if "your answer" in b.label] == [f"class_vote_{right}"]
    at.run()
    assert "2 have answered" in texts(at) and covered(at)
    assert spoken(question.cards[question.right].reply) not in everything(at), "nobody is told before"
    press(at, "class_to_closed")
    press(at, "class_to_shown")
    said = " ".join(texts(at))
    assert "The vote: " in said and "1 of 2" in said
    assert spoken(question.cards[question.right].reply) not in everything(at)
    press(at, "class_to_again")
    for one in (first, second):
        vote(one.run(), right)
    press(at, "class_to_compared")
    assert "Of 2 who voted twice, 1 changed the answer." in texts(at)
    press(at, "class_to_explained")
    assert "Of 2 who voted twice, 1 changed the answer. 1 of them found the right one, 0 left it." in texts(at)
    for card in question.cards:
        assert spoken(card.reply) in texts(at), "the misconception of each wrong card"
    assert not covered(at) and not covered(second.run())
    own = [line for line in texts(second) if line.startswith("Your ")]
    assert own[0].startswith(f"Your first answer: {wrong}") and own[0].endswith("✗")
    assert own[1].startswith(f"Your second answer: {right}") and own[1].endswith("✓ right")


def test_the_flow_says_how_many_went_where(fresh):
    at, code, key = asking()
    asked = fresh.look(code)
    for token, (before, after) in enumerate([(0, 0), (0, 1), (0, 1), (1, 0)]):
        fresh.vote(code, str(token), 1, "open", before)
        fresh._run("INSERT INTO votes VALUES (?, 1, 2, ?, ?)", code, str(token), after)
    for stage, to in (("open", "closed"), ("closed", "again"), ("again", "compared")):
        fresh.step(code, key, 1, stage, to)
    at.run()
    assert not at.exception
    tables = next(tables for i in range(9) if "flow" in (tables := chart(at, i)[1]))
    bands = {row["key"]: row["say"] for row in tables["flow"] if row["kind"] == "band"}
    assert bands == {"00": "1 stayed with A.", "01": "2 went from A to B.", "10": "1 went from B to A."}
    stacks = {row["key"]: round(row["y2"] - row["y"], 6) for row in tables["flow"] if row["kind"] == "stack"}
    assert stacks == {"0A": 0.75, "0B": 0.25, "1A": 0.5, "1B": 0.5}
    assert {row["tone"] for row in tables["flow"]} == {"muted"}, "no colour tells the answer before it is explained"
    assert asked.cards == len(screen_asked(asked.asked)[1].cards)


def test_the_numbers_of_the_class_can_be_saved(fresh):
    from attention_ui.voting.teacher import CSV_COLUMNS, class_csv

    _at, code, _key = asking("tokens")
    vote(student(code), "B")
    header, *lines = csv.reader(io.StringIO(class_csv(code).decode("utf-8-sig")))
    question = screen_asked(fresh.look(code).asked)[1]
    assert header == [spoken(column) for column in CSV_COLUMNS] and len(lines) == len(question.cards)
    assert [line[5] for line in lines] == ["0", "1", *["0"] * (len(lines) - 2)]
    assert [line[4] for line in lines].index("yes") == question.right


def test_the_class_is_asked_about_the_screen_that_was_seen_last(fresh):
    at, code, _key = teacher()
    at.switch_page(str(ROOT / "pages/one_head/softmax.py")).run()
    at.slider(key="temperature").set_value(2.0).run()
    at.switch_page(str(ROOT / f"pages/{PAGE}.py")).run()
    assert not at.exception
    assert at.selectbox(key="class_lesson").value == "softmax"
    press(at, "class_ask")
    assert read_asked(fresh.look(code).asked).choices.temperature == 2.0, "and the class is found again"


@pytest.mark.parametrize("lesson", list(askable()))
def test_every_lesson_can_be_asked_and_made_again_elsewhere(fresh, lesson):
    asked = first_asked(lesson)
    text = written_asked(asked)
    _screen, question = screen_asked(text)
    _again, same = screen_asked.__wrapped__(written_asked(read_asked(text)))
    assert len(text) < 5_000 and same == question
    at, code, key = asking(lesson)
    fresh.step(code, key, 1, "open", "closed")
    fresh.step(code, key, 1, "closed", "shown")
    fresh.step(code, key, 1, "shown", "explained")
    assert not at.run().exception and not student(code).exception


def test_a_model_of_ones_own_cannot_be_asked_about():
    from attention_core.tasks import TASKS
    from attention_core.training import recommended

    own = Example(source=MINE, own=recommended(TASKS["copy"], steps=20))
    with pytest.raises(ValueError, match="a model of your own"):
        written_asked(first_asked("softmax").__class__("softmax", own, 0, None))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"lesson":"os"}', "x" * 100, '{"lesson":"softmax","example":{"d_k":99}}']
)
def test_a_text_that_is_no_question(text):
    with pytest.raises(ValueError, match="a question was expected"):
        read_asked(text)


def test_a_student_has_no_button_of_a_teacher_and_no_key(fresh):
    _, code, key = asking()
    at = student(code)
    assert not {"class_ask", "class_close", "class_to_closed"} & keys(at)
    assert key not in everything(at) and "teacher" not in at.query_params


def test_a_forged_key_rules_nothing_and_is_told(fresh):
    _, code, key = asking()
    for forged in ("x", key[:-1], "é" * 30, ""):
        at = student(code, teacher=forged)
        assert not at.exception and "class_ask" not in keys(at)
        assert (NOT_YOURS in texts(at)) == bool(forged)


@pytest.mark.parametrize("code", ["AAAAAA", "x", "<b>", "'; DROP TABLE classes; --", "0" * 12, "💥"])
def test_a_forged_code_is_refused_in_a_sentence(fresh, code):
    _, real, _ = asking()
    at = student(code)
    assert not at.exception and NO_CLASS in texts(at) and "class_open" in keys(at)
    assert fresh.look(real).stage == "open"


def test_guessing_codes_is_limited_and_those_inside_stay(fresh):
    _, code, _ = asking()
    inside = student(code)
    guesser = open_page(PAGE)
    for _ in range(12):
        guesser.text_input(key="class_code").set_value("AAAAAA").run()
        guesser.text_input(key="class_code").set_value("BBBBBB").run()
    assert rooms.WAIT in texts(guesser)
    guesser.text_input(key="class_code").set_value(code).run()
    assert rooms.WAIT in texts(guesser) and "class_vote_A" not in keys(guesser), "not even the right one"
    vote(inside, "A")
    assert fresh.answered(code, 1, 1) == 1


def test_opening_classes_is_limited(fresh):
    for _ in range(10):
        press(open_page(PAGE), "class_open")
    assert rooms.WAIT in texts(press(open_page(PAGE), "class_open"))


def test_a_vote_that_comes_too_late_is_told_and_not_counted(fresh):
    _at, code, key = asking()
    one = student(code)
    fresh.step(code, key, 1, "open", "closed")
    vote(one, "A")
    assert fresh.answered(code, 1, 1) == 0
    assert any("This vote is closed" in line for line in texts(one)) or "The vote is closed." in texts(one)


def test_a_class_that_was_closed_is_said_to_be_none(fresh):
    at, code, _key = asking()
    one = student(code)
    press(at, "class_close")
    assert "class_open" in keys(at) and "class" not in at.query_params
    assert NO_CLASS in texts(one.run())


def test_a_code_may_be_typed_in_any_way(fresh):
    _, code, _ = asking()
    at = open_page(PAGE)
    at.text_input(key="class_code").set_value(f" {code[:3].lower()}-{code[3:].lower()} ").run()
    assert not at.exception and "class_vote_A" in keys(at) and said(at, "class") == code


def test_the_page_says_what_is_kept_and_for_how_long(fresh):
    _, code, _ = asking()
    said = everything(student(code))
    assert "No name and no address is kept" in said and re.search(r"forgotten on \d\d \w+, \d\d:\d\d UTC", said)
    assert "One vote for each browser" in said and "sends no cookie" in said
    assert "temporary folder" not in said
    fresh.outlives_process = False
    assert "temporary folder" in everything(student(code))


def test_nothing_of_a_visitor_is_stored_but_a_token(fresh):
    _, code, key = asking()
    vote(student(code), "A")
    tables = {row[0]: fresh._rows(f"SELECT * FROM {row[0]}") for row in fresh._rows(
        "SELECT name FROM sqlite_master WHERE type = 'table'")}  # fmt: skip
    assert set(tables) == {"classes", "questions", "votes"} and key not in str(tables)
    ((stored, number, taken, token, card),) = tables["votes"]
    assert (stored, number, taken, card) == (code, 1, 1, 0) and re.fullmatch("[0-9a-f]{32}", token)


def test_a_database_that_is_away_is_said(fresh, monkeypatch):
    _, code, _ = asking()
    one = student(code)
    fresh._connection.close()
    one.run()
    assert not one.exception and any("cannot be reached" in line for line in texts(one))


def test_waiting_students_are_told_so():
    _, code, _ = teacher()
    at = visitor(PAGE, **{"class": code}).run()
    assert at.title[0].value == "You are in the class"


def test_only_pages_whose_class_has_changed_are_drawn_anew(fresh, monkeypatch):
    visits = itertools.count()  # the visits of these tests all have the same name
    monkeypatch.setattr(watching, "running_session", lambda: str(next(visits)))
    _, code, key = asking()
    _, other, _ = asking()
    student(code), student(other)
    assert sorted(one.code for one in watching.WATCHED.values()) == sorted([code, other])
    assert watching.look_at_all() == []
    fresh.step(code, key, 1, "open", "closed")
    (changed,) = watching.look_at_all()
    assert watching.WATCHED[changed].code == code
    fresh.vote(other, "a", 1, "open", 0)
    assert watching.look_at_all() == [changed], "a vote is no reason to draw a student's page"


def test_whoever_is_away_for_long_is_not_watched_any_more(fresh):
    _, code, _ = asking()
    student(code)
    (one,) = watching.WATCHED.values()
    watching.forget_who_left(one.seen + watching.GONE_SECONDS)
    assert watching.WATCHED
    watching.forget_who_left(one.seen + watching.GONE_SECONDS + 1)
    assert not watching.WATCHED


def test_a_folder_that_cannot_be_is_said_and_logged(monkeypatch, tmp_path, caplog):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv(rooms.FOLDER_OF_CLASSES, str(file / "below"))
    class_keeper.cache_clear()
    monkeypatch.setattr(rooms, "class_keeper", class_keeper)
    at = press(open_page(PAGE), "class_open")
    assert rooms.NOT_KEPT in texts(at) and "ATTENTION_LAB_CLASSES" in caplog.text
