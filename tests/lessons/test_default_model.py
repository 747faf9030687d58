"""The weights that ship with the first screen are those that its run comes to."""

import numpy as np
import pytest

from lessons.example.example import learnt_example, run_example
from lessons.example.shipped_weights import DEFAULT_WEIGHTS, default_weights, shipped_weights
from lessons.example.task_models import ModelRecording, Trained, recorded
from training.default_model import default_settings, trained_again, write

SETTINGS = default_settings()


@pytest.fixture(scope="module")
def again():
    return trained_again(SETTINGS)


@pytest.mark.parametrize("updates", [0, 20, SETTINGS.steps])
def test_the_first_screen_shows_the_weights_of_the_file(updates):
    trained = run_example(learnt_example("stories", updates=updates)).trained
    assert isinstance(trained, Trained) and trained.recording.settings == SETTINGS
    assert (trained.recording.weights[updates] == default_weights()[1][updates]).all()


def test_trained_again_it_comes_to_the_same_weights_and_verdicts(again):
    # Machines add up in different orders, which training enlarges.
    shipped = ModelRecording(SETTINGS, shipped_weights(SETTINGS))
    assert list(again.weights) == sorted(shipped.weights) == list(again.kept)
    for updates, weights in again.weights.items():
        np.testing.assert_allclose(shipped.weights[updates], weights, atol=0.02)
    ours, theirs = again.evaluation(SETTINGS.steps), shipped.evaluation(SETTINGS.steps)
    assert ours.accuracy == theirs.accuracy == 1
    np.testing.assert_allclose(ours.role_weights, theirs.role_weights, atol=0.02)


def test_one_machine_writes_the_same_file_twice(again, tmp_path):
    write(tmp_path / "weights")
    written = trained_again(SETTINGS).weights
    assert all((written[updates] == weights).all() for updates, weights in again.weights.items())
    assert (tmp_path / "weights").stat().st_size == DEFAULT_WEIGHTS.stat().st_size < 100_000


@pytest.mark.parametrize("chosen", [{"seed": 7}, {"d_k": 3}])
def test_another_model_is_trained_when_it_is_asked_for(chosen):
    trained = run_example(learnt_example("stories", updates=20, **chosen)).trained
    assert not shipped_weights(trained.recording.settings)
    weights = recorded(trained.recording.settings, 20).weights[20]
    assert not np.array_equal(weights, default_weights()[1][20])
