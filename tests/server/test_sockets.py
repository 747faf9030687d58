"""What a page says is sent at once, on every connection, not when the browser has acknowledged what came before."""

import socket
from pathlib import Path

from attention_ui.server.sockets import send_at_once

ROOT = Path(__file__).parent.parent.parent


def sends_at_once(one):
    return one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def accepted(listening):
    """The server's end of a new connection."""
    with socket.create_connection(listening.getsockname()):
        return listening.accept()[0]


def test_what_a_listening_socket_accepts_sends_at_once():
    with socket.socket() as listening:  # as Streamlit makes it, without a protocol
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with accepted(listening) as before:
            assert not sends_at_once(before)
        assert send_at_once() >= 1
        with accepted(listening) as after:
            assert sends_at_once(after)


def test_sockets_of_another_kind_and_closed_ones_are_left_alone():
    with socket.socket() as waiting, socket.socket(type=socket.SOCK_DGRAM) as datagrams, socket.socket() as closed:
        datagrams.bind(("127.0.0.1", 0))
        closed.listen()
        closed.close()
        send_at_once()
        assert not sends_at_once(waiting)


SERVER = """
import socket
import sys
sys.path.insert(0, {root!r})
from starlette.responses import JSONResponse
from streamlit.starlette import App
import app as ours
from attention_ui.server.sockets import listening_sockets


async def listening(request):
    return JSONResponse([one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in listening_sockets()])


routes = [ours.Route("/healthz", ours.health.answer), ours.Route("/listening", listening)]
app = App({frame!r}, lifespan=ours.lifespan, routes=routes, middleware=ours.MIDDLEWARE)
"""


def test_the_app_takes_care_of_the_socket_that_streamlit_made(replicas, tmp_path):
    script = tmp_path / "listening.py"
    script.write_text(SERVER.format(root=str(ROOT), frame=str(ROOT / "attention_ui" / "frame.py")))
    replica = replicas(script=str(script)).start()
    assert replica.get("/listening").body == b"[1]"
