"""Every measurement can still be made: each command of benchmarks/ runs once, as briefly as it can.

`pytest --all tests/server/test_benchmarks.py` is all of them. Nobody runs a measurement at every change, and so nobody
saw that a page had another name, or that a button was gone. What a measurement finds is not looked at here.
"""

import signal
import subprocess
import sys

import pytest
from replicas import ROOT

from benchmarks.report import LACKING

FOLDER = ROOT / "benchmarks"
COMMANDS = sorted(path.name for path in FOLDER.glob("*.py") if 'if __name__ == "__main__":' in path.read_text())
PATIENCE_SECONDS = 1800  # a busy machine takes some minutes for the longest


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_measurement_can_still_be_made(command, models_here):
    code, printed = run_once(command)
    lacking = [line for line in printed.splitlines() if line.startswith(LACKING)]
    if code and lacking:
        pytest.skip(lacking[0])
    assert code == 0 and "Traceback" not in printed, printed


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [50, 250])  # killed before it is ready, where the kernel can; and later
def test_a_host_that_is_too_small_ends_with_one_sentence(megabytes, models_here):
    code, printed = run_once("small_host.py", "--limit", str(megabytes))
    sentences = f"The kernel ended the server, which needs more than {megabytes} MB.", f" MB, more than {megabytes}."
    assert code == 1 and printed.splitlines()[-1].endswith(sentences), printed


def run_once(command, *options):
    """What it ends with, and all it has printed. Whoever takes too long is interrupted, and ends its servers."""
    process = subprocess.Popen(
        [sys.executable, FOLDER / command, "--once", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        printed, _ = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate()
    return process.returncode, printed
