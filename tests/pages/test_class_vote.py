"""The page of the class, as teachers, students and strangers open it."""

import asyncio
import csv
import io
import itertools
import re
from functools import partial
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from replicas import awaited
from streamlit.runtime.context import ContextProxy, StreamlitHeaders
from visiting import ROOT, captions, charts, open_page, read_plainly, texts, visitor

from attention_core.puzzles import PUZZLES
from attention_ui.classroom.plan.after import file_of_class
from attention_ui.classroom.vote import database, rooms, watching
from attention_ui.classroom.vote.asked import asked_here
from attention_ui.classroom.vote.database import class_keeper
from attention_ui.classroom.vote.page import GOES_ON
from attention_ui.classroom.vote.student import SENT_LATER
from attention_ui.page.progress import KEEPER
from attention_ui.process import turns as process
from attention_ui.process.turns import outside_turn, page_lock
from classes.keeper import FORGOTTEN_AFTER, NO_CLASS, NOT_YOURS, UNJOINED_MINUTES, UNREACHABLE, WRITTEN, Keeper
from classes.limits import Delays, Held, Limiter
from classes.prompt import PromptKeeper
from classes.stages import UnreachableError
from lessons.example.example import Example
from lessons.one_head.puzzle.numbers import write_numbers
from lessons.screen import render
from lessons.teachers.class_plan.own_question import OwnQuestion, answer_of, written_own
from lessons.teachers.class_vote.question_link import askable, first_asked, read_asked, screen_asked, written_asked

PAGE = "teachers/class_vote"
SOLVES_BACK = write_numbers(PUZZLES["back"], PUZZLES["back"].solution)


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """A database of its own for each test, and nobody who has tried before. While it is asked, no page has its turn."""
    keeper = Keeper(tmp_path)
    prompt = PromptKeeper(lambda: keeper, outside_turn)
    execute, held, away = keeper._execute, [], []
    monkeypatch.setattr(keeper, "away", away, raising=False)

    def watched(statement, *how):
        if page_lock().has_turn:
            held.append(statement)
        if away:
            raise UnreachableError(UNREACHABLE)
        return execute(statement, *how)

    monkeypatch.setattr(keeper, "_execute", watched)
    watching.WATCHED.clear()
    watching.KNOWN.clear()
    for module in ("rooms", "teacher", "view", "watching"):
        monkeypatch.setattr(f"attention_ui.classroom.vote.{module}.class_keeper", lambda: prompt)
    for module in ("leading", "ask_here", "after", "level_here"):
        monkeypatch.setattr(f"attention_ui.classroom.plan.{module}.class_keeper", lambda: prompt)
    monkeypatch.setattr(rooms, "address", lambda: "here")
    monkeypatch.setattr(rooms, "GUESSES", Delays(rooms.clock))
    monkeypatch.setattr(rooms, "OPENINGS", Limiter(rooms.MOST_OPENINGS, 3600))
    monkeypatch.setattr(rooms, "OPENED", Held())
    yield keeper
    assert not held, "lessons would wait for the database"


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
    """A teacher whose class is asked a question for which the figures of a lesson wait, or else its first."""
    at, code, key = teacher()
    screen = screen_asked(written_asked(first_asked(lesson)))[0]
    covering = (n for n in range(30) if screen.ask(n).in_figure)
    at.session_state["class_numbers"] = {lesson: next(covering, 0)}
    at.selectbox(key="class_lesson").set_value(lesson).run()
    return press(at, "class_ask"), code, key


def vote(at, letter):
    return press(at, f"class_vote_{letter}")


def everything(at):
    """All words on the page but those in charts."""
    kinds = ("title", "header", "markdown", "text", "caption", "code")
    return "\n".join([element.value for kind in kinds for element in at.get(kind)] + [b.label for b in at.button])


