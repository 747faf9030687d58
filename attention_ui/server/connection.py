"""Three scripts of every page, and their place in the start page: one says that the connection is lost, one steps
through a class's plan, one keeps the browser's history short.
"""

from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from attention_ui.server.files import cache_control, version_of
from classes.stages import told_as
from words import language_of

# Without the sign between them, one would be taken for arguments of a call to what the one before returns.
SCRIPT = ";\n".join(
    Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("connection.js", "steps.js", "history.js")
)
VERSION = version_of(SCRIPT)
LOST = told_as(
    "The connection has been lost. Keep this page open: it will continue by itself when the connection is back."
)


def with_script(page: bytes, code: str) -> bytes:
    """The start page with the script in it, and what that says in the language with this code."""
    sentence = escape(language_of(code).template(LOST))
    tag = f'<script defer src="./connection.js?v={VERSION}" data-lost="{sentence}"></script>'
    return page.replace(b"</head>", tag.encode() + b"</head>", 1)


def answer_script(request: Request) -> Response:
    """Answer with the script that watches the connection."""
    headers = {"Cache-Control": cache_control(request.url.query, VERSION)}
    return Response(SCRIPT, media_type="text/javascript", headers=headers)
