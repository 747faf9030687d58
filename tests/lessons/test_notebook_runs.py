"""The notebooks' own trainings: their settings as the notebooks have them, and what is said of the difference."""

import dataclasses

import pytest
import torch

from attention_core.base.randomness import generator
from attention_core.learning.tasks import TASKS, CharacterTask
from attention_core.learning.tasks.text import notebook_model
from attention_core.learning.tasks.vectors import TRAINED
from attention_core.learning.training import recommended
from attention_core.model.small_model import draw_model
from lessons.learning.train.notebook_runs import FOUR_VECTORS, HELLO_WORLD, PRINTED, beside_the_printed, notebook_notes
from lessons.screen import render
from runs.recording import Recording
from runs.run import TrainingRun
from tests.printed import readings, with_decimals


@pytest.mark.parametrize("seed", [0, 42, 7])
def test_the_four_vectors_are_the_rows_of_the_notebook_s_embedding(seed):
    with torch.random.fork_rng():
        torch.manual_seed(42)
        embedding = torch.nn.Embedding(50, 8)
    expected = embedding(torch.tensor([5, 12, 31, 7])).detach()
    model = draw_model(recommended(TASKS["vectors"], seed).model, generator(seed))
    assert torch.equal(model.fixed_table[list(TRAINED)], expected)
    zero, _ = TASKS["vectors"].baselines()
    assert zero.loss == pytest.approx(float(embedding.weight.detach().square().mean()), abs=1e-6)


def test_hello_world_is_trained_as_the_notebook_trains_it():
    assert HELLO_WORLD.model == notebook_model(8)
    assert (HELLO_WORLD.learning_rate, HELLO_WORLD.weight_decay, HELLO_WORLD.optimiser) == (0.001, 0.01, "adamw")
    assert (HELLO_WORLD.steps, HELLO_WORLD.batch_size, HELLO_WORLD.clip) == (200, 4, None)
    text, windows = "hello world", HELLO_WORLD.task.windows.tolist()
    assert [HELLO_WORLD.task.vocabulary.decode(row) for row in windows] == [list(text[i : i + 9]) for i in range(3)]


@pytest.mark.parametrize("notebook", [HELLO_WORLD, FOUR_VECTORS])
def test_what_is_said_of_a_notebook_s_settings_is_said_of_any_seed_and_of_nothing_else(notebook):
    for seed in (0, 5, 1337):
        (note,) = notebook_notes(dataclasses.replace(notebook, seed=seed))
        assert render(note).startswith("These are the notebook's settings")
    assert notebook_notes(dataclasses.replace(notebook, learning_rate=0.002)) == ()
    for task in (CharacterTask("hello world"), TASKS["copy"]):
        assert notebook_notes(recommended(task)) == ()
    batch, windows = (notebook_notes(HELLO_WORLD)[0].arguments[name] for name in ("batch", "windows"))
    assert (batch, windows) == (4, len("hello world") - 8)


@pytest.mark.parametrize("seed", [0, 3, 1337])
def test_the_losses_stand_beside_those_that_the_notebook_printed(seed):
    run = TrainingRun(Recording(dataclasses.replace(HELLO_WORLD, seed=seed)))
    run.recording.record(120)
    run.goal = 120
    (said,) = beside_the_printed(run.look())
    ours = [float(run.recording.losses(120)[step]) for step in (0, 50, 100)]
    assert [one.value for one in said.arguments["ours"].items] == pytest.approx(ours)
    assert "0, 50 and 100 training steps" in render(said) and "2.1783, 1.5632 and 0.8687" in render(said)
    assert all(any(text in render(said) for text in readings(loss, with_decimals(4))) for loss in ours)
    assert all(abs(loss - PRINTED[step]) < 0.6 for step, loss in zip((0, 50, 100), ours, strict=True)), "alike"
    run.goal = 49
    assert beside_the_printed(run.look()) == (), "there is but the first of them"
