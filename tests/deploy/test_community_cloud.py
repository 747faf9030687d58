"""Community Cloud installs and starts what its folder says, and no build of torch for graphics cards."""

import json
import os
import re
import subprocess
import sys

import pytest
from fake_index import put_wheel, served
from replicas import ROOT, Replica
from requirement_files import requirements_in

FOLDER = ROOT / "deploy" / "community_cloud"
PYTORCH = "https://download.pytorch.org"
VERSIONS = ("3.11", "3.12", "3.13")
SYSTEM = 'sys_platform == "linux"'


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """Both hosts in one: the index of packages with an old numpy in it, and that of PyTorch."""
    top = tmp_path_factory.mktemp("hosts")
    for needed in requirements_in(ROOT / "requirements.txt"):
        [low] = {s.version for s in needed.specifier if s.operator in ("==", ">=")}
        put_wheel(top / "simple" / needed.name.lower(), needed.name.lower(), low + ".0" * (2 - low.count(".")))
    torch = next(r for r in requirements_in(ROOT / "requirements.txt") if r.name == "torch")
    version = str(torch.specifier).removeprefix("==")
    put_wheel(top / "simple" / "torch", "torch", version, f"nvidia-cudnn; {SYSTEM}")
    put_wheel(top / "simple" / "nvidia-cudnn", "nvidia-cudnn", "9.0.0")
    for place in (top / "simple" / "numpy", top / "whl" / "cpu" / "numpy"):
        put_wheel(place, "numpy", "1.21.0")
    for python in VERSIONS:
        tag = f"cp{python.replace('.', '')}"
        put_wheel(top / "whl" / "cpu", "torch", f"{version}+cpu", tag=f"{tag}-{tag}-manylinux_2_28_x86_64")
    with served(top) as url:
        yield url


@pytest.fixture
def listed(hosts, tmp_path):
    """The files of requirements as they are, PyTorch's host replaced by ours."""
    (tmp_path / "deploy" / "community_cloud").mkdir(parents=True)
    for file in (ROOT / "requirements.txt", FOLDER / "requirements.txt"):
        text = file.read_text().replace(PYTORCH, hosts)
        (tmp_path / file.relative_to(ROOT)).write_text(text)
    return tmp_path / "deploy" / "community_cloud" / "requirements.txt", tmp_path / "requirements.txt"


def by_uv(file, index, python):
    options = ["--python-version", python, "--python-platform", "x86_64-manylinux_2_28", "--index-url", index]
    command = [sys.executable, "-m", "uv", "pip", "compile", "-q", "--no-config", "--no-cache", *options, str(file)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return re.findall(r"(?m)^([a-z][\w-]*) ?(?:==|@ )(\S+)", found.stdout)


def by_pip(file, index):
    options = ["--dry-run", "--ignore-installed", "--report", "-", "--index-url", index, "--no-cache-dir", "-q"]
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    settings["PIP_CONFIG_FILE"] = os.devnull
    command = [sys.executable, "-m", "pip", "install", *options, "-r", str(file)]
    found = subprocess.run(command, capture_output=True, text=True, env=settings)
    assert found.returncode == 0, found.stderr
    return [(part["metadata"]["name"], part["download_info"]["url"]) for part in json.loads(found.stdout)["install"]]


def judged(found, python):
    tag = f"cp{python.replace('.', '')}"
    assert not [name for name, _ in found if name.startswith("nvidia")]
    assert f"%2Bcpu-{tag}-{tag}-manylinux" in dict(found)["torch"].replace("+", "%2B")
    assert "1.21" not in dict(found)["numpy"]
    assert {name for name, _ in found} == {r.name.lower() for r in requirements_in(ROOT / "requirements.txt")}


@pytest.mark.part(3)
@pytest.mark.parametrize("python", VERSIONS)
def test_uv_takes_the_small_torch_and_all_else_as_at_the_top(hosts, listed, python):
    file, at_the_top = listed
    judged(by_uv(file, f"{hosts}/simple", python), python)
    assert "nvidia-cudnn" in dict(by_uv(at_the_top, f"{hosts}/simple", python)), "without that file it comes"


@pytest.mark.skipif(sys.platform != "linux", reason="for Linux")
def test_pip_does_so_too(hosts, listed):
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if python not in VERSIONS:
        pytest.skip("of another Python")
    judged(by_pip(listed[0], f"{hosts}/simple"), python)


@pytest.mark.slow
def test_its_entry_point_starts_the_app_and_may_fetch_the_model(tmp_path):
    replica = Replica(
        tmp_path / "log.txt", script="deploy/community_cloud/streamlit_app.py", PIP_INDEX_URL="http://127.0.0.1:9"
    )
    try:
        replica.start()
        assert b"<title>" in replica.get("/softmax").body and replica.get("/runner").status == 200
    finally:
        replica.stop()
    assert "Traceback" not in replica.words()