def covered(at):
    waiting = "appear once the class has voted"
    return all(waiting in said if said else tables["covered"] for _, tables, said in charts(at))


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
    assert render(question.cards[question.right].reply) not in everything(at), "nobody is told before"
    press(at, "class_to_closed")
    press(at, "class_to_shown")
    said = " ".join(texts(at))
    assert "The vote: " in said and "1 of 2" in said
    assert render(question.cards[question.right].reply) not in everything(at)
    press(at, "class_to_again")
    for one in (first, second):
        vote(one.run(), right)
    press(at, "class_to_compared")
    assert "Of 2 who voted twice, 1 changed their answer." in texts(at)
    press(at, "class_to_explained")
    assert (
        "Of 2 who voted twice, 1 changed their answer. 1 of them moved to the right answer, 0 away from it."
        in texts(at)
    )
    for card in question.cards:
        assert render(card.reply) in texts(at), "the misconception of each wrong card"
    assert not covered(at) and not covered(second.run())
    own = [line for line in texts(second) if line.startswith("Your ")]
    assert own[0].startswith(f"Your first answer: {wrong}") and own[0].endswith("✗ wrong")
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
    tables = next(tables for _, tables, _ in charts(at) if "flow" in tables)
    assert tables["moved"][0][:2] == [1, 2] and tables["moved"][1][:2] == [1, 0]
    said = [one for row in tables["went"] for one in row if not one.startswith("0 ")]
    assert said == ["1 stayed with A.", "2 went from A to B.", "1 went from B to A."]
    assert tables["right"] is None, "no colour tells the answer before it is explained"
    assert asked.cards == len(screen_asked(asked.asked)[1].cards)


def test_the_numbers_of_the_class_can_be_saved(fresh):
    from attention_ui.classroom.vote.teacher import CSV_COLUMNS, class_csv

    _at, code, key = asking("tokens")
    vote(student(code), "B")
    header, *lines = csv.reader(io.StringIO(class_csv(code).decode("utf-8-sig")))
    question = screen_asked(fresh.look(code).asked)[1]
    assert header == [render(column) for column in CSV_COLUMNS] and len(lines) == len(question.cards)
    assert [line[5] for line in lines] == ["0", "1", *["0"] * (len(lines) - 2)]
    assert {(line[4], line[7]) for line in lines} == {("", "")}, "while the class votes, it does not say which is right"
    for before, after in (("open", "closed"), ("closed", "shown"), ("shown", "explained")):
        fresh.step(code, key, 1, before, after)
    _, *lines = csv.reader(io.StringIO(class_csv(code).decode("utf-8-sig")))
    assert [line[4] for line in lines].index("yes") == question.right and all(line[7] for line in lines)


def test_a_spreadsheet_computes_nothing_of_what_a_class_has_written(fresh):
    from attention_ui.classroom.vote.teacher import class_csv

    code, key = fresh.open_class()
    fresh.join(code)
    own = OwnQuestion(kind="word", prompt="one;=1+1; two")
    fresh.ask(code, key, 0, WRITTEN, written_own(own))
    for place, word in enumerate(["x;=cmd|' /c calc'!a1;", "=1+1", "＝1+1", "@x", 'x;"=1', "plain"]):
        fresh.write(code, f"token {place}", 1, fresh.look(code).stage, answer_of(own, word))
    written = class_csv(code).decode("utf-8-sig")
    assert written.count("plain") == 1
    for sign in ",;\t":
        cells = [cell for line in csv.reader(io.StringIO(written), delimiter=sign) for cell in line]
        assert not any(cell[:1] in "=+-@＝＋－＠" for cell in cells if cell)


def test_the_class_is_asked_about_the_screen_that_was_seen_last(fresh):
    at, code, _key = teacher()
    at.switch_page(str(ROOT / "pages/one_head/softmax.py")).run()
    at.slider(key="temperature").set_value(2.0).run()
    at.switch_page(str(ROOT / f"pages/{PAGE}.py")).run()
    assert not at.exception
    assert at.selectbox(key="class_lesson").value == "softmax"
    press(at, "class_ask")
    assert read_asked(fresh.look(code).asked).choices.temperature == 2.0, "and the class is found again"


def test_whoever_comes_from_the_real_model_asks_about_what_it_read_there(fresh, smollm2):
    at, code, _key = teacher()
    at.switch_page(str(ROOT / "pages/model/read.py")).run()
    at.selectbox(key="read").set_value("fox").run()
    at.switch_page(str(ROOT / f"pages/{PAGE}.py")).run()
    assert at.selectbox(key="class_lesson").value == "read"
    press(at, "class_ask")
    assert "fox" in read_asked(fresh.look(code).asked).choices.text
    assert not student(code).exception


