import gc
import itertools
import threading

import pytest
import torch
from waiting import Clock, wait_until

from attention_core.model import ModelConfig
from attention_core.tasks import CharacterTask
from attention_core.training import TrainingSettings, TrainingStep, train
from runs import recording as recording_module
from runs import scheduler as scheduler_module
from runs.scheduler import Scheduler

TASK = CharacterTask("abcabcabcacb", 3)
MODEL = ModelConfig(vocabulary=3, context=3, d_model=4)


def settings(seed=0, steps=20):
    return TrainingSettings(task=TASK, model=MODEL, seed=seed, steps=steps)


before = set()  # the threads that were there before a test: the app's own, where pages were tested first


@pytest.fixture(autouse=True)
def look_round():
    before.clear()
    before.update(threading.enumerate())


def training_threads():
    return [thread for thread in threading.enumerate() if thread.name == "training" and thread not in before]


def test_a_scheduler_lives_from_its_start_to_its_end(monkeypatch):
    scheduler = Scheduler()
    assert not scheduler.alive
    scheduler.start()
    assert scheduler.alive and len(training_threads()) == 1
    scheduler.stop()
    assert not scheduler.alive and not training_threads()
    monkeypatch.setattr(Scheduler, "_work", lambda self: None)
    scheduler.start()
    assert wait_until(lambda: not scheduler.alive), "a thread that ended by itself is not alive"


@pytest.fixture
def scheduler():
    """A scheduler whose thread runs, and ends with the test."""
    running = Scheduler()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def clock():
    return Clock()


def grow_once(scheduler):
    """What the thread does in one round, without the thread."""
    for recording, until in scheduler.growing().items():
        recording.grow(until)


# Sharing


def test_those_who_ask_for_the_same_share_a_tape():
    scheduler = Scheduler()
    one, other = scheduler.open(settings()), scheduler.open(settings())
    assert one is not other
    assert one.recording is other.recording


def test_those_who_ask_for_something_else_do_not():
    scheduler = Scheduler()
    runs = [scheduler.open(settings(seed=0)), scheduler.open(settings(seed=1)), scheduler.open(settings(steps=21))]
    assert len({run.recording for run in runs}) == 3


def test_a_new_run_stands_at_step_zero_of_a_tape_that_others_have_played():
    scheduler = Scheduler()
    first = scheduler.open(settings())
    first.play()
    grow_once(scheduler)
    second = scheduler.open(settings(), 5.0)
    assert first.position == 20
    assert second.position == 0 and not second.playing and second.steps_per_second == 5


def test_at_most_so_many_tapes_are_kept_and_the_longest_unused_goes_first():
    scheduler = Scheduler(max_recordings=3)
    recordings = []
    for seed in range(3):
        recordings.append(scheduler.open(settings(seed=seed, steps=1)).recording)
        recordings[-1].grow(1)
    gc.collect()
    scheduler.open(settings(seed=0, steps=1))  # used again, so that seed 1 is the longest unused
    scheduler.open(settings(seed=3, steps=1))
    gc.collect()
    assert scheduler.open(settings(seed=0, steps=1)).recording is recordings[0]
    assert scheduler.open(settings(seed=2, steps=1)).recording is recordings[2]
    assert scheduler.open(settings(seed=1, steps=1)).recording is not recordings[1]


def test_a_run_that_everybody_left_before_its_end_is_forgotten_with_all_that_it_takes():
    scheduler = Scheduler(max_recordings=3)
    ended = scheduler.open(settings(seed=1, steps=2)).recording
    ended.grow(2)
    left = scheduler.open(settings(seed=0, steps=2)).recording
    left.grow(1)
    gc.collect()
    scheduler.open(settings(seed=2))
    assert scheduler.open(settings(seed=1, steps=2)).recording is ended
    assert scheduler.open(settings(seed=0, steps=2)).recording is not left


