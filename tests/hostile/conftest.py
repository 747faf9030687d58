"""A real server for visitors who mean no good, and what may be asked of it afterwards."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.client import Session
from benchmarks.servers import OURS, Server, is_healthy
from tests.figures import TABLES_KIND


def picture(session):
    """All that a visitor's page shows, byte for byte; of a file to save its label, for its address is a secret."""
    return [
        (shown.kind, shown.label if "download" in shown.kind else shown.proto.SerializeToString(deterministic=True))
        for shown in session.elements()
    ]


def errors_logged(server):
    """The errors in the server's log; what is written there holds no visitor's words."""
    lines = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
    return [line for line in lines if line["level"] in ("error", "critical")]


def finish_apart(coroutine):
    """The coroutine's result; in a thread of its own, for the browser tests keep a loop in the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="session")
def finish():
    return finish_apart


@pytest.fixture(scope="session")
def server():
    with Server(OURS) as started:
        finish_apart(visit_once(started.port))
        yield started


async def visit_once(port):
    async with Session(port) as first:
        await first.open()


@pytest.fixture
def quiet_log(server):
    """The test must leave no error behind in the log."""
    before = len(errors_logged(server))
    yield
    assert errors_logged(server)[before:] == []


@pytest.fixture(scope="module", autouse=True)
def bystander(server):
    """Another visitor, whose screen is the same after all attacks of a module, at a server that is well."""

    async def look():
        async with Session(server.port) as other:
            await other.open("projections", "example=sentence&text=one+two&seed=7")
            assert other.exceptions == []
            assert other.elements(TABLES_KIND)
            return picture(other)

    before = finish_apart(look())
    yield
    assert finish_apart(look()) == before
    assert is_healthy(server.url)
