import gc
import math
import threading
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from attention_core import training
from attention_core.gradients import NO_TARGET
from attention_core.model import MAX_CONTEXT, MAX_D_MODEL, MAX_LAYERS, ModelConfig, TinyTransformer
from attention_core.randomness import MAX_SEED, generator
from attention_core.tasks import MAX_VOCABULARY, TASKS, CharacterTask
from attention_core.training import (
    MAX_BATCH,
    MAX_SNAPSHOT_BYTES,
    MAX_SNAPSHOTS,
    MAX_STEPS,
    Tape,
    TrainingRun,
    TrainingSettings,
    TrainingStep,
    draw_batches,
    predict,
    recommended,
    train,
)
from attention_core.weights import IdleModels, model_with


def settings(text="abcabcabcacb", window=3, model=None, **choices):
    task = CharacterTask(text, window)
    config = {"vocabulary": len(task.vocabulary), "context": 5, "d_model": 4} | (model or {})
    return TrainingSettings(**{"task": task, "model": ModelConfig(**config), "steps": 20} | choices)


def losses_of(some_settings):
    return [step.loss for step in train(some_settings)]


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


# Settings


@pytest.mark.parametrize("rate", [0.0, -0.1, math.inf, math.nan])
def test_an_impossible_learning_rate_is_an_error(rate):
    with pytest.raises(ValueError, match=f"a learning rate is a number above 0, but got {rate}"):
        settings(learning_rate=rate)


@pytest.mark.parametrize("decay", [-0.1, math.inf, math.nan])
def test_an_impossible_weight_decay_is_an_error(decay):
    with pytest.raises(ValueError, match="weight decay"):
        settings(weight_decay=decay)


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_an_impossible_seed_is_an_error_where_it_is_chosen(seed):
    with pytest.raises(ValueError, match="seed"):
        settings(seed=seed)


@pytest.mark.parametrize("steps", [0, -1, MAX_STEPS + 1])
def test_an_impossible_number_of_steps_is_an_error(steps):
    with pytest.raises(ValueError, match=f"1 to {MAX_STEPS} steps, but got {steps}"):
        settings(steps=steps)


@pytest.mark.parametrize("size", [0, -1, MAX_BATCH + 1])
def test_an_impossible_batch_is_an_error(size):
    with pytest.raises(ValueError, match=f"1 to {MAX_BATCH} windows, but got {size}"):
        settings(batch_size=size)


def test_a_model_for_another_vocabulary_is_an_error_that_names_both_sizes():
    with pytest.raises(ValueError, match="3 different characters, but the model was made for 5"):
        settings(model={"vocabulary": 5})


def test_a_model_that_sees_less_than_a_window_is_an_error_that_names_both_sizes():
    with pytest.raises(ValueError, match="sees 2 characters at once, too few for a window of 3"):
        settings(model={"context": 2})


def test_equal_settings_can_be_looked_up():
    assert settings() == settings() and hash(settings()) == hash(settings())
    assert settings() != settings(seed=1)


# The iterator


def test_step_zero_is_the_untrained_model():
    first = next(train(settings(seed=7)))
    untrained = TinyTransformer(settings().model, generator(7))
    weights = torch.cat([parameter.detach().flatten() for parameter in untrained.parameters()])
    assert first.step == 0
    assert torch.equal(first.weights, weights)


def test_training_is_the_plain_loop_of_pytorch():
    chosen = settings(seed=7, batch_size=5, model={"mlp": True, "layer_norm": True, "n_layers": 2})
    random = generator(7)
    model = TinyTransformer(chosen.model, random)
    optimiser = torch.optim.AdamW(model.parameters(), chosen.learning_rate, weight_decay=chosen.weight_decay)
    expected = []
    for _ in range(chosen.steps + 1):
        batch = chosen.task.batch(5, random)
        loss = cross_entropy(model(batch.inputs).logits.reshape(-1, 3), batch.targets.reshape(-1))
        expected.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert losses_of(chosen) == pytest.approx(expected, abs=1e-4)
    assert expected[-1] < 0.7 * expected[0]


