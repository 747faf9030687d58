"""What is measured beside the loss, the switches of the optimiser, and what is recommended."""

import math
from dataclasses import fields

import numpy as np
import pytest
import torch
from torch.nn.functional import mse_loss

from attention_core.base.randomness import generator
from attention_core.learning import training
from attention_core.learning.optimiser import adamw, clipped, sgd
from attention_core.learning.steps import EVALUATE_EVERY
from attention_core.learning.tasks import NO_TARGET, TASKS, CharacterTask, FourVectorsTask
from attention_core.learning.training import HELD_OUT, MAX_STEPS, draw_batches, held_out_batch, recommended, train
from attention_core.model.small_model import draw_model, model_with
from attention_core.model.transformer import Transformer
from attention_core.model.weights import named_weights
from runs.recording import Recording
from runs.run import TrainingRun


def recorded(name, steps=3, **changes):
    settings = recommended(TASKS[name], 7, steps=steps, **changes)
    recording = Recording(settings)
    recording.record(steps)
    return settings, recording


def measured_by_loops(settings, weights):
    """Loss, accuracy and the weights on the right cells once more, sequence by sequence and cell by cell."""
    model, batch = model_with(settings.model, torch.from_numpy(weights)), held_out_batch(settings)
    losses, right, looked = [], [], {}
    for row in range(len(batch.inputs)):
        trace = model(batch.inputs[row])
        log_p = trace.logits.log_softmax(-1)
        for place, target in enumerate(batch.targets[row].tolist()):
            if target != NO_TARGET:
                losses.append(-log_p[place, target].item())
                right.append(int(trace.logits[place].argmax()) == target)
        for role, queries in enumerate([] if batch.target_attention is None else batch.target_attention[row].tolist()):
            for query, keys in enumerate(queries):
                for layer, block in enumerate(trace.layers):
                    for head, weights in enumerate(block.attention.heads.weights[:, query].tolist()):
                        if any(keys):
                            cell = looked.setdefault((role, layer, head), [])
                            cell.append(sum(w for w, key in zip(weights, keys, strict=True) if key))
    return sum(losses) / len(losses), sum(right) / len(right), {k: sum(v) / len(v) for k, v in looked.items()}


@pytest.mark.parametrize("name", ["reverse", "sort", "last", "recall", "induction", "noise", "characters"])
def test_the_measures_are_what_loops_over_all_cells_find(name):
    settings, recording = recorded(name)
    (last,) = [m for m in recording.evaluations(3) if m.step == 3]
    loss, accuracy, looked = measured_by_loops(settings, recording.snapshot(3).weights)
    assert last.loss == pytest.approx(loss, abs=1e-5)
    assert last.accuracy == pytest.approx(accuracy, abs=1e-6)
    n_roles = len(settings.task.roles)
    assert last.role_weights.shape == (n_roles, settings.model.n_layers, settings.model.n_heads)
    for cell, weight in looked.items():
        assert float(last.role_weights[cell]) == pytest.approx(weight, abs=1e-5)
    assert len(looked) == last.role_weights.size
    best = [max(w for (role, *_), w in looked.items() if role == j) for j in range(n_roles)]
    assert last.best_role_weights == pytest.approx(best, abs=1e-5)
    assert last.weight == pytest.approx(min(best), abs=1e-5) if best else math.isnan(last.weight)


def test_vectors_are_measured_by_their_distance_and_by_the_nearest_token():
    settings, recording = recorded("vectors")
    model, batch = model_with(settings.model, torch.from_numpy(recording.snapshot(3).weights)), held_out_batch(settings)
    output, table = model(batch.inputs).logits, model.fixed_table
    nearest = [[int((table - v).square().sum(-1).argmin()) for v in row] for row in output]
    last = recording.evaluations(3)[-1]
    assert last.loss == pytest.approx(mse_loss(output, table[batch.inputs]).item(), abs=1e-6)
    assert last.accuracy == pytest.approx(float((torch.tensor(nearest) == batch.inputs).float().mean()))


def test_a_run_is_measured_every_so_often_and_at_its_end():
    _, recording = recorded("copy", steps=45)
    assert [m.step for m in recording.evaluations(45)] == [0, EVALUATE_EVERY, 2 * EVALUATE_EVERY, 45]
    assert [m.step for m in recording.evaluations(39)] == [0, EVALUATE_EVERY]