def test_a_tape_is_shared_from_the_moment_it_is_asked_for(monkeypatch):
    scheduler, asked = Scheduler(), []

    class Slow(scheduler_module.TrainingRun):
        def __init__(self, recording, *rest, **more):
            if not asked:
                asked.append(recording)
                scheduler.open(settings(seed=1))  # somebody else comes while this run is made
            super().__init__(recording, *rest, **more)

    monkeypatch.setattr(scheduler_module, "TrainingRun", Slow)
    assert scheduler.open(settings(seed=0)).recording is asked[0] is scheduler.open(settings(seed=0)).recording


def test_the_tapes_that_nobody_uses_hold_no_more_than_the_scheduler_says():
    scheduler = Scheduler()
    for seed in range(scheduler.max_recordings + 7):
        scheduler.open(settings(seed=seed, steps=1)).recording.grow(1)
    gc.collect()
    scheduler.open(settings(seed=0))
    assert len(scheduler._recordings) == scheduler.max_recordings
    assert scheduler.max_recordings * recording_module.MAX_SNAPSHOT_BYTES == 4_000_000
    assert "hold 4 MB" in " ".join(Scheduler.__doc__.split())


def test_beyond_what_all_may_keep_the_fullest_tape_makes_room_but_not_where_somebody_stands():
    each = Scheduler().open(settings()).recording.snapshot_bytes
    scheduler = Scheduler(max_bytes=102 * each)
    full, other = (scheduler.open(settings(seed=seed, steps=99)) for seed in range(2))
    full.step_once()
    full.recording.grow(99)
    scheduler._make_room()
    assert full.recording.snapshot_steps(99) == list(range(100)), "101 are fewer than 102"
    other.recording.grow(3)
    scheduler._make_room()
    assert full.recording.snapshot_steps(99) == [0, 1, *range(2, 99, 2), 99], "at step 1 somebody stands"
    assert other.recording.snapshot_steps(99) == [0, 1, 2, 3]


def test_a_scheduler_that_may_keep_nothing_leaves_a_few_steps_of_each_tape():
    scheduler = Scheduler(max_bytes=0)
    runs = [scheduler.open(settings(seed=seed, steps=99)) for seed in range(3)]
    for run in runs:
        run.recording.grow(99)
    scheduler._make_room()
    assert [run.recording.snapshot_steps(99) for run in runs] == [[*range(0, 99, 32), 99]] * 3


def test_those_whom_nobody_watches_make_room_before_the_others(clock):
    each = Scheduler().open(settings()).recording.snapshot_bytes
    scheduler = Scheduler(max_bytes=110 * each, clock=clock, patience_seconds=60.0)
    left, watched = (scheduler.open(settings(seed=seed, steps=99)) for seed in range(2))
    left.recording.grow(50)
    watched.recording.grow(99)
    clock.now += 61
    watched.look()
    scheduler._make_room()
    assert left.recording.snapshot_steps(99) == [*range(0, 50, 8), 50], "the fullest is another"
    assert watched.recording.snapshot_steps(99) == list(range(100))
    nothing = Scheduler(max_bytes=0, clock=clock, patience_seconds=60.0)
    run = nothing.open(settings(seed=2, steps=99))
    run.recording.grow(99)
    clock.now += 61
    nothing._make_room()
    assert run.recording.snapshot_steps(99) == [0, 64, 99], "at most FEWEST_UNWATCHED are left"


def test_a_tape_that_nobody_watches_rests_and_goes_on_when_somebody_looks(clock, monkeypatch):
    monkeypatch.setattr(recording_module.Recording, "seconds", property(lambda recording: recording.newest / 1000))
    scheduler = Scheduler(clock=clock, patience_seconds=60.0)
    run = scheduler.open(settings())
    run.play()
    run.recording.grow(7)
    clock.now += 59
    scheduler._make_room()
    assert run.recording.in_training
    clock.now += 2
    scheduler._make_room()
    assert not run.recording.in_training and run.recording.newest == 7
    run.look()
    run.recording.grow(scheduler.growing()[run.recording])
    expected = [step.loss for step in train(settings())]
    assert run.look().losses.tolist() == expected


