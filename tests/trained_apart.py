"""The models of the running example, trained in a process of their own: checking types takes twenty times as long."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context


def steps_of(settings):
    """Every step of the run, as `train` gives it."""
    import torch

    from attention_core.learning.training import train

    torch.set_num_threads(1)
    return list(train(settings, evaluated=False))


@contextmanager
def trained_apart() -> Iterator[None]:
    """While this lasts, `lessons.example.task_models` has its models trained there."""
    from lessons.example.task_models import ModelRecording

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        apart.submit(int).result()  # begins it now: later, what stands for the main module may be a page under test

        def train_to(self, updates):
            while not self.is_trained(updates):
                if not hasattr(self, "steps"):
                    self.steps = iter(apart.submit(steps_of, self.settings).result())
                step = next(self.steps)
                self.keep(step.step, step.loss, step.weights)
                yield

        usual, ModelRecording.train_to = ModelRecording.train_to, train_to
        yield
        ModelRecording.train_to = usual
