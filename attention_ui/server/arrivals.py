"""Visits that begin at the same time begin one after the other."""

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send


class Arrivals:
    """Lets a visit in every few milliseconds.

    When a server is gone, all who were there come to another in the same moment. What Streamlit does for each before
    its page has a turn would then hold up whoever is there already, for as long as all of it takes. The last of them
    comes hardly later for it: the first page of a visit takes about as long as the time between two.
    """

    SECONDS_BETWEEN, LONGEST_SECONDS = 0.015, 10.0  # a browser gives up after 15

    def __init__(self, app: ASGIApp):
        self.app = app
        self._next = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does; a visit waits for its moment first."""
        if scope["type"] == "websocket" and scope["path"].endswith("/_stcore/stream"):
            now = asyncio.get_running_loop().time()
            moment = min(max(now, self._next), now + self.LONGEST_SECONDS)
            self._next = moment + self.SECONDS_BETWEEN
            if moment > now:
                await asyncio.sleep(moment - now)
        await self.app(scope, receive, send)
