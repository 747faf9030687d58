"""Files that visitors bring: how many, how large, and whose. They stay in memory as long as the visit lasts."""

import re
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attention_ui.process.addresses import sender

UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)/?$")
MEGABYTE = 1024 * 1024
LARGEST = 2 * MEGABYTE  # of a request: Streamlit takes one megabyte, and one for what is around it
MOST_FILES, OF_A_VISIT = 80, 8 * MEGABYTE  # the certificates of a class are many and small
OF_AN_ADDRESS, OF_ALL = 64 * MEGABYTE, 192 * MEGABYTE  # a school has one address, and a stranger too
TOO_MUCH = "Too many files were brought here. Close a tab in which you brought some, wait a minute, then try again."
TOO_LARGE = "This file is too large: one megabyte is the most."


class FewUploads:
    """Refuses a file where its visit, its address or all together have brought so much that is still kept.

    `kept` tells what the process keeps: the bytes of each file, by visit and name of the file. An upload counts with
    all that it may send from its first byte on.
    """

    def __init__(self, app: ASGIApp, kept: Callable[[], Mapping[tuple[str, str], int]]):
        self.app = app
        self._kept = kept
        self._senders: dict[tuple[str, str], str] = {}  # of what is kept and of what is on its way
        self._coming: dict[tuple[str, str], int] = {}  # bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it pass, or answer why not."""
        asked = UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if asked is None:
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        size = int(length) if length.isdecimal() and len(length) < 20 else LARGEST
        if size > LARGEST:
            return await refuse(413, TOO_LARGE)(scope, receive, send)
        file = asked["session"], asked["file"]
        who = sender((scope.get("client") or (None,))[0], headers.getlist("x-forwarded-for"))
        if file in self._coming or not self._fits(file, who, size):
            return await refuse(429, TOO_MUCH)(scope, receive, send)
        self._coming[file], self._senders[file] = size, who
        try:
            await self.app(scope, receive, send)
        finally:
            del self._coming[file]

    def _fits(self, file: tuple[str, str], who: str, size: int) -> bool:
        """True where so many bytes more are few enough."""
        held = {**self._kept(), **self._coming}
        held.pop(file, None)  # it takes the place of the one before
        self._senders = {one: where for one, where in self._senders.items() if one in held}
        of_visit = [held[one] for one in held if one[0] == file[0]]
        of_address = sum(held[one] for one, where in self._senders.items() if where == who)
        return (
            len(of_visit) < MOST_FILES
            and sum(of_visit) + size <= OF_A_VISIT
            and of_address + size <= OF_AN_ADDRESS
            and sum(held.values()) + size <= OF_ALL
        )


def refuse(status: int, why: str) -> ASGIApp:
    """An answer; the rest of the file is not read."""
    return PlainTextResponse(why, status, {"Connection": "close"})
