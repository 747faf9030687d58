"""What one learner does has no effect on another: examples, runs, samples."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import torch

from attention_core.learning.tasks import CharacterTask
from attention_core.learning.training import TrainingSettings
from attention_core.measured.observe import observe_texts
from attention_core.model.small_model import ModelConfig
from lessons.example.example import Example, run_example
from runs.recording import Recording
from runs.scheduler import Scheduler

EXAMPLES = [
    Example(),
    Example(d_k=5, seed=7, causal=False),
    Example(source="sentence", text="one two three", seed=11, n_heads=3),
    Example(source="sentence", text="one two three", seed=13, n_heads=3),
    Example(source="mat"),
    Example(source="batch", sentence_of_batch=2),
    Example(source="search", scaling=False),
]


def settings(text, seed, **model):
    task = CharacterTask(text, 7)
    config = ModelConfig(vocabulary=len(task.vocabulary), context=7, **model)
    return TrainingSettings(task=task, model=config, learning_rate=0.01, steps=23, seed=seed)


RUNS = [
    settings("hello world", 2),
    settings("hello world", 3),
    settings("hello world", 2, n_layers=2, n_heads=4, residual=True, layer_norm=True, mlp=True),
    settings("abcabdabcabd", 2, heads="sliced"),
    replace(settings("hello world", 2), learning_rate=1000.0),
]


def numbers(trace):
    """All tensors of a trace, by their names."""
    own = {f.name: getattr(trace, f.name) for f in fields(trace)}
    own |= {f"heads.{f.name}": getattr(trace.heads, f.name) for f in fields(trace.heads)}
    return {name: value for name, value in own.items() if isinstance(value, torch.Tensor)}


def assert_same(one, other):
    assert one.keys() == other.keys()
    assert len(one) > 5
    for name in one:
        assert torch.equal(torch.nan_to_num(one[name]), torch.nan_to_num(other[name])), name


def test_examples_computed_side_by_side_are_those_computed_alone():
    alone = [numbers(run_example(example)) for example in EXAMPLES]
    start = threading.Barrier(len(EXAMPLES))

    def compute(example):
        start.wait()
        return [numbers(run_example(example)) for _ in range(10)]

    with ThreadPoolExecutor(len(EXAMPLES)) as pool:
        for expected, found in zip(alone, pool.map(compute, EXAMPLES), strict=True):
            for trace in found:
                assert_same(trace, expected)


def test_runs_that_take_turns_are_bit_for_bit_those_made_alone():
    alone = [Recording(one) for one in RUNS]
    for recording in alone:
        recording.record(recording.settings.steps)
    scheduler = Scheduler(turn_seconds=0.0005)
    runs = [scheduler.open(one) for one in RUNS for _ in range(2)]
    scheduler.start()
    try:
        for run in runs:
            run.train()
        looked = threading.Event()
        while not all(run.finished for run in runs):
            run_example(EXAMPLES[2])
            for run in runs:
                settings = run.recording.settings
                observe_texts(settings, [run.look().snapshot], settings.task.tokens[:4], 0.7)
            looked.wait(0.001)
    finally:
        scheduler.stop()
    for recording, run in zip([recording for recording in alone for _ in range(2)], runs, strict=True):
        steps = recording.settings.steps
        assert np.array_equal(run.recording.losses(steps), recording.losses(steps))
        for step in range(recording.newest + 1):
            assert np.array_equal(run.recording.snapshot(step).weights, recording.snapshot(step).weights)


def test_a_class_with_the_same_settings_shares_one_recording_and_otherwise_has_one_each():
    scheduler = Scheduler()
    same = [scheduler.open(RUNS[0]) for _ in range(30)]
    assert len({run.recording for run in same}) == 1
    different = [scheduler.open(replace(RUNS[0], seed=100 + seed)) for seed in range(30)]
    assert len({run.recording for run in different}) == 30


def test_randomness_of_one_visitor_leaves_the_global_generators_alone():
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(5)
    np.random.seed(5)
    for example in EXAMPLES:
        run_example(example)
    recording = Recording(RUNS[2])
    recording.record(5)
    assert torch.equal(torch.rand(3), expected[0])
    assert np.array_equal(np.random.rand(3), expected[1])
