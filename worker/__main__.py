"""The process itself: reads what is asked from its input, answers on its output, and ends when its input does.

It is begun by its path, so that it finds the packages beside its own, wherever they lie.
"""

import os
import signal
import sys
from pathlib import Path

NICENESS = 10  # the server's pages go first where there are fewer processors than processes


def main() -> None:
    """Answer one request after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal, for the server
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    import runs.turn  # noqa: F401  what is asked for most
    from worker.messages import packed, read, send, sendable

    while (request := read(requests)) is not None:
        number, function, arguments = request
        try:
            answer = number, None, function(*arguments)
        except Exception as error:
            answer = number, sendable(error), None
        send(answers, packed(answer))


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    main()
