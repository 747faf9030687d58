"""The pace of the pictures that move by themselves."""

import time

import pyarrow as pa
import pytest

from attention_ui.server.process import RedrawPace, warm_up


def work(seconds):
    """Keep the processor busy for so long."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_one_picture_comes_twice_a_second():
    assert RedrawPace().seconds(1) == RedrawPace.LEAST_SECONDS == 0.5


@pytest.mark.parametrize("watched", [30, 100])
def test_all_pictures_together_take_their_share_and_no_more(watched):
    pictures = RedrawPace()
    assert watched * pictures.cost / pictures.seconds(watched) == pytest.approx(pictures.SHARE)


def test_the_pace_follows_what_pictures_cost_here():
    pictures = RedrawPace()
    pictures.cost = 0.0
    before = pictures.seconds(50)
    for _ in range(5):
        with pictures.measured():
            work(0.02)
    assert pictures.cost > 0.005
    assert pictures.seconds(50) > before


def test_what_tables_took_goes_back_like_all_other_memory():
    pool = pa.default_memory_pool()
    try:
        warm_up()
        assert pa.default_memory_pool().backend_name == "system"
    finally:
        pa.set_memory_pool(pool)
