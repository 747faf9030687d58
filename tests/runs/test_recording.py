import gc
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from waiting import Clock

from attention_core import training
from attention_core.model import MAX_CONTEXT, MAX_D_MODEL, MAX_LAYERS, ModelConfig, TinyTransformer
from attention_core.randomness import generator
from attention_core.tasks import MAX_VOCABULARY, TASKS, CharacterTask
from attention_core.training import MAX_BATCH, TrainingSettings, TrainingStep, predict, recommended, train
from attention_core.weights import IdleModels, model_with
from runs import recording as recording_module
from runs.recording import MAX_SNAPSHOT_BYTES, MAX_SNAPSHOTS, Recording


def settings(text="abcabcabcacb", window=3, model=None, **choices):
    task = CharacterTask(text, window)
    config = {"vocabulary": len(task.vocabulary), "context": 5, "d_model": 4} | (model or {})
    return TrainingSettings(**{"task": task, "model": ModelConfig(**config), "steps": 20} | choices)


def losses_of(some_settings):
    return [step.loss for step in train(some_settings)]


def tensor_bytes():
    """The memory of all tensors there are, each storage once."""
    gc.collect()
    storages = [thing.untyped_storage() for thing in gc.get_objects() if type(thing) in (torch.Tensor, nn.Parameter)]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def test_a_tape_records_what_train_yields():
    recording = Recording(settings())
    assert recording.newest == -1 and not recording.ended
    recording.grow(20)
    assert recording.newest == 20 and recording.ended and recording.problem is None
    assert recording.losses(20).tolist() == losses_of(settings())
    assert recording.losses(7).tolist() == losses_of(settings())[:8]
    assert len(recording.losses(1000)) == 21


def test_a_tape_grows_as_far_as_it_is_asked_to():
    recording = Recording(settings())
    recording.grow(5)
    assert recording.newest == 5
    recording.grow(3)
    assert recording.newest == 5 and not recording.ended
    recording.grow(1000)
    assert recording.newest == 20
    recording.grow(1000)
    assert recording.newest == 20 and np.isfinite(recording.losses(20)).all()


def test_a_tape_stops_growing_when_the_time_is_over_but_makes_one_step():
    clock = Clock()
    recording = Recording(settings())

    def tick():
        clock.now += 1
        return clock.now

    recording.grow(20, seconds=5.0, clock=tick)
    assert recording.newest == 4
    recording.grow(20, seconds=0.0, clock=tick)
    assert recording.newest == 5


def test_a_tape_that_is_interrupted_has_made_one_step():
    recording = Recording(settings())
    recording.grow(20, interrupted=lambda: recording.newest >= 3)
    assert recording.newest == 3
    recording.grow(20, interrupted=lambda: True)
    assert recording.newest == 4


def test_the_weights_on_a_tape_reproduce_its_losses():
    chosen = settings(batch_size=5)
    recording = Recording(chosen)
    recording.grow(20)
    random = generator(chosen.seed)
    TinyTransformer(chosen.model, random)
    for step in range(21):
        batch = chosen.task.batch(5, random)
        snapshot = recording.snapshot(step)
        assert snapshot.step == step
        _, loss = predict(model_with(chosen.model, snapshot.weights), batch)
        assert loss == pytest.approx(recording.losses(20)[step], abs=1e-6)


def test_a_model_made_of_a_snapshot_is_its_own():
    recording = Recording(settings())
    recording.grow(3)
    before = recording.snapshot(3).weights.clone()
    model = model_with(settings().model, recording.snapshot(3).weights)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert torch.equal(recording.snapshot(3).weights, before)


def test_nothing_can_be_seen_before_the_first_step():
    with pytest.raises(ValueError, match="nothing is recorded"):
        Recording(settings()).snapshot(0)


def recorded_steps(recording):
    """Every step whose weights are kept, seen from outside."""
    return sorted({recording.snapshot(step).step for step in range(recording.newest + 1)})


@pytest.mark.parametrize("until", [0, 1, 13, 19])
def test_a_tape_that_rested_goes_on_bit_for_bit(until):
    chosen = settings(model={"d_model": 6}, steps=23)
    through, rested = Recording(chosen), Recording(chosen)
    through.grow(23)
    rested.grow(until)
    rested.rest()
    assert not rested.in_training and rested.newest == until
    assert rested.losses(23).tolist() == through.losses(until).tolist()
    rested.grow(until + 2)
    assert rested.in_training and rested.newest == until + 2
    rested.grow(23)
    assert rested.ended and not rested.in_training
    assert rested.losses(23).tolist() == through.losses(23).tolist()
    assert [one.step for one in rested.evaluations(23)] == [one.step for one in through.evaluations(23)]
    for step in range(24):
        ours, expected = rested.snapshot(step), through.snapshot(step)
        assert ours.step == expected.step and torch.equal(ours.weights, expected.weights)


def test_a_tape_that_rested_catches_up_in_turns():
    recording, ticks = Recording(settings()), iter(range(1000))
    recording.grow(13)
    recording.rest()
    for _ in range(13 + 1):
        recording.grow(20, seconds=0.5, clock=lambda: next(ticks))
        assert recording.newest == 13
    recording.grow(20, seconds=0.5, clock=lambda: next(ticks))
    assert recording.newest == 14


def test_a_tape_says_how_long_its_steps_took_and_counts_none_twice(monkeypatch):
    computed = iter(range(1000))
    monkeypatch.setattr(recording_module.time, "thread_time", lambda: float(next(computed)))
    recording = Recording(settings())
    recording.grow(12)
    assert recording.seconds == 13
    recording.rest()
    recording.grow(13)
    assert recording.seconds == 14


