"""What all tests share."""

import gc
import logging
import os
import sys
from collections import Counter

import jaxtyping
import pytest
import torch
from hypothesis import Phase, settings
from playwright.sync_api import sync_playwright

from attention_ui.figures import template
from models.folders import cache_folder, model_named
from models.opening import shared_model
from models.wheels import SMOLLM2
from tests.chromium import FLAGS, Tabs, find_chromium
from tests.quick_visits import quicken_visits
from tests.trained_apart import trained_apart

# As on the server: more threads for small matrices only fight each other, and results would differ.
torch.set_num_threads(1)

settings.register_profile(
    "whole", max_examples=30, deadline=None, derandomize=True, phases=set(Phase) - {Phase.explain}
)
settings.register_profile("part", settings.get_profile("whole"), max_examples=8)

# What one worker does from beginning to end, by the folders that belong to it.
TOGETHER = {
    "browser": "browser",
    "deploy": "servers",
    "hostile": "servers",
    "installed": "servers",
    "server": "servers",
}


# Screens are the same on every machine: only tests that ask for it see what has been fetched.
CACHE, FETCHED = "ATTENTION_LAB_CACHE", "CACHE_BEFORE_TESTS"


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", dest="whole", help="also what is slow and seldom needed")


def pytest_configure(config):
    if FETCHED not in os.environ:  # the workers of one run inherit it
        os.environ[FETCHED] = os.environ.get(CACHE, "")
        os.environ[CACHE] = str(config.rootpath / ".pytest_cache" / "no_models")
    template.VALIDATE = True
    settings.load_profile("whole" if config.getoption("whole") else "part")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(config, items):
    """Where several workers share the tests, a file stays whole, and one worker has all tests of the screens in a
    browser; another one starts and ends the servers of visitors who mean no good.

    Two workers with screens in a browser would wait for each other longer than a test allows.
    """
    if not config.getoption("whole"):
        left = left_for_the_whole(items)
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]
    for item in items:
        group = TOGETHER.get(item.path.parent.name, str(item.path.relative_to(item.config.rootpath)))
        item.add_marker(pytest.mark.xdist_group(group))


def left_for_the_whole(items):
    """What is not needed at every change: tests that are `slow`, and of those in `part(n)` all but every n-th case."""
    cases, left = Counter(), set()
    for item in items:
        part, name = item.get_closest_marker("part"), (item.path, item.originalname)
        if item.get_closest_marker("slow") or (part is not None and cases[name] % part.args[0]):
            left.add(item)
        cases[name] += 1
    return left


def pytest_collection_finish():
    """What has been imported and collected stays to the end: the collector need not walk over it again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    """End the training thread of pages: where it computes while Python ends, the whole process is aborted."""
    process = sys.modules.get("attention_ui.process.turns")
    if process is not None and process.scheduler.cache_info().currsize:
        process.scheduler().stop()


@pytest.fixture(scope="session", autouse=True)
def models_trained_apart():
    with trained_apart():
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_visits():
    quicken_visits()


@pytest.fixture(scope="session")
def whole(request):
    """True where sweeps go over everything; at every change they go over a part of it, the same each time."""
    return request.config.getoption("whole")


@pytest.fixture
def shapes_taken_for_granted(monkeypatch):
    """For sweeps over everything: looking at each shape takes longer than computing, and the other tests look."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def models_here(monkeypatch):
    """The folder of what has been fetched on this machine, as it was set before the tests."""
    if os.environ[FETCHED]:
        monkeypatch.setenv(CACHE, os.environ[FETCHED])
    else:
        monkeypatch.delenv(CACHE)
    return cache_folder()


@pytest.fixture
def smollm2(models_here):
    """The real language model. `python3 lab.py test` fetches it."""
    if not SMOLLM2.is_in(models_here):
        pytest.skip("SmolLM2 is not on this machine: python -m models fetches it")
    return shared_model(model_named(SMOLLM2.name))


@pytest.fixture(scope="session")
def browser_path():
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium here: install it (Debian: apt install chromium) or name it in CHROMIUM")
    return path


@pytest.fixture(scope="session")
def chromium(browser_path):
    """One browser for all tests: a process holds only one playwright of this kind."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tabs(chromium):
    return Tabs(chromium)


@pytest.fixture
def whole_records():
    """Log records as Python makes them: those of a server that was set up in this process hold no error any more."""
    make = logging.getLogRecordFactory()
    logging.setLogRecordFactory(logging.LogRecord)
    yield
    logging.setLogRecordFactory(make)
