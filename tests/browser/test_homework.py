"""A student alone: from the teacher's link through a stop, with a reload on the way, to the certificate."""

from lessons.teachers.class_plan.plan import Plan
from lessons.teachers.class_plan.plan_file import plan_in_link
from lessons.teachers.class_plan.ready_made import ready_plan
from lessons.teachers.class_vote.question_link import screen_asked
from lessons.teachers.homework.certificate import read_certificate

ASKS = ready_plan(45).stops[3]
PLAN = Plan(title="Week 3", stops=(ASKS,))


def test_a_student_answers_a_stop_goes_on_after_a_reload_and_saves_the_certificate(visit):
    tab = visit(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    tab.page.goto(f"{tab.url}/take_home?homework={plan_in_link(PLAN)}")
    tab.page.get_by_role("button", name="Begin").click()
    strip = tab.page.locator(".st-key-class_strip")
    strip.get_by_text("Answer the question").wait_for()
    right = "ABCD"[screen_asked(ASKS.screen)[1].right]
    tab.settled().page.locator(f".st-key-projections_card_{right} button").click()
    strip.get_by_text("right at the first try").wait_for()
    assert strip.bounding_box()["width"] <= 390 and tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    tab.page.wait_for_function("() => localStorage.getItem('attention-lab progress')?.includes('_right_')")

    tab.page.reload()
    strip.get_by_text("right at the first try").wait_for()
    tab.settled().page.get_by_role("button", name="The end →").click()
    tab.page.get_by_label("Your name, if your teacher wants it").fill("<b>Ada</b>")
    tab.page.get_by_role("button", name="Make the certificate").click()
    tab.page.get_by_text("<b>Ada</b>").wait_for()
    with tab.settled().page.expect_download() as saving:
        tab.page.get_by_role("button", name="Save the certificate").click()
    made = read_certificate(saving.value.path().read_bytes())
    assert made.name == "<b>Ada</b>" and made.title == "Week 3"
    assert [stop.result for stop in made.stops] == ["first"]
