"""The icon of the browser's tab, read once: as a path, Streamlit would read and measure the picture in every run."""

import base64
from pathlib import Path

ICON = "data:image/png;base64," + base64.b64encode(Path(__file__).with_name("icon.png").read_bytes()).decode()
