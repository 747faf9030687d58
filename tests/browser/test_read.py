"""What only a browser shows of the lesson on the real model, where that is not on the machine."""

from lessons.model.read.lesson import STANDS_HERE


def test_on_a_phone_the_page_says_what_will_stand_there_and_does_not_scroll_sideways(visit):
    tab = visit(viewport={"width": 390, "height": 844}).open("read?read_view=sink&read=own&read_text=" + "word+" * 40)
    panel = tab.page.locator(".st-key-get_model")
    panel.get_by_role("button", name="Get the model").wait_for()
    assert STANDS_HERE.template.replace("**", "") in panel.inner_text()
    assert tab.page.evaluate("() => document.scrollingElement.scrollWidth") <= 390
