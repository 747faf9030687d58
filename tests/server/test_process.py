"""How often what moves by itself is refreshed, and what the process does with memory."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest
from replicas import awaited

from attention_core.learning.tasks import TASKS
from attention_core.learning.training import recommended
from attention_ui.process import turns as process
from attention_ui.warm_up import warm_up
from runs.scheduler import Scheduler


@pytest.fixture
def scheduler(monkeypatch):
    """A scheduler whose thread does not run, in the place of the process's own."""
    still = Scheduler()
    monkeypatch.setattr(process, "scheduler", lambda: still)
    return still


def test_on_a_small_host_one_page_at_a_time_is_computed_however_long_it_takes(monkeypatch):
    assert process.page_lock.__wrapped__().patience_seconds == 10
    monkeypatch.setenv("ATTENTION_LAB_SMALL", "1")
    assert process.page_lock.__wrapped__().patience_seconds == 120


def begin(scheduler, count):
    runs = [scheduler.open(recommended(TASKS["copy"], seed)) for seed in range(count)]
    for run in runs:
        run.train()
    return runs


def test_a_class_sees_new_pictures_the_less_often_the_more_are_trained_and_soon_again_when_they_stop(scheduler):
    runs = begin(scheduler, 40)
    assert process.picture_seconds() == pytest.approx(40 * process.PICTURE_SECONDS_EACH)
    watchers = [scheduler.open(runs[0].recording.settings) for _ in range(3)]
    for watcher in watchers:
        watcher.train()
    assert process.picture_seconds() == pytest.approx(43 * process.PICTURE_SECONDS_EACH), "who watches counts"
    for run in (*runs[5:], *watchers):
        run.stop()
    assert process.picture_seconds() == process.PICTURE_LEAST_SECONDS


def test_what_tables_took_goes_back_like_all_other_memory():
    pool = pa.default_memory_pool()
    try:
        warm_up()
        assert pa.default_memory_pool().backend_name == "system"
    finally:
        pa.set_memory_pool(pool)


def test_numpy_has_one_thread_in_the_app_and_in_the_tests():
    """It reads the number when it is imported, so it must be set before."""
    code = (
        "import os, sys; os.environ.pop('OPENBLAS_NUM_THREADS', None); import streamlit.starlette, attention_ui;"
        "sys.exit('numpy' in sys.modules or os.environ['OPENBLAS_NUM_THREADS'] != '1')"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_a_run_leaves_the_path_as_it_is_for_what_another_thread_imports_just_then():
    code = (
        "import sys, app; from streamlit.runtime.scriptrunner.exec_code import modified_sys_path\n"
        "before = [*sys.path]\n"
        "with modified_sys_path('attention_ui/frame.py'):\n"
        "    sys.exit(sys.path != before)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0


def test_classes_are_watched_before_anybody_has_seen_a_page(monkeypatch):
    """A server that was started again may be in the middle of a class's lesson."""
    import app
    from attention_ui.classroom.vote import watching
    from attention_ui.export import line

    watched = threading.Event()

    async def keep_watching():
        watched.set()

    async def until_watched():
        async with app.lifespan(None):
            assert await asyncio.to_thread(watched.wait, 30)

    for owner, name, instead in (
        (app, "bare_lines", lambda: None),
        (app, "start_up", lambda: None),
        (process.FIRST_PAGE, "is_seen", lambda: False),
        (process, "scheduler", Mock()),
        (line, "exports", Mock()),
        (watching, "keep_watching", keep_watching),
    ):
        monkeypatch.setattr(owner, name, instead)
    awaited(until_watched())
