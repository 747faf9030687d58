"""The name and the mark, read once: as a path, Streamlit would read and measure each picture in every run."""

import base64
from pathlib import Path

HERE = Path(__file__).parent
ICON = "data:image/png;base64," + base64.b64encode((HERE / "icon.png").read_bytes()).decode()
LOGO = {theme: (HERE / f"logo_{theme}.svg").read_text(encoding="utf-8") for theme in ("light", "dark")}
