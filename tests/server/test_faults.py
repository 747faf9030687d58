"""What breaks in a classroom or a machine room, tried: a process killed, a socket dropped, a disk full, a clock set."""

import ast
import logging
import re
import shutil
import subprocess

import pytest
from replicas import ROOT, Answer, wait_for

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from runs.scheduler import Scheduler
from tests.chromium import SETTLED
from tests.figures import PICTURE

FIGURE = f".st-key-pipeline {PICTURE}"
QUESTION = ".st-key-softmax_quiz h2"
LINK = "?d_k=5&causal=false&seed=3&picture=steps"
CATCH_SOCKETS = """
window.sockets = [];
const Real = window.WebSocket;
window.WebSocket = class extends Real { constructor(...a) { super(...a); window.sockets.push(this) } };
"""


def opened(page, url, figure=FIGURE):
    page.add_init_script(CATCH_SOCKETS)
    page.goto(url)
    return shown(page, figure)


def shown(page, figure=FIGURE):
    """The text of the figure, once everything is there."""
    page.wait_for_selector(figure)
    page.wait_for_function(SETTLED)
    return page.locator(figure).text_content()


def comes_to_show(page, text, part=FIGURE):
    """True once this part has this text; what the server sent last may still be on its way to the screen."""
    same = "([part, text]) => document.querySelector(part)?.textContent === text"
    page.wait_for_function(same, arg=[part, text])
    return True


def sessions(replica):
    """How many visitors a replica has; it tells that to its own machine only."""
    [count] = re.findall(rb"active_sessions(?:\{[^}]*\})? (\d+)", replica.get("/_stcore/metrics").body)
    return int(count)


def visitor_of(replica, proxy, tab):
    """A tab whose cookie sends it to this replica, with what it shows."""
    for _ in range(6):
        before = sessions(replica)
        page = tab()
        figure = opened(page, f"{proxy}/{LINK}")
        if sessions(replica) > before:
            return page, figure
    raise AssertionError("the proxy never chose this replica")


@pytest.mark.slow
def test_one_replica_dies_and_the_other_ones_visitor_notices_nothing(replicas, haproxy, tab):
    doomed, survivor = replicas().start(), replicas().start()
    haproxy = haproxy(doomed, survivor)
    proxy = haproxy.url
    wait_for(lambda: Answer(f"{proxy}/healthz").status == 200, haproxy.words)
    assert Answer(f"{proxy}/_stcore/metrics").status == 404
    unlucky, lost = visitor_of(doomed, proxy, tab)
    lucky, kept = visitor_of(survivor, proxy, tab)
    assert lost == kept, "one link, one screen"
    cookies = [{c["name"]: c["value"] for c in page.context.cookies()}["replica"] for page in (unlucky, lucky)]
    assert cookies[0] != cookies[1]

    doomed.kill()
    lucky.locator(".st-key-d_k input[type=range]").press("ArrowLeft")
    lucky.wait_for_function(
        "([figure, old]) => document.querySelector(figure)?.textContent !== old", arg=[FIGURE, kept]
    )
    assert "d_k=4" in lucky.url
    assert lucky.evaluate("window.sockets.length") == 1, "its connection was never lost"

    answer = unlucky.goto(f"{proxy}/{LINK}")
    assert answer.status == 200, haproxy.words() + survivor.words()
    assert comes_to_show(unlucky, lost)
    assert sessions(survivor) >= 2


@pytest.mark.slow
def test_a_dropped_socket_keeps_what_only_the_server_knew_and_a_restart_keeps_the_link(replicas, tab):
    server = replicas().start()
    page = tab()
    figure = opened(page, f"{server.url}/softmax?d_k=5&seed=3", f".st-key-softmax_figure {PICTURE}")
    first = page.locator(QUESTION).first.text_content()
    page.get_by_role("button", name="Another question").click()
    page.wait_for_function("([part, old]) => document.querySelector(part).textContent !== old", arg=[QUESTION, first])
    second = page.locator(QUESTION).first.text_content()
    open_sockets = "() => window.sockets.filter(s => s.readyState === 1).length"
    page.evaluate("window.sockets.forEach(socket => socket.close())")
    page.wait_for_function(f"() => window.sockets.length > 1 && ({open_sockets})() === 1")
    page.locator(".st-key-d_k input[type=range]").press("ArrowLeft")
    page.wait_for_function("() => location.search.includes('d_k=4')")
    page.locator(".st-key-d_k input[type=range]").press("ArrowRight")
    page.wait_for_function("() => location.search.includes('d_k=5')")
    assert comes_to_show(page, figure, f".st-key-softmax_figure {PICTURE}")
    assert sessions(server) == 1
    assert comes_to_show(page, second, QUESTION), "the second question, which no link holds"

    link = page.url
    server.kill()
    server.start()
    page.goto(link)
    assert comes_to_show(page, figure, f".st-key-softmax_figure {PICTURE}")


@pytest.mark.slow
def test_it_starts_and_paints_where_nothing_can_be_written(replicas, tab, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    device = mounted_full(full)
    try:
        server = replicas(TMPDIR=str(full), HOME=str(full), XDG_CACHE_HOME=str(full)).start()
        assert opened(tab(), f"{server.url}/{LINK}")
        assert [file for file in full.rglob("*") if file.name != "ballast"] == []
        assert "{" not in server.words(), server.words()
        server.stop()
    finally:
        if device:
            subprocess.run(["umount", full], check=False)
            full.chmod(0o700)


def mounted_full(folder):
    """A disk of 64 kB with nothing left on it where one may mount, else a folder one may not write to."""
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False
    )
    if not made or made.returncode:
        folder.chmod(0o500)
        return False
    with pytest.raises(OSError), (folder / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return True


def test_a_trainer_that_raises_ends_its_own_run_and_nobody_elses(monkeypatch, caplog):
    from attention_core.learning.tasks.text import notebook_model
    from runs import turn

    class Failing(turn.TrainingStack):
        def step(self):
            if any(state.settings.steps == 3 and state.step == 2 for state in self.states):
                raise ValueError("no memory left")
            return super().step()

    monkeypatch.setattr(turn, "TrainingStack", Failing)
    task = CharacterTask("hello world")
    model = notebook_model(len(task.vocabulary))
    scheduler = Scheduler()
    with caplog.at_level(logging.CRITICAL):
        bad = scheduler.open(TrainingSettings(task=task, model=model, steps=3))
        good = scheduler.open(TrainingSettings(task=task, model=model, steps=5))
        scheduler.start()
        try:
            bad.train()
            good.train()
            wait_for(lambda: bad.recording.ended and good.recording.ended, seconds=10)
        finally:
            scheduler.stop()
    assert "no memory left" in str(bad.recording.problem)
    assert (good.recording.newest, good.recording.problem) == (5, None)


WALL_CLOCKS = {
    "time.time",
    "time.time_ns",
    "time.localtime",
    "datetime.now",
    "datetime.datetime.now",
    "datetime.utcnow",
}


WRITTEN_DOWN = "attention_ui/classroom/homework/homework.py"  # when something was solved, for a teacher to read


def test_nothing_depends_on_a_clock_that_somebody_can_set():
    looked = 0
    for place in ("attention_core", "attention_ui", "pages"):
        for file in (ROOT / place).rglob("*.py"):
            if file == ROOT / WRITTEN_DOWN:
                continue
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Attribute):
                    looked += 1
                    assert ast.unparse(node) not in WALL_CLOCKS, f"{file}:{node.lineno}"
                elif isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime"):
                    assert not {alias.name for alias in node.names} & {"time", "time_ns", "localtime", "datetime"}, file
    assert looked > 1000
