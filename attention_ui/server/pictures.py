"""/picture/…: a picture that a class has in its plan, by its hash. A browser asks for each once."""

import re

from starlette.requests import Request
from starlette.responses import Response

from classes.pictures import kind_of_picture

HASH = re.compile("[0-9a-f]{64}")
AS_LONG_AS_A_CLASS = "private, immutable, max-age=86400"
NOTHING_ELSE = "default-src 'none'; sandbox"  # whoever opens it by itself sees a picture, which does nothing


def answer_picture(request: Request) -> Response:
    """The picture; 404 where no class has it, 503 while nobody knows. Without `async`: it waits for the database."""
    # With what the first page does without.
    from attention_ui.classroom.vote.database import class_keeper, has_classes
    from classes.stages import UnreachableError

    name = request.path_params["name"]
    try:
        data = class_keeper().picture(name) if HASH.fullmatch(name) and has_classes() else None
    except UnreachableError:
        return Response(status_code=503, headers={"Cache-Control": "no-store"})
    kind = kind_of_picture(data or b"")
    if kind is None:
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    headers = {
        "Cache-Control": AS_LONG_AS_A_CLASS,
        "Content-Security-Policy": NOTHING_ELSE,
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(data, media_type=kind, headers=headers)
