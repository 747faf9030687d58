"""Homework: a teacher's link, a student who goes from stop to stop alone, and the certificates that a teacher reads."""

from dataclasses import replace

import pytest
from test_progress import NOTHING, handed
from visiting import ROOT, answer, asked, captions, open_page, texts

from attention_ui.classroom.homework.certificates import NO_PROOF
from attention_ui.classroom.vote.asked import asked_here
from attention_ui.contents import CONTENTS
from lessons.screen import render
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.class_plan.plan_file import plan_in_link, plan_of_link
from lessons.teachers.class_plan.ready_made import READY_MADE, ready_plan
from lessons.teachers.homework.certificate import certificate_of, read_certificate, written_certificate
from lessons.teachers.homework.stops import kind_of_stop
from lessons.teachers.homework.table import csv_of_lines

PAGE = "teachers/take_home"
FILES = {entry.address: ROOT / "pages" / entry.file for entry in CONTENTS}
NUMBER = OwnQuestion(kind="number", prompt="What is *1/4*?", number=0.25, tolerance=0.01)
CHOICES = OwnQuestion(kind="choices", prompt="<b>Which?</b>", cards=("=this", "![that](x)"), right=1)
POLL, WORD = replace(CHOICES, right=None), OwnQuestion(kind="word", prompt="Say it")
OWN = Plan(
    title="<b>Week</b> *3*",
    stops=tuple(Stop(page="class_vote", own=own, actions=("ask",)) for own in (NUMBER, CHOICES, POLL, WORD)),
)


def begin(plan, **query):
    """The list of stops, as the teacher's link opens it."""
    return open_page(PAGE, homework=plan_in_link(plan), example=None, cover=None, **query)


def stay(at):
    """Be on the page that the last run has opened: AppTest goes back to the one before."""
    at.switch_page(str(FILES[at.session_state["place"]]))
    return at


def press(at, key):
    stay(at).button(key=key).click().run()
    assert not at.exception, at.exception
    return stay(at)


def said_of_stop(at, place):
    """What the list says of a stop."""
    return at.button(key=f"homework_stop_{place}").label.replace("\u2060\\", "").rpartition(" · ")[2]


def certificate_now(at):
    """The certificate with the name that is typed just before it is made."""
    stay(at).text_input(key="homework_name").set_value("Ada <b>")
    press(at, "homework_make")
    assert "Ada <b>" in texts(at) and any(e.proto.label == "Save the certificate" for e in at.get("download_button"))
    return read_certificate(written_certificate(at.session_state["homework_made"]))


def test_at_every_stop_of_a_plan_its_page_asks_what_the_stop_asks_and_notes_the_first_try(whole):
    asking = [stop for stop in ready_plan(45).stops if kind_of_stop(stop) == "question"]
    plan = Plan(stops=(*asking[:: 1 if whole else 3], *ready_plan(45).stops[-2:]))
    at = press(begin(plan), "homework_go_on")
    expected = []
    for place, stop in enumerate(plan.stops):
        kind = kind_of_stop(stop)
        if kind == "question":
            question = asked_here(stop.screen).question
            assert asked(at) == render(question.prompt), place
            wrong = place == 1
            if wrong:
                answer(at, stop.page, "ABCD"[question.right - 1])
            answer(at, stop.page, "ABCD"[question.right])
            assert "right at a later try" if wrong else "right at the first try" in texts(at)
            expected.append("later" if wrong else "first")
        else:
            assert not any("_card_" in (button.key or "") for button in at.button), place
            expected.append("done" if kind == "look" else "open")
        press(at, "homework_next")
    assert "1 stop is still open. You can save it now, and again later." in texts(at)
    made = certificate_now(at)
    assert [stop.result for stop in made.stops] == expected
    assert said_of_stop(at, 1) == "✓ right at a later try"


def test_another_question_of_the_page_counts_for_nothing_and_one_press_leads_back():
    plan = ready_plan(45)
    at = press(begin(plan), "homework_stop_3")
    press(at, "projections_another")
    answer(at, "projections", "A")
    assert handed(at)["homework"] == []
    press(press(at, "homework_next"), "homework_before")
    assert asked(at) == render(asked_here(plan.stops[3].screen).question.prompt)


def test_questions_of_the_teachers_own_are_answered_on_the_page_of_the_homework():
    at = press(begin(OWN), "homework_go_on")
    assert asked(at, "title") == "Homework" and "<b>Week</b> *3*" in texts(at)
    for written, said in (("x", "Type a number, such as 0.25 or 12."), ("3", "That is not right.")):
        at.text_input(key="homework_written_0").set_value(written).run()
        assert said in texts(press(at, "homework_send"))
    at.text_input(key="homework_written_0").set_value("0,26").run()
    assert "That is right." in texts(press(at, "homework_send"))
    press(press(at, "homework_next"), "homework_card_B")
    press(press(at, "homework_next"), "homework_card_A")
    press(at, "homework_next")
    at.text_input(key="homework_written_3").set_value("<i>=1").run()
    assert "Your answer is noted: <i>=1" in texts(press(at, "homework_send"))
    press(at, "homework_next")
    made = certificate_now(at)
    assert [stop.result for stop in made.stops] == ["later", "first", "done", "done"] and made.title == OWN.title


