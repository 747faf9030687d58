"""Texts that want to be more than text, looked at by a real browser: nothing is fetched, nothing runs."""

import http.server
import threading
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.chromium import SETTLED
from tests.figures import CHECK_BOX, MENU, PICTURE

TEXTS = {
    "an image in Markdown": "![seen](URL/markdown.png)",
    "an image in HTML": "<img src=URL/tag.png onerror=window.caught=1>",
    "a script": "<script>window.caught=1;fetch('URL/script')</script>",
    "a frame": "<iframe srcdoc=\"<script>parent.caught=1</script><img src='URL/frame.png'>\">",
    "a style": "<style>body{background:url(URL/style.png)}</style>",
    "a link": "[seen](javascript:window.caught=1) :material/home: $\\href{URL/tex}{x}$",
    "an expression": "'+(window.caught=1)+' ${window.caught=1} {{window.caught=1}}",
    "marks of direction and control": "seen \u202eegami\u2066 \x07\x1b[31m \ufeff",
    "a hundred thousand characters": "<img src=URL/long.png> " + "x" * 100_000,
}

AT_EVERY_CHANGE = ("an image in Markdown", "a script")


@pytest.fixture(scope="module")
def texts(whole):
    return {what: text for what, text in TEXTS.items() if whole or what in AT_EVERY_CHANGE}


@pytest.fixture(scope="module")
def listener():
    """A server elsewhere; it counts who comes."""
    arrivals = []

    class Count(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            arrivals.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(b"seen")

        def log_message(self, *_):
            pass

    there = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Count)
    threading.Thread(target=there.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{there.server_port}", arrivals
    there.shutdown()
    there.server_close()


@pytest.fixture
def tab(tabs, server):
    page, leave = tabs.lend(server.url)
    yield page
    leave()


def settle(tab):
    tab.wait_for_function(SETTLED)
    tab.wait_for_selector(PICTURE)


def assert_only_text(tab, listener, what):
    """Nothing of the text became part of the page, and nothing was asked of the other server."""
    url, arrivals = listener
    assert tab.evaluate("window.caught") is None, what
    elements = f"""() => [...document.querySelectorAll('img, iframe, script, link, style, a')].filter(
        e => (e.outerHTML.includes('{url}') || e.outerHTML.includes('window.caught')) && !e.closest('svg')).length"""
    assert tab.evaluate(elements) == 0, what
    assert tab.locator("[data-testid=stException]").count() == 0, what
    assert arrivals == [], what


def test_the_listener_would_notice(tab, listener):
    """Without this the tests below would prove nothing."""
    tab.set_content(f"<img src={listener[0]}/asked>")
    tab.wait_for_function("() => document.images[0].complete")
    assert listener[1] == ["/asked"]
    listener[1].clear()


def test_a_text_in_a_link_stays_a_text(server, tab, listener, texts, quiet_log, whole):
    for what, text in (texts if whole else {"all at once": " ".join(texts.values())}).items():
        asked = quote(text.replace("URL", listener[0])[:4000])  # a longer address is refused by the way
        for path in (f"?example=sentence&text={asked}", f"train?learn={asked}", f"generate?learn={asked}"):
            tab.goto(f"{server.url}/{path}")
            settle(tab)
            assert_only_text(tab, listener, what)


OTHER_BOLD = "strong:not(.st-key-steps_of_question strong)"  # the step of a question is told in words of ours


def test_a_text_in_a_headline_stays_a_text(server, tab, listener, texts, quiet_log):
    """Headlines and cards are read as Markdown: whatever the token wants to be, it is read there as it was typed."""
    for what, text in texts.items():
        token = "".join(text.replace("URL", listener[0]).split())[:60]
        for path, key in (("softmax", "softmax_quiz"), ("", "home_headline")):
            tab.goto(f"{server.url}/{path}?example=sentence&text={quote(f'{token} {token}x')}")
            settle(tab)
            top = tab.locator(f".st-key-{key}")
            assert top.locator("h2, button").count() >= (3 if path else 1)
            assert top.locator(f"a, img, em, {OTHER_BOLD}, del, code, .katex, iframe, script").count() == 0, what
            assert_only_text(tab, listener, what)


def test_a_text_typed_into_a_box_stays_a_text(server, tab, listener, texts, quiet_log):
    for path, box in (("tokens?example=sentence", "Your sentence"), ("train?task=characters", "Text to learn")):
        tab.goto(f"{server.url}/{path}")
        settle(tab)
        for what, text in texts.items():
            field = tab.get_by_role("textbox", name=box)
            field.fill(text.replace("URL", listener[0]))
            field.press("Enter")
            tab.wait_for_timeout(150)
            settle(tab)
            assert_only_text(tab, listener, what)


def test_a_text_in_the_sentences_of_a_film_stays_a_text(server, tab, listener, texts, quiet_log):
    """What the model writes at each moment is made of the learner's own characters, and often begins alike."""
    for what in texts.keys() & {"an image in HTML", "a script", "a link", "an expression"}:
        text = TEXTS[what].replace("URL", listener[0])
        tab.goto(f"{server.url}/train?learn={quote(text)}&steps=60&rate=0.01")
        settle(tab)
        tab.get_by_role("button", name="Start", exact=True).click()
        play = tab.locator(f".st-key-run {CHECK_BOX}")
        play.wait_for()
        tab.locator(f".st-key-run {MENU}").first.select_option("40")  # moments a second
        tab.get_by_text("After 60 training steps, it writes", exact=True).wait_for()
        expect(play).not_to_be_checked()
        assert_only_text(tab, listener, what)


def test_markup_is_shown_as_it_was_typed(server, tab):
    tab.goto(f"{server.url}/tokens?example=sentence&text={quote('<b>bold</b> ![seen](x.png)')}")
    settle(tab)
    shown = "".join(tab.locator(PICTURE).all_text_contents())
    assert "<b>bold" in shown
    assert tab.locator("b", has_text="bold").count() == 0


def test_a_text_on_a_worksheet_stays_a_text(server, tab, listener, texts, quiet_log):
    """The sheet is shown in a frame, as the file that is saved: the words of a sentence are nothing but words in it."""
    for what, text in texts.items():
        token = "".join(text.replace("URL", listener[0]).split())[:40]
        tab.goto(f"{server.url}/take_home?paper_text={quote(f'{token} {token}x')}")
        sheet = tab.frame_locator(".st-key-paper_preview iframe")
        sheet.locator("h1", has_text="Attention on paper").wait_for()
        assert sheet.locator("img, iframe, script, link, a, svg").count() == 0, what
        assert sheet.locator("style").count() == 1, what
        assert tab.evaluate("window.caught") is None and listener[1] == [], what
        assert tab.locator("[data-testid=stException]").count() == 0, what
