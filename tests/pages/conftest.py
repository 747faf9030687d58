import math

import pytest

import attention_ui.page.small_pictures  # noqa: F401  now: pages import it later, when a test may have replaced something


@pytest.fixture(autouse=True)
def pages(shapes_taken_for_granted):
    """What a page shows comes from lessons, whose own tests look at every shape."""


@pytest.fixture(autouse=True)
def texts_are_written_at_once(monkeypatch):
    """A page under test is not refreshed by itself, and the machine may be slow."""
    monkeypatch.setattr("attention_ui.writing.growing.WRITING_SECONDS", math.inf)
