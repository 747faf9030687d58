"""A teacher who leads through a plan by keys alone, and a student whose page follows until he goes elsewhere."""

import re

import pytest

BLANK = "!!document.getElementById('blank-screen')"


@pytest.fixture
def teacher(visit):
    tab = visit(reduced_motion="reduce").open("take_home?paper=45")
    tab.page.get_by_role("button", name="Teach a class with it").click()
    tab.page.get_by_text("Your students' pages follow.").wait_for()
    return tab.settled()


@pytest.fixture
def student(visit, teacher):
    tab = visit(reduced_motion="reduce", viewport={"width": 390, "height": 844})
    tab.page.goto(f"{tab.url}/class_vote?class={code_of(teacher)}")
    tab.page.get_by_text("You are in the class").wait_for()
    return tab.settled()


def code_of(tab):
    return re.search("class=(.{6})", tab.page.url)[1]


def press(tab, key, place):
    """One key, after which the class is at this step."""
    tab.page.keyboard.press(key)
    tab.page.locator(".st-key-class_strip").get_by_text(f"{place}/31", exact=True).wait_for()
    tab.settled()


def test_one_key_leads_the_class_and_whoever_goes_elsewhere_comes_back_by_one_press(teacher, student):
    press(teacher, "ArrowRight", 1)
    student.page.wait_for_url("**/?example=stories**")
    press(teacher, "PageDown", 2)
    student.page.wait_for_url("**trained_for=0**")
    press(teacher, "PageUp", 1)
    press(teacher, "ArrowRight", 2)
    press(teacher, "ArrowRight", 3)
    student.page.locator(".st-key-class_vote_A button").click()
    teacher.page.get_by_text("1 has answered").wait_for()
    press(teacher, "ArrowRight", 4)
    student.page.get_by_text("This is the answer.").wait_for()
    assert not student.page.locator(".st-key-class_vote_A").count(), "the vote is closed"

    student.settled().page.locator(".st-key-lesson_before").get_by_text("Take home").click()
    student.page.get_by_role("button", name="Back to the class").wait_for()
    teacher.page.locator(".st-key-class_close").scroll_into_view_if_needed()
    press(teacher, "PageDown", 5)
    teacher.page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop === 0")
    student.page.wait_for_timeout(1500)  # in which a page that follows would have come
    assert "/take_home" in student.page.url, "whoever has gone elsewhere is left alone"
    student.page.get_by_role("button", name="Back to the class").click()
    student.page.locator(".st-key-class_vote_A").wait_for()
    assert "/class_vote" in student.page.url

    teacher.page.reload()
    teacher.page.locator(".st-key-plan_next").wait_for()
    press(teacher.settled(), "ArrowRight", 6)
    for tab in (teacher, student):
        tab.page.locator(".st-key-class_timer").get_by_text(re.compile("1:5[0-8]")).wait_for()
        assert "Talk in pairs" in tab.page.locator(".st-key-class_strip").inner_text()


def test_b_blanks_the_screen_and_no_key_is_taken_from_a_field(teacher):
    for key, blank in (("b", True), ("b", False), (".", True), ("Escape", False)):
        teacher.page.keyboard.press(key)
        assert teacher.page.evaluate(BLANK) is blank, key
    teacher.page.get_by_text("A question of your own").click()
    field = teacher.page.get_by_label("Your question", exact=True)
    field.fill("abc")
    field.press("Home")
    field.press("ArrowRight")
    field.press("b")
    assert field.input_value() == "abbc" and not teacher.page.evaluate(BLANK)
    assert teacher.page.locator(".st-key-class_strip").get_by_text("0/31").is_visible(), "the arrow was the field's"
