"""A class that is led through a plan: its pages follow, who goes elsewhere is left alone, and notes stay private."""

import re
from dataclasses import replace

import pytest
from test_class_vote import PAGE, everything, fresh, keys, said, student, teacher  # noqa: F401
from test_class_vote import press as pressed_here
from visiting import ROOT, open_page, read_plainly, texts

from attention_ui.classroom.plan import leading
from attention_ui.classroom.vote import rooms, watching
from attention_ui.contents import CONTENTS
from attention_ui.page import lesson_page
from attention_ui.process.kept import KeptByLanguage
from attention_ui.server.connection import SCRIPT
from lessons.one_head.softmax import lesson as softmax
from lessons.screen import render
from lessons.teachers.class_plan.notes import notes_of_own
from lessons.teachers.class_plan.own_question import OwnQuestion
from lessons.teachers.class_plan.plan import Plan, Stop
from lessons.teachers.class_plan.plan_file import written_plan
from lessons.teachers.class_plan.ready_made import AT_SOFTMAX, THEN_SOFTMAX

FILES = {entry.address: ROOT / "pages" / entry.file for entry in CONTENTS}
SHORT = Plan(
    stops=(
        THEN_SOFTMAX(1, ("show",)),
        AT_SOFTMAX(5, ("ask", "pause", "again", "answer")),
        Stop(page="exercises", link={"exercise": "softmax"}),
    )
)


@pytest.fixture
def led(fresh):  # noqa: F811
    """A teacher whose class has a plan, and the code and the key."""
    at, code, key = teacher()
    fresh.bring_plan(code, key, written_plan(SHORT).decode())
    at.session_state["class_plan"] = None
    return at.run(), code, key


def test_the_keys_have_a_script_of_their_own():
    assert re.search(r"\}\)\(\)(\s*;)+\s*// The keys", SCRIPT), "else it is an argument of the script before it"


def stay(at):
    """Be on the page that the last run has opened: AppTest goes back to the one before."""
    at.switch_page(str(FILES[place(at)]))
    return at


def press(at, key):
    return pressed_here(stay(at), key)


def heard(at):
    """The page once the task has looked, and asked it to be drawn anew."""
    watching.look_at_all()
    stay(at).run()
    assert not at.exception, at.exception
    return at


def place(at):
    """The page that a visit is on, by what the rail marks and the address says."""
    return at.session_state["place"]


def test_students_follow_from_the_vote_to_a_screen_and_back(led):
    at, code, _ = led
    one = student(code)
    assert place(one) == "class_vote"
    press(at, "plan_next")
    assert place(at) == "softmax" and said(at, "temperature") == "0.5" and said(at, "large") == "true"
    heard(one)
    assert place(one) == "softmax" and said(one, "temperature") == "0.5" and said(one, "class") == code
    assert "large" not in one.query_params and "teacher" not in {**one.query_params, **at.query_params}
    assert not {"plan_next", "ask_class_here"} & keys(one) and "show_numbers" not in keys(one), "its numbers are seen"
    press(at, "plan_next")
    heard(one)
    assert place(one) == place(at) == "class_vote" and "class_vote_A" in keys(one)
    press(one, "class_vote_A")
    press(at, "plan_next")
    assert "class_vote_A" not in keys(heard(one)) and any(re.fullmatch(r"[12]:\d\d", line) for line in texts(one)), (
        "they talk"
    )
    press(at, "plan_next")
    press(heard(one), "class_vote_B")
    press(at, "plan_next")
    assert "This is the answer." in texts(heard(one))
    press(at, "plan_next")
    assert place(heard(one)) == "exercises" == place(at) and at.button(key="plan_next").disabled


def test_whoever_goes_elsewhere_is_left_alone_until_one_press_brings_him_back(led):
    at, code, _ = led
    one = student(code)
    press(at, "plan_next")
    heard(one)
    one.switch_page(str(FILES["mask"])).run()
    assert place(one) == "mask" and said(one, "follow") == "false"
    assert not {"hide", "cover"} & {*one.query_params} and "mask_card_A" in keys(one), (
        "what the stop hid is there again"
    )
    for _ in range(5):
        press(at, "plan_next")
        assert place(heard(one)) == "mask"
    again = open_page("one_head/mask", **{"class": code, "follow": "false"})
    assert place(heard(again)) == "mask", "a page that is loaded again is not pulled either"
    press(one, "class_back")
    assert place(heard(one)) == "exercises" and "follow" not in one.query_params


def test_whoever_comes_back_with_the_link_of_the_stop_keeps_what_he_has_set(led):
    at, code, _ = led
    press(at, "plan_next")
    one = heard(student(code))
    link = {name: said(one, name) for name in one.query_params} | {"scores": "3,-1,2"}
    assert place(one) == "softmax" and link["temperature"] == "0.5"
    back = open_page("one_head/softmax", **link)
    assert place(back) == "softmax" and said(back, "scores") == "3,-1,2"
    press(at, "plan_next")
    assert place(heard(back)) == "class_vote", "he is with the class"


