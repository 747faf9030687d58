"""The running example is computed once for all who look at the same."""

from dataclasses import replace

import torch

from attention_core.examples import Example, run_example
from attention_ui.example import trace_of


def test_equal_examples_are_computed_once_and_are_what_one_gets_alone():
    example = Example(seed=17, n_heads=3)
    shared = trace_of(example)
    assert trace_of(replace(Example(), seed=17, n_heads=3)) is shared
    alone = run_example(example)
    assert alone is not shared and torch.equal(alone.heads.weights, shared.heads.weights)
    assert trace_of(replace(example, seed=18)) is not shared


def test_only_so_many_examples_are_kept():
    assert trace_of.cache_info().maxsize == 128
