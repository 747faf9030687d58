"""The weights in a mapped file: written once, whole or not at all, shared by processes."""

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from models import disk, store
from models.disk import DiskError
from models.folders import ModelFiles
from models.store import ModelContents, open_stored, stored_file, stored_model

ROOT = Path(__file__).parents[2]
SHAPES = {"table": (50, 8), "layers.0.W": (8, 3), "gain": (8,)}
ANOTHER_PROCESS = """
import sys, time
sys.path[:0] = [{root!r}, {here!r}]
import test_store
from models.store import ModelContents, stored_model
def read(files):
    with open({log!r}, "a") as log:
        log.write("read ")
    contents = test_store.read(files)
    def slowly():
        for weight in contents.weights:
            time.sleep({pause})
            yield weight
    return ModelContents(contents.about, contents.shapes, slowly())
print(stored_model(test_store.model_files({source!r}), read).about["d_model"])
"""


def drawn():
    random = torch.Generator().manual_seed(3)
    sizes = {name: 10.0 ** torch.randint(-9, 4, shape, generator=random) for name, shape in SHAPES.items()}
    return {name: torch.randn(size.shape, generator=random) * size for name, size in sizes.items()}


def read(files):
    return ModelContents({"d_model": 8, "name": files.name}, SHAPES, drawn().items())


def refuse(files):
    raise AssertionError("it has been converted")


def model_files(path):
    return ModelFiles("little: model/1", Path(path), "gguf")


@pytest.fixture
def files(folder, tmp_path):
    (tmp_path / "little.gguf").write_bytes(b"weights")
    return model_files(tmp_path / "little.gguf")


def test_it_is_the_very_same_with_32_bits(files):
    kept = stored_model(files, read)
    assert kept.about == {"d_model": 8, "name": "little: model/1"} and dict(kept.weights).keys() == SHAPES.keys()
    for name, exact in drawn().items():
        weight = kept.weights[name]
        assert weight.dtype == np.float32 and np.array_equal(weight, exact)
        assert isinstance(weight.base, np.ndarray), "mapped, not read"


def test_the_file_is_one_that_others_read(files):
    kept = stored_model(files, read)
    assert {name: weight.tolist() for name, weight in load_file(kept.file).items()} == {
        name: weight.tolist() for name, weight in kept.weights.items()
    }
    [start] = struct.unpack("<Q", kept.file.read_bytes()[:8])
    assert start % 8 == 0


def test_it_is_converted_once(files):
    first = stored_model(files, read)
    again = stored_model(files, refuse)
    assert again.file == first.file and np.array_equal(again.weights["table"], first.weights["table"])
    assert sorted(path.suffix for path in first.file.parent.iterdir()) == [".lock", ".safetensors"]


def test_a_file_that_has_changed_is_another_model_and_the_old_one_goes(files):
    first = stored_model(files, read)
    files.path.write_bytes(b"other weights")
    second = stored_model(files, read)
    assert second.file != first.file and not (first.file.exists() and os.name != "nt")
    assert float(first.weights["gain"][0]) == float(second.weights["gain"][0]), "who has it open keeps it"


def test_a_reader_that_reads_better_converts_anew(files, monkeypatch):
    first = stored_model(files, read).file
    monkeypatch.setattr(store, "CONVERSION", store.CONVERSION + 1)
    assert stored_model(files, read).file != first


def test_writing_to_a_weight_changes_no_file(files):
    kept = stored_model(files, read)
    before = kept.file.read_bytes()
    kept.weights["gain"][:] = 0
    assert kept.file.read_bytes() == before and np.abs(open_stored(kept.file).weights["gain"]).sum() > 0


def test_a_file_cut_short_is_written_again(files):
    kept = stored_model(files, read)
    whole = kept.file.read_bytes()
    for length in (0, 5, 40, len(whole) - 1):
        kept.file.unlink()
        kept.file.write_bytes(whole[:length])
        assert open_stored(kept.file) is None
        assert stored_model(files, read).file.read_bytes() == whole


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")
def test_the_file_is_mapped_and_not_copied(files):
    kept = stored_model(files, read)
    places = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if kept.file.name in line]
    address = kept.weights["table"].ctypes.data
    inside = [place for place in places if int(place[0].split("-")[0], 16) <= address < int(place[0].split("-")[1], 16)]
    assert inside


def begin_elsewhere(files, log, pause):
    source = ANOTHER_PROCESS.format(
        root=str(ROOT), here=str(Path(__file__).parent), log=str(log), source=str(files.path), pause=pause
    )
    return subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_of_several_processes_one_converts_and_the_others_wait(files, tmp_path):
    other = begin_elsewhere(files, tmp_path / "log", 0.2)
    until(stored_file(files).with_suffix(".new").exists)
    assert stored_model(files, refuse).about["d_model"] == 8
    assert other.communicate(timeout=60)[0] == "8\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_one_killed_in_the_middle_leaves_nothing_that_counts(files, tmp_path):
    other = begin_elsewhere(files, tmp_path / "log", 30)
    file = stored_file(files)
    until(file.with_suffix(".new").exists)
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert not file.exists()
    assert stored_model(files, read).file == file and not file.with_suffix(".new").exists()


def test_too_little_room_is_said_before_anything_is_written(files, monkeypatch):
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000_000}))
    with pytest.raises(DiskError, match="too little space on the disk: 21 MB is needed"):
        stored_model(files, read)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_a_disk_that_fills_up_meanwhile_leaves_nothing(files):
    file = stored_file(files)
    file.parent.mkdir(parents=True)
    file.with_suffix(".new").symlink_to("/dev/full")
    with pytest.raises(DiskError, match="too little space"):
        stored_model(files, read)
    assert [path.suffix for path in file.parent.iterdir()] == [".lock"]


def test_what_the_reader_refuses_leaves_nothing(files):
    def refused(_):
        raise ValueError("another architecture")

    def breaks(files):
        return ModelContents({}, SHAPES, iter([("table", torch.zeros(50, 8))]))

    with pytest.raises(ValueError, match="another architecture"):
        stored_model(files, refused)
    with pytest.raises(AssertionError):
        stored_model(files, breaks)
    assert [path.suffix for path in stored_file(files).parent.iterdir()] == [".lock"]
