"""Visitors at one server: each sees, byte for byte, what they would see alone."""

import asyncio
import itertools
import random
import re

import pytest

from benchmarks.client import Session

PATIENCE = 60.0

# A page, its link, and what is done there, one after the other. A name alone is a press of that button.
VISITS = {
    "a notebook's example": (
        "",
        "example=journey&picture=steps&d_k=5&seed=7",
        [("d_v", 3), "step_Next", ("causal", False), ("d_k", 2), "step_Back"],
    ),
    "the first screen": (
        "",
        "example=pronouns",
        [("asks", "“lamp”"), ("says_pronouns", "girl left boat when it"), ("trained_for", "40"), ("causal", False)],
    ),
    "a sentence of one's own": (
        "projections",
        "example=sentence&text=one+two+three&seed=11",
        [("seed", 12), ("scaling", False), ("heads", 2), ("text", "four five"), ("seed", 11)],
    ),
    "a model in training": (
        "softmax",
        "example=pronouns",
        [("model_d_k", 3), ("trained_for", "60"), ("model_heads", 2), ("seed", 5)],
    ),
    "numbers changed by hand": (
        "",
        "example=journey&picture=steps&edits=q2,1=1",
        [("edits", "q1,2=0.5"), ("edits", "q1,2=0.5;x3,1=-1"), ("d_k", 3), ("edits", "")],
    ),
    "a training": (
        "train",
        "learn=abcabcabdabcabc&rate=0.01&train_seed=3",
        ["one_step", "one_step", ("heat", 0.5), "one_step", ("probe", "cab"), "one_step"],
    ),
    "another training": (
        "train",
        "learn=hello+world&rate=0.02&train_seed=5",
        ["one_step", ("heat", 2.0), "one_step", "reset", "one_step", "one_step"],
    ),
    "the same training, further on": (
        "train",
        "learn=hello+world&rate=0.02&train_seed=5",
        ["one_step", "one_step", "one_step", "one_step", "one_step", ("heat", 0.0)],
    ),
}


def picture(session):
    """All that a visitor's page shows, byte for byte; of a file to save its label, for its address is a secret."""
    return [
        (shown.kind, shown.label if "download" in shown.kind else shown.proto.SerializeToString(deterministic=True))
        for shown in session.elements()
    ]


async def visit(port, name, chance=None):
    """What this visitor sees after each action; with pauses of chance in between where others are there too."""
    path, query, actions = VISITS[name]
    async with Session(port) as visitor:
        await visitor.open(path, query)
        seen = [picture(visitor)]
        for action in actions:
            if chance is not None:
                await asyncio.sleep(chance.uniform(0, 0.05))
            done = visitor.click(action) if isinstance(action, str) else visitor.set(*action)
            await asyncio.wait_for(done, PATIENCE)
            seen.append(picture(visitor))
        assert visitor.exceptions == []
        return seen


def test_each_visitor_sees_what_they_would_see_alone(server, finish, quiet_log):
    async def alone():
        return {name: await visit(server.port, name) for name in VISITS}

    async def together(seed):
        chance = random.Random(seed)
        return dict(zip(VISITS, await asyncio.gather(*(visit(server.port, n, chance) for n in VISITS)), strict=True))

    expected = finish(alone())
    for seen in expected.values():
        assert sum(before != after for before, after in itertools.pairwise(seen)) >= 3, "the actions must show"
    for seed in range(2):
        assert finish(together(seed)) == expected


def updates(visitor):
    found = re.search(r"([\d,]+) of [\d,]+ training steps", " ".join(visitor.texts("progress")))
    return int(found[1].replace(",", "")) if found else 0


def test_start_draws_the_buttons_and_the_picture_alone_and_pause_the_whole_page(server, finish, quiet_log):
    def drawn(visitor):
        return visitor.widget("task").run, visitor.widget("pause").run, visitor.elements("progress")[0].run

    async def run():
        async with Session(server.port, live=True) as visitor:
            await visitor.open("train", "steps=4000&train_seed=77")
            before = drawn(visitor)
            await asyncio.wait_for(visitor.click("start"), PATIENCE)
            started, moved = drawn(visitor), updates(visitor)
            await asyncio.wait_for(visitor.click("pause"), PATIENCE)
            paused = drawn(visitor)
            asked = visitor.unasked
            await asyncio.sleep(1.5)  # three times as long as between two pictures
            return before, started, moved, paused, visitor.unasked - asked, visitor.exceptions

    before, started, moved, paused, asked_later, exceptions = finish(run())
    assert not exceptions and moved >= 1
    assert started[0] == before[0], "the controls stay as they are"
    assert started[1] > before[1] and started[2] > before[2]
    assert paused[0] > started[0], "the folds must know that the run stands"
    assert asked_later == 0, "a picture that stands is not asked for"


@pytest.mark.slow
@pytest.mark.parametrize("visitors", [30])
def test_a_class_presses_start_at_once_and_nobody_starves(server, finish, quiet_log, visitors):
    async def one(seat, pressed):
        async with Session(server.port, live=True) as visitor:
            await visitor.open("train", f"learn=hello+world&steps=400&train_seed={100 + seat}")
            await pressed.wait()
            await asyncio.wait_for(visitor.click("start"), PATIENCE)
            async with asyncio.timeout(PATIENCE):
                while not (first := updates(visitor)):
                    await asyncio.sleep(0.01)
                while updates(visitor) == first:
                    await asyncio.sleep(0.01)
            return updates(visitor), visitor.exceptions

    async def run():
        pressed = asyncio.Barrier(visitors)
        return await asyncio.gather(*(one(seat, pressed) for seat in range(visitors)))

    positions, exceptions = zip(*finish(run()), strict=True)
    assert not any(exceptions)
    assert min(positions) > 0
