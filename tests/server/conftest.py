"""What the tests of the server share: replicas, a proxy, a browser. What is not installed is skipped, and said."""

import pytest
from replicas import HAPROXY, Proxy, Replica

from tests.chromium import WAIT


@pytest.fixture
def tab(chromium):
    """Opens tabs, each a visitor of its own; they close with the test."""
    contexts = []

    def new():
        contexts.append(chromium.new_context(viewport={"width": 1440, "height": 900}))
        page = contexts[-1].new_page()
        page.set_default_timeout(WAIT)
        return page

    yield new
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def replicas(tmp_path_factory):
    """Makes replicas; all of them end with the module."""
    made = []

    def make(**settings):
        made.append(Replica(tmp_path_factory.mktemp("replica") / "log.txt", **settings))
        return made[-1]

    yield make
    for replica in made:
        replica.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A replica for all tests that do it no harm."""
    replica = Replica(tmp_path_factory.mktemp("replica") / "log.txt").start()
    yield replica
    replica.stop()


@pytest.fixture(scope="module")
def haproxy(tmp_path_factory):
    """Starts HAProxy with the configuration of deploy/, in front of these replicas."""
    if HAPROXY is None:
        pytest.skip("no HAProxy here: install it (Debian: apt install haproxy)")
    started = []

    def start(first, second):
        started.append(Proxy(tmp_path_factory.mktemp("proxy"), first.port, second.port))
        return started[-1]

    yield start
    for proxy in started:
        proxy.stop()