def test_a_tape_that_ended_does_not_begin_again():
    recording = Recording(settings(steps=3))
    recording.grow(3)
    recording.rest()
    recording.grow(3)
    assert recording.ended and recording.newest == 3 and not recording.in_training


def check_bounds(recording, parameters):
    steps = recorded_steps(recording)
    assert steps[0] == 0 and steps[-1] == recording.newest
    assert len(steps) <= MAX_SNAPSHOTS
    assert recording.snapshot_bytes == len(steps) * parameters * 4
    assert recording.snapshot_bytes <= MAX_SNAPSHOT_BYTES
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

    monkeypatch.setattr(recording_module, "train", pretend)
    recording = Recording(settings(steps=1300))
    for head in [*range(40), 511, 512, 513, 700, 1023, 1024, 1025, 1300]:
        recording.grow(head)
        check_bounds(recording, parameters)
        assert recording.snapshot(head).weights[0] == head
    for step in range(1301):
        snapshot = recording.snapshot(step)
        assert snapshot.step <= step and snapshot.weights[0] == snapshot.step


def test_a_tape_that_waits_holds_no_activations_and_one_that_ended_only_its_weights(monkeypatch):
    monkeypatch.setattr(training, "borrowed_model", IdleModels(most_bytes=0).borrow)
    size = {"d_model": MAX_D_MODEL, "n_heads": 1, "d_k": 512, "n_layers": MAX_LAYERS, "mlp": True, "layer_norm": True}
    chosen = recommended(TASKS["induction"], 1, steps=2, batch_size=MAX_BATCH, **size)
    assert chosen.task.example is not None
    before = tensor_bytes()
    recording = Recording(chosen)
    recording.grow(1)
    waiting, two = tensor_bytes() - before, 2 * recording.snapshot(1).weights.nbytes
    assert MAX_SNAPSHOT_BYTES < two <= 4_000_000, "a model so large that only two snapshots are kept"
    assert recording.snapshot_bytes < waiting <= two + 6_000_000
    recording.grow(2)
    assert recording.ended and tensor_bytes() - before <= two + 10_000


def test_a_long_run_keeps_its_losses_and_a_bounded_number_of_weights(monkeypatch):
    monkeypatch.setattr(recording_module, "MAX_SNAPSHOTS", 40)
    recording = Recording(settings(steps=170, batch_size=1))
    recording.grow(170)
    check_bounds(recording, recording.snapshot(0).weights.numel())
    assert 20 <= len(recorded_steps(recording)) <= 40
    assert np.isfinite(recording.losses(170)).all() and len(recording.losses(170)) == 171
    assert recording.losses(20).tolist() == losses_of(settings(batch_size=1))
    assert torch.equal(recording.snapshot(0).weights, next(train(settings())).weights)


def test_a_tape_that_makes_room_keeps_its_newest_step_and_those_at_which_somebody_stands():
    recording = Recording(settings(steps=60))
    recording.grow(37)
    weights = {step: recording.snapshot(step).weights for step in recorded_steps(recording)}
    assert set(weights) == set(range(38))
    recording.thin(keep=[5])
    assert recorded_steps(recording) == [0, 2, 4, 5, *range(6, 37, 2), 37]
    recording.thin()
    assert recorded_steps(recording) == [*range(0, 37, 4), 37]
    for step in recorded_steps(recording):
        assert torch.equal(recording.snapshot(step).weights, weights[step])
    check_bounds(recording, weights[0].numel())
    recording.grow(60)
    assert recorded_steps(recording) == list(range(0, 61, 4))
    assert recording.losses(60).tolist() == losses_of(settings(steps=60))


def test_a_run_that_breaks_keeps_its_last_good_model_and_says_what_to_do():
    chosen = settings(learning_rate=1e6, weight_decay=0.1, steps=300)
    recording = Recording(chosen)
    recording.grow(300)
    assert recording.ended and recording.newest < 300
    assert recording.problem.startswith(f"After {recording.newest + 1} updates the loss is no longer a number")
    assert f"after {recording.newest} updates" in recording.problem
    assert "well below 1e+06" in recording.problem
    assert np.isfinite(recording.losses(300)).all() and len(recording.losses(300)) == recording.newest + 1
    newest = recording.snapshot(300)
    assert newest.step == recording.newest
    assert newest.weights.isfinite().all()
    recording.grow(300)
    assert recording.newest == newest.step


@pytest.mark.parametrize("error", [RuntimeError, FloatingPointError, ValueError])
def test_an_error_in_training_ends_the_tape_with_a_sentence(error, monkeypatch):
    def break_down(chosen):
        for step in range(3):
            yield TrainingStep(step, 1.0, torch.zeros(5))
        raise error("something broke")

    monkeypatch.setattr(recording_module, "train", break_down)
    recording = Recording(settings())
    recording.grow(20)
    assert recording.ended and recording.newest == 2
    assert recording.problem == "Training stopped after step 2: something broke"


def test_an_error_before_the_first_step_does_not_speak_of_a_step_before_it(monkeypatch):
    def break_down(chosen):
        raise RuntimeError("something broke")
        yield

    monkeypatch.setattr(recording_module, "train", break_down)
    recording = Recording(settings())
    recording.grow(20)
    assert recording.ended and "something broke" in recording.problem
    assert "-1" not in recording.problem and "−1" not in recording.problem