def test_one_step_further_is_a_sign_that_somebody_is_there(clock, monkeypatch):
    monkeypatch.setattr(Scheduler, "QUICKLY_BACK", 0)
    scheduler = Scheduler(clock=clock, patience_seconds=60.0)
    run = scheduler.open(settings())
    clock.now += 61
    run.step_once()
    scheduler._make_room()
    assert run.recording.in_training and run.recording.newest == 1


def test_a_tape_that_nobody_plays_rests_at_once_where_that_costs_nothing(clock, monkeypatch):
    monkeypatch.setattr(recording_module.Recording, "seconds", property(lambda recording: recording.newest / 1000))
    scheduler = Scheduler(clock=clock)
    begun, played, further = (scheduler.open(settings(seed=seed, steps=40)) for seed in range(3))
    played.play()
    further.recording.grow(21)
    scheduler._make_room()
    assert [run.recording.in_training for run in (begun, played, further)] == [False, True, True]
    begun.step_once()
    assert begun.look().position == 1 and begun.recording.in_training
    scheduler._make_room()
    assert not begun.recording.in_training


def test_a_tape_that_came_far_does_not_rest(clock, monkeypatch):
    monkeypatch.setattr(recording_module.Recording, "seconds", property(lambda recording: recording.newest / 1000))
    monkeypatch.setattr(Scheduler, "SOON_BACK", 0.005)
    scheduler = Scheduler(clock=clock, patience_seconds=60.0)
    near, far = (scheduler.open(settings(seed=seed)) for seed in range(2))
    near.recording.grow(5)
    far.recording.grow(6)
    clock.now += 61
    scheduler._make_room()
    assert not near.recording.in_training and far.recording.in_training


def test_a_tape_that_is_just_being_opened_does_not_rest(clock, monkeypatch):
    scheduler, seen = Scheduler(clock=clock), []

    class Slow(scheduler_module.TrainingRun):
        def __init__(self, recording, *rest, **more):
            super().__init__(recording, *rest, **more)
            scheduler._make_room()
            seen.append(recording.in_training)

    monkeypatch.setattr(scheduler_module, "TrainingRun", Slow)
    scheduler.open(settings())
    assert seen == [True]


def test_a_tape_that_somebody_plays_is_kept_while_others_go():
    scheduler = Scheduler(max_recordings=2)
    played = scheduler.open(settings(seed=0))
    played.play()
    for seed in range(1, 7):
        scheduler.open(settings(seed=seed))
    gc.collect()
    assert scheduler.open(settings(seed=0)).recording is played.recording


def test_a_newcomer_s_tape_is_shared_even_when_all_places_are_taken():
    scheduler = Scheduler(max_recordings=2)
    others = [scheduler.open(settings(seed=seed)) for seed in range(2)]
    one, same = scheduler.open(settings(seed=2)), scheduler.open(settings(seed=2))
    assert one.recording is same.recording
    assert all(run.recording is not one.recording for run in others)


# What grows


def test_only_what_somebody_plays_grows():
    scheduler = Scheduler()
    played, still = scheduler.open(settings(seed=0)), scheduler.open(settings(seed=1))
    assert scheduler.growing() == {}
    played.play()
    assert scheduler.growing() == {played.recording: 20}
    played.pause()
    assert scheduler.growing() == {}
    assert still.recording.newest == 0


def test_a_shared_tape_grows_as_far_as_the_fastest_wants(clock):
    scheduler = Scheduler(clock=clock)
    slow, fast = scheduler.open(settings(steps=500), 2.0), scheduler.open(settings(steps=500), 20.0)
    slow.play()
    assert scheduler.growing() == {slow.recording: 4}
    fast.play()
    assert scheduler.growing() == {slow.recording: 40}


