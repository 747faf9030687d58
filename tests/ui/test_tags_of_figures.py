"""What draws the figures is named in one place, and a test asks there."""

from pathlib import Path

from tests.figures import TAGS

ROOT = Path(__file__).parent.parent.parent
OTHERS_APP = "benchmarks/one_chart/app.py"  # what benchmarks compare the app with


def test_one_file_names_what_draws_the_figures():
    files = [path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    named = {path.relative_to(ROOT).as_posix() for path in files if TAGS.search(path.read_text(encoding="utf-8"))}
    assert named == {"tests/figures.py", OTHERS_APP}
