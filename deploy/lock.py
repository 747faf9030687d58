"""Write the packages of the image with their hashes into deploy/requirements.lock: `python deploy/lock.py`.

What is locked stays as long as it fits; `--upgrade` takes the newest that fits. Torch is left out: its CPU build lies
in an index of its own.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent
LOCK = DEPLOY / "requirements.lock"
HEADER = "# The packages of the image, every file with its hash. Written by deploy/lock.py; do not edit.\n"
FILES = ("requirements.txt", "requirements-classes.txt", "deploy/torch_needs.txt")


def lock(out: Path, *options: str) -> None:
    """Resolve for every system and every Python that the app runs on."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as without_torch:
        without_torch.write('torch; sys_platform == "none"\n')
        without_torch.flush()
        command += ["--generate-hashes", "--no-header", "--override", without_torch.name, "--no-emit-package", "torch"]
        command += ["--no-annotate", *options, "--output-file", str(out), *FILES]
        subprocess.run(command, cwd=DEPLOY.parent, check=True, stdout=subprocess.DEVNULL)
    lines = [line for line in out.read_text().splitlines(keepends=True) if not line.startswith("#")]
    out.write_text(HEADER + "".join(lines))


if __name__ == "__main__":
    lock(LOCK, *sys.argv[1:])
