"""The types that are written down agree with each other, in the layers that pyproject.toml names."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.slow
def test_pyright_finds_no_error():
    pytest.importorskip("pyright")
    checker = [sys.executable, "-m", "pyright"]
    if subprocess.run([*checker, "--version"], capture_output=True).returncode:
        pytest.skip("pyright comes by npm, which cannot be reached")
    found = subprocess.run([*checker, "--pythonpath", sys.executable], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
