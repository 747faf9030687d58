"""What is measured, with a clock that is not the time; and one real, small run."""

import numpy as np
import pytest
import torch

from attention_core import timings as measured
from attention_core.timings import (
    ATTENTION_WAYS,
    REPEATS,
    Timing,
    attention_call,
    fitted_slope,
    measurements,
    most_held,
    next_token_call,
    parted_from,
    slope_of,
)

SMALL = {"tokens": (4, 8), "d_k": (3,), "heads": (2,), "text": (2, 5)}


class Clock:
    """Each look is `tick` seconds later."""

    def __init__(self, tick=0.001):
        self.now, self.tick, self.looks = 0.0, tick, 0

    def __call__(self):
        self.looks += 1
        self.now += self.tick
        return self.now


def test_a_small_series_measures_every_way_at_every_size_and_lets_others_in_after_each_call():
    clock = Clock()
    steps = list(measurements(clock, SMALL))
    timings = [step for step in steps if step is not None]
    wanted = [
        (over, way, size) for over in ("tokens", "d_k", "heads") for way in ATTENTION_WAYS for size in SMALL[over]
    ]
    wanted += [("text", way, size) for way in ("anew", "kept") for size in SMALL["text"]]
    assert [(one.over, one.way, one.size) for one in timings] == wanted
    assert len(steps) - len(timings) == len(timings) * (REPEATS + 1), "and one to warm up"
    assert clock.looks == 2 * len(timings) * (REPEATS + 1)
    assert all(one.seconds == pytest.approx(0.001) and one.most_bytes > 0 for one in timings)


def test_what_takes_too_long_is_measured_no_further():
    timings = [step for step in measurements(Clock(0.021), SMALL) if step is not None]
    assert all(timing.size == SMALL[timing.over][0] for timing in timings)
    assert len(timings) == 3 * 3 + 2


def test_the_largest_sizes_are_bounded():
    assert max(measured.GRID["tokens"]) <= 2048 and max(measured.GRID["text"]) < measured.WRITER.context
    assert (
        sum(3 * len(measured.GRID[over]) for over in ("tokens", "d_k", "heads")) + 2 * len(measured.GRID["text"])
        == measured.MOST_TIMINGS
    )


def test_all_ways_give_the_same_output_and_the_same_token():
    for over, size in (("tokens", 100), ("d_k", 5), ("heads", 3)):
        outputs = [attention_call(over, way, size)[0]() for way in ATTENTION_WAYS]
        for other in outputs[1:]:
            torch.testing.assert_close(other, outputs[0])
    anew, kept = (next_token_call(way, 7)[0]().logits[-1] for way in ("anew", "kept"))
    torch.testing.assert_close(anew, kept)


def test_bytes_are_those_of_the_tensors_that_are_held_together():
    a, b = torch.ones(7, 5), torch.ones(5, 11)
    product = 7 * 11 * 4
    assert most_held(lambda: a @ b) == product
    assert most_held(lambda: (a @ b) + 1) == 2 * product
    assert most_held(lambda: a.mT) == 0, "what is given does not count, nor another look at it"
    assert most_held(lambda: (a @ b).mT) == product

    def one_after_the_other():
        for _ in range(4):
            a @ b

    assert most_held(one_after_the_other) == product
    assert most_held(lambda: [a @ b for _ in range(4)]) == 4 * product


def test_written_out_holds_all_pairs_and_blocks_do_not():
    held = {way: [most_held(attention_call("tokens", way, n)[0]) for n in (256, 512)] for way in ATTENTION_WAYS}
    assert held["written"][1] > 3 * 512 * 512 * 4 and 3.5 < held["written"][1] / held["written"][0] <= 4
    for way in ("blocks", "fused"):
        assert held[way][1] < 512 * 512 * 4 and held[way][1] / held[way][0] < 2.2


@pytest.mark.parametrize("power", [0.5, 1.0, 2.3])
def test_the_slope_of_a_power_is_the_power(power):
    assert fitted_slope([2, 4, 16, 64], [3 * n**power for n in (2, 4, 16, 64)]) == pytest.approx(power)


def test_the_slope_is_that_of_least_squares_over_the_last_sizes():
    random = np.random.default_rng(0)
    numbers = random.uniform(1, 9, 7).tolist()
    timings = [Timing("tokens", "written", 2**k, 5, 1, numbers[k], 1) for k in range(7)]
    expected = np.polyfit(np.log([2**k for k in range(3, 7)]), np.log(numbers[3:]), 1)[0]
    assert slope_of(timings, lambda timing: timing.seconds) == pytest.approx(expected)
    assert slope_of(timings[:1], lambda timing: timing.seconds) is None


def test_the_curves_part_where_they_stay_apart():
    def text(way, *seconds):
        return [Timing("text", way, 2**k, 5, 1, float(one), 1) for k, one in enumerate(seconds)]

    kept = text("kept", 1, 1, 1, 1)
    for anew, from_where in (((1, 2, 1.4, 3), 8), ((2, 2, 2, 2), 1), ((9, 9, 9, 1), None), ((1, 1.5, 2, 2), 2)):
        assert parted_from(text("anew", *anew), kept, 1.5) == from_where
    assert parted_from([], kept, 1.5) is None
    assert parted_from(text("anew", 9, 9), [], 1.5) is None
