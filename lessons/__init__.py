"""What a lesson computes, says and asks, as data. No Streamlit, no Altair."""

from types import ModuleType


def name_of(lesson: ModuleType) -> str:
    """The name of a lesson, which is that of its folder: `lessons.one_head.mask.lesson` is mask."""
    return lesson.__name__.split(".")[2]