def test_what_the_browser_has_kept_goes_on_where_one_was_and_a_homework_can_be_left():
    plan = ready_plan(45)
    at = press(begin(plan), "homework_stop_0")
    kept = handed(at)
    again = begin(plan)
    again.session_state["progress_keeper"] = {"known": {"solved": kept}}
    again.run()
    assert said_of_stop(again, 0) == "✓ done" and again.button(key="homework_go_on").label == "Go on with stop 2"
    press(again, "homework_leave")
    assert "homework" not in again.query_params and asked(again, "title") == "Worksheets and lesson plans"
    assert handed(again) == kept != NOTHING


@pytest.mark.parametrize("code", ["x", "é", "A" * 20_000, "<script>alert(1)</script>"], ids=range(4))
def test_a_link_that_holds_no_homework_is_told_on_any_page(code):
    at = open_page(PAGE, homework=code, stop=99)
    assert any("does not hold a complete plan" in line for line in texts(at)) and "homework" not in at.query_params
    at = open_page("one_head/mask", homework=code, stop="x")
    assert any("does not hold a complete plan" in line for line in texts(at))


@pytest.mark.parametrize("view", [*map(str, READY_MADE), "own"])
def test_a_plan_says_the_link_of_its_homework_with_its_title(view):
    plan = ready_plan(45).with_stop(0, says="Slowly!") if view == "own" else ready_plan(int(view))
    at = open_page(PAGE, paper=view, **({"plan": plan_in_link(plan)} if view == "own" else {}))
    at.session_state["plan_homework"] = True
    at.run()
    at.text_input(key="plan_title").set_value("Week 3").run()
    (link,) = [code.value for code in at.code if "homework=" in code.value]
    pages = [stop.page for stop in plan.stops]
    assert plan_of_link(link.partition("homework=")[2], pages) == replace(plan.with_stop(0, says=""), title="Week 3")


def test_thirty_certificates_at_once_make_a_table_and_what_is_none_a_sentence():
    sound = [(f"{n}.json", written_certificate(certificate_of(OWN, f"s {n}", 10**9, (), (), ()))) for n in range(30)]
    bad = [("again.json", sound[3][1]), ("torn.json", sound[4][1][:200]), ("<b>huge</b>.json", b" " * 900_000)]
    bad += [("formula.json", written_certificate(certificate_of(OWN, "=HYPERLINK(1)", 10**9, (), (), ())))]
    at = open_page(PAGE, paper="certificates")
    assert not at.dataframe and render(NO_PROOF) not in captions(at)
    files = [(name, data, "application/json") for name, data in (*sound, *bad)]
    at.file_uploader(key="certificates").set_value(files).run()
    assert not at.exception, at.exception
    (table,) = at.dataframe
    names = list(table.value["name"])
    assert len(names) == 31 and "=HYPERLINK(1)" in names and render(NO_PROOF) in captions(at)
    saved = csv_of_lines(table.value.to_dict("records")).decode()
    assert saved.count("=HYPERLINK(1)") == saved.count("'=HYPERLINK(1)") == 1, "a text on the page, and in the file"
    said = [line for line in texts(at) if line.startswith(("again", "torn", "<b>huge"))]
    assert said == [
        "again.json: the same certificate as 3.json; it counts once.",
        "torn.json: This is no certificate: it cannot be read as JSON.",
        "<b>huge</b>.json: A certificate has at most 100,000 bytes, but this file has more.",
    ]


def test_a_text_of_the_teachers_is_read_on_the_page_of_the_homework_and_pictures_are_left_out():
    text = "<b>Read</b> *this*\nfirst"
    stops = (Stop(page="class_vote", text=text), Stop(page="class_vote", picture="0" * 64), Stop(page="mask"))
    at = begin(Plan(stops=stops))
    assert not at.exception and "homework_stop_2" not in {button.key for button in at.button}
    label = at.button(key="homework_stop_0").label.replace("\u2060\\", "")
    assert label.startswith("1 · <b>Read</b> *this* first · Look at it")
    at = press(at, "homework_go_on")
    assert at.session_state["place"] == "take_home" and text in texts(at.run())
    at = press(at, "homework_next")
    assert at.session_state["place"] == "mask"
    at = press(at, "homework_list").run()
    assert said_of_stop(at, 0) == "✓ done"
