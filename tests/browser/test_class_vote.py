"""A teacher at a projector and a student with a phone: the vote, and whom it might keep out."""

import re

import pytest

from tests.browser.test_axe import violations

CARD = "[class*=st-key-cards_class] button"


@pytest.fixture
def teacher(visit):
    tab = visit(color_scheme="light", reduced_motion="reduce").open("class_vote")
    tab.page.get_by_role("button", name="Open a class").click()
    tab.page.get_by_role("button", name="Ask the class").wait_for()
    return tab


def step(tab, name, then):
    tab.page.get_by_role("button", name=name).click()
    tab.page.get_by_role("button", name=then).wait_for()
    tab.settled()


def looks(tab, width, whole, scheme):
    """What keeps somebody out, in this look, and with `--all` in light and dark."""
    return [found for one in (("light", "dark") if whole else (scheme,)) for found in violations(tab, width, one)]


def test_a_vote_from_the_projector_to_the_phone_and_back(visit, teacher, whole):
    code = teacher.page.url.split("class=")[1][:6]
    found = looks(teacher, 1440, whole, "dark")
    step(teacher, "Ask the class", "Close the vote")
    student = visit(color_scheme="light", reduced_motion="reduce", viewport={"width": 390, "height": 844})
    student.open(f"class_vote?class={code}")
    student.page.locator(CARD).nth(0).click()
    student.page.locator(CARD).nth(0).filter(has_text="your answer").wait_for()
    teacher.page.get_by_text(re.compile("^1 (of 1 )?has answered$")).wait_for()
    found += looks(student, 390, whole, "light")
    assert student.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    bottom = student.page.locator(CARD).last.bounding_box()
    assert bottom["y"] + bottom["height"] < 844, "all answers are within reach of a thumb"
    student.page.reload()
    student.page.locator(CARD, has_text="your answer").wait_for()
    step(teacher, "Close the vote", "Show how the class voted")
    step(teacher, "Show how the class voted", "Show the answer")  # "Vote again" is there since the vote was closed
    step(teacher, "Vote again", "Close and compare")
    student.page.get_by_text("The same question again").wait_for()
    student.settled()  # until then the cards of the first vote may still stand there, "your answer" on one of them
    student.page.locator(CARD).nth(1).click()
    student.page.locator(CARD).nth(1).filter(has_text="your answer").wait_for()
    step(teacher, "Close and compare", "Show the answer")
    teacher.page.get_by_text("Of 1 who voted twice, 1 changed their answer.").wait_for()
    teacher.page.get_by_role("button", name="Show the answer").click()
    student.page.get_by_text("Your second answer: B").wait_for()
    student.settled()
    found += looks(teacher, 1440, whole, "light") + looks(student, 390, whole, "dark")
    assert not found, "\n".join(found)
    connection_is_lost(student, teacher)


def connection_is_lost(student, teacher):
    """In the reader's language, above everything; where the network is gone, and where the server does not answer."""
    student.page.context.set_offline(True)
    said = student.page.get_by_text("The connection has been lost. Keep this page open")
    said.wait_for()
    box = said.bounding_box()
    assert student.page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).id === 'connection'",
        [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2],
    )
    student.page.context.set_offline(False)
    said.wait_for(state="hidden")
    teacher.page.route("**/connection.js*", lambda route: route.abort())
    # Once more each second: that the student is back may draw the teacher's page, as if it had answered.
    teacher.page.wait_for_function(
        "() => { document.querySelector('h1').click(); return document.getElementById('connection').textContent }",
        polling=1000,
    )
    teacher.page.unroute("**/connection.js*")
    teacher.page.get_by_text("The connection has been lost").wait_for(state="hidden")
    teacher.errors.clear()
