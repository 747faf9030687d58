import jaxtyping
import pytest
import torch
from hypothesis import Phase, settings

torch.set_num_threads(1)

settings.register_profile(
    "lessons", max_examples=12, deadline=None, derandomize=True, phases=set(Phase) - {Phase.explain}
)
settings.load_profile("lessons")


@pytest.fixture
def shapes_taken_for_granted(monkeypatch):
    """For sweeps over everything: looking at each shape takes longer than computing, and the other tests look."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
