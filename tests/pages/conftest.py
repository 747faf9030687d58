import pytest

import attention_ui.page.small_pictures  # noqa: F401  now: pages import it later, when a test may have replaced something


@pytest.fixture(autouse=True)
def pages(shapes_taken_for_granted):
    """What a page shows comes from lessons, whose own tests look at every shape."""
