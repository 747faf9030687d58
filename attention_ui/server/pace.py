"""No socket is read faster than the app can follow, and no stranger opens sockets without end."""

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention_ui.process.addresses import proxies_named, sender
from attention_ui.streamlit_insides import answers, asks

TRY_AGAIN_LATER = 1013  # a code of the websocket protocol
GONE: Message = {"type": "websocket.disconnect", "code": 1006}


@dataclass
class Bucket:
    """What a socket may still send at once; it fills with time. A socket that has sent more must wait."""

    EACH_SECOND, BURST = 20.0, 60.0  # a held key sends some 30 a second

    since: float
    left: float = BURST

    def seconds_to_wait(self, now: float) -> float:
        """Take one out, and say for how long the next must not be read."""
        self.left = min(self.BURST, self.left + (now - self.since) * self.EACH_SECOND) - 1
        self.since = now
        return max(0.0, -self.left / self.EACH_SECOND)


class Pace:
    """Reads what asks for a page no faster than its bucket fills, and no faster than pages are answered.

    Each question ends the run that answers the one before. A visitor whose last questions were all cut short by the
    next one gets an answer first, if that takes no longer than a moment: else many who press blindly would keep the
    app busy with what nobody sees. What is not read waits with its sender: the server answers nothing with an error,
    and keeps nothing for it. A sign of life, which asks for nothing, is not counted. Of one address so many visits may
    be open at a time; where nobody can tell the addresses of strangers apart, that is not counted.
    """

    MOST_UNANSWERED, LONGEST_SECONDS = 3, 2.0  # in a row; how long the next question waits for an answer
    MOST_SOCKETS = 1000  # of one address: a school behind one

    def __init__(self, app: ASGIApp):
        self.app = app
        self.open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, at its pace."""
        if scope["type"] != "websocket" or not scope["path"].endswith("/_stcore/stream"):
            await self.app(scope, receive, send)
            return
        address = stranger(scope)
        if address is not None and self.open[address] >= self.MOST_SOCKETS:
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            return
        self.open[address or ""] += 1
        try:
            await self.read_at_its_pace(scope, receive, send)
        finally:
            self.open[address or ""] -= 1

    async def read_at_its_pace(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what comes, one after the other. When the other side is gone, what has not been read is dropped."""
        clock = asyncio.get_running_loop().time
        bucket, gone, answered = Bucket(clock()), asyncio.Event(), asyncio.Event()
        unanswered = 0

        async def paced() -> Message:
            nonlocal unanswered
            event = await receive()
            if asks(event):
                if answered.is_set():
                    unanswered = 0
                if unanswered >= self.MOST_UNANSWERED:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(answered.wait(), self.LONGEST_SECONDS)
                answered.clear()
                unanswered += 1
                await asyncio.sleep(bucket.seconds_to_wait(clock()))
            return GONE if gone.is_set() else event

        async def watched(event: Message) -> None:
            if answers(event):
                answered.set()
            try:
                await send(event)
            except Exception:
                gone.set()
                answered.set()
                raise

        await self.app(scope, paced, watched)


def stranger(scope: Scope) -> str | None:
    """The address a visit comes from, where that is its own: a proxy that is not named stands for all behind it."""
    client = scope.get("client")
    peer = client[0] if client else None
    forwarded = HTTPConnection(scope).headers.getlist("x-forwarded-for")
    address = sender(peer, forwarded)
    if proxies_named():
        return address
    try:
        return address if ip_address(address.partition("/")[0]).is_global else None
    except ValueError:
        return None
