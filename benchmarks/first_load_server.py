"""The app served in the way that the variable FIRST_LOAD names, for first_load.py."""

import os
import sys
from pathlib import Path

from streamlit.starlette import App

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import app as ours  # noqa: E402
from attention_ui.server.files import PackedFiles  # noqa: E402

left_out = {"plain": (PackedFiles,), "packed": ()}[os.environ["FIRST_LOAD"]]
app = App(
    str(ROOT / "attention_ui" / "frame.py"),
    lifespan=ours.lifespan,
    middleware=[layer for layer in ours.MIDDLEWARE if layer.cls not in left_out],
)
