"""Addresses that nobody wrote down: a word of the menu leads to its page, however it is spelt."""

import asyncio
import functools

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attention_ui.server.languages import language_of_request
from words import FIRST, speaking


class MeantPages:
    """Sends on whoever asks for a page by its name rather than its address: /Dot-products, /backwards, /rückwärts."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, but for a name that is no address."""
        is_page = scope["type"] == "http" and scope["method"] == "GET"
        if is_page and "text/html" in Headers(scope=scope).get("accept", ""):
            request = Request(scope)
            word = scope["path"].rpartition("/")[2]
            meant = await asyncio.to_thread(meant_address, word, language_of_request(request)) if word else None
            if meant is not None:
                query = f"?{request.url.query}" if request.url.query else ""
                return await RedirectResponse(f"{meant}{query}", 307)(scope, receive, send)
        return await self.app(scope, receive, send)


def meant_address(word: str, code: str) -> str | None:
    """The address of the page that a word of the menu means; None where it is an address itself, or means none."""
    from attention_ui.contents import CONTENTS  # and with it what takes a second to import
    from attention_ui.session import address_of

    if any(word == entry.address for entry in CONTENTS[1:]):
        return None
    place = named_pages(FIRST).get(bare(word)) or named_pages(code).get(bare(word))
    return None if place is None else address_of(place)


@functools.cache
def named_pages(code: str) -> dict[str, str]:
    """The pages by their names in a language, and by their addresses."""
    from attention_ui.contents import CONTENTS  # and with it what takes a second to import

    with speaking(code):
        return {bare(word): entry.address for entry in CONTENTS for word in (entry.name, entry.address)}


def bare(word: str) -> str:
    """A word without what is spelt in different ways: capitals, signs between its parts, the s of a plural."""
    letters = "".join(letter for letter in word.casefold() if letter.isalnum())
    return letters.removesuffix("s") or letters
