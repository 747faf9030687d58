"""A learner's place on a recording."""

import threading

import numpy as np
import pytest
import torch
from waiting import Clock

from attention_core.model import ModelConfig
from attention_core.tasks import CharacterTask
from attention_core.training import TrainingSettings
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
    run.play()
    view = run.look()
    assert view.finished and not view.playing
    assert view.position == recording.newest and view.problem == recording.problem


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def recording():
    return Recording(settings(steps=50))


def test_a_run_starts_at_step_zero_and_stands_still(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    clock.now += 100
    assert run.position == 0 and not run.playing and not run.finished
    assert recording.newest == 0


def test_a_run_moves_at_its_pace(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    recording.record(50)
    run.play()
    positions = []
    for _ in range(5):
        clock.now += 0.25
        positions.append(run.position)
    assert positions == [2, 5, 7, 10, 12]
    assert run.playing


def test_a_run_is_never_beyond_what_is_recorded(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    run.play()
    recording.record(5)
    clock.now += 3
    assert run.position == 5 and run.playing and not run.finished


def test_without_a_pace_a_run_is_where_the_recording_is(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.play()
    for head in (3, 17, 50):
        recording.record(head)
        assert run.position == head
    assert run.finished and not run.playing


def test_pausing_stands_still_and_playing_goes_on_from_there(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    recording.record(50)
    run.play()
    clock.now += 1.25
    run.pause()
    clock.now += 100
    assert run.position == 12 and not run.playing
    run.play()
    assert run.position == 12
    clock.now += 0.5
    assert run.position == 17


def test_a_step_at_a_time(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    for position in (1, 2, 3):
        run.step_once()
        assert run.position == position and not run.playing
        assert recording.newest == position
    run.play()
    recording.record(50)
    clock.now += 1.25
    run.step_once()
    assert run.position == 16 and not run.playing
    clock.now += 100
    assert run.position == 16


def test_the_last_step_has_no_step_after_it(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.play()
    recording.record(50)
    run.step_once()
    assert run.position == 50 and run.finished


def test_another_pace_counts_from_here_on(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    recording.record(50)
    run.play()
    clock.now += 1
    run.set_pace(2.0)
    assert run.position == 10
    clock.now += 2
    assert run.position == 14
    run.set_pace(None)
    assert run.position == 50


def test_a_paced_run_is_finished_when_its_own_place_is_at_the_end(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    recording.record(50)
    run.play()
    clock.now += 4.95
    assert recording.ended and run.position == 49 and not run.finished
    clock.now += 1
    assert run.position == 50 and run.finished and not run.playing


def test_a_run_wants_the_recording_a_little_ahead_of_itself(recording, clock):
    run = TrainingRun(recording, 5.0, clock=clock)
    assert run.wanted <= 0
    run.play()
    assert run.wanted == 5 * TrainingRun.LOOK_AHEAD_SECONDS
    recording.record(50)
    clock.now += 9
    assert run.position == 45 and run.wanted == 50
    run.pause()
    assert run.wanted <= 0


def test_without_a_pace_a_run_wants_the_whole_recording(recording, clock):
    run = TrainingRun(recording, clock=clock)
    run.play()
    assert run.wanted == 50


def test_a_slow_run_still_wants_its_next_step(recording, clock):
    run = TrainingRun(recording, 0.1, clock=clock)
    run.play()
    assert run.wanted == 1


def test_playing_and_looking_while_playing_wake_the_training(recording, clock):
    calls = []
    run = TrainingRun(recording, 10.0, wake=lambda: calls.append("wake"), clock=clock)
    run.look()
    assert not calls
    run.play()
    run.look()
    assert len(calls) == 2


def test_a_view_shows_one_moment(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    recording.record(50)
    run.play()
    clock.now += 1.25
    view = run.look()
    assert (view.position, view.playing, view.finished, view.problem) == (12, True, False, None)
    assert view.settings is recording.settings
    assert view.losses.tolist() == recording.losses(50)[:13].tolist()
    assert view.snapshot.step == 12
    assert torch.equal(view.snapshot.weights, recording.snapshot(12).weights)
    clock.now += 100
    later = run.look()
    assert (later.position, later.playing, later.finished) == (50, False, True)
    assert len(view.losses) == 13


def test_looking_says_that_somebody_watches(recording, clock):
    run = TrainingRun(recording, 10.0, clock=clock)
    clock.now += 7
    run.look()
    assert run.last_seen == clock.now


def test_two_learners_on_one_recording_have_places_of_their_own(recording, clock):
    fast, slow = TrainingRun(recording, 20.0, clock=clock), TrainingRun(recording, 2.0, clock=clock)
    recording.record(50)
    fast.play()
    slow.play()
    clock.now += 2
    assert (fast.position, slow.position) == (40, 4)
    fast.pause()
    clock.now += 2
    assert (fast.position, slow.position) == (40, 8)


def test_a_view_can_be_taken_while_the_recording_grows():
    recording = Recording(settings(steps=150))
    run = TrainingRun(recording)
    run.play()
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
