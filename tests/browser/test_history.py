"""The browser's own history: one step for each visit of a page, which keeps what was chosen there."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

LENGTH, MOST_STEPS = "history.length", 50  # a browser keeps no more
SLIDER = ".st-key-temperature input"
VALUE = "() => document.querySelector('.st-key-temperature [data-testid=stSliderThumbValue]').textContent"


def rest(tab):
    """Wait until the server has answered, and nothing more comes."""
    tab.settled().page.wait_for_timeout(500)
    tab.settled()


def to(tab, place):
    """Open a page by its link in the rail."""
    tab.page.locator(f'[data-testid="stTopNavLink"][href$="/{place}"]').click()
    tab.page.wait_for_url(f"**/{place}**")
    rest(tab)


def go(tab, way, place):
    """One step back or forward in the browser's history, which leads to this page."""
    getattr(tab.page, f"go_{way}")()
    tab.page.wait_for_url(f"**/{place}**")
    rest(tab)


def said(tab):
    return dict(parse_qsl(urlsplit(tab.page.url).query))


@pytest.mark.parametrize("presses", [1, 3])
def test_back_leads_to_the_page_before_with_what_was_chosen_and_once_more_to_the_one_before_that(visit, presses):
    """Three presses in a row: the browser sends the last of them with the address of the one before."""
    tab = visit()
    tab.page.goto(f"{tab.url}/mask?seed=7&example=pronouns&cover=false&mask=window")
    rest(tab)
    first, begun = said(tab), tab.page.evaluate(LENGTH)
    to(tab, "softmax")
    tab.page.locator(SLIDER).focus()
    for _ in range(presses):
        tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url(f"**temperature=1.{presses}**")
    rest(tab)
    chosen = said(tab)
    assert chosen["temperature"] == f"1.{presses}" and tab.page.evaluate(LENGTH) == min(begun + 1, MOST_STEPS)
    to(tab, "output")
    assert said(tab)["temperature"] == f"1.{presses}" and tab.page.evaluate(LENGTH) == min(begun + 2, MOST_STEPS)

    go(tab, "back", "softmax")
    assert said(tab) == chosen
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Softmax")
    assert float(tab.page.evaluate(VALUE)) == 1 + presses / 10
    expect(tab.page.locator(".st-key-seed input")).to_have_value("7")
    go(tab, "back", "mask")
    assert said(tab) == first
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("The causal mask")
    go(tab, "forward", "softmax")
    assert said(tab) == chosen and tab.page.evaluate(LENGTH) == min(begun + 2, MOST_STEPS)


def test_what_is_chosen_on_a_page_adds_no_step(visit):
    tab = visit().open("mask")
    rest(tab)
    begun, options = tab.page.evaluate(LENGTH), tab.page.locator(".st-key-mask button")
    assert options.count() > 1
    for at in reversed(range(options.count())):
        options.nth(at).click()
        rest(tab)
    assert tab.page.evaluate(LENGTH) == begun
