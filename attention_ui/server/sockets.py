"""What a page says leaves at once.

Streamlit names no protocol when it makes the socket it listens on; asyncio does not know it for TCP then, and leaves
Nagle's algorithm on: after the first small message of a page, the rest waits until the browser acknowledges that one,
40 ms on Linux. Uvicorn's issue 3149 describes the same.
"""

import gc
import socket


def send_at_once() -> int:
    """Turn the algorithm off on all TCP sockets that listen; what they accept inherits it. Returns how many."""
    found = listening_sockets()
    for one in found:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return len(found)


def listening_sockets() -> list[socket.socket]:
    """Those of this process, whoever made them: Streamlit hands its own to nobody."""
    return [thing for thing in gc.get_objects() if type(thing) is socket.socket and listens(thing)]


def listens(one: socket.socket) -> bool:
    """Whether connections over TCP come in here."""
    internet = one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM
    return internet and one.fileno() >= 0 and one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
