"""/healthz says whether the process can compute, and why not."""

import json

import numpy as np
import pytest
from replicas import ROOT, awaited, wait_for

from attention_core.one_head import attention
from attention_ui.process import turns as process
from attention_ui.server.health import Health, computes, training_thread_lives
from runs.scheduler import Scheduler


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def asked(health):
    answer = awaited(health.answer(None))
    return answer.status_code, json.loads(answer.body)


def test_a_small_attention_comes_out_right():
    assert computes() is None


def test_a_machine_that_computes_wrongly_is_found_out(monkeypatch):
    monkeypatch.setattr(attention, "softmax_rows", lambda masked: np.full_like(masked, 0.5))
    assert computes() == "attention over two keys gave 6, not 7"


def test_a_scheduler_whose_thread_ended_is_found_out(monkeypatch):
    scheduler = Scheduler()
    monkeypatch.setattr(process, "scheduler", lambda: scheduler)
    assert training_thread_lives() == "the training thread has ended"
    scheduler.start()
    assert training_thread_lives() is None
    scheduler.stop()
    assert training_thread_lives() == "the training thread has ended"


def test_not_ready_then_ready_then_failing():
    said = [None]
    clock = Clock()
    health = Health(lambda: said[0], clock=clock)
    assert asked(health) == (503, {"status": "failing", "reason": "the process is getting ready"})
    health.ready()
    assert asked(health) == (200, {"status": "ok"})
    said[0] = "the moon is in the way"
    clock.now += 1.0
    assert asked(health) == (503, {"status": "failing", "reason": "the moon is in the way"})


def test_a_fault_is_told_and_the_process_goes_on():
    """Where the classes' database is away, whoever looks on a lesson is to stay with this process."""
    problem, fault = [None], ["the library is closed"]
    clock = Clock()
    health = Health(lambda: problem[0], faults=(lambda: fault[0],), clock=clock)
    health.ready()
    assert asked(health) == (200, {"status": "degraded", "reason": "the library is closed"})
    clock.now += 1.0
    problem[0] = "the moon is in the way"
    assert asked(health) == (503, {"status": "failing", "reason": "the moon is in the way"})
    clock.now += 1.0
    problem[0] = fault[0] = None
    assert asked(health) == (200, {"status": "ok"})


def test_a_failed_start_stays_failed():
    health = Health(lambda: None)
    health.failed_to_start()
    assert asked(health)[0] == 503
    assert "could not get ready" in asked(health)[1]["reason"]


def test_however_often_it_is_asked_it_looks_once_a_second():
    looks = []
    clock = Clock()
    health = Health(lambda: looks.append(1), clock=clock)
    health.ready()
    for _ in range(50):
        asked(health)
    assert len(looks) == 1
    clock.now += 0.99
    asked(health)
    assert len(looks) == 1
    clock.now += 0.01
    asked(health)
    assert len(looks) == 2


def test_a_check_that_raises_says_the_kind_and_not_the_words(caplog):
    def check():
        raise RuntimeError("the learner wrote: hello")

    health = Health(check)
    health.ready()
    assert asked(health) == (503, {"status": "failing", "reason": "a check ended with RuntimeError"})


BROKEN = """
import sys
sys.path.insert(0, {root!r})
import attention_ui.warm_up


def warm_up():
    raise ValueError("a learner wrote this")


attention_ui.warm_up.warm_up = warm_up
from streamlit.starlette import App
import app as ours

app = App(
    {frame!r}, lifespan=ours.lifespan, routes=[ours.Route("/healthz", ours.health.answer)], middleware=ours.MIDDLEWARE
)
"""


@pytest.mark.slow
def test_a_failed_warming_up_is_known_at_once(replicas, tmp_path):
    script = tmp_path / "broken.py"
    script.write_text(BROKEN.format(root=str(ROOT), frame=str(ROOT / "attention_ui" / "frame.py")))
    replica = replicas(script=str(script)).start(healthy=False)
    wait_for(lambda: "the start failed" in replica.words(), replica.words)
    answer = replica.get("/healthz")
    assert (answer.status, json.loads(answer.body)["status"]) == (503, "failing")
    assert "could not get ready" in json.loads(answer.body)["reason"]
    [line] = [json.loads(line) for line in replica.words().splitlines() if line.startswith("{")]
    assert line["event"] == "the start failed"
    assert line["error"] == ["ValueError"]
    assert any(frame.startswith("app.py:") for frame in line["frames"])
    assert "a learner wrote this" not in replica.words()
    replica.stop()
    assert replica.process.returncode is not None
