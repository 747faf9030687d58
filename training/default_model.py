"""Trains the model of the first screen, and writes its weights after every few updates.

python -m training.default_model
"""

import argparse
from pathlib import Path

from safetensors.numpy import save_file

from attention_core.learning.training import TrainingSettings
from lessons.example.example import learnt_example, model_settings
from lessons.example.shipped_weights import DEFAULT_WEIGHTS
from lessons.example.task_models import ModelRecording


def default_settings() -> TrainingSettings:
    """The run that trains the model with which the app opens."""
    return model_settings(learnt_example("stories"))


def trained_again(settings: TrainingSettings) -> ModelRecording:
    """The whole run, trained now."""
    recording = ModelRecording(settings, weights={})
    for _ in recording.train_to(settings.steps):
        pass
    return recording


def write(path: Path) -> None:
    """Train, and write the weights by updates; which run it was stands beside them."""
    settings = default_settings()
    weights = {str(updates): array for updates, array in trained_again(settings).weights.items()}
    save_file(weights, path, metadata={"settings": repr(settings)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=DEFAULT_WEIGHTS)
    write(parser.parse_args().path)
