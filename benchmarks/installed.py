"""From command to painted first page: `attention-lab` beside `streamlit run app.py`, in turns.

    python benchmarks/installed.py

The package is built and unpacked beside the packages of this Python, which both ways share.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from browser import FIRST_FIGURE, NEXT_FRAME, PAINTED, PATIENCE_MS, SIZE, chromium  # noqa: E402
from playwright.sync_api import Browser  # noqa: E402
from report import judged, options_of  # noqa: E402
from servers import OURS, free_port, is_healthy  # noqa: E402

COMMAND = "import sys; from attention_lab.command import main; sys.exit(main())"
GOAL = 1.3


def main() -> None:
    """Measure both ways in turns, and print the middle values."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="starts of each way; one more warms the disk")
    rounds = options_of(parser, rounds=1).rounds
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        site = unpacked(Path(place))
        environment = os.environ | {"PYTHONPATH": str(site)}
        run_app = ["streamlit", "run", "app.py", "--server.address", "127.0.0.1", "--server.port"]
        streamlit = [sys.executable, "-m", *run_app]
        ways = {
            "streamlit run app.py": (streamlit, OURS, os.environ),
            "attention-lab": ([sys.executable, "-c", COMMAND, "--no-browser", "--port"], Path(place), environment),
        }
        times = {name: [] for name in ways}
        for _ in range(rounds + 1):
            for name, way in ways.items():
                times[name].append(seconds_to_painted(browser, *way))
    middle = {name: statistics.median(measured[1:]) for name, measured in times.items()}
    ratio = middle["attention-lab"] / middle["streamlit run app.py"]
    print("| command | to the painted first page, s |\n|---|--:|")
    for name, seconds in middle.items():
        print(f"| `{name}` | {seconds:.2f} |")
    print(f"\nRatio {ratio:.2f}, {judged(ratio <= GOAL, f'≤ {GOAL}')}")


def unpacked(place: Path) -> Path:
    """The package as pip lays it out, compiled."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place], cwd=OURS, check=True)
    [wheel] = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as package:
        package.extractall(place / "site")
    subprocess.run([sys.executable, "-m", "compileall", "-q", place / "site"], check=True)
    return place / "site"


def seconds_to_painted(browser: Browser, command: list[str], folder: Path, environment: dict[str, str]) -> float:
    """One start, from the command to the painted first figure."""
    port, started = free_port(), time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([*command, str(port)], cwd=folder, env=environment, **quiet)
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(6 * PATIENCE_MS)
    try:
        while not is_healthy(f"http://127.0.0.1:{port}"):
            if server.poll() is not None:
                raise RuntimeError(f"{command} ended at once")
            time.sleep(0.02)
        page.goto(f"http://127.0.0.1:{port}", wait_until="commit")
        page.wait_for_function(PAINTED, arg=FIRST_FIGURE)
        page.evaluate(NEXT_FRAME)
        return time.perf_counter() - started
    finally:
        context.close()
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