def test_a_tape_that_ended_or_is_far_enough_does_not_grow(clock):
    scheduler = Scheduler(clock=clock)
    run = scheduler.open(settings(), 5.0)
    run.play()
    grow_once(scheduler)
    assert run.recording.newest == 10 and scheduler.growing() == {}
    clock.now += 1
    assert scheduler.growing() == {run.recording: 15}
    run.recording.grow(20)
    run.set_pace(None)
    assert scheduler.growing() == {}


def test_a_run_that_nobody_watches_is_parked_and_goes_on_when_somebody_looks(clock):
    scheduler = Scheduler(clock=clock, patience_seconds=60.0)
    run = scheduler.open(settings())
    run.play()
    clock.now += 59
    assert scheduler.growing() == {run.recording: 20}
    clock.now += 2
    assert scheduler.growing() == {}
    view = run.look()
    assert view.position == 0 and view.playing
    assert scheduler.growing() == {run.recording: 20}


def test_a_parked_run_goes_on_at_its_pace_and_does_not_rush_to_catch_up(clock):
    scheduler = Scheduler(clock=clock, patience_seconds=60.0)
    run = scheduler.open(settings(steps=1000), 5.0)
    run.play()
    grow_once(scheduler)
    clock.now += 100  # nobody looks, nothing grows
    grow_once(scheduler)
    back = run.look().position
    assert back <= 10
    for _ in range(4):
        clock.now += 0.25
        grow_once(scheduler)
        run.look()
    assert run.look().position <= back + 6


def test_a_run_that_is_gone_is_not_grown():
    scheduler = Scheduler()
    run = scheduler.open(settings())
    run.play()
    del run
    gc.collect()
    assert scheduler.growing() == {}


# Thirty at once, and more than can be served


def test_thirty_tapes_grow_about_equally_fast(monkeypatch, clock):
    def pretend(chosen):
        for step in range(chosen.steps + 1):
            clock.now += 0.0004 * (1 + chosen.seed % 3)  # some models are slower
            yield TrainingStep(step, 1.0, torch.zeros(5))

    monkeypatch.setattr(recording_module, "train", pretend)
    scheduler = Scheduler(clock=clock, turn_seconds=0.010, patience_seconds=1e9)
    runs = [scheduler.open(settings(seed=seed, steps=5000)) for seed in range(30)]
    for run in runs:
        run.play()
    spent = dict.fromkeys((run.recording for run in runs), 0.0)
    for _ in range(20):
        for recording, until in scheduler.growing().items():
            began = clock.now
            recording.grow(until, scheduler.turn_seconds, clock)
            spent[recording] += clock.now - began
    assert len(spent) == 30 and min(spent.values()) >= 0.8 * max(spent.values())
    alike = [run.recording.newest for run in runs if run.recording.settings.seed % 3 == 0]
    assert min(alike) >= 0.8 * max(alike) > 0


def test_a_tape_of_long_steps_sits_out_rounds_and_still_moves(monkeypatch, clock):
    takes = [0.035, 0.7, 0.0022, 0.0022, 0.0022]
    moved = {seed: [] for seed in range(5)}

    def pretend(chosen):
        for step in range(chosen.steps + 1):
            clock.now += takes[chosen.seed]
            moved[chosen.seed].append(clock.now)
            yield TrainingStep(step, 1.0, torch.zeros(5))

    monkeypatch.setattr(recording_module, "train", pretend)
    monkeypatch.setattr(recording_module.time, "thread_time", clock)
    scheduler = Scheduler(clock=clock, turn_seconds=0.010, patience_seconds=1e9)
    runs = [scheduler.open(settings(seed=seed, steps=5000)) for seed in range(5)]
    for run in runs:
        run.play()
    rounds = 300
    for _ in range(rounds):
        for recording, until in scheduler.growing().items():
            scheduler._give_turn(recording, until)
    long, endless, *short = (run.recording.newest for run in runs)
    assert long == rounds / 3, "a step of three turns and a half counts as three"
    assert short == [5 * rounds] * 3
    waits = [later - earlier for earlier, later in itertools.pairwise(moved[1][1:])]
    assert endless > 3 and all(2.0 <= wait - takes[1] < 2.1 for wait in waits), "at most so long, and a round"


