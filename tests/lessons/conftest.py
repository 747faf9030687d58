"""What the tests of the lessons share."""

import pytest
import screens


@pytest.fixture(scope="session", autouse=True)
def cells_followed(whole):
    """Before something is called done every cell of the sample is followed down, else one in turn."""
    if whole:
        screens.FOLLOWED = 5
