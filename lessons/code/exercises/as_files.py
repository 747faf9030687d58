"""Each exercise as a file for real PyTorch: its question, and the beginning of an answer.

`python -m lessons.code.exercises.as_files exercises` writes them all, over whatever stands there.
"""

import sys
import textwrap
from pathlib import Path

from lessons.code.exercises.base import Exercise
from lessons.code.exercises.every import EXERCISES
from lessons.screen import render

WRITTEN_WIDE = 100  # characters of a line of the question
TORCH_IMPORTED = "import math\n\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"


def exercise_files() -> dict[str, str]:
    """The text of each file by its name; the numbers in front keep the order of the lessons."""
    return {f"{place:02}_{key}.py": file_text(it) for place, (key, it) in enumerate(EXERCISES.items(), start=1)}


def file_text(exercise: Exercise) -> str:
    """The question as the docstring, what the page knows as well, and the beginning of an answer."""
    asks = textwrap.fill(render(exercise.asks), WRITTEN_WIDE, break_long_words=False, break_on_hyphens=False)
    return f'"""{render(exercise.title)}.\n\n{asks}\n"""\n\n{TORCH_IMPORTED}\n\n{exercise.starter}'


if __name__ == "__main__":
    for name, text in exercise_files().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
