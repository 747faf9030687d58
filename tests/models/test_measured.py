"""What is measured once a machine: one thread of a process, one process of a machine, kept, and said how far it is."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from models.folders import ModelFiles
from models.measured import Ended, Measurement, go_on

ROOT = Path(__file__).parents[2]
ANOTHER_PROCESS = """
import sys
sys.path[:0] = [{root!r}, {here!r}]
import test_measured
from models.measured import Measurement
def count(model, say):
    with open({log!r}, "a") as log:
        log.write("measured ")
    return "by another"
print(Measurement("heads", 1, count).wait(test_measured.a_model({source!r})).value)
"""


def a_model(path):
    return SimpleNamespace(files=ModelFiles("little", Path(path), "gguf"))


@pytest.fixture
def model(folder, tmp_path):
    (tmp_path / "little.gguf").write_bytes(b"weights")
    return a_model(tmp_path / "little.gguf")


def refuse(model, say):
    raise AssertionError("it has been measured again")


def test_it_is_measured_in_the_background_and_says_how_far_it_is(model):
    told, go_on_now = threading.Event(), threading.Event()

    def measure(asked, say):
        assert asked is model
        say(0.25)
        told.set()
        assert go_on_now.wait(30)
        return {"heads": [[0.5, 0.25]]}

    measurement = Measurement("heads", 1, measure)
    assert measurement.of(model).runs
    assert told.wait(30) and measurement.of(model).done == 0.25 and measurement.of(model).runs
    go_on_now.set()
    assert measurement.wait(model).value == {"heads": [[0.5, 0.25]]} and not measurement.of(model).runs


def test_what_was_kept_is_read_by_the_next_process(model, tmp_path):
    assert Measurement("heads", 1, lambda model, say: [1]).wait(model).value == [1]
    assert Measurement("heads", 1, refuse).of(model).value == [1]
    program = ANOTHER_PROCESS.format(
        root=str(ROOT), here=str(Path(__file__).parent), log=str(tmp_path / "log"), source=str(model.files.path)
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[1]\n"
    assert not (tmp_path / "log").exists()


def test_another_version_another_name_and_other_files_are_measured_anew(model, tmp_path):
    Measurement("heads", 1, lambda model, say: [1]).wait(model)
    assert Measurement("heads", 2, lambda model, say: [2]).wait(model).value == [2]
    assert Measurement("tails", 1, lambda model, say: [3]).wait(model).value == [3]
    (tmp_path / "little.gguf").write_bytes(b"other weights")
    assert Measurement("heads", 1, lambda model, say: [4]).wait(model).value == [4]


def test_what_is_broken_on_the_disk_is_measured_again(model):
    measurement = Measurement("heads", 1, lambda model, say: [5])
    file = measurement.file_of(model)
    file.parent.mkdir(parents=True)
    file.write_text("[1, 2")
    assert measurement.wait(model).value == [5] and json.loads(file.read_text()) == [5]


def test_why_it_could_not_be_measured(model):
    def fail(model, say):
        raise ValueError("no heads")

    found = Measurement("heads", 1, fail).wait(model)
    assert not found.runs and str(found.error) == "no heads"


def test_where_nothing_can_be_kept_it_is_measured_all_the_same(model, folder, monkeypatch):
    measurement = Measurement("heads", 1, lambda model, say: [6])

    def shut(*_, **__):
        raise PermissionError("read-only")

    monkeypatch.setattr("models.measured.one_process", shut)
    assert measurement.wait(model).value == [6] and not measurement.file_of(model).exists()


def test_a_process_that_ends_is_not_kept_waiting(monkeypatch):
    go_on()
    monkeypatch.setattr(threading, "main_thread", lambda: SimpleNamespace(is_alive=lambda: False))
    with pytest.raises(Ended):
        go_on()
