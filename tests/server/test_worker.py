"""The process beside the server: it gives the same bits, and whatever happens to it, nothing is lost."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attention_core.base.errors import InputError
from attention_core.learning.tasks import TASKS
from attention_core.learning.training import recommended
from attention_ui.process import beside, for_pages
from lessons.example.example import learnt_example, model_settings
from lessons.example.task_models import ModelRecording
from models import opening
from models.opening import open_model
from models.shared import arrays_in
from runs.recording import Recording, record_together
from runs.run import TrainingRun
from runs.scheduler import Scheduler
from worker import process as process_module
from worker.process import Gone, Worker

ROOT = Path(__file__).parents[2]
MODELS = [  # all that a model can have, each at least once
    {"positions": "sinusoidal", "mlp": True, "layer_norm": True, "n_layers": 2},
    {"positions": "rotary", "heads": "sliced", "n_heads": 4, "residual": True},
    {"positions": "alibi", "sink": True, "scaling": False},
    {"positions": "qk", "d_k": 3, "d_v": 5, "optimiser": "sgd", "clip": 0.5},
    {"positions": "none", "causal": False, "residual": False},
]


@pytest.fixture
def worker(monkeypatch):
    """A worker of its own that runs, and ends with the test."""
    running = Worker()
    monkeypatch.setattr(beside, "WORKER", running)
    monkeypatch.setattr(for_pages, "WORKER", running)
    running.start()
    yield running
    running.stop()


def wait_for(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not come to be in time"
        time.sleep(0.01)


def assert_same_bits(one, other, until):
    assert one.newest == other.newest == until
    assert np.array_equal(one.losses(until), other.losses(until))
    assert one.snapshot_steps(until) == other.snapshot_steps(until)
    for step in one.snapshot_steps(until):
        assert np.array_equal(one.snapshot(step).weights, other.snapshot(step).weights)
    for mine, theirs in zip(one.evaluations(until), other.evaluations(until), strict=True):
        assert (mine.step, mine.loss, mine.accuracy, mine.learnt) == (
            theirs.step,
            theirs.loss,
            theirs.accuracy,
            theirs.learnt,
        )
        assert np.array_equal(mine.role_weights, theirs.role_weights)


@pytest.mark.parametrize("key", TASKS)
def test_every_task_is_trained_to_the_same_bits_beside_the_server(worker, key):
    here, there = (Recording(recommended(TASKS[key], seed=3, steps=47)) for _ in range(2))
    here.record(47)
    while there.newest < 47:
        record_together({there: 47}, lambda: True, beside.take_turn_beside)
    assert_same_bits(there, here, 47)
    assert there.ended and there.problem is None


@pytest.mark.parametrize("changes", MODELS)
def test_every_kind_of_model_is_trained_to_the_same_bits_and_without_torch(worker, changes):
    here, there = (
        [Recording(recommended(TASKS["pronoun"], seed, steps=41, **changes)) for seed in (2, 5)] for _ in "12"
    )
    record_together(dict.fromkeys(here, 41))
    there[1].record(7)  # they do not stand at the same step
    while not all(one.ended for one in there):
        record_together(dict.fromkeys(there, 41), lambda: True, beside.take_turn_beside)
    for one, other in zip(there, here, strict=True):
        assert_same_bits(one, other, 41)
    for package in ("torch", "streamlit", "lessons", "attention_ui"):
        assert not worker.compute(eval, f"{package!r} in __import__('sys').modules"), package


def test_a_lesson_s_model_is_the_same_wherever_it_is_trained_and_on_from_where_it_stood(worker):
    settings = model_settings(learnt_example("pronouns", d_model=5, d_k=2, d_v=3, n_heads=2, seed=4))
    here, there = ModelRecording(settings), ModelRecording(settings)
    for _ in here.train_to(settings.steps):
        pass
    for_pages.train_beside(there, 45)
    assert max(there.weights) == 40
    for _ in there.train_to(100):  # by whoever cannot wait
        pass
    for_pages.train_beside(there, settings.steps)
    assert there.ended and there.weights.keys() == here.weights.keys()
    assert all(np.array_equal(there.weights[step], here.weights[step]) for step in here.weights)


def test_many_who_wait_for_the_same_model_have_it_trained_once(worker, monkeypatch):
    asked, usual = [], worker.compute
    monkeypatch.setattr(worker, "compute", lambda *request: asked.append(1) or usual(*request))
    settings = model_settings(learnt_example("pronouns", d_model=5, d_k=2, d_v=3, n_heads=2, seed=6))
    recording = ModelRecording(settings)
    threads = [threading.Thread(target=for_pages.train_beside, args=(recording, settings.steps)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recording.ended and len(asked) < 10 + settings.steps / for_pages.MOST_AT_ONCE


def test_a_loss_that_is_no_number_ends_a_run_there_as_here(worker):
    settings = replace(recommended(TASKS["copy"], steps=90), learning_rate=1e6)
    here, there = Recording(settings), Recording(settings)
    here.record(90)
    while not there.ended:
        record_together({there: 90}, lambda: True, beside.take_turn_beside)
    assert str(there.problem) == str(here.problem) and "no longer a number" in str(there.problem)
    assert np.array_equal(there.snapshot(90).weights, here.snapshot(90).weights)


def test_a_worker_that_is_killed_is_started_again_and_the_run_goes_on(worker, caplog):
    scheduler = Scheduler(beside=beside.turns_beside)
    run = scheduler.open(recommended(TASKS["induction"], steps=400))
    scheduler.start()
    try:
        run.train()
        killed = set()
        for at in (1, 100, 200):
            wait_for(lambda at=at: run.recording.newest >= at, 60)
            killed.add(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)
        wait_for(lambda: run.finished, 60)
    finally:
        scheduler.stop()
    assert run.look().problem is None and worker.pid not in killed and len(killed) == 3
    here = Recording(run.recording.settings)
    here.record(400)
    assert np.array_equal(run.recording.losses(400), here.losses(400))
    assert "started again" in caplog.text


def test_what_ends_it_twice_is_not_computed_by_the_server(worker):
    with pytest.raises(Gone, match="ended twice"):
        worker.compute(os._exit, 1)
    assert worker.compute(abs, -7) == 7


def test_a_pass_of_the_real_model_is_the_same_beside_the_server(worker, smollm2, monkeypatch):
    model = open_model(smollm2.files)
    ids = model.tokenizer.encode("The dog ran to the park because it").ids
    here, without = model.read(ids), model.read(ids, {(13, 8)})
    asked, usual = [], worker.compute
    monkeypatch.setattr(worker, "compute", lambda *request: asked.append(1) or usual(*request))
    monkeypatch.setattr(opening, "pass_beside", for_pages.passes_beside)
    model = open_model(smollm2.files)
    with for_pages.page_lock().page():
        model.read(ids[:3])
        assert asked == [], "whoever has a turn would hold up all others"
        for_pages.read_beside(model, ids)
        assert asked == [1] and model.has_read(ids)
        there = model.read(ids)
        for_pages.read_beside(model, ids)
        assert asked == [1], "once"
    assert_same_arrays(there, here)
    assert_same_arrays(model.read(ids, {(13, 8)}), without)
    assert asked == [1, 1]
    assert not worker.compute(eval, "'torch' in __import__('sys').modules")


def test_what_follows_a_text_is_the_same_beside_the_server(worker, smollm2, monkeypatch):
    model = open_model(smollm2.files)
    ids = tuple(
        model.tokenizer.encode("The dog ran to the park because it was a very warm day, and then it came back").ids
    )
    monkeypatch.setattr(opening, "pass_beside", lambda: None)
    here = [model.newest_token(ids[:length]) for length in (12, 13, 14)]
    monkeypatch.setattr(opening, "pass_beside", for_pages.passes_beside)
    model = open_model(smollm2.files)
    there = [model.newest_token(ids[:length]) for length in (12, 13, 14)]
    for mine, theirs in zip(here, there, strict=True):
        assert_same_arrays((mine.logits, mine.weights), (theirs.logits, theirs.weights), 31)
        assert mine.present and not theirs.present, "they stay where they were computed"
    with for_pages.page_lock().page():
        last = model.newest_token(ids[:15])
    assert last.present and len(last.weights[0][0]) == 15, "what is kept elsewhere is read anew"
    assert not worker.compute(eval, "'torch' in __import__('sys').modules")


def test_a_model_whose_file_is_gone_is_read_by_who_has_it_open(worker, smollm2, monkeypatch, tmp_path):
    monkeypatch.setattr(opening, "pass_beside", for_pages.passes_beside)
    gone = replace(open_model(smollm2.files), mapped=tmp_path / "gone.safetensors")
    assert_same_arrays(gone.read((5, 6, 7)), smollm2.read((5, 6, 7)))
    assert gone.newest_token((5, 6, 7)).present


def assert_same_arrays(one, other, least=300):
    pairs = list(zip(arrays_in(one), arrays_in(other), strict=True))
    assert len(pairs) >= least and all(np.array_equal(mine, theirs) for mine, theirs in pairs)


def test_errors_come_back_as_they_are_and_what_is_printed_is_no_answer(worker):
    with pytest.raises(ZeroDivisionError):
        worker.compute(divmod, 1, 0)
    with pytest.raises(InputError, match="a learning rate"):
        worker.compute(refuse)
    with pytest.raises(RuntimeError, match="cannot be sent"):
        worker.compute(fail_oddly)
    assert worker.compute(print, "printed") is None
    assert worker.compute(os.write, 1, b"written") == 7
    with pytest.raises(Exception, match="pickle"):
        worker.compute(lambda: 1)
    assert worker.compute(abs, -7) == 7


def refuse():
    raise InputError("a learning rate is a number above 0, but got {rate}", rate=-1)


def fail_oddly():
    class OddError(Exception):
        pass

    raise OddError("cannot be sent")


def test_many_threads_have_their_own_answers(worker):
    found = {}
    ask = lambda n: found.__setitem__(n, worker.compute(np.full, 1000 * n, n).sum())  # noqa: E731
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(1, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: 1000 * n * n for n in range(1, 40)}


def test_it_ends_with_its_server_however_that_ends():
    code = "from worker.process import WORKER; WORKER.start(); print(WORKER.pid, flush=True); input()"
    server = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    pid = int(server.stdout.readline())
    os.kill(pid, 0)  # it is there
    server.kill()
    server.wait()
    wait_for(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2])


def test_where_none_can_be_started_who_asks_computes(monkeypatch, caplog):
    monkeypatch.setattr(process_module.sys, "executable", "/no/such/python")
    worker = Worker()
    with caplog.at_level(logging.ERROR):
        worker.start()
    assert not worker.runs and worker.compute(os.getpid) == os.getpid()
    assert "cannot be started" in caplog.text and len(caplog.records) == 1


def test_on_a_small_host_there_is_none(monkeypatch):
    worker = Worker()
    monkeypatch.setattr(beside, "WORKER", worker)
    monkeypatch.setattr(for_pages, "WORKER", worker)
    monkeypatch.setattr(opening, "pass_beside", opening.pass_beside)
    monkeypatch.setenv("ATTENTION_LAB_SMALL", "1")
    for_pages.start_worker()
    assert not worker.runs and beside.turns_beside() is None
    monkeypatch.delenv("ATTENTION_LAB_SMALL")
    for_pages.start_worker()
    assert worker.runs and beside.turns_beside() is beside.take_turn_beside
    worker.stop()
    assert not worker.runs


def test_what_needs_pytorch_is_trained_by_the_server(worker, monkeypatch):
    asked = []
    monkeypatch.setattr(worker, "compute", lambda *request: asked.append(request))
    scheduler = Scheduler(beside=beside.turns_beside)
    run: TrainingRun = scheduler.open(recommended(TASKS["copy"], steps=12, engine="autograd"))
    scheduler.start()
    try:
        run.train()
        wait_for(lambda: run.finished)
    finally:
        scheduler.stop()
    assert asked == [] and run.look().problem is None
