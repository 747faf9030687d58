"""The models of the running example, trained in a process of their own: checking types takes twenty times as long."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context


def steps_of(settings, choices):
    """Every step of the run, as `train` gives it with these choices."""
    import torch

    from attention_core.learning.training import train

    torch.set_num_threads(1)
    return list(train(settings, **choices))


@contextmanager
def trained_apart() -> Iterator[None]:
    """While this lasts, `lessons.example.task_models` has its models trained there."""
    from lessons.example import task_models as trained

    usual = trained.train
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        apart.submit(int).result()  # begins it now: later, what stands for the main module may be a page under test
        trained.train = lambda settings, **choices: iter(apart.submit(steps_of, settings, choices).result())
        yield
        trained.train = usual
