"""Visits that begin at the same time begin one after the other, and what is no visit waits for none."""

import asyncio

import pytest
from replicas import awaited

import app
from attention_ui.server.arrivals import Arrivals


def moments_of(kinds, longest=1000.0):
    """When those that come at the same time are let in, in seconds."""

    async def come():
        loop, began = asyncio.get_running_loop(), []

        async def answer(scope, receive, send):
            began.append(loop.time())

        arrivals = Arrivals(answer)
        arrivals.LONGEST_SECONDS = longest
        start = loop.time()
        await asyncio.gather(*(arrivals({"type": kind, "path": "/lab/_stcore/stream"}, None, None) for kind in kinds))
        return [moment - start for moment in sorted(began)]

    return awaited(come())


def test_visits_are_let_in_one_after_another():
    moments = moments_of(["websocket"] * 7)
    assert all(moment >= 0.99 * place * Arrivals.SECONDS_BETWEEN for place, moment in enumerate(moments)), moments


def test_it_is_the_first_that_a_visit_meets():
    assert app.MIDDLEWARE[0].cls is Arrivals


def test_files_and_one_visit_wait_for_nobody():
    assert moments_of(["http"] * 997 + ["websocket"])[-1] < 5.0 < Arrivals.SECONDS_BETWEEN * 997


@pytest.mark.parametrize("longest", [0.05, 0.0])
def test_nobody_waits_longer_than_the_longest(longest):
    assert moments_of(["websocket"] * 997, longest)[-1] < 5.0 < Arrivals.SECONDS_BETWEEN * 997