def test_there_is_one_step_more_than_updates():
    assert [step.step for step in train(settings(steps=7))] == list(range(8))


def test_the_same_settings_give_the_same_losses_bit_for_bit():
    assert losses_of(settings()) == losses_of(settings())
    assert losses_of(settings()) != losses_of(settings(seed=1))


def test_a_longer_run_begins_like_a_shorter_one():
    assert losses_of(settings(steps=17))[:12] == losses_of(settings(steps=11))


def test_training_beside_another_run_changes_no_bit():
    alone, others_alone = losses_of(settings(steps=60)), losses_of(settings(seed=5, steps=60))
    beside, others_beside = [], []
    together = threading.Barrier(2, timeout=30)

    def train_in_step(chosen, losses):
        for step in train(chosen):
            losses.append(step.loss)
            if step.step % 5 == 0:
                together.wait()

    thread = threading.Thread(target=train_in_step, args=(settings(seed=5, steps=60), others_beside))
    thread.start()
    train_in_step(settings(steps=60), beside)
    thread.join()
    assert beside == alone
    assert others_beside == others_alone


def test_training_leaves_the_global_random_state_alone():
    before = torch.random.get_rng_state()
    losses_of(settings(steps=3))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_run_on_hello_world_learns_more_than_the_letter_before_tells():
    task = CharacterTask("hello world")
    chosen = TrainingSettings(task=task, model=ModelConfig(vocabulary=8, context=8), steps=100)
    baselines = [baseline.loss for baseline in task.baselines()]
    losses = losses_of(chosen)
    assert losses[0] > baselines[1]
    assert losses[-1] < baselines[2]


# Tapes


def test_a_tape_records_what_train_yields():
    tape = Tape(settings())
    assert tape.head == -1 and not tape.ended
    tape.grow(20)
    assert tape.head == 20 and tape.ended and tape.problem is None
    assert tape.losses(20).tolist() == losses_of(settings())
    assert tape.losses(7).tolist() == losses_of(settings())[:8]
    assert len(tape.losses(1000)) == 21


def test_a_tape_grows_as_far_as_it_is_asked_to():
    tape = Tape(settings())
    tape.grow(5)
    assert tape.head == 5
    tape.grow(3)
    assert tape.head == 5 and not tape.ended
    tape.grow(1000)
    assert tape.head == 20
    tape.grow(1000)
    assert tape.head == 20 and np.isfinite(tape.losses(20)).all()


def test_a_tape_stops_growing_when_the_time_is_over_but_makes_one_step():
    clock = Clock()
    tape = Tape(settings())

    def tick():
        clock.now += 1
        return clock.now

    tape.grow(20, seconds=5.0, clock=tick)
    assert tape.head == 4
    tape.grow(20, seconds=0.0, clock=tick)
    assert tape.head == 5


def test_a_tape_that_is_interrupted_has_made_one_step():
    tape = Tape(settings())
    tape.grow(20, interrupted=lambda: tape.head >= 3)
    assert tape.head == 3
    tape.grow(20, interrupted=lambda: True)
    assert tape.head == 4


def test_the_weights_on_a_tape_reproduce_its_losses():
    chosen = settings(batch_size=5)
    tape = Tape(chosen)
    tape.grow(20)
    random = generator(chosen.seed)
    TinyTransformer(chosen.model, random)
    for step in range(21):
        batch = chosen.task.batch(5, random)
        snapshot = tape.snapshot(step)
        assert snapshot.step == step
        _, loss = predict(model_with(chosen.model, snapshot.weights), batch)
        assert loss == pytest.approx(tape.losses(20)[step], abs=1e-6)


def test_a_model_made_of_a_snapshot_is_its_own():
    tape = Tape(settings())
    tape.grow(3)
    before = tape.snapshot(3).weights.clone()
    model = model_with(settings().model, tape.snapshot(3).weights)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert torch.equal(tape.snapshot(3).weights, before)


