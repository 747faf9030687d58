"""The first load: Streamlit's front end and our own scripts, packed once and kept, and what draws figures asked for
early.

What it gains, benchmarks/first_load.py measures.
"""

import asyncio
import gzip
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
FOR_A_YEAR = "public, immutable, max-age=31536000"  # their names hold a hash of what is in them
OF_CHARTS = ("ArrowVegaLiteChart.*.js", "embed.*.js", "vega-interpreter.*.js")  # nearly all that a chart needs
PLACES = ("/static/", "/bidi-components/")  # where Streamlit's files are asked for, and those of parts of a page
WITHOUT_CHARTS = (
    "",
    "dot_product",
    "mask",
    "output",
    "build",
    "exercises",
)  # pages without charts; the first has no name
GZIP_LEVEL = 6  # 9 takes a third longer and saves two parts in a thousand


def version_of(text: str) -> str:
    """A version that changes whenever the text does: a browser may keep a file whose address names it."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def cache_control(query: str, version: str) -> str:
    """How long a browser may keep what it asks for: as long as it likes where its address names this version."""
    return FOR_A_YEAR if f"v={version}" in query else "no-cache"


def accepts_gzip(headers: Headers) -> bool:
    """True when the browser says that it can unpack gzip."""
    for offer in headers.get("accept-encoding", "").lower().split(","):
        coding, _, quality = offer.replace(" ", "").partition(";q=")
        if coding in ("gzip", "*"):
            return quality not in ("0", "0.0", "0.00", "0.000")
    return False


class PackedFiles:
    """Answers for scripts and styles from memory, each packed when it is first asked for: 7 MB when all were.

    `folder` holds js/ and css/, and each of the `parts` of a page its files, under a name that holds their version.
    Whoever cannot unpack, or asks for a part of a file, is left to the app.
    """

    def __init__(self, app: ASGIApp, folder: Path, parts: Mapping[str, Path]):
        self.app = app
        self.files = {
            f"{name}/{file.name}": file
            for name, place in {"js": folder / "js", "css": folder / "css", **parts}.items()
            for file in place.glob("*")
            if file.suffix in MEDIA_TYPES
        }
        self._packing: dict[str, asyncio.Task[bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the packed file if that is what was asked for."""
        name = self._asked_for(scope)
        if name is None:
            return await self.app(scope, receive, send)
        try:
            body = await self._packed(name)
        except OSError:
            return await self.app(scope, receive, send)
        headers = {
            "Content-Encoding": "gzip",
            "Vary": "Accept-Encoding",
            "Cache-Control": FOR_A_YEAR,
            "ETag": f'"{name}-gzip"',
            "Content-Type": MEDIA_TYPES[self.files[name].suffix],
        }
        if Headers(scope=scope).get("if-none-match") == headers["ETag"]:
            return await Response(status_code=304, headers=headers)(scope, receive, send)
        await Response(body, headers=headers)(scope, receive, send)

    def _asked_for(self, scope: Scope) -> str | None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return None
        name = next((scope["path"].rpartition(place)[2] for place in PLACES if place in scope["path"]), "")
        headers = Headers(scope=scope)
        known = name in self.files and accepts_gzip(headers) and "range" not in headers
        return name if known else None

    async def _packed(self, name: str) -> bytes:
        task = self._packing.get(name)
        if task is None:
            task = asyncio.create_task(asyncio.to_thread(pack, self.files[name]))
            self._packing[name] = task
        try:
            # A visitor who leaves does not stop the packing for those who wait for the same file.
            return await asyncio.shield(task)
        except OSError:
            self._packing.pop(name, None)
            raise


def pack(file: Path) -> bytes:
    """The file's bytes, packed; the same bytes each time."""
    return gzip.compress(file.read_bytes(), GZIP_LEVEL, mtime=0)


class ScriptsAhead:
    """Tells the browser with the start page which scripts draw figures: those of matrices, and where the page that is
    asked for has a chart those of charts.

    It would ask for them, 0.3 MB, only when the first figure has come; this way it does so while the page is computed.
    """

    def __init__(self, app: ASGIApp, folder: Path, figures: str, scripts: Sequence[str]):
        self.app = app
        charts = (f"./static/js/{file.name}" for pattern in OF_CHARTS for file in (folder / "js").glob(pattern))
        tables = (f"./_stcore/bidi-components/{figures}/{script}" for script in scripts)
        self.tables, self.charts = (
            [f"<{script}>; rel=modulepreload" for script in scripts] for scripts in (tables, charts)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the app does; where it is the start page, with the header."""
        page = scope.get("path", "").rpartition("/")[2]
        link = ", ".join(self.tables + ([] if page in WITHOUT_CHARTS else self.charts))

        async def send_with_link(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                own_policy = "content-security-policy" in headers  # the page that runs a learner's code loads no script
                if link and not own_policy and headers.get("content-type", "").startswith("text/html"):
                    headers["Link"] = link
            await send(message)

        await self.app(scope, receive, send_with_link if scope["type"] == "http" else send)
