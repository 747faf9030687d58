"""Waiting for what another thread does: as long as it takes, but not for ever."""

import threading


def wait_until(condition, seconds=10):
    """Look again and again; True as soon as the condition holds, False when the time is over."""
    pause = threading.Event()
    for _ in range(int(seconds * 200)):
        if condition():
            return True
        pause.wait(0.005)
    return condition()