def test_a_task_without_role_weights_keeps_one_empty_table_for_all_steps():
    recording = Recording(recommended(TASKS["characters"], steps=41))
    recording.record(41)
    role_weights = [evaluation.role_weights for evaluation in recording.evaluations(41)]
    assert len(role_weights) == 4 and all(one is role_weights[0] for one in role_weights)
    assert role_weights[0].shape == (0, 1, 4)


def test_a_view_shows_what_was_measured_up_to_its_moment():
    recording = Recording(recommended(TASKS["copy"], steps=25))
    run = TrainingRun(recording)
    recording.record(25)
    assert [m.step for m in run.look().evaluations] == [0]
    run.train()
    assert [m.step for m in run.look().evaluations] == [0, 20, 25]


def test_measuring_changes_nothing_about_the_training(monkeypatch):
    settings = recommended(TASKS["recall"], steps=30)
    measured = [step.loss for step in train(settings)]
    monkeypatch.setattr(training, "held_out", lambda settings: None)
    assert [step.loss for step in train(settings)] == measured


def test_held_out_sequences_are_from_a_stream_of_their_own():
    settings = recommended(TASKS["reverse"], 3)
    held_out, same = held_out_batch(settings), held_out_batch(settings)
    assert torch.equal(held_out.inputs, same.inputs) and len(held_out.inputs) == HELD_OUT
    batches = draw_batches(settings, generator(3))
    trained = {tuple(row) for _ in range(40) for row in next(batches).inputs.tolist()}
    assert not trained & {tuple(row) for row in held_out.inputs.tolist()}


def test_batches_drawn_together_are_those_drawn_one_by_one():
    settings = recommended(CharacterTask("hello world"), batch_size=4)
    together, alone = draw_batches(settings, generator(3)), generator(3)
    for _ in range(70):
        batch, expected = next(together), settings.task.batch(4, alone)
        assert torch.equal(batch.inputs, expected.inputs) and torch.equal(batch.targets, expected.targets)


@pytest.mark.parametrize("name", ["recall", "last"])
def test_batches_to_train_on_do_not_say_where_to_look(name):
    settings = recommended(TASKS[name], 3)
    assert settings.task.batch(2, generator(3)).target_attention is not None
    assert next(draw_batches(settings, generator(3))).target_attention is None


@pytest.mark.parametrize("name", ["reverse", "recall", "vectors"])
@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
@pytest.mark.parametrize("clip", [None, 0.5])
def test_training_any_task_is_the_plain_loop_of_pytorch(name, optimiser, clip):
    settings = recommended(TASKS[name], 7, steps=12, optimiser=optimiser, clip=clip, learning_rate=0.01)
    random = generator(7)
    model = draw_model(settings.model, random)
    kind = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[optimiser]
    weights = [weight.requires_grad_() for _, weight in named_weights(model)]
    plain, expected = kind(weights, 0.01, weight_decay=0.0), []
    batches = draw_batches(settings, random)
    for _ in range(13):
        batch = next(batches)
        output = model(batch.inputs).logits
        if name == "vectors":
            loss = mse_loss(output, model.fixed_table[batch.targets])
        else:
            loss = torch.nn.functional.cross_entropy(output.flatten(0, 1), batch.targets.flatten())
        expected.append(loss.item())
        plain.zero_grad()
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(weights, clip)
        plain.step()
    assert [step.loss for step in train(settings)] == pytest.approx(expected, abs=2e-4)
    assert max(expected) - min(expected) > 0.01


def test_plain_gradient_descent_is_pytorch_s():
    weights = torch.randn(7, generator=generator(0))
    theirs, ours = torch.nn.Parameter(weights.clone()), weights.numpy()[None].copy()
    plain = torch.optim.SGD([theirs], 0.3)
    for seed in range(5):
        gradient = torch.randn(7, generator=generator(seed))
        theirs.grad = gradient.clone()
        plain.step()
        sgd(ours, gradient.numpy()[None], (), [seed + 1], [0.3], [0.0])
    torch.testing.assert_close(torch.tensor(ours[0]), theirs.detach())


