import pytest


@pytest.fixture(autouse=True)
def pages(shapes_taken_for_granted):
    """What a page shows comes from lessons, whose own tests look at every shape."""
