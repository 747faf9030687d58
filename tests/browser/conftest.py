"""A real server and a real browser. Without a browser these tests are skipped, and say so."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.chromium import SETTLED
from tests.figures import PICTURE

ROOT = Path(__file__).parent.parent.parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="session")
def start_server():
    """Starts the app as a user does, with settings of its environment; every started server ends with the session."""
    servers = []

    def start(**settings):
        port = free_port()
        log = open(ROOT / ".pytest_cache" / f"server-{port}.log", "w+")  # noqa: SIM115
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        server = subprocess.Popen(
            [*command, "--server.address", "127.0.0.1"],
            cwd=ROOT,
            env=os.environ | settings,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        servers.append((server, log))
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=1)
                return url
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                try:
                    server.wait(0.2)
                except subprocess.TimeoutExpired:
                    continue
                raise AssertionError(f"the server ended: {Path(log.name).read_text()}") from None
        raise AssertionError("the server never became ready")

    (ROOT / ".pytest_cache").mkdir(exist_ok=True)
    yield start
    for server, log in servers:
        server.terminate()
        server.wait(20)
        log.seek(0)
        written = log.read()
        log.close()
        assert "Traceback" not in written and '"level": "error"' not in written, written


@pytest.fixture(scope="session")
def url(start_server):
    return start_server()


COVERED_AT_FIRST = (
    "tokens",
    "dot_product",
    "projections",
    "scores",
    "mask",
    "softmax",
    "output",
    "heads",
    "positions",
    "pytorch",
    "backward",
    "variants",
    "cost",
)

STANDING = """found => {
    const now = performance.now(), before = window.stood?.found ?? []
    if (found.length !== before.length || found.some((one, at) => one !== before[at]))
        window.stood = {found, since: now}
    return found.length > 0 && now - window.stood.since > 1000
}"""
MARK = "found => found.map(one => one.dataset.mine = 'yes').length"
MARKED = "found => found.filter(one => one.dataset.mine === 'yes').length"


class Visit:
    """A tab of its own, and all that went wrong or left the machine while it was open."""

    def __init__(self, tabs, url, **settings):
        self.url = url
        self.page, self._leave = tabs.lend(url, **settings)
        self.errors, self.foreign, self.sent = [], [], []
        self._heard = {
            "console": self._console,
            "pageerror": lambda error: self.errors.append(str(error)),
            "request": self._request,
            "websocket": lambda ws: ws.on("framesent", lambda frame: self.sent.append(frame)),
        }
        for what, heard in self._heard.items():
            self.page.on(what, heard)

    def open(self, path=""):
        """Open a link. On a lesson, numbers do not wait for an answer and the weights are the first notebook's, unless
        the link says so; and the first page shows all steps.
        """
        page, _, query = path.partition("?")
        of_page = {"cover": "false"} if page in COVERED_AT_FIRST else {"picture": "steps"}
        usual = {"example": "journey"} | of_page
        if page in ("", "overview", *COVERED_AT_FIRST):
            query = "&".join(filter(None, [query, *(f"{k}={v}" for k, v in usual.items() if f"{k}=" not in query)]))
            path = f"{page}?{query}"
        self.page.goto(f"{self.url}/{path}")
        return self

    def settled(self):
        """Wait until the server has answered everything and the browser has loaded what draws it.

        Before that, the page grows by whole figures, and a press can miss the button it was meant for.
        """
        self.page.wait_for_function(SETTLED)
        return self

    def answer_rightly(self, lesson):
        """Press the cards of a question until the right one is found."""
        for letter in "ABCD":
            self.page.locator(f".st-key-{lesson}_card_{letter} button").click()
            self.page.locator(f".st-key-{lesson}_card_{letter} button[kind=primary]").wait_for()
            self.settled()
            if self.page.locator("[class*=st-key-cards_right]").count():
                return
        raise AssertionError("no card is right")

    def think_first(self, lesson):
        """Ask for another question until there is one for whose answer the figures wait."""
        prompt = self.page.locator(f".st-key-{lesson}_quiz h2")
        while not self.settled().page.locator(".st-key-covered").count():
            before = prompt.inner_text()
            self.page.locator(f".st-key-{lesson}_another button").click()
            expect(prompt).not_to_have_text(before)
        return self

    def marked(self, selector=PICTURE):
        """Mark these pictures, to know them again; the answer tells whether all of them are still there.

        Before that, wait until they have stood for a second: Streamlit draws a first picture twice.
        """
        pictures = self.page.locator(selector)
        while not pictures.evaluate_all(STANDING):
            self.page.wait_for_timeout(50)
        count = pictures.evaluate_all(MARK)
        return lambda: pictures.evaluate_all(MARKED) == count

    def close(self):
        for what, heard in self._heard.items():
            self.page.remove_listener(what, heard)
        self._leave()

    def _console(self, message):
        # On a deep link Streamlit first looks for itself below the page's own path.
        expected = "/_stcore/" in message.location.get("url", "") and "404" in message.text
        from_vega = message.text.startswith("WARN")
        if (message.type == "error" and not expected) or from_vega:
            self.errors.append(f"{message.text} {message.location}")

    def _request(self, request):
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.foreign.append(request.url)


@pytest.fixture(scope="session")
def with_model(start_server):
    """A server that finds what has been fetched on this machine."""
    return start_server(ATTENTION_LAB_CACHE=os.environ["CACHE_BEFORE_TESTS"])


@pytest.fixture
def visit(tabs, url):
    """Opens tabs; at the end none of them may have seen an error or asked another host for anything."""
    visits = []

    def new(**settings):
        visits.append(Visit(tabs, settings.pop("url", url), **settings))
        return visits[-1]

    yield new
    for tab in visits:
        errors, foreign = tab.errors, tab.foreign
        tab.close()
        assert not errors
        assert not foreign