def test_beyond_a_full_house_a_run_sees_its_place_and_moves_up(clock):
    scheduler = Scheduler(clock=clock, max_growing=2, patience_seconds=60.0)
    runs = [scheduler.open(settings(seed=seed)) for seed in range(5)]
    for run in runs:
        assert scheduler.place_in_queue(run) == 0
        run.play()
    assert [scheduler.place_in_queue(run) for run in runs] == [0, 0, 1, 2, 3]
    assert list(scheduler.growing()) == [run.recording for run in runs[:2]]
    grow_once(scheduler)
    assert [scheduler.place_in_queue(run) for run in runs] == [0, 0, 0, 0, 1]
    runs[2].pause()
    assert [scheduler.place_in_queue(run) for run in runs] == [0, 0, 0, 0, 0]


def test_a_run_that_nobody_watches_gives_its_place_to_the_next(clock):
    scheduler = Scheduler(clock=clock, max_growing=1, patience_seconds=60.0)
    first, second = scheduler.open(settings(seed=0)), scheduler.open(settings(seed=1))
    first.play()
    second.play()
    assert scheduler.place_in_queue(second) == 1
    clock.now += 61
    second.look()
    assert scheduler.place_in_queue(second) == 0 and list(scheduler.growing()) == [second.recording]
    first.look()
    assert scheduler.place_in_queue(first) == 1


# The thread


def test_the_thread_trains_what_is_played(scheduler):
    run = scheduler.open(settings())
    run.play()
    assert wait_until(lambda: run.finished)
    assert run.look().losses.tolist() == [step.loss for step in train(settings())]


def test_runs_side_by_side_give_the_losses_of_runs_alone(scheduler):
    runs = [scheduler.open(settings(seed=seed, steps=60)) for seed in range(3)]
    for run in runs:
        run.play()
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
        run.play()
    scheduler.start()
    assert wait_until(lambda: all(run.recording.ended for run in runs))
    scheduler.stop()
    turns = [[order[0], 0]]
    for seed in order:
        if turns[-1][0] != seed:
            turns.append([seed, 0])
        turns[-1][1] += 1
    assert sorted(order) == [0] * 200 + [1] * 200 + [2] * 200
    assert all(9 <= steps <= 11 for _, steps in turns[:-3])
    for start in range(0, len(turns) - 3, 3):
        assert {seed for seed, _ in turns[start : start + 3]} == {0, 1, 2}


def test_a_late_comer_does_not_wait_for_those_who_came_first(scheduler):
    early = scheduler.open(settings(seed=1, steps=5000))
    early.play()
    assert wait_until(lambda: early.recording.newest > 10)
    late = scheduler.open(settings(seed=2))
    late.play()
    assert wait_until(lambda: late.finished)
    assert not early.recording.ended


