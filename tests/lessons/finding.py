"""Where a lesson is: its section, by its name alone."""

from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]


def part_of(lesson, part=""):
    """A file of a lesson, imported; without its name the package."""
    [folder] = (ROOT / "lessons").glob(f"*/{lesson}")
    return import_module(".".join([*folder.relative_to(ROOT).parts, *filter(None, [part])]))
