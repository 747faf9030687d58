"""What every answer tells the browser to refuse, and which answers a stranger does not get."""

import base64
import hashlib
import os
import re
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

EMBEDDERS = "ATTENTION_LAB_FRAME_ANCESTORS"  # who may show the app in a frame: "https://moodle.example.edu"
METRICS = "ATTENTION_LAB_METRICS"  # who may read /_stcore/metrics: loopback, everyone or nobody
EMBEDDER = re.compile(r"'self'|'none'|https?://(\*\.)?[A-Za-z0-9.-]+(:(\d+|\*))?")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
UNUSED = ("camera", "microphone", "geolocation", "payment", "usb", "serial", "midi", "display-capture")


def frame_ancestors(wanted: str) -> str:
    """The origins that may embed the app, checked; ValueError names the one that is not an origin."""
    origins = wanted.split() or ["'self'"]
    for origin in origins:
        if not EMBEDDER.fullmatch(origin):
            raise ValueError(
                f"{EMBEDDERS} expects origins such as https://moodle.example.edu, separated by spaces; "
                f"{origin!r} is none. Write the scheme and the host, without a path."
            )
    return " ".join(origins)


def content_security_policy(index: str, embedders: str = "'self'") -> str:
    """Everything from this host alone; of inline scripts only those that the start page brings, by their hash."""
    hashes = [hashlib.sha256(script.encode()).digest() for script in INLINE_SCRIPT.findall(index)]
    # The front end multiplies long numbers in WebAssembly; that allows no script to be made from text.
    scripts = " ".join(
        ["'self'", "'wasm-unsafe-eval'", *(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)]
    )
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",  # the front end writes its styles at run time
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            f"frame-ancestors {embedders}",
        ]
    )


class SecurityHeaders:
    """Puts the headers on every answer."""

    def __init__(self, app: ASGIApp, index: str, embedders: str | None = None):
        self.app = app
        wanted = frame_ancestors(os.environ.get(EMBEDDERS, "") if embedders is None else embedders)
        self.headers = {
            "Content-Security-Policy": content_security_policy(index, wanted),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",  # a link holds what a learner typed
            "Permissions-Policy": ", ".join(f"{feature}=()" for feature in UNUSED),
        }
        # The older header knows no list of origins, so it is left out where there is one.
        if wanted in ("'self'", "'none'"):
            self.headers["X-Frame-Options"] = "SAMEORIGIN" if wanted == "'self'" else "DENY"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does, with the headers."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)  # the page that runs a learner's code has a stricter policy
                if headers.get("content-type", "").startswith("text/html"):
                    # A page that the browser kept would keep its old policy with it, even when asked for again.
                    del headers["etag"], headers["last-modified"]
            await send(message)

        await self.app(scope, receive, send_with_headers)


class PrivateMetrics:
    """Streamlit tells everyone how many visitors it has; this tells only its own machine, unless asked otherwise."""

    def __init__(self, app: ASGIApp, readers: str | None = None):
        self.app = app
        self.readers = os.environ.get(METRICS, "loopback") if readers is None else readers
        if self.readers not in ("loopback", "everyone", "nobody"):
            raise ValueError(f"{METRICS} expects loopback, everyone or nobody; it is {self.readers!r}.")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 404 to who may not read the metrics."""
        if scope["type"] == "http" and scope["path"].endswith("/_stcore/metrics") and not self.may_read(scope):
            return await PlainTextResponse("Not Found", 404)(scope, receive, send)
        await self.app(scope, receive, send)

    def may_read(self, scope: Scope) -> bool:
        """True for the machine itself; a proxy on the same machine speaks for strangers, and says so."""
        if self.readers != "loopback":
            return self.readers == "everyone"
        headers = Headers(scope=scope)
        if any(name in headers for name in ("x-forwarded-for", "forwarded", "x-real-ip", "via")):
            return False
        try:
            address = ip_address((scope.get("client") or ("",))[0])
        except ValueError:
            return False
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
