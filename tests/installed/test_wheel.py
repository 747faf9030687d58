"""The package: what lies in it, what it needs, and what its command says, without installing anything it needs."""

import os
import re
import socket
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from requirement_files import requirements_in

import command

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NOT_RUN = (".md", ".cfg", ".pot")  # of words: glossaries and what makes catalogues


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """As pip lays it out, beside nothing else."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as package:
        package.extractall(folder)
    return folder


def said(folder, *arguments, at=None, **settings):
    """What the command says where the folder is one of Python's, and its exit code."""
    program = "import sys; from attention_lab.command import main; sys.exit(main())"
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=at or folder,
        env=os.environ | {"PYTHONPATH": str(folder)} | settings,
        capture_output=True,
        text=True,
    )
    return ran.stdout + ran.stderr, ran.returncode


def test_all_that_runs_lies_in_one_folder_and_nothing_else(wheel, unpacked):
    assert wheel.stat().st_size <= 8e6
    assert {path.name.partition("-")[0] for path in unpacked.iterdir()} == {"attention_lab"}
    there = {path.relative_to(unpacked / "attention_lab") for path in (unpacked / "attention_lab").rglob("*")}
    files = {path for path in there if (unpacked / "attention_lab" / path).is_file()}
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).splitlines()
    folders = {str(path.parts[0]) for path in files}
    runs = {Path(name) for name in listed if Path(name).parts[0] in folders and (ROOT / name).is_file()}
    assert files == {path for path in runs if path.parts[0] != "words" or path.suffix not in NOT_RUN}
    assert {"app.py", "command.py", ".streamlit", "pages", "attention_core", "in_browser"} <= folders
    assert not folders & {"tests", "docs", "benchmarks", "training", "deploy", "lab.py"}


def test_the_image_and_the_package_hold_the_same(unpacked):
    packed = {path.name for path in (unpacked / "attention_lab").iterdir()} - {"command.py"}
    lines = (ROOT / "deploy" / "Containerfile").read_text()
    assert set(re.findall(r"(?m)^COPY (\S+) \S+$", lines)) == packed


def test_what_it_needs_is_what_the_app_needs(unpacked):
    [text] = unpacked.glob("*.dist-info/METADATA")
    needed = list(map(Requirement, Parser().parsestr(text.read_text(), headersonly=True).get_all("Requires-Dist")))
    for extra, name in (("", "requirements.txt"), ("classes", "requirements-classes.txt")):
        of_file = {(r.name.lower(), r.specifier) for r in requirements_in(ROOT / name)}
        extras = {r: re.search(r'extra == "(\w+)"', str(r.marker)) for r in needed}
        of_wheel = {(r.name, r.specifier) for r, of in extras.items() if extra == (of[1] if of else "")}
        assert of_wheel == of_file


def test_one_version_stands_everywhere(unpacked, tmp_path):
    version = PROJECT["version"]
    assert said(unpacked, "--version", at=tmp_path) == (f"attention-lab {version}\n", 0)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    assert re.search(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text())[1] == version
    tags = subprocess.check_output(["git", "tag", "--points-at", "HEAD"], cwd=ROOT, text=True).split()
    assert [tag for tag in tags if re.match(r"v\d", tag)] in ([], [f"v{version}"])


def test_the_check_says_what_is_here_and_what_is_missing(unpacked, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tiny.gguf").touch()
    away, mine = str(tmp_path / "away"), str(tmp_path / "mine")
    text, code = said(unpacked, "--check", "--models", "mine", "--models", away, at=tmp_path)
    assert code == 0, text
    assert "here     torch==2.13.0, 2.13.0" in text and "not yet  SmolLM2-135M-Instruct" in text
    assert f"here     tiny, in {mine}/tiny.gguf" in text and f"MISSING  the folder {away}" in text
    [metadata] = unpacked.glob("*.dist-info/METADATA")
    whole = metadata.read_text()
    metadata.write_text(whole.replace("torch==2.13.0", "torch==1.2.3").replace("segno<2", "not-here<2"))
    text, code = said(unpacked, "--check", at=tmp_path)
    metadata.write_text(whole)
    assert code == 1 and "MISSING  torch==1.2.3, 2.13.0" in text
    assert re.search(r"MISSING  not-here<2\S*\n", text), "one that is not installed"


def test_a_port_that_is_taken_is_left_to_its_owner(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        first = taken.getsockname()[1]
        monkeypatch.setattr(command, "FIRST_PORT", first)
        assert command.free_port("127.0.0.1") > first
        monkeypatch.setattr(command, "MORE_PORTS", 1)
        assert command.free_port("127.0.0.1") is None


def test_the_browser_is_opened_once_the_app_answers(monkeypatch):
    opened, asked = [], []

    class Answer:
        __enter__ = __exit__ = lambda *_: None

    def answer(url, timeout):
        asked.append(url)
        if len(asked) < 3:
            raise ConnectionRefusedError
        return Answer()

    monkeypatch.setattr(command.urllib.request, "urlopen", answer)
    monkeypatch.setattr(command.webbrowser, "open", opened.append)
    monkeypatch.setattr(command.time, "sleep", lambda _: None)
    command.open_browser("0.0.0.0", 8650)
    assert opened == ["http://localhost:8650"] and len(asked) == 3
