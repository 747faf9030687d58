"""Messages between the server and its worker: pickled, on a pipe that nobody else can write to."""

import pickle
from typing import IO, Any


def packed(message: object) -> bytes:
    """A message as it is sent."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def send(pipe: IO[bytes], message: bytes) -> None:
    """Send it. Raises OSError where nobody is there to read it."""
    pipe.write(message)
    pipe.flush()


def sendable(error: Exception) -> Exception:
    """An error, or what it says where it would not arrive as it is."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(str(error))
    return error


def read(pipe: IO[bytes]) -> Any:
    """The next message; None where the other side is gone."""
    try:
        return pickle.load(pipe)
    except Exception:  # it is cut off, or names what is not here
        return None