def test_nothing_can_be_seen_before_the_first_step():
    with pytest.raises(ValueError, match="nothing is recorded"):
        Tape(settings()).snapshot(0)


def recorded_steps(tape):
    """Every step whose weights are kept, seen from outside."""
    return sorted({tape.snapshot(step).step for step in range(tape.head + 1)})


@pytest.mark.parametrize("name", TASKS)
def test_the_batches_are_those_that_the_task_draws(name):
    chosen = recommended(TASKS[name], seed=3)
    size = chosen.batch_size
    drawn = chosen.task.batch(size * training.DRAWN_TOGETHER, generator(17))
    batches = draw_batches(chosen, generator(17))
    for begin in range(0, 3 * size, size):
        batch = next(batches)
        assert torch.equal(batch.inputs, drawn.inputs[begin : begin + size])
        assert torch.equal(batch.targets, drawn.targets[begin : begin + size])
    assert len(chosen.task.vocabulary) <= MAX_VOCABULARY


def test_every_token_fits_into_a_byte():
    assert torch.arange(MAX_VOCABULARY).to(torch.int8).long().tolist() == list(range(MAX_VOCABULARY))
    assert torch.tensor(NO_TARGET).to(torch.int8) == NO_TARGET


@pytest.mark.parametrize("until", [0, 1, 13, 19])
def test_a_tape_that_rested_goes_on_bit_for_bit(until):
    chosen = settings(model={"d_model": 6}, steps=23)
    through, rested = Tape(chosen), Tape(chosen)
    through.grow(23)
    rested.grow(until)
    rested.rest()
    assert not rested.in_training and rested.head == until
    assert rested.losses(23).tolist() == through.losses(until).tolist()
    rested.grow(until + 2)
    assert rested.in_training and rested.head == until + 2
    rested.grow(23)
    assert rested.ended and not rested.in_training
    assert rested.losses(23).tolist() == through.losses(23).tolist()
    assert [measured.step for measured in rested.measured(23)] == [measured.step for measured in through.measured(23)]
    for step in range(24):
        ours, expected = rested.snapshot(step), through.snapshot(step)
        assert ours.step == expected.step and torch.equal(ours.weights, expected.weights)


def test_a_tape_that_rested_catches_up_in_turns():
    tape, ticks = Tape(settings()), iter(range(1000))
    tape.grow(13)
    tape.rest()
    for _ in range(13 + 1):
        tape.grow(20, seconds=0.5, clock=lambda: next(ticks))
        assert tape.head == 13
    tape.grow(20, seconds=0.5, clock=lambda: next(ticks))
    assert tape.head == 14


def test_a_tape_says_how_long_its_steps_took_and_counts_none_twice(monkeypatch):
    computed = iter(range(1000))
    monkeypatch.setattr(training.time, "thread_time", lambda: float(next(computed)))
    tape = Tape(settings())
    tape.grow(12)
    assert tape.seconds == 13
    tape.rest()
    tape.grow(13)
    assert tape.seconds == 14


def test_a_tape_that_ended_does_not_begin_again():
    tape = Tape(settings(steps=3))
    tape.grow(3)
    tape.rest()
    tape.grow(3)
    assert tape.ended and tape.head == 3 and not tape.in_training


def check_bounds(tape, parameters):
    steps = recorded_steps(tape)
    assert steps[0] == 0 and steps[-1] == tape.head
    assert len(steps) <= MAX_SNAPSHOTS
    assert tape.snapshot_bytes == len(steps) * parameters * 4
    assert tape.snapshot_bytes <= MAX_SNAPSHOT_BYTES
    gaps = {after - before for before, after in pairwise(steps[:-1])}
    assert len(gaps) <= 1, "the kept steps are evenly spaced, but for the newest"


