"""One thread trains for all: what is shared, what goes on, in turns, and never in the way of a page."""

import gc
import threading
import weakref

import pytest
from waiting import Clock, wait_until

from attention_core.learning.steps import TrainingStack, TrainingStep
from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.training import TrainingSettings, recommended, train
from attention_core.model.small_model import ModelConfig
from runs import turn as turn_module
from runs.page_lock import PageLock
from runs.recording import Recording, record_together
from runs.scheduler import NUMBERS_TOGETHER, Scheduler, of_one_shape

TASK = CharacterTask("abcabcabcacb", 3)
MODEL = ModelConfig(vocabulary=3, context=3, d_model=4)


def settings(seed=0, steps=20, **choices):
    return TrainingSettings(task=TASK, model=MODEL, seed=seed, steps=steps, **choices)


def pretended(monkeypatch, at_step):
    """A training without arithmetic; `at_step` hears of each step of each run."""

    class Pretended(TrainingStack):
        def step(self):
            steps = []
            for state in self.states:
                at_step(state)
                steps.append(TrainingStep(state.step, 1.0, state.weights))
                state.step += 1
            return steps

    monkeypatch.setattr(turn_module, "TrainingStack", Pretended)


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
    for group in of_one_shape(scheduler.wanted()):
        record_together(group)


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
    recordings = weakref.WeakSet(run.recording for run in runs)
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

    def at_step(state):
        clock.now += 0.001
        order.append(state.draws.settings.seed)

    pretended(monkeypatch, at_step)
    scheduler = Scheduler(clock=clock, turn_seconds=0.010)
    runs = [scheduler.open(settings(seed=seed, steps=200, batch_size=1 + seed)) for seed in range(3)]  # of three shapes
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


def test_recordings_of_one_shape_have_their_turns_together(monkeypatch, clock):
    order = []
    pretended(monkeypatch, lambda state: order.append(state.draws.settings.seed))
    scheduler = Scheduler(clock=clock)
    runs = [scheduler.open(settings(seed=seed, steps=50, learning_rate=0.1 + seed)) for seed in range(3)]
    order.clear()
    for run in runs:
        run.train()
    scheduler.start()
    assert wait_until(lambda: all(run.recording.ended for run in runs))
    scheduler.stop()
    assert [set(order[i : i + 3]) for i in range(0, 150, 3)] == [{0, 1, 2}] * 50


def test_what_is_trained_together_has_one_shape_and_fits_into_the_cache():
    alike = [Recording(settings(seed=seed)) for seed in range(3)]
    others = [Recording(settings(batch_size=2)), Recording(settings(optimiser="sgd"))]
    groups = of_one_shape({recording: 20 for recording in (*alike, *others)})
    assert sorted(len(group) for group in groups) == [1, 1, 3]
    large = recommended(TASKS["induction"])
    tokens = large.batch_size * large.task.window
    most = NUMBERS_TOGETHER // (tokens * large.model.d_model)
    many = [Recording(recommended(TASKS["induction"], seed)) for seed in range(7)]
    groups = of_one_shape({recording: 1 for recording in many})
    assert max(len(group) for group in groups) == max(1, most) and sum(map(len, groups)) == 7


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
    class Failing(TrainingStack):
        def step(self):
            if any(state.draws.settings.seed == 13 and state.step == 3 for state in self.states):
                raise error("something broke")
            return super().step()

    monkeypatch.setattr(turn_module, "TrainingStack", Failing)
    failing, good = scheduler.open(settings(seed=13)), scheduler.open(settings(seed=2))
    failing.train()
    assert wait_until(lambda: failing.recording.ended or not scheduler.alive)
    good.train()
    assert wait_until(lambda: good.finished or not scheduler.alive)
    assert scheduler.alive and good.finished and good.look().problem is None
    view = failing.look()
    assert view.finished and view.position == 2
    assert "something broke" in str(view.problem)


# Pages


def test_training_waits_while_a_page_is_computed(scheduler, pages):
    run = scheduler.open(settings())
    with pages.page():
        run.train()
        assert not wait_until(lambda: run.recording.newest > 0, seconds=0.1)
    assert wait_until(lambda: run.finished)


def test_pages_and_the_training_take_turns(scheduler, pages):
    """A page that comes is in after a turn, here of one step, and the training goes on after it."""
    scheduler.turn_seconds = 0.0
    run = scheduler.open(settings(steps=5000))
    run.train()
    assert wait_until(lambda: not pages.idle)
    stood = []
    for _ in range(20):
        with pages.page():
            stood.append(run.recording.newest)
            assert not wait_until(lambda: run.recording.newest > stood[-1], seconds=0.01)
            assert wait_until(lambda: pages.waiting == 1), "the training stands in line"
    with pages.page():
        run.stop()
    assert 20 <= stood[-1] - stood[0] + 1 <= 40, "each page waited for a step or two"


def test_a_page_that_never_ends_cannot_stop_the_training():
    pages = PageLock(patience_seconds=0.2)
    scheduler = Scheduler(pages)
    run = scheduler.open(settings(steps=5000))
    with pages.page():
        scheduler.start()
        run.train()
        assert wait_until(lambda: run.recording.newest > 10)
        scheduler.stop()


def test_a_page_that_fails_lets_the_training_go_on(scheduler, pages):
    with pytest.raises(KeyError), pages.page():
        raise KeyError
    run = scheduler.open(settings())
    run.train()
    assert wait_until(lambda: run.finished)