def test_whoever_comes_back_with_another_link_is_brought_to_the_stop(led):
    at, code, _ = led
    press(at, "plan_next")
    back = open_page("one_head/softmax", **{"class": code, "temperature": "2.0", "scores": "3,-1,2"})
    assert place(back) == "softmax" and said(back, "temperature") == "0.5" and "scores" not in back.query_params


def test_a_link_that_hides_more_than_the_stop_is_no_link_of_the_stop(led):
    at, code, _ = led
    press(at, "plan_next")
    link = {name: said(at, name) for name in at.query_params if name not in ("teacher", "large")}
    back = open_page("one_head/softmax", **link | {"class": code, "hide": "figures,code"})
    assert place(back) == "softmax" and back.query_params.get("hide") == at.query_params.get("hide")


def test_a_page_that_follows_asks_the_database_nothing(led, fresh, monkeypatch):  # noqa: F811
    at, code, _ = led
    one = student(code)
    press(at, "plan_next")
    heard(one)
    asked = []
    monkeypatch.setattr(fresh, "_execute", lambda *how: asked.append(how))
    stay(one).slider(key="temperature").set_value(2.0).run()
    assert not one.exception and not asked and place(one) == "softmax"


def test_a_class_that_follows_has_its_screen_computed_once(led, monkeypatch):
    at, code, _ = led
    first, *class_of_three = (student(code) for _ in range(4))
    press(at, "plan_next")
    heard(first)  # by now the model of this screen is trained
    made, screen = [], softmax.screen
    monkeypatch.setattr(softmax, "screen", lambda *about: made.append(about) or screen(*about))
    monkeypatch.setattr(lesson_page, "SCREENS", KeptByLanguage(3))
    for one in class_of_three:
        assert place(heard(one)) == "softmax"
    assert len(made) == 1


def test_a_class_that_is_over_says_so_on_the_page_where_one_is(led, fresh):  # noqa: F811
    at, code, key = led
    one = student(code)
    press(at, "plan_next")
    heard(one)
    fresh.close(code, key)
    heard(one)
    assert rooms.OVER in texts(one) and place(one) == "softmax" and "class" not in one.query_params


def test_a_page_that_its_teacher_loads_again_leads_at_once(led):
    _at, code, key = led
    assert {"plan_next", "plan_back"} <= keys(open_page(PAGE, **{"class": code, "teacher": key}))


def test_two_presses_for_one_step_are_one_step(led, fresh):  # noqa: F811
    from classes.stages import Lead, RefusedError

    _at, code, key = led
    room = fresh.look(code)
    step = Lead(0, "./mask", 0, room.number, room.stage)
    fresh.lead(code, key, room.revision, step)
    with pytest.raises(RefusedError):
        fresh.lead(code, key, room.revision, step)
    assert fresh.look(code).place == 0


def test_notes_are_the_teachers_alone_and_lead_as_well(led, fresh):  # noqa: F811
    at, code, key = led
    phone = open_page(PAGE, **{"class": code, "teacher": key, "notes": "true"})
    assert {"plan_next", "plan_back"} <= keys(phone)
    press(phone, "plan_next")
    press(phone, "plan_next")
    question_reply = [line for line in texts(phone) if ": " in line]
    assert fresh.look(code).place == 1 and place(phone) == "class_vote" and question_reply
    assert "**Right**" in everything(phone) and "**Right**" not in everything(heard(at))
    assert "**Right**" not in everything(student(code, notes="true")), "a student has no notes"
    press(phone, "plan_next")
    assert len([line for line in texts(phone) if re.fullmatch(r"[12]:\d\d", line)]) == 1, "the pause, once"
    assert everything(phone).count("**Right**") == 1, "what stands there already is not said again"


def by_hand(at):
    """What the page of the class lets its teacher do with the vote, beside the strip."""
    return {key.removeprefix("class_to_") for key in keys(at) if key and key.startswith("class_to_")}


def test_a_question_of_the_plan_has_no_button_for_what_its_strip_does(led, fresh):  # noqa: F811
    at, code, _ = led
    offered = {}
    for _ in range(5):
        press(at, "plan_next")
        offered[fresh.look(code).stage] = by_hand(at)
    assert offered == {
        "waiting": set(),
        "open": {"shown"},
        "closed": {"shown"},
        "again": {"compared"},
        "explained": set(),
    }