def largest_model():
    config = ModelConfig(
        vocabulary=MAX_VOCABULARY,
        context=MAX_CONTEXT,
        d_model=MAX_D_MODEL,
        n_layers=MAX_LAYERS,
        layer_norm=True,
        mlp=True,
    )
    return sum(parameter.numel() for parameter in TinyTransformer(config, generator(0)).parameters())


@pytest.mark.parametrize("parameters", [7, 1_048, 20_011, 101_111, "largest"])
def test_the_memory_of_a_tape_is_bounded(parameters, monkeypatch):
    parameters = largest_model() if parameters == "largest" else parameters

    def pretend(chosen):
        for step in range(chosen.steps + 1):
            yield TrainingStep(step, 1.0, torch.full((parameters,), float(step)))

    monkeypatch.setattr(training, "train", pretend)
    tape = Tape(settings(steps=1300))
    for head in [*range(40), 511, 512, 513, 700, 1023, 1024, 1025, 1300]:
        tape.grow(head)
        check_bounds(tape, parameters)
        assert tape.snapshot(head).weights[0] == head
    for step in range(1301):
        snapshot = tape.snapshot(step)
        assert snapshot.step <= step and snapshot.weights[0] == snapshot.step


def tensor_bytes():
    """The memory of all tensors there are, each storage once."""
    gc.collect()
    storages = [thing.untyped_storage() for thing in gc.get_objects() if type(thing) in (torch.Tensor, nn.Parameter)]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def test_a_tape_that_waits_holds_no_activations_and_one_that_ended_only_its_weights(monkeypatch):
    monkeypatch.setattr(training, "borrowed_model", IdleModels(most_bytes=0).borrow)
    size = {"d_model": MAX_D_MODEL, "n_heads": 1, "d_k": 512, "n_layers": MAX_LAYERS, "mlp": True, "layer_norm": True}
    chosen = recommended(TASKS["induction"], 1, steps=2, batch_size=MAX_BATCH, **size)
    assert chosen.task.example is not None
    before = tensor_bytes()
    tape = Tape(chosen)
    tape.grow(1)
    waiting, two = tensor_bytes() - before, 2 * tape.snapshot(1).weights.nbytes
    assert MAX_SNAPSHOT_BYTES < two <= 4_000_000, "a model so large that only two snapshots are kept"
    assert tape.snapshot_bytes < waiting <= two + 6_000_000
    tape.grow(2)
    assert tape.ended and tensor_bytes() - before <= two + 10_000


@pytest.mark.parametrize("name", TASKS)
def test_a_run_that_waits_holds_its_weights_two_means_and_batches(name, monkeypatch):
    monkeypatch.setattr(training, "borrowed_model", IdleModels(most_bytes=0).borrow)
    chosen = recommended(TASKS[name], 1)
    list(train(recommended(TASKS[name], 1, steps=1)))
    batch = next(draw_batches(chosen, generator(0)))
    batches = (batch.inputs.numel() + batch.targets.numel()) * training.DRAWN_TOGETHER  # one byte each
    before = tensor_bytes()
    steps = train(chosen)
    next(steps)
    one = next(steps).weights.nbytes
    assert 3 * one + batches <= tensor_bytes() - before < 3 * one + batches + 1_000


def test_a_long_run_keeps_its_losses_and_a_bounded_number_of_weights(monkeypatch):
    monkeypatch.setattr(training, "MAX_SNAPSHOTS", 40)
    tape = Tape(settings(steps=170, batch_size=1))
    tape.grow(170)
    check_bounds(tape, tape.snapshot(0).weights.numel())
    assert 20 <= len(recorded_steps(tape)) <= 40
    assert np.isfinite(tape.losses(170)).all() and len(tape.losses(170)) == 171
    assert tape.losses(20).tolist() == losses_of(settings(batch_size=1))
    assert torch.equal(tape.snapshot(0).weights, next(train(settings())).weights)