def test_without_the_real_model_nobody_is_asked_about_it(fresh):
    at, _code, _key = teacher()
    at.selectbox(key="class_lesson").set_value("read").run()
    assert "class_ask" not in [button.key for button in at.button] and not at.exception
    assert "This question is about a real language model, which is not on this machine." in texts(at)


@pytest.mark.parametrize("page", ["model/generate", "learning/train", "one_head/softmax", "model/heads"])
def test_a_question_is_asked_from_the_page_on_which_it_stands(fresh, page):
    at, code, _key = teacher()
    at.switch_page(str(ROOT / f"pages/{page}.py")).run()
    prompt = read_plainly(at.header[0].value)
    press(at, "ask_class_here")
    question = asked_here(fresh.look(code).asked).question
    assert render(question.prompt) == prompt == read_plainly(at.title[0].value), "and its page is where it is answered"
    one = student(code)
    assert prompt == read_plainly(one.title[0].value) and covered(one) >= question.in_figure


@pytest.mark.parametrize("lesson", [lesson for lesson in askable() if lesson not in ("read", "generate")])
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
    from attention_core.learning.tasks import TASKS
    from attention_core.learning.training import recommended

    own = Example(source="mine", own=recommended(TASKS["copy"], steps=20))
    with pytest.raises(ValueError, match="a model of your own"):
        written_asked(first_asked("softmax").__class__("softmax", own, 0, None))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"lesson":"os"}', "x" * 100, '{"lesson":"softmax","example":{"d_k":99}}']
)
def test_a_text_that_is_no_question(text):
    with pytest.raises(ValueError, match="expected a question"):
        read_asked(text)


@pytest.mark.parametrize("fixed", [{}, {"lang": "de"}])
def test_the_link_for_students_is_whole_and_in_the_language_of_the_class(fresh, monkeypatch, fixed):
    own = "https://school.example/lab/class_vote?large=true&class=AAAAAA&teacher=secret"
    monkeypatch.setattr(type(st.context), "url", property(lambda _: own))
    at = press(open_page(PAGE, large="true", **fixed), "class_open")
    (link,) = (code.value for code in at.code)
    address, query = link.split("?")
    assert address == "https://school.example/lab/class_vote"
    assert dict(parse_qsl(query)) == {"class": said(at, "class"), **fixed}


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


@pytest.fixture
def time(monkeypatch):
    """The time of the door, which stands until a test moves it."""
    now = [1000.0]
    monkeypatch.setattr(rooms, "clock", lambda: now[0])
    monkeypatch.setattr(rooms, "GUESSES", Delays(lambda: now[0]))
    return now


@pytest.fixture
def come_from(monkeypatch):
    """From now on visitors come from this address."""
    return lambda where: monkeypatch.setattr(rooms, "address", lambda: where)


WAITS = "One moment. Wrong codes were typed from your network, so this one takes a few seconds."


def guess(codes):
    """Somebody who opens the page anew for each wrong code, as an attacker does."""
    for code in codes:
        at = student(code)
        assert {WAITS, NO_CLASS} & set(texts(at)), "nobody is refused with another reason"


def test_a_guesser_slows_his_own_address_and_no_right_code_is_refused(fresh, time, come_from):
    _, code, key = asking()
    inside = student(code)
    come_from("the guesser's")
    guess(f"AAAA{a}{b}" for a, b in itertools.product("BCDEF", "GHJKM"))
    own = student(code)
    assert WAITS in texts(own) and not {"class_vote_A", "class_open"} & keys(own), "or it would tell that it is right"
    vote(inside, "A")
    assert "class_ask" in keys(student(code, teacher=key)), "a key cannot be guessed, and waits for nothing"
    come_from("a school's")
    assert "class_vote_A" in keys(student(code))
    come_from("the guesser's")
    time[0] += 4.9
    assert WAITS in texts(own.run())
    time[0] += 0.1
    assert "class_vote_A" in keys(own.run()), "nobody is refused"
    assert fresh.answered(code, 1, 1) == 1


def test_thirty_behind_one_address_come_in_and_one_of_them_mistypes(fresh, time, come_from):
    _, code, _ = asking()
    come_from("a school's")
    mistyped = student("AAAAAA")
    assert NO_CLASS in texts(mistyped)
    others = [student(code) for _ in range(5)]
    time[0] += 0.2
    assert all("class_vote_A" in keys(one.run()) for one in others)
    mistyped.text_input(key="class_code").set_value(code).run()
    assert "class_vote_A" in keys(mistyped) or WAITS in texts(mistyped)
    time[0] += 0.2
    assert "class_vote_A" in keys(mistyped.run())


