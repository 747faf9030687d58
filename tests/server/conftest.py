"""What the tests of the server share: replicas, a proxy, a browser. What is not installed is skipped, and said."""

import subprocess

import pytest
from replicas import HAPROXY, Replica, free_port, local_configuration, open_port, wait_for


@pytest.fixture
def tab(chromium):
    """Opens tabs, each a visitor of its own; they close with the test."""
    contexts = []

    def new():
        contexts.append(chromium.new_context(viewport={"width": 1440, "height": 900}))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
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


@pytest.fixture(scope="module")
def server(replicas):
    return replicas().start()


@pytest.fixture(scope="module")
def haproxy(tmp_path_factory):
    """Starts HAProxy with the configuration of deploy/, in front of these replicas; returns its port."""
    if HAPROXY is None:
        pytest.skip("no HAProxy here: install it (Debian: apt install haproxy)")
    started = []

    def start(first, second):
        port = free_port()
        file = tmp_path_factory.mktemp("proxy") / "haproxy.cfg"
        file.write_text(local_configuration(port, first.port, second.port))
        checked = subprocess.run([HAPROXY, "-c", "-f", file], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
        started.append(subprocess.Popen([HAPROXY, "-db", "-f", file], stderr=subprocess.DEVNULL))
        wait_for(lambda: open_port(port))
        return port

    yield start
    for process in started:
        process.terminate()
        process.wait(10)
