"""Where the files of models lie: what the app has fetched, and folders of one's own."""

import os
from pathlib import Path

import platformdirs

CACHE = "ATTENTION_LAB_CACHE"  # a folder for what is fetched and converted, where the user's own cache will not do


def cache_folder() -> Path:
    """The folder of what is fetched once a machine: of the setting, or where the system keeps what can be had again."""
    return Path(os.environ.get(CACHE) or platformdirs.user_cache_path("attention-lab", appauthor=False))
