"""A line of the log tells where and what kind, never what somebody wrote."""

import ast
import json
import logging
import subprocess
import sys
from unittest.mock import ANY

import pytest
from replicas import ROOT

from attention_ui.server import logs

SECRET = "meine geheime Zeile"

PROGRAM = """
import logging, sys, threading, asyncio
from attention_ui.server.logs import bare_lines, log_without_words
from streamlit.logger import get_logger
log_without_words(lambda: "session-one")
before = get_logger("streamlit.before")
bare_lines()
secret = sys.argv[1]


def fail():
    try:
        int(secret)
    except ValueError as error:
        raise RuntimeError(f"cannot read {secret}") from error


try:
    fail()
except RuntimeError:
    before.error("Uncaught app execution of %s", secret, exc_info=True)
    logging.getLogger("uvicorn.error").warning(f"odd request {secret}")
    logging.getLogger("runs.recording").exception("a training run failed")
    logging.getLogger("runs.recording").error("a run of %s failed", secret)
thread = threading.Thread(target=fail)
thread.start()
thread.join()
logging.getLogger("attention_ui").info("not told: " + secret)
fail()
"""


@pytest.fixture(scope="module")
def lines():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, SECRET],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"},
        check=False,
    )
    assert ran.returncode == 1
    assert SECRET not in ran.stdout + ran.stderr
    return [json.loads(line) for line in ran.stderr.splitlines()]


def test_every_warning_and_error_is_one_line_of_json_without_the_words(lines):
    assert [line["level"] for line in lines] == ["error", "warning", "error", "error", "error", "critical"]
    assert len({line["session"] for line in lines}) == 1
    assert "session-one" not in json.dumps(lines)


def test_an_error_tells_its_kind_and_what_caused_it(lines):
    for told in (lines[0], lines[2], lines[4], lines[5]):
        assert told["error"] == ["RuntimeError", "ValueError"]


def test_constant_words_of_our_own_are_kept_and_no_others(lines):
    assert [line.get("event") for line in lines] == [
        None,
        None,
        "a training run failed",
        None,
        "a thread ended with an error",
        "the process ended with an error",
    ]


def test_our_own_frames_are_named():
    from attention_core.learning.tasks import CharacterTask

    try:
        CharacterTask("")
    except ValueError as error:
        frames = logs.our_frames(error.__traceback__)
    assert frames[0].startswith("tests/server/test_logs.py:")
    assert frames[-1].startswith("attention_core/")


def test_our_own_log_calls_are_constants():
    calls = 0
    files = [f for place in ("attention_core", "attention_ui") for f in (ROOT / place).rglob("*.py")]
    for file in [ROOT / "app.py", *files]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"log.{level}" for level in LEVELS}:
                calls += 1
                assert isinstance(node.args[0], ast.Constant) and len(node.args) == 1, f"{file}:{node.lineno}"
    assert calls >= 4


LEVELS = ("debug", "info", "warning", "error", "exception", "critical")


def test_a_developer_may_have_the_words(monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_LOG", "full")
    before = logging.getLogRecordFactory()
    logs.log_without_words(lambda: None)
    assert logging.getLogRecordFactory() is before


def test_every_package_of_ours_may_say_its_constant_words():
    elsewhere = {"benchmarks", "deploy", "docs", "exercises", "in_browser", "tests", "training"}  # which no server runs
    packages = {path.parent.name for path in ROOT.glob("*/*.py")} - elsewhere
    assert {*packages, "pages", "app"} == set(logs.OURS)


FLOOD = """
import logging, sys, time
from attention_ui.server import logs
logs.Quota.SECONDS = float(sys.argv[1])
logging.basicConfig()
visit = [None]
logs.log_without_words(lambda: visit[0])
logs.bare_lines()
for number in range(int(sys.argv[2])):
    for visit[0] in (None, "one", "two") if sys.argv[3] == "all" else ("one",):
        logging.getLogger("uvicorn.error").error("a forged message")
logging.getLogger("app").critical("the process ends")
time.sleep(2 * logs.Quota.SECONDS)
logging.getLogger("app").error("after it")
"""


@pytest.mark.parametrize(("n", "who", "written"), [(997, "all", 60), (997, "one", 10), (7, "one", 7)])
def test_so_many_lines_a_minute_and_then_their_count(n, who, written):
    ran = subprocess.run(
        [sys.executable, "-c", FLOOD, "2", str(n), who],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"},
        check=True,
    )
    lines = [json.loads(line) for line in ran.stderr.splitlines()]
    of_visitors = [line for line in lines if line["logger"] == "uvicorn.error"]
    assert len(of_visitors) == written
    assert sum("session" not in line for line in of_visitors) == (written - 2 * 10 if who == "all" else 0)
    said = [(line["event"], line.get("left_out")) for line in lines if line["logger"] != "uvicorn.error"]
    left_out = (3 if who == "all" else 1) * n - written
    after = [("after it", None)] if left_out == 0 else [("lines like these were left out", ANY), ("after it", ANY)]
    assert said == [("the process ends", ANY), *after]
    assert sum(line.get("left_out", 0) for line in lines) == left_out