def test_whoever_waits_is_told_once_and_a_wrong_code_again_is_a_new_guess(fresh, time):
    guess(["AAAAAA"] * 2)
    at = student("AAAAAB")
    assert WAITS in texts(at)
    waits = rooms.GUESSES.seconds(rooms.address())
    for _ in range(3):
        at.run()
    assert rooms.GUESSES.seconds(rooms.address()) == waits, "to wait is no guess"
    time[0] += 5
    assert NO_CLASS in texts(at.run()) and "class_open" in keys(at)


def test_what_is_no_code_at_all_is_no_guess(fresh, time):
    for typed in ("x", "<b>", "0" * 6):
        assert NO_CLASS in texts(student(typed))
    assert rooms.GUESSES.seconds(rooms.address()) == 0


def test_an_address_opens_ten_classes_in_ten_minutes_and_others_open_theirs(fresh, come_from):
    for _ in range(10):
        press(open_page(PAGE), "class_open")
    refused = press(open_page(PAGE), "class_open")
    assert any(line.startswith("One network may open at most 10 classes in 10 minutes") for line in texts(refused))
    come_from("a school's")
    assert "class_ask" in keys(press(open_page(PAGE), "class_open"))


def test_an_address_has_forty_classes_open_and_those_that_ended_do_not_count(fresh, monkeypatch):
    monkeypatch.setattr(rooms, "MOST_OPEN", 3)
    teachers = [press(open_page(PAGE), "class_open") for _ in range(3)]
    refused = press(open_page(PAGE), "class_open")
    assert any(line.startswith("3 classes of your network are open, which is the maximum") for line in texts(refused))
    press(teachers[0], "class_close")
    assert "class_ask" in keys(press(refused, "class_open"))


def test_a_teacher_alone_is_no_class_and_the_first_student_makes_it_one(fresh):
    at, code, key = teacher()
    student(code, teacher=key)
    short = fresh.look(code).until
    student(code)
    long = fresh.look(code).until
    assert long - short == FORGOTTEN_AFTER - 60 * UNJOINED_MINUTES
    student(code)
    assert fresh.look(code).until == long
    assert any("If nobody joins within 15 minutes" in line for line in captions(at))


def test_a_vote_that_comes_too_late_is_told_and_not_counted(fresh):
    _at, code, key = asking()
    one = student(code)
    fresh.step(code, key, 1, "open", "closed")
    vote(one, "A")
    assert fresh.answered(code, 1, 1) == 0
    assert any("This vote is closed" in line for line in texts(one)) or "The vote is closed." in texts(one)


def test_whoever_is_in_a_class_that_is_closed_is_told_so(fresh):
    at, code, _key = asking()
    one = student(code)
    press(at, "class_close")
    assert "class_open" in keys(at) and "class" not in at.query_params
    assert rooms.OVER in texts(one.run()) and NO_CLASS not in texts(one), "nobody has mistyped anything"
    assert NO_CLASS in texts(student(code))


def test_a_code_may_be_typed_in_any_way(fresh):
    _, code, _ = asking()
    at = open_page(PAGE)
    at.text_input(key="class_code").set_value(f" {code[:3].lower()}-{code[3:].lower()} ").run()
    assert not at.exception and "class_vote_A" in keys(at) and said(at, "class") == code


def test_the_page_says_what_is_kept_and_for_how_long(fresh):
    _, code, _ = asking()
    said = everything(student(code))
    assert "No names or addresses are kept" in said and re.search(r"deleted on \d\d \w+, \d\d:\d\d UTC", said)
    assert "Each browser has one vote" in said and "sends no cookie" in said
    assert "temporary folder" not in said
    fresh.outlives_process = False
    assert "temporary folder" in everything(student(code))


