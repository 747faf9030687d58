"""HAProxy as in deploy/ keeps a replica that is slow, drops one that is dead, and never leaves a browser standing."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from replicas import Answer, wait_for

SLOW_SECONDS = 3.5  # as a busy machine was seen to be


class Fake(ThreadingHTTPServer):
    """Answers as a replica does, at once or late, and can die and come back at the same port."""

    daemon_threads = True

    def __init__(self, name, port=0):
        super().__init__(("127.0.0.1", port), Answers)
        self.name, self.port = name, self.server_address[1]
        self.well, self.asked_while_slow, self.more = threading.Event(), threading.Event(), threading.Event()
        self.well.set()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, *_):
        """Whoever hangs up is no error."""

    def die(self):
        self.shutdown()
        self.server_close()

    def born_again(self):
        return Fake(self.name, self.port)


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        if not self.server.well.is_set():
            self.server.asked_while_slow.set()
        self.server.well.wait(60)
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(self.server.name.encode())
        if self.path == "/lasting":
            self.wfile.flush()
            self.server.more.wait(60)
            self.wfile.write(b" again")

    def log_message(self, *_):
        pass


@pytest.fixture
def fakes():
    made = [Fake("first"), Fake("second")]
    yield made
    for fake in made:
        fake.well.set()
        fake.more.set()
        fake.die()


def lasting(proxy, cookie):
    """A connection that stays open, as a visitor's does."""
    connection = socket.create_connection(("127.0.0.1", proxy.port), timeout=20)
    connection.sendall(f"GET /lasting HTTP/1.1\r\nHost: a\r\nCookie: {cookie}\r\n\r\n".encode())
    return connection


def read_until(connection, end):
    text = b""
    while not text.endswith(end) and (part := connection.recv(4096)):
        text += part
    return text


def test_a_slow_replica_is_kept_a_dead_one_dropped_and_the_page_of_none_asks_again(fakes, haproxy):
    proxy = haproxy(*fakes)
    cookies = {}

    def both_seen():
        answer = Answer(proxy.url)
        if answer.status == 200:
            cookies[answer.body.decode()] = answer.headers["Set-Cookie"].split(";")[0]
        return len(cookies) == 2

    wait_for(both_seen, proxy.words)
    first, second = fakes
    visit = lasting(proxy, cookies["first"])
    assert read_until(visit, b"first").endswith(b"first")

    first.well.clear()
    assert first.asked_while_slow.wait(20), "the proxy asks whether it is well"
    threading.Event().wait(SLOW_SECONDS)
    assert "DOWN" not in proxy.words(), proxy.words()
    first.well.set()
    first.more.set()
    assert read_until(visit, b"again").endswith(b"again"), "the visit was not ended"
    assert Answer(proxy.url, cookie=cookies["first"]).body == b"first"

    first.die()
    answers = [Answer(proxy.url, cookie=cookies["first"]) for _ in range(3)]
    assert [(answer.status, answer.body) for answer in answers] == [(200, b"second")] * 3, proxy.words()
    wait_for(lambda: "lab/lab1 is DOWN" in proxy.words(), proxy.words)

    second.die()
    none = Answer(proxy.url, cookie=cookies["second"])
    assert none.status == 503 and none.headers["Cache-Control"] == "no-store"
    assert b'http-equiv="refresh"' in none.body and b"One moment" in none.body
    fakes[0] = first.born_again()
    wait_for(lambda: Answer(proxy.url, cookie=cookies["second"]).status == 200, proxy.words)
