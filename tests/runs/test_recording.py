"""What is recorded of a training: all of it, the same for all, in bounded memory."""

import gc
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.steps import TrainingStack, TrainingStep, predict
from attention_core.learning.tasks import MAX_VOCABULARY, TASKS, CharacterTask
from attention_core.learning.training import MAX_BATCH, TrainingSettings, begin_run, recommended, train
from attention_core.model.small_model import (
    MAX_CONTEXT,
    MAX_D_MODEL,
    MAX_LAYERS,
    ModelConfig,
    blank,
    draw_model,
    model_with,
)
from attention_core.model.weights import count_weights
from runs import recording as recording_module
from runs import turn as turn_module
from runs.recording import MAX_BYTES, SNAPSHOTS, Recording, record_together


def settings(text="abcabcabcacb", window=3, model=None, **choices):
    task = CharacterTask(text, window)
    config = {"vocabulary": len(task.vocabulary), "context": 5, "d_model": 4} | (model or {})
    return TrainingSettings(**{"task": task, "model": ModelConfig(**config), "steps": 20} | choices)


def losses_of(some_settings):
    return [step.loss for step in train(some_settings)]


def over_after(asked):
    """A time that is over when it is asked for so often."""
    answers = iter([False] * (asked - 1))
    return lambda: next(answers, True)


def test_a_recording_records_what_train_yields():
    recording = Recording(settings())
    assert recording.newest == -1 and not recording.ended
    recording.record(20)
    assert recording.newest == 20 and recording.ended and recording.problem is None
    assert recording.losses(20).tolist() == losses_of(settings())
    assert recording.losses(7).tolist() == losses_of(settings())[:8]
    assert len(recording.losses(1000)) == 21


def test_it_is_recorded_as_far_as_it_is_asked_to():
    recording = Recording(settings())
    recording.record(5)
    assert recording.newest == 5
    recording.record(3)
    assert recording.newest == 5 and not recording.ended
    recording.record(1000)
    assert recording.newest == 20
    recording.record(1000)
    assert recording.newest == 20 and np.isfinite(recording.losses(20)).all()


def test_recording_stops_when_the_time_is_over_but_makes_one_step():
    recording = Recording(settings())
    record_together({recording: 20}, over_after(5))
    assert recording.newest == 4
    record_together({recording: 20}, over_after(1))
    assert recording.newest == 5


def test_the_weights_on_a_recording_reproduce_its_losses():
    chosen = settings(batch_size=5)
    recording = Recording(chosen)
    recording.record(20)
    random = generator(chosen.seed)
    draw_model(chosen.model, random)
    for step in range(21):
        batch = chosen.task.batch(5, random)
        snapshot = recording.snapshot(step)
        assert snapshot.step == step
        _, loss = predict(model_with(chosen.model, torch.from_numpy(snapshot.weights)), batch)
        assert float(loss.loss) == pytest.approx(recording.losses(20)[step], abs=1e-6)


def test_a_snapshot_is_not_changed_by_later_steps():
    recording = Recording(settings())
    recording.record(3)
    before = recording.snapshot(3).weights.copy()
    recording.record(20)
    assert np.array_equal(recording.snapshot(3).weights, before)


def test_nothing_can_be_seen_before_the_first_step():
    with pytest.raises(ValueError, match="nothing is recorded"):
        Recording(settings()).snapshot(0)


@pytest.mark.parametrize("until", [0, 1, 13, 19])
def test_recording_in_parts_gives_the_same_bit_for_bit(until):
    chosen = settings(model={"d_model": 6}, steps=23)
    through, parts = Recording(chosen), Recording(chosen)
    through.record(23)
    parts.record(until)
    assert parts.losses(23).tolist() == through.losses(until).tolist()
    parts.record(23)
    assert parts.losses(23).tolist() == through.losses(23).tolist()
    assert [one.step for one in parts.evaluations(23)] == [one.step for one in through.evaluations(23)]
    for step in range(24):
        ours, expected = parts.snapshot(step), through.snapshot(step)
        assert ours.step == expected.step and np.array_equal(ours.weights, expected.weights)


def largest_model():
    config = ModelConfig(
        vocabulary=MAX_VOCABULARY,
        context=MAX_CONTEXT,
        d_model=MAX_D_MODEL,
        n_layers=MAX_LAYERS,
        layer_norm=True,
        mlp=True,
    )
    return count_weights(blank(config))


