"""Time in tests: a clock that is moved by hand, and waiting for what another thread does."""

import threading


def wait_until(condition, seconds=10):
    """Look again and again; True as soon as the condition holds, False when the time is over."""
    pause = threading.Event()
    for _ in range(int(seconds * 200)):
        if condition():
            return True
        pause.wait(0.005)
    return condition()


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now
