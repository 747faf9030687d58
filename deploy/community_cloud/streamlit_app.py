"""The app on Streamlit Community Cloud: this file's folder has the packages that fit there, the CPU build of torch.

Run it from the top of the repository, as that host does: `streamlit run deploy/community_cloud/streamlit_app.py`.
"""

import os
import sys
from pathlib import Path

from streamlit.starlette import App

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("ATTENTION_LAB_FETCH", "1")  # the disk is empty after each deployment
os.environ.setdefault("ATTENTION_LAB_SMALL", "1")  # the host gives 690 MB at least

import app as lab  # noqa: E402

app = App(lab.SCRIPT, lifespan=lab.lifespan, routes=lab.ROUTES, middleware=lab.MIDDLEWARE)