def pretend(parameters, monkeypatch):
    """A training whose weights after each step are the number of the step, over and over."""

    def begin(settings):
        return replace(begin_run(settings), weights=np.zeros(parameters, np.float32), means=())

    class Pretended(TrainingStack):
        def __init__(self, states, *, evaluated):
            self.states = states

        def write_back(self):
            pass

        def step(self):
            steps = []
            for state in self.states:
                weights = np.full(parameters, state.step, np.float32)
                steps.append(TrainingStep(state.step, 1.0, weights))
                state.step += 1
            return steps

    monkeypatch.setattr(turn_module, "TrainingStack", Pretended)
    monkeypatch.setattr(recording_module, "begin_run", begin)


@pytest.mark.parametrize("parameters", [7, 1_048, 20_011, pytest.param("largest", marks=pytest.mark.slow)])
def test_a_recording_keeps_so_many_snapshots_and_no_more(parameters, monkeypatch):
    parameters = largest_model() if parameters == "largest" else parameters
    most = max(2, min(SNAPSHOTS, MAX_BYTES // (4 * parameters)))
    pretend(parameters, monkeypatch)
    recording = Recording(settings(steps=1300))
    for newest in [*range(40), 511, 512, 513, 700, 1023, 1024, 1025, 1300]:
        recording.record(newest)
        steps = recording.snapshot_steps(newest)
        assert steps[: most // 9] == list(range(most // 9))[: newest + 1] and steps[0] == 0 and steps[-1] == newest
        later = [step for step in steps if step >= most // 9]
        *gaps, last = [after - before for before, after in pairwise(later)] or [1]
        assert len(set(gaps)) <= 1, "the kept steps are evenly spaced, but for the first ones and the newest"
        assert last <= (gaps or [last])[0]
        assert min(newest, (most - most // 9) // (5 if newest < 180 else 2)) <= len(steps) - 1 <= most
    for step in range(1301):
        snapshot = recording.snapshot(step)
        assert snapshot.step <= step and set(snapshot.weights.tolist()) == {float(snapshot.step)}


@pytest.mark.slow
def test_a_long_run_keeps_the_weights_of_steps_at_which_it_is_evaluated():
    """So that one can go to the very moment at which something was measured."""
    recording = Recording(settings(steps=600, batch_size=1))
    recording.record(600)
    evaluated = [evaluation.step for evaluation in recording.evaluations(600)]
    assert set(evaluated) == set(range(0, 601, 20)) <= set(recording.snapshot_steps(600))


def test_a_snapshot_stays_as_it_was_however_far_the_recording_comes(monkeypatch):
    pretend(30_011, monkeypatch)
    recording, seen = Recording(settings(steps=300)), []
    for step in range(301):
        recording.record(step)
        seen.append(recording.snapshot(step))
    assert all(float(snapshot.weights.min()) == float(snapshot.weights.max()) == snapshot.step for snapshot in seen)


def bytes_of_arrays():
    """The memory of all NumPy arrays made since the tracing began."""
    gc.collect()
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([arrays]).traces)


@pytest.mark.parametrize("size", ["usual", pytest.param("largest", marks=pytest.mark.slow)])
def test_a_recording_that_waits_holds_no_activations_and_one_that_ended_only_its_weights(size):
    large = {"d_model": MAX_D_MODEL, "n_heads": 1, "d_k": 512, "n_layers": MAX_LAYERS, "mlp": True, "layer_norm": True}
    changes = {"batch_size": MAX_BATCH, **(large if size == "largest" else {})}
    chosen = recommended(TASKS["induction"], 1, steps=2, **changes)
    assert chosen.task.example is not None
    Recording(chosen).record(1)  # what is made once for all runs
    tracemalloc.start()
    try:
        recording = Recording(chosen)
        recording.record(1)
        waiting, one = bytes_of_arrays(), recording.snapshot(1).weights.nbytes
        kept = max(2 * one, min(SNAPSHOTS * one, MAX_BYTES))
        assert kept - one < waiting <= kept + 4 * one + 500_000
        recording.record(2)
        assert recording.ended and bytes_of_arrays() <= kept + one + 10_000
    finally:
        tracemalloc.stop()


def test_a_long_run_keeps_its_losses_and_the_weights_of_some_steps():
    chosen = settings(steps=170, batch_size=1)
    trained = list(train(chosen))
    recording = Recording(chosen)
    recording.record(170)
    assert recording.snapshot_steps(170) == [0, 1, 2, 3, *range(10, 171, 10)]
    assert recording.losses(170).tolist() == [step.loss for step in trained]
    for step in recording.snapshot_steps(170):
        assert np.array_equal(recording.snapshot(step).weights, trained[step].weights)


def test_a_run_that_breaks_keeps_its_last_good_model_and_says_what_to_do():
    chosen = settings(learning_rate=1e6, weight_decay=0.1, steps=300)
    recording = Recording(chosen)
    recording.record(300)
    assert recording.ended and recording.newest < 300
    assert str(recording.problem).startswith(f"At training step {recording.newest + 1} the loss is no longer a number")
    assert f"that of step {recording.newest}." in str(recording.problem)
    assert "well below 1e+06" in str(recording.problem)
    assert np.isfinite(recording.losses(300)).all() and len(recording.losses(300)) == recording.newest + 1
    newest = recording.snapshot(300)
    assert newest.step == recording.newest
    assert np.isfinite(newest.weights).all()
    recording.record(300)
    assert recording.newest == newest.step


def breaking(error, monkeypatch, at):
    """A training that breaks at this step, whoever is trained."""

    class Breaking(TrainingStack):
        def step(self):
            if self.states[0].step == at:
                raise error("something broke")
            return super().step()

    monkeypatch.setattr(turn_module, "TrainingStack", Breaking)


@pytest.mark.parametrize("error", [RuntimeError, FloatingPointError, ValueError])
def test_an_error_in_training_ends_the_recording_with_a_sentence(error, monkeypatch):
    breaking(error, monkeypatch, at=3)
    recording = Recording(settings())
    recording.record(20)
    assert recording.ended and recording.newest == 2
    assert str(recording.problem) == "Training stopped after step 2: something broke"


def test_an_error_before_the_first_step_does_not_speak_of_a_step_before_it(monkeypatch):
    breaking(RuntimeError, monkeypatch, at=0)
    recording = Recording(settings())
    recording.record(20)
    assert recording.ended and "something broke" in str(recording.problem)
    assert "-1" not in str(recording.problem) and "−1" not in str(recording.problem)


# Several runs together


def different(seeds=(0, 1, 2), **choices):
    return [Recording(settings(seed=seed, **choices)) for seed in seeds]


def test_runs_recorded_together_are_those_recorded_alone_to_the_last_bit():
    together, alone = different(steps=45), different(steps=45)
    together[1].record(7)  # it joins the others later in its life
    record_together({recording: 45 for recording in together})
    for one, other in zip(together, alone, strict=True):
        other.record(45)
        assert one.ended and one.problem is None
        assert one.losses(45).tolist() == other.losses(45).tolist()
        assert [e.loss for e in one.evaluations(45)] == [e.loss for e in other.evaluations(45)]
        assert [s for s in range(46) if not np.array_equal(one.snapshot(s).weights, other.snapshot(s).weights)] == []


def test_each_is_recorded_as_far_as_it_is_wanted():
    recordings = different()
    record_together(dict(zip(recordings, (3, 20, 11), strict=True)))
    assert [recording.newest for recording in recordings] == [3, 20, 11]
    assert [recording.ended for recording in recordings] == [False, True, False]


def test_the_time_is_over_for_all_after_the_same_step():
    recordings = different()
    record_together({recording: 20 for recording in recordings}, over_after(5))
    assert [recording.newest for recording in recordings] == [4, 4, 4]


def test_one_that_breaks_leaves_the_others_as_they_are_alone():
    chosen = settings(learning_rate=1e6, weight_decay=0.1, steps=300)
    broken, good, alone = Recording(chosen), Recording(settings(steps=300)), Recording(settings(steps=300))
    record_together({broken: 300, good: 300})
    alone.record(300)
    assert broken.ended and broken.problem is not None and broken.newest < 300
    assert good.ended and good.problem is None and good.losses(300).tolist() == alone.losses(300).tolist()


def test_an_error_of_one_ends_that_one_and_the_others_go_on_bit_for_bit(monkeypatch):
    class Breaking(TrainingStack):
        def step(self):
            if any(state.draws.settings.seed == 1 and state.step == 3 for state in self.states):
                raise MemoryError("nothing left")
            return super().step()

    expected = [losses_of(settings(seed=seed)) for seed in (0, 2)]
    monkeypatch.setattr(turn_module, "TrainingStack", Breaking)
    recordings = different()
    for _ in range(30):
        record_together({recording: 20 for recording in recordings})
    assert recordings[1].newest == 2 and str(recordings[1].problem) == "Training stopped after step 2: nothing left"
    assert [recordings[i].losses(20).tolist() for i in (0, 2)] == expected
