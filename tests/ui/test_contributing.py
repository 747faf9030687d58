"""The lesson that CONTRIBUTING.md adds works as it stands there, and needs nothing more than what is said there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
GUIDE = ROOT / "CONTRIBUTING.md"
NEEDED = (
    "attention_core",
    "attention_ui",
    "in_browser",
    "lessons",
    "models",
    "classes",
    "runs",
    "training",
    "words",
    "worker",
    "pages",
    "tests",
    "app.py",
    ".streamlit",
    "pyproject.toml",
    "lab.py",
)
VISIT = """
from visiting import asked, chart, open_page, texts


def test_the_page_opens_and_says_what_the_lesson_says():
    at = open_page("one_head/lengths")
    assert [title.value for title in at.title] == ["The length of a vector"]
    assert chart(at)[2] == "“journey” has the longest vector: x · x is 1.50." in texts(at)
    assert "x · x of" in asked(at), "the question"
"""


@pytest.fixture
def copy(tmp_path):
    """The app with the lesson of the guide."""
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "cache"))
        else:
            shutil.copy(source, tmp_path / name)
    blocks = dict(re.findall(r"(?ms)^```python (\S+)\n(.*?)^```$", GUIDE.read_text(encoding="utf-8")))
    assert len(blocks) == 3
    for path, code in blocks.items():
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(code, encoding="utf-8")
    (tmp_path / "tests" / "pages" / "test_newcomer.py").write_text(VISIT, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_lesson_of_the_guide_passes_its_tests_and_its_page_opens(copy):
    assert ran(copy, "ruff", "check", "lessons", "pages", "tests/lessons") == "All checks passed!"
    said = ran(
        copy,
        "pytest",
        "tests/lessons",
        "tests/pages/test_newcomer.py",
        "tests/ui/test_layers.py",
        "-k",
        "lengths or length or newcomer or template or layers",
        "-rp",
    )
    for test in ("computed_again[lengths]", "a_length_computed_by_hand", "the_page_opens"):
        assert re.search(rf"PASSED .*{re.escape(test)}", said), said


def ran(folder, *command):
    """What a command says in this folder, and nothing of the machinery around this test."""
    done = subprocess.run(
        [sys.executable, "-m", *command, *(["-p", "no:cacheprovider"] if command[0] == "pytest" else [])],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
