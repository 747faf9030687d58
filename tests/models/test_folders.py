"""Which models are offered, and by what names."""

import os

import pytest
from package_index import WHEEL

from attention_core.base.errors import InputError
from models import folders
from models.folders import CACHE, absent_folders, cache_folder, model_named, offered_models


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any model; what is made of paths lies in tmp_path."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv("ATTENTION_LAB_MODELS", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def make(machine, *paths):
    for path in paths:
        (machine / path).parent.mkdir(parents=True, exist_ok=True)
        (machine / path).write_bytes(b"")


def found(machine, **options):
    return {name: str(files.path.relative_to(machine)) for name, files in offered_models(**options).items()}


def test_nothing_is_offered_where_nothing_is(machine):
    assert offered_models() == {} and absent_folders() == [machine / "a", machine / "b"]


def test_files_and_folders_are_offered_by_name(machine):
    make(machine, "a/one.Q4_1.gguf", "a/deep/er/two.GGUF", "a/three/config.json", "a/three/model.safetensors")
    make(machine, "a/four/config.json", "a/four/model-00001-of-00002.safetensors", "a/four/onnx/five.gguf")
    assert found(machine) == {
        "one.Q4_1": "a/one.Q4_1.gguf",
        "two": "a/deep/er/two.GGUF",
        "three": "a/three",
        "four": "a/four",
    } and [files.kind for files in offered_models().values()] == ["gguf", "gguf", "hub", "hub"]
    assert list(found(machine)) == ["one.Q4_1", "two", "four", "three"], "in the order of their paths"


def test_what_would_run_code_or_is_no_model_is_not_offered(machine):
    make(machine, "a/pickled/config.json", "a/pickled/pytorch_model.bin", "a/notes.txt", "a/.hidden/x.gguf")
    make(machine, "a/.half.gguf", "a/split-00001-of-00002.gguf", "a/split-00002-of-00002.gguf", "a/1/2/3/4/5/far.gguf")
    assert list(found(machine)) == ["split-00001-of-00002"]


def test_a_setting_may_name_the_model_itself(machine, monkeypatch):
    make(machine, "x/one.gguf", "y/config.json", "y/model.safetensors")
    monkeypatch.setenv("ATTENTION_LAB_MODELS", os.pathsep.join([str(machine / "x/one.gguf"), str(machine / "y")]))
    assert found(machine) == {"one": "x/one.gguf", "y": "y"}


def test_equal_names_are_told_apart(machine, monkeypatch):
    make(machine, "a/m.gguf", "a/big/m.gguf", "b/m.gguf", "b/big/m.gguf")
    assert found(machine) == {
        "m": "a/m.gguf",
        "big/m": "a/big/m.gguf",
        "b/m": "b/m.gguf",
        "big/m (2)": "b/big/m.gguf",
    }
    monkeypatch.setenv("ATTENTION_LAB_MODELS", os.pathsep.join([str(machine / "a"), str(machine / "a/big")]))
    assert found(machine) == {"m": "a/m.gguf", "big/m": "a/big/m.gguf"}, "a folder in a folder counts once"


def test_what_was_fetched_comes_first_under_its_own_name(machine, monkeypatch):
    monkeypatch.setattr(folders, "WHEELS", (WHEEL,))
    make(machine, "a/one.gguf", "cache/little-model/weights.bin")
    assert list(found(machine)) == ["one"], "it is not whole"
    (machine / "cache/little-model/weights.bin").write_bytes(bytes(WHEEL.n_bytes))
    assert found(machine) == {"little-model": "cache/little-model/weights.bin", "one": "a/one.gguf"}


def test_the_cache_of_the_hub_is_for_whoever_sits_at_the_machine(machine):
    for revision in ("old", "new"):
        make(machine, *(f"hub/models--org--m/snapshots/{revision}/{name}" for name in ("config.json", "x.safetensors")))
    make(machine, "hub/models--org--g/snapshots/only/g.gguf", "hub/datasets--org--d/snapshots/x/d.gguf")
    make(machine, "hub/models--org--half/refs/main")
    (machine / "hub/models--org--m/refs").mkdir()
    (machine / "hub/models--org--m/refs/main").write_text("new\n")
    (machine / "hub/models--org--half/refs/main").write_text("gone")
    assert found(machine) == {}
    assert found(machine, loopback=True) == {
        "g": "hub/models--org--g/snapshots/only/g.gguf",
        "org/m": "hub/models--org--m/snapshots/new",
    }


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/one", "", "one.gguf"])
def test_a_path_is_no_name(machine, name):
    make(machine, "a/one.gguf", "secret.gguf")
    assert model_named("one").path == machine / "a/one.gguf"
    with pytest.raises(InputError, match="the models here are one, but got"):
        model_named(name)


def test_a_disk_that_is_named_whole_is_not_walked_to_its_end(machine, monkeypatch):
    monkeypatch.setattr(folders, "MOST_FOLDERS", 3)
    make(machine, *(f"a/{n}/m{n}.gguf" for n in range(9)))
    assert len(found(machine)) == 2


def test_the_cache_is_where_the_system_keeps_such_things(monkeypatch, tmp_path):
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "attention-lab"
