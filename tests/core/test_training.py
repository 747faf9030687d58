import math
import threading
import tracemalloc

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_core.base.randomness import MAX_SEED, generator
from attention_core.learning import training
from attention_core.learning.tasks import MAX_VOCABULARY, NO_TARGET, TASKS, CharacterTask
from attention_core.learning.tasks.base import fingerprints
from attention_core.learning.training import MAX_BATCH, MAX_STEPS, TrainingSettings, draw_batches, recommended, train
from attention_core.model.small_model import ModelConfig, draw_model
from attention_core.model.weights import named_weights, weights_of


def settings(text="abcabcabcacb", window=3, model=None, **choices):
    task = CharacterTask(text, window)
    config = {"vocabulary": len(task.vocabulary), "context": 5, "d_model": 4} | (model or {})
    return TrainingSettings(**{"task": task, "model": ModelConfig(**config), "steps": 20} | choices)


def losses_of(some_settings):
    return [step.loss for step in train(some_settings)]


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
    untrained = draw_model(settings().model, generator(7))
    assert first.step == 0
    assert first.weights.tolist() == weights_of(untrained).tolist()


def test_training_is_the_plain_loop_of_pytorch():
    chosen = settings(seed=7, batch_size=5, model={"mlp": True, "layer_norm": True, "n_layers": 2})
    random = generator(7)
    model = draw_model(chosen.model, random)
    weights = [weight.requires_grad_() for _, weight in named_weights(model)]
    optimiser = torch.optim.AdamW(weights, chosen.learning_rate, weight_decay=chosen.weight_decay)
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


@pytest.mark.parametrize("name", TASKS)
def test_the_batches_are_those_that_the_task_draws_but_for_what_is_set_aside(name):
    chosen = recommended(TASKS[name], seed=3)
    size = chosen.batch_size
    drawn = chosen.task.batch(size * training.DRAWN_TOGETHER, generator(17))
    drawn = drawn.rows(
        ~torch.isin(fingerprints(drawn.inputs), training.held_out_fingerprints(chosen.task, chosen.seed))
    )
    batches = draw_batches(chosen, generator(17))
    for begin in range(0, 3 * size, size):
        batch = next(batches)
        assert torch.equal(batch.inputs, drawn.inputs[begin : begin + size])
        assert torch.equal(batch.targets, drawn.targets[begin : begin + size])
    assert len(chosen.task.vocabulary) <= MAX_VOCABULARY


def test_every_token_fits_into_a_byte():
    assert torch.arange(MAX_VOCABULARY).to(torch.int8).long().tolist() == list(range(MAX_VOCABULARY))
    assert torch.tensor(NO_TARGET).to(torch.int8) == NO_TARGET


def test_training_ends_after_the_step_that_shows_a_loss_that_is_no_number():
    steps = losses_of(settings(learning_rate=1e6, weight_decay=0.1, steps=300))
    assert len(steps) < 301
    assert all(math.isfinite(loss) for loss in steps[:-1]) and not math.isfinite(steps[-1])


def bytes_of_arrays():
    """The memory of all NumPy arrays made since the tracing began."""
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([arrays]).traces)


@pytest.mark.parametrize("name", TASKS)
def test_a_run_that_waits_holds_its_weights_twice_two_means_and_batches(name):
    chosen = recommended(TASKS[name], 1)
    list(train(recommended(TASKS[name], 1, steps=1)))  # what is made once for all runs
    batch = next(draw_batches(chosen, generator(0)))
    batches = (batch.inputs.numel() + batch.targets.numel()) * training.DRAWN_TOGETHER  # one byte each
    tracemalloc.start()
    try:
        steps = train(chosen)
        next(steps)
        one = next(steps).weights.nbytes
        held = bytes_of_arrays()
    finally:
        tracemalloc.stop()
    assert 3 * one + batches <= held < 4 * one + batches + 2_000  # those that were shown need not be held