def test_a_vote_that_the_plan_does_not_show_is_shown_by_hand_and_the_class_stays_at_its_step(led, fresh):  # noqa: F811
    at, code, _ = led
    one = student(code)
    for _ in range(2):
        press(at, "plan_next")
    press(heard(one), "class_vote_A")
    press(at, "class_to_shown")
    room = fresh.look(code)
    assert (room.stage, room.place, room.link) == ("shown", 1, "") and not by_hand(at), "to vote again is to come"
    press(at, "plan_next")
    assert fresh.look(code).seconds > 0 and not by_hand(at)
    press(at, "plan_next")
    assert fresh.look(code).stage == "again" and "class_vote_B" in keys(heard(one))


def test_a_plan_that_asks_once_can_still_vote_again_and_a_question_of_no_plan_has_all_its_buttons(led, fresh):  # noqa: F811
    at, code, key = led
    fresh.bring_plan(code, key, written_plan(Plan(stops=(AT_SOFTMAX(5, ("ask", "answer")),))).decode())
    at.session_state["class_plan"] = None
    at.run()
    press(at, "plan_next")
    for to, then in (("shown", {"again"}), ("again", {"compared"}), ("compared", set())):
        press(at, f"class_to_{to}")
        assert fresh.look(code).stage == to and by_hand(at) == then
    press(at, "class_ask")
    assert by_hand(at) == {"closed"}
    press(at, "class_to_closed")
    assert by_hand(at) == {"shown", "again"}


def test_beside_a_question_the_class_is_asked_only_where_no_plan_leads(led, fresh):  # noqa: F811
    at, code, key = led
    asking_stop = AT_SOFTMAX(5, ("show", "ask", "answer"))
    shown = Stop(page=asking_stop.page, link={}, actions=asking_stop.actions, screen=asking_stop.screen)
    fresh.bring_plan(code, key, written_plan(Plan(stops=(shown,))).decode())
    at.session_state["class_plan"] = None
    at.run()
    press(at, "plan_next")
    assert place(at) == "softmax" and {"softmax_card_A", "plan_next"} <= keys(at) and "ask_class_here" not in keys(at)
    at.switch_page(str(FILES["mask"])).run()
    assert "ask_class_here" in keys(at), "gone elsewhere by himself"


def asked_own(fresh, own):  # noqa: F811
    from attention_ui.classroom.vote.asked import asked_here
    from lessons.teachers.class_plan.own_question import written_own

    at, code, key = teacher()
    text = written_own(own)
    fresh.ask(code, key, 0, asked_here(text).cards, text)
    return at.run(), code, key


HOSTILE = "<img src=x onerror=alert(1)> **bold** :red[x] $x$"


def test_a_number_is_answered_within_a_tolerance_and_shown_as_a_distribution(fresh):  # noqa: F811
    own = OwnQuestion(kind="number", prompt=HOSTILE, number=0.25, tolerance=0.05)
    at, code, key = asked_own(fresh, own)
    assert read_plainly(at.title[0].value) == HOSTILE, "shown literally"
    for answer in ("0,3", "0.25", "7"):
        one = student(code)
        one.text_input(key="class_written").set_value(answer).run()
        press(one, "class_send")
    one.text_input(key="class_written").set_value("about a half").run()
    press(one, "class_send")
    assert "Type a number, such as 0.25 or 12." in texts(one) and fresh.answered(code, 1, 1) == 3
    for stage, to in (("open", "closed"), ("closed", "shown"), ("shown", "explained")):
        fresh.step(code, key, 1, stage, to)
    said_now = " ".join(texts(at.run()))
    assert "From 0.25 to 7; half of the class answered at most 0.3." in said_now
    assert "Right answers: 2 of 3 (0.25, give or take 0.05)." in said_now
    first = [line for line in texts(one.run()) if line.startswith("Your first")]
    assert any("7 ✓" not in line and line.endswith("✗ wrong") for line in first)


def test_words_are_hidden_until_the_teacher_looks(fresh):  # noqa: F811
    at, code, key = asked_own(fresh, OwnQuestion(kind="word", prompt="What did you not understand?"))
    for answer in ("<b>Mask</b>", "mask ", "MASK"):
        one = student(code)
        one.text_input(key="class_written").set_value(answer).run()
        press(one, "class_send")
    fresh.step(code, key, 1, "open", "closed")
    fresh.step(code, key, 1, "closed", "shown")
    at.run()
    assert "<b>mask</b>" not in str(at._tree) and not at.exception
    at.session_state["words_open"] = True
    assert fresh.written(code, 1) == [(1, "mask", 2), (1, "<b>mask</b>", 1)]
    assert "<b>mask</b>" not in everything(student(code))


