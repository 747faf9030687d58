"""The style of the pages, as it is sent."""

import functools
import re
from pathlib import Path

HERE = Path(__file__).parents[1]


@functools.cache
def style_in(file: str) -> str:
    """What a file of style says, in one line and without its comments: every visitor is sent it."""
    style = (HERE / file).read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
