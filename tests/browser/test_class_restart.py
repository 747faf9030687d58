"""A server is killed in the middle of a class's plan: every page of the class goes on by itself where the class is."""

import re
import socket
import threading

import pytest

from classes.keeper import WRITTEN, Keeper
from lessons.teachers.class_plan.own_question import OwnQuestion, written_own
from lessons.teachers.class_plan.ready_made import ready_plan
from tests.browser.test_class_plan import ONE_ANSWERED, press, student_of, teaching
from tests.server.replicas import Replica

PLAN = ready_plan(45)
STEPS = len(PLAN.steps)
ASKS = next(place for place, step in enumerate(PLAN.steps, start=1) if step.action == "ask")
PINGS = 7  # Streamlit shows its dialog at the sixth

# What a reader sees while the server is gone, written down at every frame: Streamlit's dialog, and what we say. And how
# often the page was drawn since.
WATCH = """
window.seen = {theirs: '', ours: '', drawn: 0}
const app = document.querySelector('[data-testid=stApp]')
new MutationObserver(() => { seen.drawn += app.dataset.testScriptState === 'notRunning' })
    .observe(app, {attributeFilter: ['data-test-script-state']})
const look = () => {
    const dialog = document.querySelector('[role=dialog]'), bar = document.getElementById('connection')
    if (dialog?.checkVisibility({visibilityProperty: true})) seen.theirs ||= dialog.innerText
    if (bar?.checkVisibility()) seen.ours ||= bar.innerText
    requestAnimationFrame(look)
}
requestAnimationFrame(look)
"""


class Forwarder:
    """One address in front of several servers: each connection goes to the one that is its `target` just then."""

    def __init__(self, target):
        self.target = target
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://localhost:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target.port))
            except OSError:
                client.close()
                continue
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                end.close()

    def close(self):
        self._socket.close()


@pytest.fixture
def server(tmp_path):
    """Makes servers that share one folder of classes."""
    made = []

    def make():
        log = tmp_path / f"log-{len(made)}.txt"
        made.append(Replica(log, ATTENTION_LAB_CLASSES=str(tmp_path / "classes")).start())
        return made[-1]

    yield make
    for one in made:
        one.stop()
        assert "Traceback" not in one.words(), one.words()


class Class:
    """A teacher at the projector, the teacher's notes in another tab, and a phone."""

    def __init__(self, visit, url):
        self.teacher = teaching(visit, 45, url=url)
        self.notes = visit(reduced_motion="reduce", viewport={"width": 390, "height": 844}, url=url)
        self.notes.page.goto(f"{self.teacher.page.url}&notes=true")
        self.notes.page.get_by_role("heading", name="Coming next").wait_for()
        self.phone = student_of(visit, self.teacher)
        self.tabs = (self.teacher, self.notes, self.phone)
        for tab in self.tabs:
            tab.settled().page.evaluate(WATCH)

    def at_step(self, place):
        """The teacher presses a key, and the others come along."""
        press(self.teacher, "ArrowRight", place, STEPS)
        self.stand_at(place)

    def stand_at(self, place):
        """All show this step, and the teacher's tabs can go on from it."""
        for tab in (self.teacher, self.notes):
            tab.page.get_by_text(f"{place}/{STEPS}", exact=True).wait_for()
            tab.page.locator(".st-key-plan_next button:enabled").wait_for()
        stop = PLAN.stops[PLAN.steps[place - 1].stop]
        if PLAN.steps[place - 1].action == "show":
            for tab in (self.teacher, self.phone):
                tab.page.wait_for_url(re.compile(f"/{'' if stop.page == 'home' else stop.page}[?]"))
        for tab in self.tabs:
            tab.settled()

    def loses(self, server):
        """The server is killed, and all try often to reach it again."""
        tried = dict.fromkeys(self.tabs, 0)

        def counted(tab):
            def count(request):
                tried[tab] += "/_stcore/health" in request.url

            return count

        counts = {tab: counted(tab) for tab in self.tabs}
        for tab, count in counts.items():
            tab.page.on("requestfailed", count)
        server.kill()
        for tab in self.tabs:
            tab.page.evaluate("window.seen = {theirs: '', ours: '', drawn: 0}")
        while min(tried.values()) < PINGS:
            self.teacher.page.wait_for_event("requestfailed")
        for tab, count in counts.items():
            tab.page.remove_listener("requestfailed", count)

    def is_back(self, place):
        """All stand again where they stood, without a page being loaded anew, and were told why they waited."""
        for tab in self.tabs:
            tab.page.wait_for_function("() => seen.drawn")
        self.stand_at(place)
        for tab in self.tabs:
            seen = tab.page.evaluate("seen")  # which a page that was loaded anew would not have
            assert not seen["theirs"] and seen["ours"].startswith("The connection has been lost.")
            tab.page.wait_for_function("() => !document.getElementById('connection').textContent")
            tab.errors.clear()  # of the browser, which could not connect


def restarted(forwarder, servers):
    """The server that was killed is started again."""
    forwarder.target.start()


def replaced(forwarder, servers):
    """The other one of two, which is started where it was killed before."""
    [forwarder.target] = (one for one in servers if one is not forwarder.target)
    if forwarder.target.process.poll() is not None:
        forwarder.target.start()


@pytest.mark.parametrize("recovers", [restarted, replaced])
def test_a_class_goes_on_by_itself_after_its_server_was_killed(server, visit, recovers):
    servers = [server() for _ in range(2 if recovers is replaced else 1)]
    forwarder = Forwarder(servers[0])
    here = Class(visit, forwarder.url)
    for place in range(1, ASKS):
        here.at_step(place)
    here.loses(forwarder.target)
    recovers(forwarder, servers)
    here.is_back(ASKS - 1)

    here.at_step(ASKS)
    here.phone.page.locator(".st-key-class_vote_B button").click()
    here.teacher.page.get_by_text(ONE_ANSWERED).wait_for()
    here.loses(forwarder.target)
    recovers(forwarder, servers)
    here.is_back(ASKS)
    here.phone.page.locator(".st-key-class_vote_B").get_by_text("your answer").wait_for()
    here.phone.page.locator(".st-key-class_vote_A button").click()
    here.phone.page.locator(".st-key-class_vote_A").get_by_text("your answer").wait_for()
    here.teacher.page.get_by_text(ONE_ANSWERED).wait_for()
    here.teacher.page.keyboard.press("ArrowRight")
    here.phone.page.get_by_text("The vote is closed").or_(here.phone.page.get_by_text("This is the answer")).wait_for()


def test_what_was_typed_is_still_there_and_can_be_sent(server, visit, tmp_path):
    one = server()
    keeper = Keeper(tmp_path / "classes")
    code, key = keeper.open_class()
    asked = OwnQuestion(kind="number", prompt="How many heads?", number=12)
    keeper.ask(code, key, 0, WRITTEN, written_own(asked))
    tab = visit(url=one.url)
    tab.page.goto(f"{one.url}/class_vote?class={code}")
    field = tab.page.locator(".st-key-class_written input")
    field.fill("12")
    tab.settled()
    one.kill()
    said = tab.page.get_by_text("The connection has been lost")
    said.wait_for()
    one.start()
    said.wait_for(state="hidden")
    assert field.input_value() == "12"
    tab.page.locator(".st-key-class_send button").click()
    tab.page.get_by_text("12 ✓ your answer").wait_for()
    assert keeper.written(code, 1) == [(1, "12", 1)]
    tab.errors.clear()
