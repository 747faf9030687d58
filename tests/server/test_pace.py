"""A socket is read at its pace, loses nothing, and is forgotten when it is gone."""

import asyncio
from contextlib import nullcontext

import pytest
from replicas import awaited
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import app
from attention_ui.server.pace import Bucket, Pace

HEARTBEAT, RERUN = BackMsg(app_heartbeat=True), BackMsg()
RERUN.rerun_script.query_string = "page=1"
STRANGER, ON_THIS_NET = "93.184.216.34", "192.168.7.5"


def visit(peer=ON_THIS_NET, path="/lab/_stcore/stream", forwarded=()):
    headers = [(b"x-forwarded-for", one.encode()) for one in forwarded]
    return {"type": "websocket", "path": path, "client": (peer, 40_000), "headers": headers}


def finished(status):
    return ForwardMsg(script_finished=status).SerializeToString()


ANSWER, CUT_SHORT = finished(ForwardMsg.FINISHED_SUCCESSFULLY), finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN)


def read(messages, *, answer=ANSWER, broken_after=None, peer=ON_THIS_NET):
    """When each of these is read, in seconds, and what, where each is answered so; after so many the other is gone."""

    async def run():
        loop = asyncio.get_running_loop()
        waiting, found, start = iter(messages), [], loop.time()

        async def receive():
            return {"type": "websocket.receive", "bytes": next(waiting)}

        async def send(message):
            if len(found) == broken_after:
                raise OSError("nobody reads this")

        async def follow(scope, receive, send):
            for _ in messages:
                message = await receive()
                found.append((loop.time() - start, message))
                if message["type"] == "websocket.disconnect":
                    return
                with pytest.raises(OSError) if len(found) == broken_after else nullcontext():
                    await send({"type": "websocket.send", "bytes": answer})

        await Pace(follow)(visit(peer), receive, send)
        return found

    return awaited(run())


def numbered(n):
    for number in range(n):
        asked = BackMsg()
        asked.rerun_script.query_string = str(number)
        yield asked.SerializeToString()


def test_a_burst_is_read_at_once_and_then_so_many_a_second(monkeypatch):
    monkeypatch.setattr(Bucket, "EACH_SECOND", 200.0)
    messages = list(numbered(60 + 41))
    found = read(messages)
    assert [message["bytes"] for _, message in found] == messages, "none is lost, and the last is the last"
    moments = [moment for moment, _ in found]
    assert moments[59] < 0.15 and moments[-1] >= 0.99 * 40 / 200


@pytest.mark.parametrize("answer", [CUT_SHORT, b"\x08\x01", b"", b"x" * 997])
def test_who_got_no_answer_three_times_waits_for_one(answer, monkeypatch):
    monkeypatch.setattr(Pace, "LONGEST_SECONDS", 0.1)
    moments = [moment for moment, _ in read(list(numbered(6)), answer=answer)]
    assert moments[2] < 0.09 <= moments[3] < 0.19 <= moments[4] < 0.29 <= moments[5]


def test_signs_of_life_are_read_as_they_come():
    found = read([HEARTBEAT.SerializeToString()] * 997)
    assert found[-1][0] < 5.0 < 997 / Bucket.EACH_SECOND


@pytest.mark.parametrize("data", [b"\xff\xff\xff", b"", RERUN.SerializeToString()])
def test_all_else_counts(data, monkeypatch):
    monkeypatch.setattr(Bucket, "EACH_SECOND", 200.0)
    assert read([data] * 81)[-1][0] >= 0.99 * 20 / 200


def test_what_waits_is_dropped_when_its_socket_is_gone():
    found = read(list(numbered(200)), broken_after=50)
    assert len(found) == 51 and found[-1][1]["type"] == "websocket.disconnect"


def test_a_bucket_fills_with_time_and_no_further():
    bucket = Bucket(since=0.0)
    assert [bucket.seconds_to_wait(0.0) for _ in range(61)] == [0.0] * 60 + [1 / 20]
    assert bucket.seconds_to_wait(0.05) == pytest.approx(1 / 20)
    assert [bucket.seconds_to_wait(1000.0) for _ in range(61)] == [0.0] * 60 + [1 / 20]


@pytest.mark.parametrize(
    ("peer", "proxies", "refused"), [(STRANGER, "", True), (ON_THIS_NET, "", False), (ON_THIS_NET, "10.0.0.1", True)]
)
def test_of_one_address_so_many_visits_are_open(peer, proxies, refused, monkeypatch):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", proxies)

    async def come():
        leave, let_in, closed = asyncio.Event(), [], []

        async def follow(scope, receive, send):
            let_in.append(scope)
            await leave.wait()

        async def send(message):
            closed.append(message)

        pace = Pace(follow)
        pace.MOST_SOCKETS = 7
        visits = [asyncio.create_task(pace(visit(peer), None, send)) for _ in range(9)]
        await asyncio.sleep(0.02)
        counts = len(let_in), len(closed)
        leave.set()
        await asyncio.gather(*visits)
        await pace(visit(peer), None, send)
        return counts, len(let_in)

    (let_in, closed), after = awaited(come())
    assert (let_in, closed, after) == ((7, 2, 8) if refused else (9, 0, 10))


def test_the_server_reads_at_its_pace():
    assert [one.cls for one in app.MIDDLEWARE].index(Pace) == 1
