"""Files that visitors bring: each visit, each address and the process have a bound, and what is gone counts no more."""

import asyncio
import contextlib
import http.client
import secrets
import time

import pytest
from replicas import awaited
from starlette.responses import PlainTextResponse

from attention_ui.server import uploads
from attention_ui.server.uploads import MEGABYTE, MOST_FILES, FewUploads
from benchmarks.client import Session

SIZE = 900_000


class Visit(Session):
    """Knows its own name, as the front end does."""

    name = ""

    def _receive(self, message):
        if message.WhichOneof("type") == "new_session":
            self.name = message.new_session.initialize.session_id or self.name
        super()._receive(message)


def put(port, visit, file, size=SIZE, *, claim=None):
    """Send a file as the front end does; the status, and what was answered."""
    edge, token = "----edge", f"2|{secrets.token_hex(4)}|{secrets.token_hex(16)}|{int(time.time())}"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="f"; filename="m"\r\n\r\n'.encode()
    body = head + bytes(size) + f"\r\n--{edge}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("PUT", f"/_stcore/upload_file/{visit}/{file}")
    connection.putheader("Content-Type", f"multipart/form-data; boundary={edge}")
    connection.putheader("Content-Length", str(claim or len(body)))
    connection.putheader("Cookie", f"_streamlit_xsrf={token}")
    connection.putheader("X-Xsrftoken", token)
    connection.endheaders()
    with contextlib.suppress(OSError):  # it may be refused before all is sent
        connection.send(body)
    answer = connection.getresponse()
    said = answer.status, answer.read().decode()
    connection.close()
    return said


def test_a_visit_brings_a_few_files_and_what_it_takes_away_counts_no_more(server):
    async def brought():
        async with Visit(server.port) as visit, Visit(server.port) as other:
            await visit.open("generate")
            await other.open("generate")

            def send(who, file, **how):
                return asyncio.to_thread(put, server.port, who.name, file, **how)

            many = [await send(visit, f"f{number}") for number in range(30)]
            return {
                "many": [status for status, _ in many],
                "words": many[-1][1],
                "the same again": await send(visit, "f1"),
                "of another visit": await send(other, "f1"),
                "of no visit": await send(type("Nobody", (), {"name": "no-visit"}), "f1"),
                "too large": await send(other, "f2", claim=3 * MEGABYTE),
            }

    said = awaited(brought())
    fit = uploads.OF_A_VISIT // SIZE
    assert said["many"] == [204] * fit + [429] * (30 - fit) and fit < MOST_FILES
    assert said["words"] == uploads.TOO_MUCH
    assert said["the same again"][0] == said["of another visit"][0] == 204
    assert said["of no visit"][0] == 400
    assert said["too large"] == (413, uploads.TOO_LARGE)


async def asked(app, visit, file, size, peer="1.1.1.1"):
    """The status that such an upload is answered with."""
    told = []
    scope = {
        "type": "http",
        "method": "PUT",
        "path": f"/below/_stcore/upload_file/{visit}/{file}",
        "client": (peer, 1),
        "headers": [(b"content-length", str(size).encode())],
    }

    async def send(message):
        told.append(message.get("status"))

    await app(scope, None, send)
    return told[0]


@pytest.fixture
def kept():
    return {}


@pytest.fixture
def bounded(kept):
    """The bounds around a place that keeps all."""

    async def keep(scope, receive, send):
        *_, visit, file = scope["path"].split("/")
        kept[visit, file] = int(dict(scope["headers"])[b"content-length"])
        await PlainTextResponse("", 204)(scope, receive, send)

    return FewUploads(keep, lambda: dict(kept))


def test_the_certificates_of_a_class_come_at_once(bounded):
    async def brought():
        return await asyncio.gather(*(asked(bounded, "teacher", f"f{number}", 9_000) for number in range(40)))

    assert awaited(brought()) == [204] * 40


def test_an_address_cannot_use_up_what_is_for_all(bounded, kept):
    async def attack():
        statuses = [await asked(bounded, f"v{number}", "f", MEGABYTE) for number in range(300)]
        school = [await asked(bounded, f"s{number}", "f", MEGABYTE, "2.2.2.2") for number in range(30)]
        everybody = [await asked(bounded, f"{who}", "f", MEGABYTE, f"3.3.3.{who % 250}") for who in range(300)]
        for visit, file in list(kept):
            if visit.startswith("v"):
                del kept[visit, file]  # its visits have ended
        return statuses, school, everybody, await asked(bounded, "v1", "f", MEGABYTE)

    statuses, school, everybody, later = awaited(attack())
    assert statuses.count(204) * MEGABYTE == uploads.OF_AN_ADDRESS and set(statuses) == {204, 429}
    assert school == [204] * 30
    assert sum(kept.values()) <= uploads.OF_ALL and everybody.count(429) > 0
    assert later == 204


def test_what_is_on_its_way_counts_and_goes_with_an_error(kept):
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def slow(scope, receive, send):
        entered.set()
        await go_on.wait()
        raise RuntimeError("the browser hung up")

    async def many():
        app = FewUploads(slow, lambda: {})
        coming = [asyncio.create_task(asked(app, "v", f"f{number}", 100)) for number in range(MOST_FILES)]
        await entered.wait()
        await asyncio.sleep(0)
        refused = await asked(app, "v", "one more", 100), await asked(app, "v", "f0", 100)
        go_on.set()
        await asyncio.gather(*coming, return_exceptions=True)
        return refused, app._coming

    assert awaited(many()) == ((429, 429), {})


def test_a_length_that_is_none_counts_as_the_largest(kept):
    async def nothing(scope, receive, send):
        await PlainTextResponse("", 204)(scope, receive, send)

    app = FewUploads(nothing, lambda: {("v", "old"): uploads.OF_A_VISIT - uploads.LARGEST + 1})
    for length in ("", "x", "-1", "9" * 40, "²"):
        assert awaited(asked(app, "v", "f", length)) == 429