def test_the_page_for_who_was_absent_says_what_its_counts_are(fresh):  # noqa: F811
    from attention_ui.classroom.plan.after import file_of_class

    _at, code, key = asked_own(fresh, OwnQuestion(kind="number", prompt="How many?", number=3))
    one = student(code)
    one.text_input(key="class_written").set_value("3").run()
    press(one, "class_send")
    for stage, to in (("open", "closed"), ("closed", "shown"), ("shown", "explained")):
        fresh.step(code, key, 1, stage, to)
    html = file_of_class(code).decode()
    assert "<th>answer</th><th>how many</th><th>right</th>" in html and "<td>3</td><td>1</td><td>✓</td>" in html


def test_own_choices_need_no_right_answer(fresh):  # noqa: F811
    own = OwnQuestion(kind="choices", prompt="Which?", cards=("this", "that"))
    at, code, _key = asked_own(fresh, own)
    press(one := student(code), "class_vote_B")
    for to in ("closed", "shown", "explained"):
        press(at, f"class_to_{to}")
    assert not [line for line in [*texts(one.run()), everything(at)] if "✗" in line or "✓ right" in line]
    assert notes_of_own(own).right is None


def test_the_page_for_who_was_absent_tells_what_is_over_and_no_more(fresh):  # noqa: F811
    from attention_ui.classroom.plan.after import file_of_class

    at, code, _key = asked_own(fresh, OwnQuestion(kind="choices", prompt=HOSTILE, cards=("<i>a</i>", "b"), right=1))
    press(student(code), "class_vote_B")
    assert "onerror" not in file_of_class(code).decode(), "it is being asked"
    for to in ("closed", "shown", "explained"):
        press(at, f"class_to_{to}")
    html = file_of_class(code).decode()
    assert "&lt;img src=x onerror=alert(1)&gt;" in html and "<img" not in html and "<i>a" not in html
    assert "<script" not in html and "default-src 'none'" in html and "(1)" in html
    page = student(code, after="true")
    assert not page.exception and not {"class_vote_A"} & keys(page)


OTHER = Plan(stops=(Stop(page="exercises", link={"exercise": "mask"}), AT_SOFTMAX(5, ("ask", "answer"))))


def notes_of(code, key):
    """The teacher's second tab."""
    return open_page(PAGE, **{"class": code, "teacher": key, "notes": "true"})


def test_notes_follow_the_plan_that_was_chosen_in_another_tab(led, fresh):  # noqa: F811
    _, code, key = led
    notes = notes_of(code, key)
    assert "0/6" in texts(notes)
    fresh.bring_plan(code, key, written_plan(OTHER).decode())
    heard(notes)
    assert "0/3" in texts(notes) and "1 · Exercises" in {button.label for button in notes.button}


@pytest.mark.parametrize("pressed", ["plan_next", "to_stop_1"])
def test_a_button_in_the_notes_of_an_old_plan_does_nothing_and_says_so(led, fresh, pressed):  # noqa: F811
    _, code, key = led
    notes = notes_of(code, key)
    fresh.bring_plan(code, key, written_plan(OTHER).decode())
    before = fresh.look(code)
    pressed_here(notes, pressed)
    assert replace(fresh.look(code), passed=before.passed) == before, "but for the seconds that pass meanwhile"
    assert render(leading.OTHER_PLAN) in texts(notes) and "0/3" in texts(notes)
    pressed_here(notes, pressed)
    assert fresh.look(code).place == (0 if pressed == "plan_next" else 1), "now it is a button of this plan"


def test_the_stops_are_a_list_to_jump_by(led, fresh):  # noqa: F811
    at, code, key = led
    notes = notes_of(code, key)
    press(at, "to_stop_1")
    assert fresh.look(code).place == 1 and fresh.look(code).stage == "open" and place(at) == "class_vote"
    heard(notes)
    assert [button.key for button in notes.button if button.key.startswith("to_stop_")] == [
        f"to_stop_{stop}" for stop in range(3)
    ]
    pressed_here(notes, "to_stop_2")
    assert fresh.look(code).place == 5 and fresh.look(code).link.startswith("./exercises")
    heard(at)
    assert place(at) == "exercises"


def test_all_that_a_class_needs_is_in_a_menu_at_every_step(led, fresh):  # noqa: F811
    at, *_ = led
    for step in range(1, 7):
        press(at, "plan_next")
        at.session_state["class_menu"] = True
        stay(at).run()
        found = keys(at) | {button.proto.id.rpartition("-")[2] for button in at.get("download_button")}
        assert {"class_close", *(["class_page"] if place(at) != "class_vote" else [])} <= found, step
        assert ("class_votes_csv" in found) == ("class_html" in found) == (step > 1), "once something was asked"


def test_a_button_counts_also_where_its_page_was_drawn_while_nothing_was_known_of_the_class(led, fresh):  # noqa: F811
    at, code, _ = led
    press(at, "plan_next")
    watching.KNOWN.clear()  # as the task does where all pages of a class are drawn anew at the same time
    stay(at).run()
    press(at, "plan_next")
    assert fresh.look(code).place == 1