def test_training_waits_while_a_page_is_computed(scheduler, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    run = scheduler.open(settings())
    with scheduler.page():
        with scheduler.page():
            run.play()
            assert not wait_until(lambda: run.recording.newest > 0, seconds=0.1)
        assert not wait_until(lambda: run.recording.newest > 0, seconds=0.1)
    assert wait_until(lambda: run.finished)


def test_training_waits_until_a_page_is_sent(scheduler, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    monkeypatch.setattr(Scheduler, "SENDING_SECONDS", 2.0)
    run = scheduler.open(settings())
    with scheduler.page():
        run.play()
    assert not wait_until(lambda: run.recording.newest > 0, seconds=0.1)
    assert wait_until(lambda: run.finished)


def test_a_page_that_comes_ends_the_turn_of_a_tape_after_the_step_it_is_at(scheduler, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    scheduler.turn_seconds = 60.0
    run = scheduler.open(settings(steps=5000))
    run.play()
    assert wait_until(lambda: run.recording.newest > 0)

    def stands():
        here = run.recording.newest
        return not wait_until(lambda: run.recording.newest > here, seconds=0.1)

    with scheduler.page():
        assert wait_until(stands)
        assert not run.recording.ended, "it stands because of the page"
        here = run.recording.newest
    assert wait_until(lambda: run.recording.newest > here)


def test_a_tape_that_waited_long_enough_gets_its_whole_turn_beside_pages():
    scheduler, grown = Scheduler(turn_seconds=0.5), []
    run = scheduler.open(settings(steps=5000))
    run.play()
    scheduler.COURTESY_SECONDS = 0.01

    def grow(until, seconds, clock, interrupted):
        grown.append(interrupted())
        scheduler._stopping.set()

    run.recording.grow = grow
    with scheduler.page():
        scheduler._work()
    assert grown == [False]


def test_pages_cannot_starve_the_training(scheduler):
    run = scheduler.open(settings(steps=5000))
    with scheduler.page():
        run.play()
        assert wait_until(lambda: run.recording.newest > 10)


def test_a_page_that_fails_lets_the_training_go_on(scheduler, monkeypatch):
    monkeypatch.setattr(Scheduler, "COURTESY_SECONDS", 60.0)
    with pytest.raises(KeyError), scheduler.page():
        raise KeyError
    run = scheduler.open(settings())
    run.play()
    assert wait_until(lambda: run.finished)


@pytest.mark.parametrize("error", [RuntimeError, ValueError, FloatingPointError, IndexError, MemoryError])
def test_a_run_that_fails_does_not_stop_the_others(scheduler, monkeypatch, error):
    def fail_sometimes(chosen):
        for step in train(chosen):
            if chosen.seed == 13 and step.step == 3:
                raise error("something broke")
            yield step

    monkeypatch.setattr(recording_module, "train", fail_sometimes)
    failing, good = scheduler.open(settings(seed=13)), scheduler.open(settings(seed=2))
    failing.play()
    assert wait_until(lambda: failing.recording.ended or not training_threads())
    good.play()
    assert wait_until(lambda: good.finished or not training_threads())
    assert training_threads() and good.finished and good.look().problem is None
    view = failing.look()
    assert view.finished and view.position == 2
    assert "something broke" in view.problem


def test_stopping_ends_the_thread_and_starting_again_goes_on():
    scheduler = Scheduler()
    scheduler.start()
    scheduler.start()
    assert len(training_threads()) == 1
    run = scheduler.open(settings(steps=5000))
    run.play()
    assert wait_until(lambda: run.recording.newest > 5)
    scheduler.stop()
    assert not training_threads()
    head = run.recording.newest
    assert 5 < head < 5000
    scheduler.start()
    assert wait_until(lambda: run.recording.newest > head)
    scheduler.stop()
    scheduler.stop()
    assert not training_threads()


def test_a_scheduler_that_never_started_can_be_stopped():
    scheduler = Scheduler()
    scheduler.stop()
    assert not training_threads()
    scheduler.start()
    run = scheduler.open(settings())
    run.play()
    assert wait_until(lambda: run.finished)
    scheduler.stop()


def test_those_who_look_are_counted_while_their_runs_play(clock):
    scheduler = Scheduler(clock=clock)
    runs = [scheduler.open(settings(seed=seed)) for seed in range(3)]
    assert scheduler.watched() == 0
    for run in runs:
        run.play()
    assert scheduler.watched() == 3
    clock.now += Scheduler.LOOKING_SECONDS + 1
    assert scheduler.watched() == 0
    runs[0].look()
    assert scheduler.watched() == 1
    runs[0].pause()
    assert scheduler.watched() == 0