def test_a_tape_that_makes_room_keeps_its_newest_step_and_those_at_which_somebody_stands():
    tape = Tape(settings(steps=60))
    tape.grow(37)
    weights = {step: tape.snapshot(step).weights for step in recorded_steps(tape)}
    assert set(weights) == set(range(38))
    tape.thin(keep=[5])
    assert recorded_steps(tape) == [0, 2, 4, 5, *range(6, 37, 2), 37]
    tape.thin()
    assert recorded_steps(tape) == [*range(0, 37, 4), 37]
    for step in recorded_steps(tape):
        assert torch.equal(tape.snapshot(step).weights, weights[step])
    check_bounds(tape, weights[0].numel())
    tape.grow(60)
    assert recorded_steps(tape) == list(range(0, 61, 4))
    assert tape.losses(60).tolist() == losses_of(settings(steps=60))


# Divergence


def test_training_ends_after_the_step_that_shows_a_loss_that_is_no_number():
    steps = losses_of(settings(learning_rate=1e6, weight_decay=0.1, steps=300))
    assert len(steps) < 301
    assert all(math.isfinite(loss) for loss in steps[:-1]) and not math.isfinite(steps[-1])


def test_a_run_that_breaks_keeps_its_last_good_model_and_says_what_to_do():
    chosen = settings(learning_rate=1e6, weight_decay=0.1, steps=300)
    tape = Tape(chosen)
    tape.grow(300)
    assert tape.ended and tape.head < 300
    assert tape.problem.startswith(f"After {tape.head + 1} updates the loss is no longer a number")
    assert f"after {tape.head} updates" in tape.problem
    assert "well below 1e+06" in tape.problem
    assert np.isfinite(tape.losses(300)).all() and len(tape.losses(300)) == tape.head + 1
    newest = tape.snapshot(300)
    assert newest.step == tape.head
    assert newest.weights.isfinite().all()
    tape.grow(300)
    assert tape.head == newest.step


def test_a_broken_run_shows_its_problem_only_at_its_end():
    tape = Tape(settings(learning_rate=1e6, weight_decay=0.1, steps=300))
    run = TrainingRun(tape)
    tape.grow(300)
    assert run.look().problem is None and not run.look().finished
    run.play()
    view = run.look()
    assert view.finished and not view.playing
    assert view.position == tape.head and view.problem == tape.problem


@pytest.mark.parametrize("error", [RuntimeError, FloatingPointError, ValueError])
def test_an_error_in_training_ends_the_tape_with_a_sentence(error, monkeypatch):
    def break_down(chosen):
        for step in range(3):
            yield TrainingStep(step, 1.0, torch.zeros(5))
        raise error("something broke")

    monkeypatch.setattr(training, "train", break_down)
    tape = Tape(settings())
    tape.grow(20)
    assert tape.ended and tape.head == 2
    assert tape.problem == "Training stopped after step 2: something broke"


def test_an_error_before_the_first_step_does_not_speak_of_a_step_before_it(monkeypatch):
    def break_down(chosen):
        raise RuntimeError("something broke")
        yield

    monkeypatch.setattr(training, "train", break_down)
    tape = Tape(settings())
    tape.grow(20)
    assert tape.ended and "something broke" in tape.problem
    assert "-1" not in tape.problem and "−1" not in tape.problem


# Runs


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tape():
    return Tape(settings(steps=50))


