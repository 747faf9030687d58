"""What one move of a slider costs in calls: `python benchmarks/one_move.py` moves d_k from 2 to 3 on the page Softmax.

It counts the files and functions of this project that run, their calls, how many of these go from one file to another,
how often `attend` runs, and how often the width of a letter is asked for.
"""

import argparse
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from report import options_of  # noqa: E402
from streamlit.testing.v1 import AppTest  # noqa: E402

ROOT = HERE.parent
BEGIN = {"example": "journey"}
PAGE = ROOT / "pages" / "one_head" / "softmax.py"
OF_LETTERS = ("is_wide_letter", "has_no_width", "width_of")
OTHERS = (".venv", "benchmarks", "tests")


def main() -> None:
    """Open the page, move the slider once so that everything is kept that can be, and count the next move."""
    options_of(argparse.ArgumentParser(description=__doc__.splitlines()[0]))
    page = AppTest.from_file(str(ROOT / "attention_ui" / "frame.py"), default_timeout=120)
    for name, value in BEGIN.items():
        page.query_params[name] = value
    page.switch_page(str(PAGE)).run()
    counted = Calls()
    threading.setprofile(counted)
    try:
        page.slider(key="d_k").set_value(3).run()
    finally:
        threading.setprofile(None)
    assert not page.exception, page.exception
    counted.tell()


class Calls:
    """Counts every call of a function of this project: by function, and by the files it goes from and to."""

    def __init__(self):
        self.of_function: Counter[tuple[str, str]] = Counter()
        self.between: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (here := file_of(frame)):
            self.of_function[here, frame.f_code.co_qualname] += 1
            if (caller := file_of(frame.f_back)) and caller != here:
                self.between[caller, here] += 1

    def named(self, *names: str) -> int:
        """How often functions of these names were called."""
        return sum(n for (_, name), n in self.of_function.items() if name in names)

    def tell(self) -> None:
        """Print the counts."""
        n_files = len({file for file, _ in self.of_function})
        print(f"{n_files} files, {len(self.of_function)} functions, {self.of_function.total():,} calls")
        print(f"{self.between.total():,} of them from one file to another, on {len(self.between)} ways")
        print(f"attend ran {self.named('attend')} times; letters were measured {self.named(*OF_LETTERS)} times")


def file_of(frame: FrameType | None) -> str:
    """The file of this project in which a frame runs; empty for any other."""
    path = Path(frame.f_code.co_filename) if frame else None
    if path is None or not path.is_relative_to(ROOT):
        return ""
    inside = path.relative_to(ROOT)
    return "" if inside.parts[0] in OTHERS else str(inside)


if __name__ == "__main__":
    main()
