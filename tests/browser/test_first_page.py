"""The buttons of the first page, as a visitor presses them: with a plain click at the middle of each."""

from tests.figures import CONTROL_LABEL, EVERY, RIBBON

BUTTONS = f".stMain :is(button, {CONTROL_LABEL}):not(.stElementToolbar *)"
SAYS = f"() => [document.body, ...{EVERY}('section')].map(one => one.textContent).join() + location.href"
PICTURES, FOOT = ("Open it up", "All steps", "A real model", "One sentence"), ".st-key-lesson_after button"


def press(tab, button):
    """A click of the mouse at the middle of a button, after which the page says something else."""
    button.scroll_into_view_if_needed()
    box, before = button.bounding_box(), tab.page.evaluate(SAYS)
    tab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.page.wait_for_function(f"before => ({SAYS})() !== before", arg=before)
    tab.page.keyboard.press("Escape")  # what unfolds lies over others
    tab.settled()


def test_each_button_of_the_first_page_does_something_when_it_is_clicked(visit):
    tab = visit(reduced_motion="reduce").open("?example=pronouns&picture=sentence")
    tab.page.wait_for_selector(f".st-key-ribbons {RIBBON}", state="attached")
    tab.settled()
    others = [
        button
        for button in tab.page.locator(BUTTONS).all()
        if button.is_visible()
        and button.get_attribute("data-selected") != "true"
        and button.inner_text() not in PICTURES
        and not button.evaluate(f"one => one.matches('{FOOT}')")
    ]
    assert len(others) >= 6
    for button in others:
        press(tab, button)
    for name in PICTURES:
        press(tab, tab.page.locator(".st-key-pictures button", has_text=name))
    press(tab, tab.page.locator(FOOT))
    tab.page.wait_for_url("**/tokens*")
