"""A learner's place on a recording."""

import threading

import numpy as np
import pytest
from waiting import Clock

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.model.small_model import ModelConfig
from runs.recording import Recording
from runs.run import TrainingRun


def settings(text="abcabcabcacb", window=3, model=None, **choices):
    task = CharacterTask(text, window)
    config = {"vocabulary": len(task.vocabulary), "context": 5, "d_model": 4} | (model or {})
    return TrainingSettings(**{"task": task, "model": ModelConfig(**config), "steps": 20} | choices)


def test_a_broken_run_shows_its_problem_only_at_its_end():
    recording = Recording(settings(learning_rate=1e6, weight_decay=0.1, steps=300))
    run = TrainingRun(recording)
    recording.record(300)
    assert run.look().problem is None and not run.look().finished
    run.train()
    view = run.look()
    assert view.finished and not view.training
    assert view.position == recording.newest and view.problem == recording.problem


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def recording():
    return Recording(settings(steps=50))


def test_a_run_starts_at_step_zero_and_stands_still(recording, clock):
    run = TrainingRun(recording, clock=clock)
    clock.now += 100
    assert (run.position, run.goal) == (0, 0) and not run.training and not run.finished
    assert recording.newest == 0


def test_a_run_that_was_not_started_stays_where_it_is_while_others_train(recording, clock):
    run = TrainingRun(recording, clock=clock)
    recording.record(50)
    assert run.position == 0 and not run.training and not run.finished
    assert run.look().snapshot.step == 0 and len(run.look().losses) == 1


def test_a_run_that_trains_is_where_the_recording_is_and_stops_at_its_end(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.train()
    assert run.goal == 50 and run.position == 0 and run.training
    for head in (3, 17, 49):
        recording.record(head)
        assert run.position == head and run.training and not run.finished
    recording.record(50)
    assert run.position == 50 and run.finished and not run.training


def test_time_alone_moves_nothing(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.train()
    recording.record(5)
    clock.now += 1000
    assert run.position == 5 and run.training and not run.finished


def test_stopping_stands_still_and_training_goes_on_from_there(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.train()
    recording.record(12)
    run.stop()
    recording.record(30)
    assert run.position == 12 and not run.training and not run.finished
    run.train()
    assert run.position == 30 and run.training
    recording.record(50)
    assert run.position == 50 and run.finished


def test_a_step_at_a_time(recording, clock):
    run = TrainingRun(recording, clock=clock)
    for position in (1, 2, 3):
        run.step_once()
        assert run.position == position and not run.training
        assert recording.newest == position
    run.train()
    recording.record(15)
    run.step_once()
    assert run.position == 16 and not run.training
    recording.record(40)
    assert run.position == 16
    run.step_once()
    assert run.position == 17 and recording.newest == 40, "a step that is recorded is not made again"


def test_the_last_step_has_no_step_after_it(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.train()
    recording.record(50)
    run.step_once()
    assert run.position == 50 and run.finished


def test_a_run_on_a_recording_that_others_have_ended_is_trained_at_once(recording, clock):
    recording.record(50)
    run = TrainingRun(recording, clock=clock)
    run.train()
    assert run.position == 50 and run.finished and not run.training


def test_training_and_looking_while_it_trains_wake_the_training(recording, clock):
    calls = []
    run = TrainingRun(recording, wake=lambda: calls.append("wake"), clock=clock)
    run.look()
    assert not calls
    run.train()
    run.look()
    assert len(calls) == 2
    run.stop()
    run.look()
    assert len(calls) == 2


def test_a_view_shows_one_moment(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.train()
    recording.record(12)
    view = run.look()
    assert (view.position, view.training, view.finished, view.problem) == (12, True, False, None)
    assert view.settings is recording.settings
    assert view.losses.tolist() == recording.losses(50)[:13].tolist()
    assert view.snapshot.step == 12
    assert np.array_equal(view.snapshot.weights, recording.snapshot(12).weights)
    recording.record(50)
    later = run.look()
    assert (later.position, later.training, later.finished) == (50, False, True)
    assert (view.position, len(view.losses)) == (12, 13)


def test_looking_and_pressing_say_that_somebody_watches(recording, clock):
    run = TrainingRun(recording, clock=clock)
    for sign in (run.look, run.train, run.step_once):
        clock.now += 7
        sign()
        assert run.last_seen == clock.now


def test_two_learners_on_one_recording_have_places_of_their_own(recording, clock):
    one, other = TrainingRun(recording, clock=clock), TrainingRun(recording, clock=clock)
    one.train()
    recording.record(20)
    other.step_once()
    assert (one.position, other.position) == (20, 1)
    one.stop()
    other.train()
    recording.record(40)
    assert (one.position, other.position) == (20, 40)


def test_a_view_can_be_taken_while_the_recording_grows():
    recording = Recording(settings(steps=150))
    run = TrainingRun(recording)
    run.train()
    thread = threading.Thread(target=recording.record, args=(150,))
    thread.start()
    positions = []
    while thread.is_alive() and len(positions) < 5000:
        view = run.look()
        positions.append(view.position)
        assert len(view.losses) == view.position + 1
        assert np.isfinite(view.losses).all()
        assert view.snapshot.step <= view.position
    thread.join()
    assert positions == sorted(positions)
    assert run.look().position == 150 and run.look().finished
