"""A text that is too long for its field, pasted in a real browser: Streamlit's own limit would refuse it there."""

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

USED = " ".join(["girl"] * 20)  # of 100 characters, 99 are whole words


def test_a_long_text_is_taken_as_far_as_it_fits_and_field_address_and_page_say_so(visit):
    tab = visit().open("tokens?example=sentence")
    field = tab.settled().page.locator(".st-key-stranger input")
    field.fill(" ".join(["girl"] * 60))
    field.press("Enter")
    note = "This field takes at most 100 characters, and the text has 299; the first 99 are used."
    expect(tab.page.get_by_text(note)).to_be_visible()
    expect(field).to_have_value(USED)
    tab.settled().page.wait_for_timeout(500)
    assert parse_qs(urlsplit(tab.page.url).query)["stranger"] == [USED]
    field.fill("girl")
    field.press("Enter")
    expect(tab.page.get_by_text(note)).to_have_count(0)
    assert "stranger=girl" in tab.settled().page.url
