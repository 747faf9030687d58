"""Every page in Firefox and in WebKit, before a release: `python -m tests.other_browsers [http://localhost:8501]`.

It looks for errors and for figures that were not painted, prints a line for each page, and ends with 1 where it found
something. Debian has both: `apt-get install firefox-esr webkit2gtk-driver xvfb`. Without an address it starts the app.
"""

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

from websockets.sync.client import connect

from tests.chromium import SETTLED
from tests.figures import EVERY, FIGURE_BOX, PICTURE

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))
from servers import OURS, Server, free_port  # noqa: E402

PATIENCE = 90  # seconds for a page
FOUND = (
    """(() => {
    const charts = [...document.querySelectorAll('FIGURE_BOX')];
    const full = part => part.tagName === 'CANVAS' || part.querySelector('path, text, td');
    const drawn = chart => EVERY('PICTURE, canvas', chart).some(
        part => part.getBoundingClientRect().width > 20 && full(part));
    const wrong = [...document.querySelectorAll('[data-testid=stException], vite-error-overlay')];
    const hidden = chart => chart.getBoundingClientRect().width === 0;
    return JSON.stringify({charts: charts.length, unpainted: charts.filter(c => !hidden(c) && !drawn(c)).length,
        errors: wrong.map(part => part.innerText.slice(0, 200)),
        wide: document.scrollingElement.scrollWidth - innerWidth});
})()""".replace("FIGURE_BOX", FIGURE_BOX)
    .replace("PICTURE", PICTURE)
    .replace("EVERY", EVERY)
)


class Firefox:
    """Firefox by WebDriver BiDi, which tells of errors in its console as well."""

    def __init__(self, place):
        port = free_port()
        command = ["firefox-esr", "--headless", "--profile", place, "--remote-debugging-port", str(port), "--no-remote"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.numbers, self.errors = itertools.count(1), []
        self.open_now = ExitStack()
        address = f"ws://127.0.0.1:{port}/session"
        self.socket = wait_for(lambda: self.open_now.enter_context(connect(address, max_size=None)))
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.context = self.ask("browsingContext.create", type="tab")["context"]

    def ask(self, method, **params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self.socket.recv(PATIENCE))
            if said.get("method") == "log.entryAdded":
                self.heard(said["params"])
            elif said.get("id") == number:
                if said["type"] == "error":
                    raise RuntimeError(said["message"])
                return said["result"]

    def heard(self, entry):
        if entry["level"] == "error" and "_stcore" not in (entry.get("text") or ""):
            self.errors.append(entry["text"])

    def open(self, url):
        self.errors = []
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="interactive")

    def evaluate(self, expression):
        target = {"context": self.context}
        said = self.ask("script.evaluate", expression=expression, target=target, awaitPromise=False)
        return said["result"].get("value") if "result" in said else None

    def close(self):
        self.open_now.close()
        self.process.terminate()
        self.process.wait(20)


class WebKit:
    """WebKit by WebDriver, as GTK builds it."""

    def __init__(self, _):
        self.url, self.errors = f"http://127.0.0.1:{(port := free_port())}", []
        command = ["xvfb-run", "-a", "-s", "-screen 0 1440x900x24", "WebKitWebDriver", f"--port={port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: self.ask("GET", "/status"))
        said = self.ask("POST", "/session", {"capabilities": {}})
        self.session = f"/session/{said['sessionId']}"

    def ask(self, method, path, body=None):
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self.ask("POST", f"{self.session}/url", {"url": url})

    def evaluate(self, expression):
        return self.ask("POST", f"{self.session}/execute/sync", {"script": f"return {expression}", "args": []})

    def close(self):
        self.ask("DELETE", self.session)
        self.process.terminate()
        self.process.wait(20)


BROWSERS = {"firefox": (Firefox, "firefox-esr"), "webkit": (WebKit, "WebKitWebDriver")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", nargs="?", help="a server that runs already")
    parser.add_argument("--only", choices=BROWSERS, help="one of them")
    asked = parser.parse_args()
    found = False
    with ExitStack() as open_now:
        url = asked.url or open_now.enter_context(Server(OURS)).url
        for name in [asked.only] if asked.only else BROWSERS:
            found |= look_at_all(name, url.rstrip("/"))
    return int(found)


def look_at_all(name, url):
    """A line for each page; True where something is wrong."""
    kind, program = BROWSERS[name]
    if not shutil.which(program):
        print(f"{name}: NOT TRIED, no {program} here")
        return True
    wrong = False
    with browser_of(kind) as browser:
        for page in ["", *sorted(path.stem for path in (ROOT / "pages").rglob("*.py"))]:
            said = look(browser, f"{url}/{page}")
            wrong |= bool(said["wrong"])
            print(f"{name:8} /{page:12} {said['charts']} figures  {said['wrong'] or 'well'}", flush=True)
    return wrong


@contextmanager
def browser_of(kind):
    with tempfile.TemporaryDirectory() as place:
        browser = kind(place)
        try:
            yield browser
        finally:
            browser.close()


def look(browser, url):
    """What is there once the page stands still, and what is wrong with it."""
    browser.open(url)
    try:
        wait_for(lambda: browser.evaluate(f"({SETTLED})()"))
        found = wait_for(lambda: painted(browser), last=lambda: json.loads(browser.evaluate(FOUND)))
    except TimeoutError:
        return {"charts": 0, "wrong": "never stood still"}
    wrong = [*browser.errors, *found["errors"]]
    wrong += [f"{found['unpainted']} not painted"] if found["unpainted"] else []
    wrong += [f"{found['wide']} pixels too wide"] if found["wide"] > 1 else []
    return {"charts": found["charts"], "wrong": "; ".join(wrong)}


def painted(browser):
    """What was found, once all figures are painted."""
    found = json.loads(browser.evaluate(FOUND))
    return found if not found["unpainted"] else None


def wait_for(what, last=None):
    """Until it is something; then that, or what there is at last."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        try:
            if value := what():
                return value
        except (OSError, urllib.error.URLError):
            pass
        time.sleep(0.3)
    if last:
        return last()
    raise TimeoutError


if __name__ == "__main__":
    sys.exit(main())
