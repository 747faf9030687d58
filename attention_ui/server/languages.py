"""The language of the page that is served, and the address with which the menu changes it."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention_ui.server.connection import with_script
from words import COOKIE, chosen_language, nearest_language, tag_of

YEAR = 31_536_000  # seconds
LANG = re.compile(rb'<html lang="[^"]*"')


class SpokenPage:
    """Writes the reader's language into the start page, and with it what connection.js says.

    Screen readers choose their voice by it, and browsers what they offer to translate. The language that a link fixes
    stays while the browser is open.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does; a page of HTML says its language."""
        # The page that runs a learner's code is told its language by the app.
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].endswith("/runner"):
            return await self.app(scope, receive, send)
        if "text/html" in Headers(scope=scope).get("accept", ""):  # a small page, which comes as it can be read here
            scope = scope | {"headers": [entry for entry in scope["headers"] if entry[0] != b"accept-encoding"]}
        begun: list[Message] = []
        body = bytearray()

        async def send_in_language(event: Message) -> None:
            if event["type"] == "http.response.start" and is_page(event):
                begun.append(event)
            elif not begun:
                await send(event)
            else:
                body.extend(event.get("body", b""))
                if not event.get("more_body", False):
                    page = in_language(begun[0], bytes(body), Request(scope))
                    await send(begun[0])
                    await send({"type": "http.response.body", "body": page})

        await self.app(scope, receive, send_in_language)


def is_page(start: Message) -> bool:
    """True for the beginning of an answer that is a page nobody has packed."""
    headers = MutableHeaders(scope=start)
    kind = headers.get("content-type", "")
    return start["status"] == 200 and kind.startswith("text/html") and "content-encoding" not in headers


def fixed_in(request: Request) -> str:
    """The language that the link fixes; empty where it fixes none."""
    return dict(parse_qsl(request.url.query.replace("&amp;", "&"))).get("lang", "")


def language_of_request(request: Request) -> str:
    """The language in which this visitor reads: what the link fixes, or was chosen before, or the browser asks for."""
    kept = request.cookies.get(COOKIE, "")
    return chosen_language(fixed_in(request), kept, request.headers.get("accept-language", ""))


def in_language(start: Message, page: bytes, request: Request) -> bytes:
    """The page with its language; the headers say what it depends on."""
    fixed, headers, code = fixed_in(request), MutableHeaders(scope=start), language_of_request(request)
    page = with_script(LANG.sub(f'<html lang="{tag_of(code)}"'.encode(), page, count=1), code)
    headers["Content-Length"] = str(len(page))
    headers.add_vary_header("Accept-Language, Cookie")
    if nearest_language(fixed):
        headers.append("Set-Cookie", cookie(code))
    return page


def cookie(code: str, seconds: int | None = None) -> str:
    """The header that keeps a language in the browser: for so long, or until it is closed."""
    return f"{COOKIE}={code}; Path=/; SameSite=Lax" + (f"; Max-Age={seconds}" if seconds else "")


async def change_language(request: Request) -> RedirectResponse:
    """Keep the language in this browser and go back to the page from which the menu was used, with its controls."""
    answer = RedirectResponse(back_to(request.headers.get("referer", "")), 303)
    if code := nearest_language(request.path_params["code"]):
        answer.headers.append("Set-Cookie", cookie(code, YEAR))
    return answer


def back_to(referer: str) -> str:
    """The path and the controls of an address of ours, which no longer fixes a language; the first page without one."""
    try:
        address = urlsplit(referer)
    except ValueError:
        return "/"
    controls = [(name, value) for name, value in parse_qsl(address.query, keep_blank_values=True) if name != "lang"]
    # Of several slashes at the beginning a browser would make another host.
    return "/" + re.sub(r"^[/\\]+", "", address.path) + (f"?{urlencode(controls)}" if controls else "")
