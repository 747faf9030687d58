"""What a run is measured on it has never trained on: counted, one sequence after the other."""

import itertools

import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.tasks import TASKS, CharacterTask, CopyTask, LastTokensTask, fingerprints
from attention_core.learning.training import HELD_OUT, draw_batches, held_out, held_out_batch, recommended, train
from attention_core.model.small_model import draw_model
from lessons.learning.train.compare_runs import COMPARISONS

RUNS = {
    **{key: task for key, task in TASKS.items() if not isinstance(task, CharacterTask)},
    **{f"question of {key}": comparison.task for key, comparison in COMPARISONS.items()},
    "a text": CharacterTask("a tin of ten tan ants sat on a mat. nine nets and one tent stood in the sun.", 5, 0.25),
}
TINY = {  # how many different sequences there are
    "copy": (CopyTask(n_letters=2, window=2), 4),
    "copy more": (CopyTask(n_letters=3, window=3), 27),
    "last": (LastTokensTask(n_letters=2, window=5, last=2), 32),
}


def trained_on(settings, updates):
    """Every sequence of a run's batches, drawn as the run draws them."""
    random = generator(settings.seed)
    draw_model(settings.model, random)  # the weights are drawn before the batches
    batches = itertools.islice(draw_batches(settings, random), updates)
    return {tuple(row) for batch in batches for row in batch.inputs.tolist()}


@pytest.mark.parametrize("seed", [0, 1, 2, 7])
@pytest.mark.parametrize("name", RUNS)
def test_no_sequence_that_is_measured_occurs_in_training(name, seed):
    settings = recommended(RUNS[name], seed)
    measured = [tuple(row) for row in held_out_batch(settings).inputs.tolist()]
    assert len(set(measured)) == len(measured)
    assert not RUNS[name].draws_afresh or len(measured) == HELD_OUT
    if RUNS[name].draws_afresh:
        measured.append(tuple(RUNS[name].example.ids.tolist()))
    updates = 200 if name in ("pronoun", "sort", "last") else 60
    assert not trained_on(settings, updates).intersection(measured)


@pytest.mark.parametrize("name", ["pronoun", "sort"])
def test_without_striking_them_out_some_would_occur(name):
    """So that the test above can fail: among batches as chance draws them there are measured sequences."""
    found = 0
    for seed in range(3):
        settings = recommended(TASKS[name], seed)
        random = generator(seed)
        drawn = {tuple(row) for row in TASKS[name].batch(64 * 300, random).inputs.tolist()}
        found += len(drawn.intersection(map(tuple, held_out_batch(settings).inputs.tolist())))
    assert found > 0


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("seed", range(5))
def test_of_a_tiny_task_a_third_at_most_is_measured_and_the_rest_is_trained_on(name, seed):
    task, total = TINY[name]
    settings = recommended(task, seed, steps=20)
    measured = {tuple(row) for row in held_out_batch(settings).inputs.tolist()}
    trained = trained_on(settings, 60)
    assert 1 <= len(measured) <= total / 3
    assert not trained & measured and tuple(task.example.ids.tolist()) not in trained
    assert len(trained) == total - len(measured | {tuple(task.example.ids.tolist())})
    assert len(list(train(settings))) == 21


def test_a_task_of_three_sequences_is_trained_and_not_measured():
    settings = recommended(CopyTask(n_letters=3, window=1), steps=20)
    assert held_out(settings) is None
    with pytest.raises(ValueError, match="too few"):
        held_out_batch(settings)
    assert [step.evaluation for step in train(settings)] == [None] * 21


def test_a_sequence_that_is_struck_out_is_replaced_and_the_others_stay():
    task = TASKS["sort"]
    drawn = task.batch(37, generator(5))
    aside = fingerprints(drawn.inputs)[[4, 11]]
    batch = task.training_batch(37, generator(5), aside)
    kept = [i for i in range(37) if i not in (4, 11)]
    assert batch.inputs[:35].tolist() == drawn.inputs[kept].tolist()
    assert batch.targets[:35].tolist() == drawn.targets[kept].tolist()
    assert len(batch.inputs) == 37 and not torch.isin(fingerprints(batch.inputs), aside).any()
    for row, answers in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
        assert sorted(row[:6]) == answers[6:], "an answer goes with its sequence"


def test_sequences_have_equal_fingerprints_only_where_they_are_equal():
    batch = TINY["copy more"][0].batch(300, generator(1))
    rows, prints = list(map(tuple, batch.inputs.tolist())), fingerprints(batch.inputs).tolist()
    assert len(set(rows)) == len(set(prints)) == len(set(zip(rows, prints, strict=True)))
