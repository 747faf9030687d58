"""Whether whoever runs the server has said that its host has little memory."""

import os

SMALL = "ATTENTION_LAB_SMALL"  # 1: weights stay in the few bits of their file, and less is kept for the next time


def is_small() -> bool:
    """True on such a host."""
    return os.environ.get(SMALL) == "1"
