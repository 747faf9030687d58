"""The language of the page that is served, and the address of the menu."""

import gzip
import http.client
import re
import signal

import pytest

from attention_ui.server.languages import back_to
from tests.chromium import SETTLED
from words import COOKIE, chosen_language, nearest_language

ASKED = [
    ({}, "", "en"),
    ({}, "?lang=de", "de"),
    ({"Accept_Language": "pt-PT,pt;q=0.9,en;q=0.5"}, "", "pt-BR"),
    ({"Accept_Language": "xx,fr;q=0.2,ja;q=0.8"}, "", "ja"),
    ({"Accept_Language": "fr", "Cookie": f"{COOKIE}=es"}, "", "es"),
    ({"Accept_Language": "fr", "Cookie": f"{COOKIE}=es"}, "?lang=zh", "zh"),
    ({"Accept_Language": "nonsense;q=x,,;;", "Cookie": f"{COOKIE}=../../etc"}, "?lang=klingon", "en"),
]


@pytest.mark.parametrize(("headers", "query", "lang"), ASKED)
@pytest.mark.parametrize("path", ["/", "/softmax"])
def test_the_start_page_says_its_language(server, path, headers, query, lang):
    answer = server.get(path + query, Accept="text/html", Accept_Encoding="gzip", **headers)
    body = gzip.decompress(answer.body) if answer.headers["Content-Encoding"] == "gzip" else answer.body
    assert re.findall(r'<html lang="([^"]*)"', body.decode()) == [lang]
    assert answer.headers["Content-Length"] == str(len(answer.body))
    assert "Accept-Language" in answer.headers["Vary"] and "Cookie" in answer.headers["Vary"]


def test_only_a_link_that_fixes_a_language_keeps_it_and_no_longer_than_the_browser_is_open(server):
    fixed = server.get("/?lang=ja", Accept="text/html").headers["Set-Cookie"]
    assert fixed.startswith(f"{COOKIE}=ja;") and "Max-Age" not in fixed and "SameSite=Lax" in fixed
    for path in ("/", "/?lang=klingon", "/softmax?seed=3"):
        assert COOKIE not in (server.get(path, Accept="text/html").headers["Set-Cookie"] or "")


def test_what_is_no_start_page_stays_as_it_is(server):
    assert b'<html lang="en"' in server.get("/runner?lang=de").body, "the page in a frame is told by the app"
    assert COOKIE not in (server.get("/runner?lang=de").headers["Set-Cookie"] or "")


def test_the_menu_keeps_the_choice_and_goes_back_to_the_same_controls(server):
    status, headers = sent_back(server, "/language/pt-BR", "http://localhost/softmax?seed=3&lang=de&text=a%20b%26c")
    assert status == 303 and headers["Location"] == "/softmax?seed=3&text=a+b%26c"
    assert headers["Set-Cookie"].startswith(f"{COOKIE}=pt_BR;") and "Max-Age" in headers["Set-Cookie"]


def test_a_language_that_is_not_there_changes_nothing(server):
    status, headers = sent_back(server, "/language/klingon", "http://localhost/mask")
    assert status == 303 and headers["Location"] == "/mask" and headers["Set-Cookie"] is None


def sent_back(server, path, referer):
    """The answer itself, and not the page to which it sends."""
    connection = http.client.HTTPConnection("localhost", server.port, timeout=10)
    connection.request("GET", path, headers={"Referer": referer})
    answer = connection.getresponse()
    connection.close()
    return answer.status, answer.headers


@pytest.mark.parametrize(
    "referer",
    ["", "//evil.example/x", "https://evil.example//evil.example/x", "http://[", "javascript:alert(1)", "\\\\evil\\x"],
)
def test_the_way_back_never_leaves_the_app(referer):
    back = back_to(referer)
    assert back.startswith("/") and not back.startswith(("//", "/\\"))


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("de-AT", "de"),
        ("PT", "pt_BR"),
        ("pt_br", "pt_BR"),
        ("zh-Hant-TW", "zh"),
        ("eng", None),
        ("", None),
        ("*", None),
    ],
)
def test_a_tag_names_the_nearest_language(tag, code):
    assert nearest_language(tag) == code


def test_of_what_the_browser_asks_for_the_first_that_is_spoken_counts():
    assert chosen_language("", "", "da, ja;q=0.3, de-CH;q=0.7, *;q=0.1") == "de"
    assert chosen_language("", "", "x" * 10_000) == "en"


def test_the_start_page_brings_what_says_that_the_connection_is_lost(server):
    page = server.get("/softmax?lang=en", Accept="text/html").body.decode()
    (source, sentence) = re.search(r'<script defer src="\.(.*?)" data-lost="(.*?)"></script></head>', page).groups()
    script = server.get(source)
    assert script.status == 200 and script.headers["Content-Type"].startswith("text/javascript")
    assert "immutable" in script.headers["Cache-Control"] and sentence.startswith("The connection has been lost.")
    assert "immutable" not in server.get(source.split("?")[0]).headers["Cache-Control"]


def test_a_lost_connection_is_said_until_it_is_back(server, tab):
    """Of a server that hangs, whose socket stays open, a press tells that nobody answers."""
    page = tab()
    page.goto(f"{server.url}/softmax?lang=en&example=journey")
    page.wait_for_function(SETTLED)
    said = page.locator("#connection", has_text="The connection has been lost.")
    assert not said.count()
    server.process.send_signal(signal.SIGSTOP)
    try:
        page.locator(".st-key-d_k input[type=range]").press("ArrowRight")
        said.wait_for()
    finally:
        server.process.send_signal(signal.SIGCONT)
    page.wait_for_function("() => !document.querySelector('#connection').textContent")
    page.wait_for_url("**d_k=3**")