def test_nothing_of_a_visitor_is_stored_but_a_token(fresh):
    _, code, key = asking()
    vote(student(code), "A")
    tables = {
        row[0]: fresh._rows(f"SELECT * FROM {row[0]}")
        for row in fresh._rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    assert set(tables) == {
        *("classes", "questions", "votes", "joined", "written", "led", "pictures", "brought", "present")
    }
    assert key not in str(tables)
    ((stored, number, taken, token, card),) = tables["votes"]
    assert (stored, number, taken, card) == (code, 1, 1, 0) and re.fullmatch("[0-9a-f]{32}", token)


def test_a_database_that_is_away_is_said(fresh):
    _, code, _ = asking()
    one = student(code)
    fresh._connection.close()
    one.run()
    assert not one.exception and render(GOES_ON) in texts(one)


def test_waiting_students_are_told_so():
    _, code, _ = teacher()
    at = visitor(PAGE, **{"class": code}).run()
    assert at.title[0].value == "You are in the class"


@pytest.fixture
def named(monkeypatch):
    """Gives the visit that opens or presses something next a name: those of these tests all have the same."""
    name = ["nobody"]
    monkeypatch.setattr(watching, "running_session", lambda: name[0])
    return partial(name.__setitem__, 0)


def test_only_pages_whose_class_has_changed_are_drawn_anew(fresh, named):
    named("teacher")
    _, code, key = asking()
    named("other teacher")
    _, other, _ = asking()
    named("student")
    student(code)
    named("other student")
    student(other)
    assert set(watching.WATCHED) == {"teacher", "other teacher", "student", "other student"}
    assert watching.look_at_all() == []
    fresh.step(code, key, 1, "open", "closed")
    assert sorted(watching.look_at_all()) == ["student", "teacher"]
    fresh.vote(other, "a", 1, "open", 0)
    assert sorted(watching.look_at_all()) == ["student", "teacher"], "a vote is no reason to draw a page"


def test_a_page_that_comes_in_or_follows_lets_others_go_first_and_one_that_is_pressed_does_not(named, monkeypatch):
    drawn, turns = [], []
    monkeypatch.setattr(watching, "session_is_open", lambda session: True)
    monkeypatch.setattr(watching, "is_being_drawn", lambda session: False)
    monkeypatch.setattr(watching, "rerun_session", drawn.append)
    for turn in (process.page_turn, process.later_turn):
        noted = partial(lambda turn, *how: turns.append(turn.__name__) or turn(*how), turn)
        monkeypatch.setattr(process, turn.__name__, noted)
    _, code, _ = asking()
    named("student")
    turns.clear()
    at = student(code)
    assert turns[0] == "later_turn" and {*turns[1:]} <= {"page_turn"}
    awaited(watching.draw_anew(["student"]))
    assert drawn == ["student"]
    turns.clear()
    at.run()
    assert turns == ["later_turn"]
    vote(at, "A")
    assert {*turns[1:]} == {"page_turn"} and not watching.SENT_FOR

    turns.clear()
    monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Sec-WebSocket-Key", "another one")]))
    at.run()
    assert turns[0] == "later_turn", "whoever has connected again comes in with all others"
    turns.clear()
    at.run()
    assert turns == ["page_turn"]


def test_two_tabs_of_one_browser_show_the_same_answer(fresh, named, monkeypatch):
    _, code, _ = asking()
    monkeypatch.setattr(rooms, "browser_mark", lambda: b"the cookie")
    named("first tab")
    first = student(code)
    named("second tab")
    second = vote(student(code), "A")
    assert watching.look_at_all() == ["first tab"]
    named("first tab")
    assert chosen_letter(first.run()) == "A" == chosen_letter(second)
    assert watching.look_at_all() == []
    vote(first, "B")
    assert watching.look_at_all() == ["second tab"]


def chosen_letter(at):
    (letter,) = [b.key[-1] for b in at.button if "✓" in b.label]
    return letter


def test_while_the_database_is_away_cards_stay_and_the_vote_is_sent_when_it_is_back(fresh, named):
    _, code, _ = asking()
    named("student")
    one = vote(student(code), "A")
    assert fresh.answered(code, 1, 1) == 1
    fresh.away.append(True)
    vote(one, "B")
    (pressed,) = [b.label for b in one.button if "not sent yet" in b.label]
    assert pressed.startswith("B") and render(SENT_LATER) in texts(one)
    one.run()
    assert "class_vote_B" in keys(one) and render(GOES_ON) in texts(one), "a page that is drawn anew stays as it is"
    with pytest.raises(UnreachableError):
        watching.look_at_all()
    fresh.away.clear()
    assert "student" in watching.look_at_all()
    one.run()
    assert chosen_letter(one) == "B" and fresh.votes(code, 1, 3).first == (0, 1, 0)
    assert not {render(SENT_LATER), render(GOES_ON)} & {*texts(one)} and "student" not in watching.look_at_all()


def test_a_vote_that_could_be_sent_only_after_the_end_is_told(fresh):
    _, code, key = asking()
    one = student(code)
    fresh.away.append(True)
    vote(one, "B")
    fresh.away.clear()
    fresh.step(code, key, 1, "open", "closed")
    one.run()
    assert "This vote is closed; your answer was not changed." in texts(one) and fresh.answered(code, 1, 1) == 0


def test_while_the_database_is_away_a_teacher_stays_and_is_told_to_press_again(fresh, named):
    named("teacher")
    at, code, _ = asking()
    offered = at.session_state["class_numbers"]
    fresh.away.append(True)
    for deed in ("class_to_closed", "class_ask", "class_close"):
        press(at, deed)
        assert {"class_to_closed", "class_ask", "class_close"} <= keys(at) and "class_open" not in keys(at)
        assert {render(GOES_ON), render(rooms.PRESS_AGAIN)} <= {*texts(at)}
    assert at.session_state["class_numbers"] == offered, "the question that was not asked is still offered"
    fresh.away.clear()
    assert watching.look_at_all() == ["teacher"]
    at.run()
    assert render(GOES_ON) not in texts(at) and "class" in at.query_params
    press(at, "class_to_closed")
    assert fresh.look(code).stage == "closed"


def test_whoever_comes_in_while_the_database_is_away_waits_on_the_page(fresh, named):
    _, code, _ = asking()
    fresh.away.append(True)
    named("student")
    one = student(code)
    assert render(GOES_ON) in texts(one) and "class_open" not in keys(one)
    fresh.away.clear()
    assert "student" in watching.look_at_all()
    assert "class_vote_A" in keys(one.run())


def test_watching_goes_on_whatever_fails(fresh, named, monkeypatch, caplog, whole_records):
    """Pages are still drawn anew after the database was away, and after something that nobody has thought of."""
    _, code, _ = asking()
    named("student")
    student(code)
    drawn, looks = [], iter([UnreachableError("away"), ZeroDivisionError(), ["gone"], ["student"]])

    def look():
        what = next(looks)
        if isinstance(what, Exception):
            raise what
        return what

    def rerun(session):
        if session == "gone":
            raise AttributeError("between two lines, the visit has ended")
        drawn.append(session)
        raise asyncio.CancelledError

    for name, instead in (("look_at_all", look), ("rerun_session", rerun), ("session_is_open", lambda _: True)):
        monkeypatch.setattr(watching, name, instead)
    monkeypatch.setattr(watching, "is_being_drawn", lambda _: False)
    monkeypatch.setattr(watching, "ASK_SECONDS", 0)
    with pytest.raises(asyncio.CancelledError):
        awaited(watching.keep_watching())
    assert drawn == ["student"]
    assert [line.message for line in caplog.records if line.name == watching.__name__] == 2 * [
        "classes could not be watched just now"
    ]


def test_a_page_that_answers_a_press_is_not_interrupted_and_comes_later(fresh, named, monkeypatch):
    _, code, key = asking()
    for name in ("reader", "voter"):
        named(name)
        student(code)
    fresh.step(code, key, 1, "open", "closed")
    busy, drawn = {"voter"}, []
    monkeypatch.setattr(watching, "session_is_open", lambda _: True)
    monkeypatch.setattr(watching, "is_being_drawn", busy.__contains__)
    monkeypatch.setattr(watching, "rerun_session", drawn.append)
    for expected in (["reader"], ["reader", "voter"]):
        awaited(watching.draw_anew([name for name in watching.look_at_all() if name in ("reader", "voter")]))
        assert drawn == expected
        busy.clear()


def test_whoever_is_away_for_long_is_not_watched_any_more(fresh):
    _, code, _ = asking()
    student(code)
    (one,) = watching.WATCHED.values()
    watching.forget_who_left(one.seen + watching.GONE_SECONDS - 1)
    assert watching.WATCHED
    watching.forget_who_left(one.seen + watching.GONE_SECONDS + 1)
    assert not watching.WATCHED


def test_a_folder_that_cannot_be_is_said_and_logged(monkeypatch, tmp_path, caplog):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv(database.FOLDER_OF_CLASSES, str(file / "below"))
    class_keeper.cache_clear()
    monkeypatch.setattr(rooms, "class_keeper", class_keeper)
    at = press(open_page(PAGE), "class_open")
    assert database.NOT_KEPT in texts(at) and "ATTENTION_LAB_CLASSES" in caplog.text


# A level of building a head, opened for all.


def at_build(at, **said):
    """The visit goes to the page on which heads are built, by itself."""
    for name, value in said.items():
        at.query_params[name] = value
    at.switch_page(str(ROOT / "pages/one_head/puzzle.py")).run()
    assert not at.exception, at.exception
    return at


def student_at_level(code, **said):
    return open_page("one_head/puzzle", **{"class": code, "follow": "false"}, **said)


def test_a_level_is_opened_for_a_class_and_its_teacher_sees_how_many_have_solved_it(fresh):
    at, code, _key = teacher()
    press(at_build(at, level="back"), "class_level")
    room = fresh.look(code)
    assert (room.number, room.stage, room.cards) == (1, "open", 2) and room.link == "./build?level=back"
    assert "Solved so far: 0 of 0" in texts(at.run()) and "class_level" not in keys(at)

    began, done = student_at_level(code, level="back"), student_at_level(code, level="back", built=SOLVES_BACK)
    student_at_level(code)
    assert fresh.votes(code, 1, 2).first == (1, 1), "whoever is at another level has not begun"
    assert "class_level" not in keys(began)
    assert any("Your teacher sees how many have solved it" in said for said in captions(began))
    assert "Solved so far: 1 of 2" in texts(at.run())
    press(done, "build_reset")
    assert fresh.votes(code, 1, 2).first == (1, 1), "who has solved it has"


def test_on_the_page_of_the_class_nobody_says_of_himself_that_he_has_solved_a_level(fresh):
    at, code, key = teacher()
    press(at_build(at), "class_level")
    one = student(code, follow="false")
    assert not {"class_vote_A", "class_vote_B"} & keys(one) and "class_to_level" in keys(one)
    assert "Build a head. Every token looks at the first one." in read_plainly(one.title[0].value)
    fresh.vote(code, "somebody", 1, "open", 0)
    for before, to in (("open", "closed"), ("closed", "shown"), ("shown", "explained")):
        fresh.step(code, key, 1, before, to)
        for page in (student(code, follow="false"), student(code, teacher=key, follow="false")):
            assert not page.exception
    assert "solved (1)" in file_of_class(code).decode()
    fresh.ask(code, key, 1, 2, written_asked(first_asked("softmax")))
    assert fresh.look(code).link == "", "the next question brings all back to it"


@pytest.mark.parametrize("kept", ["its key", "another key", 5, None])
def test_who_leads_a_class_still_does_after_loading_a_lesson_anew(fresh, kept):
    _at, code, key = teacher()
    at = open_page("one_head/puzzle", **{"class": code, "follow": "false"})
    assert "class_level" not in keys(at)
    known = {"solved": {}, "ruled": [code, key if kept == "its key" else kept]}
    at.session_state[KEEPER] = {"known": known}
    at.run()
    assert ("class_level" in keys(at)) == (kept == "its key") and not at.exception


def test_a_class_that_goes_to_a_level_takes_no_numbers_away(fresh):
    at, code, _key = teacher()
    one = at_build(student(code), level="back", built="q2,1=3")
    assert one.number_input(key="set_back_W_q_1_0").value == 3.0
    press(at_build(at, level="back"), "class_level")
    one.session_state["class_alone"] = None
    del one.query_params["follow"]
    one.run()
    assert said(one, "level") == "back" and said(one, "built") == "q2,1=3"
    assert one.number_input(key="set_back_W_q_1_0").value == 3.0


def test_a_teacher_reads_of_how_many_as_soon_as_anybody_is_known_to_be_there(fresh):
    at, code, _ = asking()
    one = student(code)
    vote(one, "A")
    at.run()
    assert "1 has answered" in texts(at), "a replica of another version tells of nobody"
    fresh.be_present(code, {"a", "b"})
    at.run()
    assert "1 of 3 has answered" in texts(at), "whoever has answered is there"
    press(at, "class_to_closed")
    assert "1 has answered" in texts(at)