def test_without_decay_adamw_is_adam():
    weights = torch.randn(7, generator=generator(0))
    theirs, ours = torch.nn.Parameter(weights.clone()), weights.numpy()[None].copy()
    adam, means = torch.optim.Adam([theirs], 0.03), (np.zeros_like(ours), np.zeros_like(ours))
    for seed in range(5):
        gradient = torch.randn(7, generator=generator(seed))
        theirs.grad = gradient.clone()
        adam.step()
        adamw(ours, gradient.numpy()[None], means, [seed + 1], [0.03], [0.0])
    torch.testing.assert_close(torch.tensor(ours[0]), theirs.detach())


def test_long_gradients_are_shortened_and_short_ones_left_alone():
    gradient = np.array([[3.0, -4.0]], np.float32)
    np.testing.assert_allclose(clipped(gradient, [2.5]), [[1.5, -2.0]])
    assert np.array_equal(clipped(gradient, [7.0]), gradient)
    assert np.array_equal(clipped(np.zeros((1, 3)), [1.0]), np.zeros((1, 3)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clip": 0.0}, "a length above 0, but got 0"),
        ({"clip": math.nan}, "a length above 0"),
        ({"steps": MAX_STEPS + 1}, f"1 to {MAX_STEPS} steps"),
        ({"output": "vectors"}, "compares scores, but the model gives vectors"),
        ({"vocabulary": 7}, "the task has 10 different tokens, but the model was made for 7"),
        ({"context": 3}, "sees 3 tokens at once, too few for a window of 10"),
        ({"d_k": 0}, "d_k goes from 1 to 512 with n_heads = 1, but got 0"),
        ({"d_k": 513}, "d_k goes from 1 to 512"),
        ({"d_k": 3, "heads": "sliced"}, "let the heads project"),
        ({"d_k": 3, "positions": "rotary"}, "must be even, but it is 3"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_an_error_that_says_what_can(changes, message):
    with pytest.raises(ValueError, match=message):
        recommended(TASKS["reverse"], **changes)


QUICK = ["copy", "previous", "reverse", "lookup", "pronoun"]


@pytest.mark.part(3)
@pytest.mark.parametrize("name", QUICK)
def test_what_is_recommended_learns_the_task_and_its_head_looks_where_it_should(name):
    settings = recommended(TASKS[name], 11)
    recording = Recording(settings)
    recording.record(settings.steps)
    first, last = recording.evaluations(settings.steps)[0], recording.evaluations(settings.steps)[-1]
    assert not first.learnt and last.learnt
    assert last.accuracy >= 0.95 and last.weight >= settings.task.threshold > first.weight
    assert last.loss < 0.2 * settings.task.baselines()[0].loss


def test_four_vectors_are_learnt_by_heart_and_nothing_else_is():
    settings = recommended(TASKS["vectors"], 11)
    recording = Recording(settings)
    recording.record(settings.steps)
    last = recording.evaluations(settings.steps)[-1]
    assert recording.losses(settings.steps)[-1] <= FourVectorsTask.MEMORISED
    assert not last.learnt and last.accuracy < 0.5 and last.loss > 0.5 * settings.task.baselines()[0].loss


def test_two_layers_recall_and_one_cannot():
    accuracy = {}
    for layers in (1, 2):
        steps = train(recommended(TASKS["recall"], 11, n_layers=layers, steps=300))
        measured = (step.evaluation.accuracy for step in steps if step.evaluation is not None)
        accuracy[layers] = next((right for right in measured if right >= 0.95), 0.0)
    assert accuracy[2] >= 0.95 and accuracy[1] == 0.0


def test_a_model_is_measured_with_one_look_at_the_held_out_sequences_and_no_more(monkeypatch):
    sizes, forward = [], Transformer.__call__
    monkeypatch.setattr(
        Transformer, "__call__", lambda model, ids, *rest: sizes.append(ids.shape[1]) or forward(model, ids, *rest)
    )
    settings = recommended(TASKS["copy"], steps=45)
    list(train(settings))
    assert sizes.count(settings.batch_size) == 46
    assert sizes.count(HELD_OUT) == len({0, EVALUATE_EVERY, 2 * EVALUATE_EVERY, 45}) and len(sizes) == 50


def test_a_task_has_no_more_fields_than_make_it_what_it_is():
    for task in TASKS.values():
        assert all(isinstance(getattr(task, f.name), int | float | str) for f in fields(task))
