"""One thread trains for all: what is shared, what goes on, in turns, and never in the way of a page."""

import gc
import threading

import pytest
import torch
from waiting import Clock, wait_until

from attention_core.model import ModelConfig
from attention_core.tasks import CharacterTask
from attention_core.training import TrainingSettings, TrainingStep, train
from runs import recording as recording_module
from runs.page_lock import PageLock
from runs.scheduler import Scheduler

TASK = CharacterTask("abcabcabcacb", 3)
MODEL = ModelConfig(vocabulary=3, context=3, d_model=4)


def settings(seed=0, steps=20):
    return TrainingSettings(task=TASK, model=MODEL, seed=seed, steps=steps)


@pytest.fixture
def pages():
    return PageLock()


@pytest.fixture
def scheduler(pages):
    """A scheduler whose thread runs, and ends with the test."""
    running = Scheduler(pages)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def clock():
    return Clock()


def record_once(scheduler):
    """What the thread does in one round, without the thread."""
    for recording, until in scheduler.wanted().items():
        recording.record(until)


# Sharing


def test_those_who_ask_for_the_same_share_a_recording():
    scheduler = Scheduler()
    one, other = scheduler.open(settings()), scheduler.open(settings())
    assert one is not other
    assert one.recording is other.recording


def test_those_who_ask_for_something_else_do_not():
    scheduler = Scheduler()
    runs = [scheduler.open(settings(seed=0)), scheduler.open(settings(seed=1)), scheduler.open(settings(steps=21))]
    assert len({run.recording for run in runs}) == 3


