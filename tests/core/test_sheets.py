"""Every cell of every lesson's matrices, computed again from the arithmetic that is shown for it."""

import pytest
import torch
from arithmetic_checks import is_right
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import EXAMPLES

from lessons.example import run_example
from lessons.sheets import pipeline_sheets

few = settings(max_examples=15, deadline=None, derandomize=True)


def agree(sheet, tensor, data):
    """A cell of the sheet ends in the tensor's number, and each line gives its value."""
    assert (len(sheet.rows), len(sheet.columns)) == tuple(tensor.shape)
    assert len(set(sheet.rows)) == len(sheet.rows) and len(set(sheet.columns)) == len(sheet.columns)
    i, j = (data.draw(st.integers(0, size - 1)) for size in tensor.shape)
    lines = list(sheet.lines(i, j))
    assert lines[-1].value == pytest.approx(float(tensor[i, j]), rel=1e-6, abs=1e-9)
    for line in lines:
        assert is_right(line), line
        assert line.says


def hidden_as(attention, tensor, value):
    return torch.where(attention.visible, tensor, value)


@given(EXAMPLES, st.data())
@few
def test_every_matrix_of_the_pipeline(example, data):
    trace = run_example(example)
    head = data.draw(st.integers(0, trace.example.n_heads - 1))
    attention = trace.heads.select(head)
    for key, sheet in pipeline_sheets(trace, head).items():
        tensor = trace.x if key == "x" else attention.k.mT if key == "k_transposed" else getattr(attention, key)
        agree(sheet, tensor, data)