def test_a_run_starts_at_step_zero_and_stands_still(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    clock.now += 100
    assert run.position == 0 and not run.playing and not run.finished
    assert tape.head == 0


def test_a_run_moves_at_its_pace(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    tape.grow(50)
    run.play()
    positions = []
    for _ in range(5):
        clock.now += 0.25
        positions.append(run.position)
    assert positions == [2, 5, 7, 10, 12]
    assert run.playing


def test_a_run_is_never_beyond_what_is_recorded(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    run.play()
    tape.grow(5)
    clock.now += 3
    assert run.position == 5 and run.playing and not run.finished


def test_without_a_pace_a_run_is_where_the_tape_is(tape, clock):
    run = TrainingRun(tape, clock=clock)
    run.play()
    for head in (3, 17, 50):
        tape.grow(head)
        assert run.position == head
    assert run.finished and not run.playing


def test_pausing_stands_still_and_playing_goes_on_from_there(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    tape.grow(50)
    run.play()
    clock.now += 1.25
    run.pause()
    clock.now += 100
    assert run.position == 12 and not run.playing
    run.play()
    assert run.position == 12
    clock.now += 0.5
    assert run.position == 17


def test_a_step_at_a_time(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    for position in (1, 2, 3):
        run.step_once()
        assert run.position == position and not run.playing
        assert tape.head == position
    run.play()
    tape.grow(50)
    clock.now += 1.25
    run.step_once()
    assert run.position == 16 and not run.playing
    clock.now += 100
    assert run.position == 16


def test_the_last_step_has_no_step_after_it(tape, clock):
    run = TrainingRun(tape, clock=clock)
    run.play()
    tape.grow(50)
    run.step_once()
    assert run.position == 50 and run.finished


def test_another_pace_counts_from_here_on(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    tape.grow(50)
    run.play()
    clock.now += 1
    run.set_pace(2.0)
    assert run.position == 10
    clock.now += 2
    assert run.position == 14
    run.set_pace(None)
    assert run.position == 50


def test_a_paced_run_is_finished_when_its_own_place_is_at_the_end(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    tape.grow(50)
    run.play()
    clock.now += 4.95
    assert tape.ended and run.position == 49 and not run.finished
    clock.now += 1
    assert run.position == 50 and run.finished and not run.playing


def test_a_run_wants_the_tape_a_little_ahead_of_itself(tape, clock):
    run = TrainingRun(tape, 5.0, clock=clock)
    assert run.wanted <= 0
    run.play()
    assert run.wanted == 5 * TrainingRun.LOOK_AHEAD_SECONDS
    tape.grow(50)
    clock.now += 9
    assert run.position == 45 and run.wanted == 50
    run.pause()
    assert run.wanted <= 0


def test_without_a_pace_a_run_wants_the_whole_tape(tape, clock):
    run = TrainingRun(tape, clock=clock)
    run.play()
    assert run.wanted == 50


def test_a_slow_run_still_wants_its_next_step(tape, clock):
    run = TrainingRun(tape, 0.1, clock=clock)
    run.play()
    assert run.wanted == 1


def test_playing_and_looking_while_playing_wake_the_training(tape, clock):
    calls = []
    run = TrainingRun(tape, 10.0, wake=lambda: calls.append("wake"), clock=clock)
    run.look()
    assert not calls
    run.play()
    run.look()
    assert len(calls) == 2


def test_a_view_shows_one_moment(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    tape.grow(50)
    run.play()
    clock.now += 1.375
    view = run.look()
    assert (view.position, view.playing, view.finished, view.problem) == (13, True, False, None)
    assert view.settings is tape.settings
    assert view.losses.tolist() == tape.losses(50)[:14].tolist()
    assert view.snapshot.step == 13
    assert torch.equal(view.snapshot.weights, tape.snapshot(13).weights)
    clock.now += 100
    later = run.look()
    assert (later.position, later.playing, later.finished) == (50, False, True)
    assert len(view.losses) == 14


def test_looking_says_that_somebody_watches(tape, clock):
    run = TrainingRun(tape, 10.0, clock=clock)
    clock.now += 7
    run.look()
    assert run.last_seen == clock.now


def test_two_learners_on_one_tape_have_places_of_their_own(tape, clock):
    fast, slow = TrainingRun(tape, 20.0, clock=clock), TrainingRun(tape, 2.0, clock=clock)
    tape.grow(50)
    fast.play()
    slow.play()
    clock.now += 2
    assert (fast.position, slow.position) == (40, 4)
    fast.pause()
    clock.now += 2
    assert (fast.position, slow.position) == (40, 8)


def test_a_view_can_be_taken_while_the_tape_grows():
    tape = Tape(settings(steps=150))
    run = TrainingRun(tape)
    run.play()
    thread = threading.Thread(target=tape.grow, args=(150,))
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