def test_those_who_ask_at_the_same_moment_share_a_recording():
    scheduler, together, runs = Scheduler(), threading.Barrier(7, timeout=30), []

    def ask():
        together.wait()
        runs.append(scheduler.open(settings()))

    threads = [threading.Thread(target=ask) for _ in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 7 and len({run.recording for run in runs}) == 1


def test_a_new_run_stands_at_step_zero_of_a_recording_that_others_have_trained():
    scheduler = Scheduler()
    first = scheduler.open(settings())
    first.train()
    record_once(scheduler)
    second = scheduler.open(settings())
    assert first.position == 20
    assert second.position == 0 and not second.training and not second.finished


# What is kept


def test_at_most_so_many_recordings_are_kept_and_the_longest_unused_goes_first():
    scheduler = Scheduler(max_recordings=3)
    recordings = [scheduler.open(settings(seed=seed)).recording for seed in range(3)]
    gc.collect()
    scheduler.open(settings(seed=0))  # used again, so that seed 1 is the longest unused
    gc.collect()
    scheduler.open(settings(seed=3))
    gc.collect()
    assert scheduler.open(settings(seed=0)).recording is recordings[0]
    assert scheduler.open(settings(seed=2)).recording is recordings[2]
    assert scheduler.open(settings(seed=1)).recording is not recordings[1]


def test_a_recording_on_which_somebody_has_a_run_is_kept_while_others_go():
    scheduler = Scheduler(max_recordings=2)
    used = [scheduler.open(settings(seed=seed)) for seed in range(4)]
    for seed in range(4, 9):
        scheduler.open(settings(seed=seed))
    gc.collect()
    assert all(scheduler.open(run.recording.settings).recording is run.recording for run in used)


def test_what_a_class_has_left_behind_goes_though_nobody_comes(monkeypatch):
    monkeypatch.setattr(Scheduler, "IDLE_SECONDS", 0.01)
    scheduler = Scheduler(max_recordings=3)
    runs = [scheduler.open(settings(seed=seed)) for seed in range(7)]
    recordings = torch.utils.weak.WeakIdKeyDictionary({run.recording: None for run in runs})
    scheduler.start()
    try:
        runs.clear()
        assert wait_until(lambda: gc.collect() is not None and len(recordings) <= 3)
    finally:
        scheduler.stop()


# What goes on


def test_only_what_somebody_trains_goes_on():
    scheduler = Scheduler()
    trained, still = scheduler.open(settings(seed=0)), scheduler.open(settings(seed=1))
    assert scheduler.wanted() == {}
    trained.train()
    assert scheduler.wanted() == {trained.recording: 20}
    trained.stop()
    assert scheduler.wanted() == {}
    assert still.recording.newest == 0


def test_a_shared_recording_goes_on_as_long_as_one_of_its_learners_wants_more():
    scheduler = Scheduler()
    one, other = scheduler.open(settings(steps=500)), scheduler.open(settings(steps=500))
    one.train()
    other.step_once()
    assert scheduler.wanted() == {one.recording: 500}
    other.train()
    one.stop()
    assert scheduler.wanted() == {one.recording: 500}
    other.stop()
    assert scheduler.wanted() == {}


def test_a_recording_that_ended_does_not_go_on(clock):
    scheduler = Scheduler(clock=clock)
    run = scheduler.open(settings())
    run.train()
    record_once(scheduler)
    assert run.recording.newest == 20 and scheduler.wanted() == {}
    run.train()
    assert scheduler.wanted() == {}


def test_a_run_that_nobody_watches_is_parked_and_goes_on_when_somebody_looks(clock):
    scheduler = Scheduler(clock=clock, patience_seconds=60.0)
    run = scheduler.open(settings())
    run.train()
    clock.now += 59
    assert scheduler.wanted() == {run.recording: 20}
    clock.now += 2
    assert scheduler.wanted() == {}
    view = run.look()
    assert view.position == 0 and view.training
    assert scheduler.wanted() == {run.recording: 20}


def test_a_run_is_parked_by_its_own_visitor_alone(clock):
    scheduler = Scheduler(clock=clock, patience_seconds=60.0)
    away, here = scheduler.open(settings(seed=1)), scheduler.open(settings(seed=2))
    away.train()
    here.train()
    clock.now += 61
    here.look()
    assert scheduler.wanted() == {here.recording: 20}
    record_once(scheduler)
    assert (away.position, here.position) == (0, 20)


def test_a_run_that_is_gone_does_not_go_on():
    scheduler = Scheduler()
    run = scheduler.open(settings())
    run.train()
    del run
    gc.collect()
    assert scheduler.wanted() == {}


# The thread


def test_a_scheduler_lives_from_its_start_to_its_end():
    scheduler = Scheduler()
    assert not scheduler.alive
    scheduler.stop()
    scheduler.start()
    scheduler.start()
    assert scheduler.alive
    scheduler.stop()
    assert not scheduler.alive
    scheduler.stop()


def test_a_thread_that_ended_by_itself_is_not_alive(monkeypatch):
    monkeypatch.setattr(Scheduler, "_work", lambda self: None)
    scheduler = Scheduler()
    scheduler.start()
    assert wait_until(lambda: not scheduler.alive)


def test_after_a_stop_a_start_goes_on(scheduler):
    run = scheduler.open(settings(steps=5000))
    run.train()
    assert wait_until(lambda: run.recording.newest > 5)
    scheduler.stop()
    stopped = run.recording.newest
    assert 5 < stopped < 5000 and not scheduler.alive
    scheduler.start()
    assert wait_until(lambda: run.recording.newest > stopped)


def test_runs_side_by_side_give_the_losses_of_runs_alone(scheduler):
    runs = [scheduler.open(settings(seed=seed, steps=60)) for seed in range(3)]
    for run in runs:
        run.train()
    assert wait_until(lambda: all(run.finished for run in runs))
    for seed, run in enumerate(runs):
        assert run.look().losses.tolist() == [step.loss for step in train(settings(seed=seed, steps=60))]


def test_turns_are_short_and_everybody_has_one(monkeypatch, clock):
    order = []

    def pretend(chosen):
        for step in range(chosen.steps + 1):
            clock.now += 0.001
            order.append(chosen.seed)
            yield TrainingStep(step, 1.0, torch.zeros(5))

    monkeypatch.setattr(recording_module, "train", pretend)
    scheduler = Scheduler(clock=clock, turn_seconds=0.010)
    runs = [scheduler.open(settings(seed=seed, steps=200)) for seed in range(3)]
    order.clear()
    for run in runs:
        run.train()
    scheduler.start()
    assert wait_until(lambda: all(run.recording.ended for run in runs))
    scheduler.stop()
    turns = [[order[0], 0]]
    for seed in order:
        if turns[-1][0] != seed:
            turns.append([seed, 0])
        turns[-1][1] += 1
    assert sorted(order) == [0] * 200 + [1] * 200 + [2] * 200
    assert all(9 <= steps <= 21 for _, steps in turns[:-3]), "the last of a round may be the first of the next"
    assert {seed for seed, _ in turns[:4]} == {0, 1, 2}


def test_a_late_comer_does_not_wait_for_those_who_came_first(scheduler):
    early = scheduler.open(settings(seed=1, steps=5000))
    early.train()
    assert wait_until(lambda: early.recording.newest > 10)
    late = scheduler.open(settings(seed=2))
    late.train()
    assert wait_until(lambda: late.finished)
    assert not early.recording.ended


@pytest.mark.parametrize("error", [RuntimeError, ValueError, FloatingPointError, IndexError, MemoryError])
def test_a_run_that_fails_does_not_stop_the_others(scheduler, monkeypatch, error):
    def fail_sometimes(chosen):
        for step in train(chosen):
            if chosen.seed == 13 and step.step == 3:
                raise error("something broke")
            yield step

    monkeypatch.setattr(recording_module, "train", fail_sometimes)
    failing, good = scheduler.open(settings(seed=13)), scheduler.open(settings(seed=2))
    failing.train()
    assert wait_until(lambda: failing.recording.ended or not scheduler.alive)
    good.train()
    assert wait_until(lambda: good.finished or not scheduler.alive)
    assert scheduler.alive and good.finished and good.look().problem is None
    view = failing.look()
    assert view.finished and view.position == 2
    assert "something broke" in view.problem


# Pages


def test_training_waits_while_a_page_is_computed(scheduler, pages, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    run = scheduler.open(settings())
    with pages.page():
        run.train()
        assert not wait_until(lambda: run.recording.newest > 0, seconds=0.1)
    assert wait_until(lambda: run.finished)


def test_training_waits_until_a_page_is_sent(scheduler, pages, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    monkeypatch.setattr(Scheduler, "SENDING_SECONDS", 2.0)
    run = scheduler.open(settings())
    with pages.page():
        run.train()
        assert not wait_until(lambda: run.recording.newest > 0, seconds=0.1)
    assert not wait_until(lambda: run.recording.newest > 0, seconds=0.1)
    assert wait_until(lambda: run.finished)


def test_a_page_that_comes_ends_the_turn_after_the_step_it_is_at(scheduler, pages, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    scheduler.turn_seconds = 60.0
    run = scheduler.open(settings(steps=5000))
    run.train()
    assert wait_until(lambda: run.recording.newest > 0)

    def stands():
        here = run.recording.newest
        return not wait_until(lambda: run.recording.newest > here, seconds=0.1)

    with pages.page():
        assert wait_until(stands)
        assert not run.recording.ended, "it stands because of the page"
        here = run.recording.newest
    assert wait_until(lambda: run.recording.newest > here)


def test_training_that_waited_long_enough_gets_its_whole_turn_beside_pages(monkeypatch, clock):
    def pretend(chosen):
        for step in range(chosen.steps + 1):
            clock.now += 0.1
            yield TrainingStep(step, 1.0, torch.zeros(5))

    monkeypatch.setattr(recording_module, "train", pretend)
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 0.3)
    pages = PageLock()
    scheduler = Scheduler(pages, turn_seconds=50.0, clock=clock, patience_seconds=1e9)
    run = scheduler.open(settings(steps=4000))
    with pages.page():
        run.train()
        scheduler.start()
        assert wait_until(lambda: run.recording.newest > 0)
        scheduler.stop()
    assert 490 <= run.recording.newest <= 510


def test_pages_cannot_starve_the_training(scheduler, pages):
    run = scheduler.open(settings(steps=5000))
    with pages.page():
        run.train()
        assert wait_until(lambda: run.recording.newest > 10)


def test_a_page_that_fails_lets_the_training_go_on(scheduler, pages, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    with pytest.raises(KeyError), pages.page():
        raise KeyError
    run = scheduler.open(settings())
    run.train()
    assert wait_until(lambda: run.finished)
